"""Pictures of results: their file formats, and matplotlib figures to draw in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nqe.errors import NqeError
from nqe.shown_text import make_visible

PICTURES = ("png", "svg", "pdf")
ENDINGS = ", ".join(f".{format}" for format in PICTURES)


def choose_picture_format(path: Path) -> str:
    """The picture format that a path's ending stands for."""
    format = path.suffix.lstrip(".")
    if format not in PICTURES:
        raise NqeError(f"a plot cannot be written as '{format}'; end the name in {ENDINGS}")
    return format


def create_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NqeError("plots need matplotlib; install nqe with the extra `train`") from None
    return Figure(figsize=(width, height), layout="constrained")


def escape_figure_text(text: str) -> str:
    """The visible text as matplotlib shows it literally: a `$` begins no formula."""
    return make_visible(text).replace("$", r"\$")
