"""A small data set, as files and as a graph folder that `nqe import` made of them."""

from __future__ import annotations

from pathlib import Path

from helpers import nqe, well

FACTS = {
    "train.txt": "a,r,b\na,r,b\nb,r,c,q,a,q,d\n",
    "valid.txt": "c,s,a\n",
    "test.txt": "d,s,a,q,b\n",
    "labels.tsv": "a\tAlpha\tthe first\tA|Aleph\nb\tBeta\nr\tis next to\nq\twith\n",
}


def import_small_graph(folder: Path) -> Path:
    """Write the files into `data` in a folder, and import them as `g.graph` beside it."""
    (folder / "data").mkdir()
    for name, text in FACTS.items():
        (folder / "data" / name).write_text(text)
    well(nqe("import", "data", "-o", "g.graph", cwd=folder))
    return folder
