"""What tests of the page can ask for: a browser, and visitors of a served address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import page_browser
import pytest
from page_browser import Visitor


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    with page_browser.open_browser() as found:
        yield found


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    """One who visits `address`, a fixture of the test file; the page may have no complaints."""
    found = Visitor(browser, address)
    yield found
    for context in found.contexts:
        context.close()
    assert found.complaints == []
