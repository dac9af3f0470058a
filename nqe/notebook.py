"""Tables for notebooks: HTML that shows data as text, and pandas where it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from nqe.errors import NqeError
from nqe.shown_text import make_visible

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 100


def render_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """A table as HTML; of many rows the first ones, and how many more there are."""
    head = "".join(f"<th>{_show(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_show(cell)}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS]
    )
    more = f"<p>… and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    told = f"<caption>{_show(caption)}</caption>" if caption else ""
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def to_frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """A table as a pandas data frame; raises NqeError if pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise NqeError("pandas is not installed; install it with `pip install pandas`") from None
    return pd.DataFrame(list(rows), columns=list(columns))


def render_text(text: str) -> str:
    """Text with its line ends as HTML."""
    return f"<pre>{escape(text)}</pre>"


def _show(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return "" if cell is None else escape(make_visible(str(cell)))
