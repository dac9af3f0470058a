"""The API reference in the documentation is the one that the server's document gives."""

from __future__ import annotations

import runpy
from pathlib import Path


def test_the_api_reference_is_up_to_date(root: Path) -> None:
    script = runpy.run_path(str(root / "scripts" / "api_reference.py"))
    written = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert written == script["render"](), "run `python scripts/api_reference.py`"
