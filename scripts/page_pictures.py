"""Takes the pictures of the page that the documentation shows, from a server that runs.

nqe serve --demo --port 8000
python scripts/page_pictures.py http://127.0.0.1:8000
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
COLOURS = 128
"""Pictures have this many colours, so that they stay small."""
CYRILLIC = (
    "?x: borders(?x, Poland) and speaks(?x, ?l; official_status: official) "
    'and written_in(?l, "Cyrillic script")'
)
FRANCE = "?x: borders(?x, France)"
PAIRS = "?x, ?y: borders(?x, ?y) and speaks(?x, ?l) and speaks(?y, ?l) and borders(?x, France)"
NEIGHBOURS = "?x: borders(?x, France) and not speaks(?x, German)"


@dataclass(frozen=True)
class Picture:
    """What a picture shows: an address, what must be there first, and the size and colours."""

    name: str
    place: str
    until: str
    width: int = 1280
    height: int = 960
    dark: bool = False


def ask(question: str, **parameters: str) -> str:
    """The address of a question."""
    pairs = {"q": question} | parameters
    return "/#/ask?" + "&".join(f"{name}={quote(value)}" for name, value in pairs.items())


WHY = "#detail h3"
BELGIUM = '["country_BE","country_NL"]'
MONACO = {"answer": "country_MC", "top": "10"}
UKRAINE = {"answer": "country_UA", "top": "3"}
PICTURES = (
    Picture("start", "/", "#examples li", height=720),
    Picture("answers", ask(CYRILLIC, answer="country_UA", top="10"), WHY, height=1220),
    Picture("answers-dark", ask(NEIGHBOURS, **MONACO), WHY, height=1120, dark=True),
    Picture("step", ask(NEIGHBOURS, step="1", top="10"), WHY, height=1120),
    Picture("rows", ask(PAIRS, mode="exact", row=BELGIUM, top="10"), WHY, height=1380),
    Picture("modes", ask(FRANCE, mode="compare", top="10"), ".column li", height=1120),
    Picture("entity", "/#/entity/country_UA", ".suggestions li"),
    Picture("graph-dark", "/#/graph", ".bars", height=820, dark=True),
    Picture("model", "/#/model", ".figures", height=900),
    Picture("narrow", ask(CYRILLIC, top="5"), "#answers li", 390, 1240),
    Picture("narrow-dark", ask(CYRILLIC, **UKRAINE), WHY, 390, 2000, dark=True),
)


@contextmanager
def open_page(browser: Any, picture: Picture) -> Iterator[Any]:
    """A page of a picture's size and colours."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.dark else "light",
        reduced_motion="reduce",
        device_scale_factor=2 if picture.width < 600 else 1,
    )
    yield context.new_page()
    context.close()


def take(browser: Any, address: str, picture: Picture) -> bytes:
    """The picture as PNG."""
    with open_page(browser, picture) as page:
        page.goto(address + picture.place)
        page.locator(picture.until).first.wait_for()
        page.wait_for_function("() => !document.querySelector('[aria-busy]')")
        page.wait_for_timeout(400)
        page.evaluate("scrollTo(0, 0)")
        shown: bytes = page.screenshot()
        return shown


def save(content: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    image = Image.open(io.BytesIO(content)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Take all pictures, or those whose names are given."""
    address, wanted = sys.argv[1].rstrip("/"), sys.argv[2:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for picture in PICTURES:
            if not wanted or picture.name in wanted:
                path = FOLDER / f"page-{picture.name}.png"
                save(take(browser, address, picture), path)
                print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
