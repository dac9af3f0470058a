"""Pictures of results: their forms, and figures to draw in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nqe.errors import NqeError

PICTURES = ("png", "svg", "pdf")
ENDINGS = ", ".join(f".{one}" for one in PICTURES)


def picture_form(path: Path) -> str:
    """The form that a picture's name asks for."""
    form = path.suffix.lstrip(".")
    if form not in PICTURES:
        raise NqeError(f"a plot cannot be written as '{form}'; end the name in {ENDINGS}")
    return form


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NqeError("plots need matplotlib; install nqe with the extra `train`") from None
    return Figure(figsize=(width, height), layout="constrained")
