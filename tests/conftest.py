"""What every test can ask for: real data, the command line, and how hypothesis runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helpers
import pytest
from helpers import ReadContent
from hypothesis import HealthCheck, settings

from nqe.graph import Dataset
from nqe.readers import read

settings.register_profile(
    "nqe",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("nqe")

ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow groups, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it skip without it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets are not beside the project, in ../shared/data")
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """For tests that send SIGINT to their own process: it is not ignored during the test."""
    with helpers.interruptible():
        yield


@pytest.fixture
def read_content(tmp_path: Path) -> ReadContent:
    """Put a content into a file of that name and read it."""

    def read_content(content: str | bytes, name: str = "facts", **options: Any) -> Dataset:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(path, **options)

    return read_content
