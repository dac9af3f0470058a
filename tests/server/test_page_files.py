"""The page's files: all are served, and none does what the page's promises rule out."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path, PurePath

import pytest

from nqe.server.page import FILES, TYPES

FOLDER = Path(str(files("nqe.server.page")))
SOURCES = sorted(path for path in FOLDER.iterdir() if path.suffix in TYPES)
# What would make markup of data, or be refused by the content-security policy.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|"
    r"\sstyle=|<style|\son\w+=\"|javascript:"
)


def test_every_file_has_an_address_and_every_address_a_file() -> None:
    assert sorted(FILES.values()) == [path.name for path in SOURCES]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_file_makes_markup_of_data_or_asks_other_hosts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert FORBIDDEN.findall(text) == []
    hosts = set(re.findall(r"(?:https?:)?//([\w-]+(?:\.[\w-]+)+)", text))
    assert hosts <= {"www.w3.org"}  # the name of SVG, which nothing asks


def test_scripts_import_only_what_is_served() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCES if path.suffix == ".js"]
    imported = {name for text in texts for name in re.findall(r'from "\./([^"]+)"', text)}
    assert imported <= set(FILES)
    assert all(PurePath(name).suffix == ".js" for name in imported)
