"""What the tests of the page share: a served model, a browser, and what a person does with both."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote

import toy_dataset

from nqe.demo import NAME, demo_dataset
from nqe.training import fit_weights

WAIT = 60
"""Seconds that a server has to get ready on a busy machine."""
QUESTION = "?x: borders(?x, France) and not speaks(?x, German)"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SMALL = {"batch": 64, "steps": 6, "evaluate_steps": 3, "valid_queries": 20}


def find_chromium() -> str | None:
    """The path of Chromium, if it is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def train_tiny(folder: Path) -> Path:
    """A run on atlas whose model has learnt almost nothing, in seconds; it is not calibrated."""
    run = folder / "tiny.run"
    fit_weights(demo_dataset(), run, settings=toy_dataset.settings(**SMALL), name=NAME)
    return run


@contextmanager
def serve(place: str, *options: str, **environment: str) -> Iterator[str]:
    """Serve a graph or a run in a process of its own; gives the page's address."""
    port = _find_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "nqe", "serve", place, *options, "--port", str(port)]
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_ready(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(WAIT)


def _find_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait_until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    ending = time.monotonic() + WAIT
    while time.monotonic() < ending and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the server did not get ready")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def link_to(question: str, **parameters: str) -> str:
    """The part of an address that shows a question."""
    pairs = {"q": question} | parameters
    return "/#/ask?" + "&".join(f"{name}={quote(value)}" for name, value in pairs.items())


def list_problems(page: Any) -> list[str]:
    """What axe-core finds on a page that is serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


class Visitor:
    """Opens pages, and notes what the browser complains about."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address
        self.complaints: list[str] = []
        self.contexts: list[Any] = []

    def open(self, place: str = "/", size: dict[str, int] = WIDE, **options: Any) -> Any:
        page = self.prepare(size, **options)
        page.goto(self.address + place)
        page.locator("#page").wait_for()
        return page

    def prepare(self, size: dict[str, int] = WIDE, **options: Any) -> Any:
        context = self.browser.new_context(viewport=size, reduced_motion="reduce", **options)
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


def type_question(page: Any, text: str) -> None:
    """Put a text into the question box."""
    page.locator("#question").fill(text)


def list_answers(page: Any) -> list[str]:
    """The names of the answers, once they are there."""
    page.locator("#answers .totals").wait_for()
    names: list[str] = page.locator("#answers .answer .name").all_inner_texts()
    return names


def fill_slot(page: Any, slot: str, text: str, option: str, last: bool = False) -> None:
    """Type into a slot of the builder and take an option."""
    fields = page.get_by_role("combobox", name=slot, exact=True)
    field = fields.last if last else fields.first
    field.fill(text)
    page.locator(".combobox [role=option]:visible", has_text=option).first.click()
