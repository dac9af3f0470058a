"""Printing on a terminal: cells and titles are shown literally, whatever they hold."""

from __future__ import annotations

import re
import sys

import pytest
from rich.console import Console

from nqe.cli import printing
from nqe.cli.progress import ProgressBar
from nqe.cli.shell import make_completer
from nqe.graph import Dataset, Description, Fact

STYLE = re.compile(r"\x1b\[[0-9;]*m")
LABELS = ["[red]x[/red]", "[/nothing]", ":warning:", "ends in \\", "\x1b[5mblink\n", "[link=x]y"]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def console() -> Console:
        return Console(file=sys.stdout, force_terminal=True, highlight=False, width=120)

    monkeypatch.setattr(printing, "on_terminal", lambda: True)
    monkeypatch.setattr(printing, "console", console)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_shows_labels_literally(capsys: pytest.CaptureFixture[str]) -> None:
    printing.table(("id", "label"), [(str(n), label) for n, label in enumerate(LABELS)])
    for label in LABELS:
        printing.heading(label)
    out = capsys.readouterr().out
    assert STYLE.search(out)
    plain = STYLE.sub("", out)
    assert "\x1b" not in plain
    for label in (*LABELS[:4], r"\x1b[5mblink\n", LABELS[5]):
        assert plain.count(label) == 2


def test_a_cell_in_a_pipe_holds_no_tab_or_line_break(capsys: pytest.CaptureFixture[str]) -> None:
    printing.table(("id", "label"), [("a", "b\tc\nd")])
    assert capsys.readouterr().out == "id\tlabel\na\tb\\tc\\nd\n"


def test_data_for_programs_is_printed_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    printing.write_data("a\tb\x1b")
    assert capsys.readouterr().out == "a\tb\x1b\n"


def test_a_file_name_on_a_progress_bar_is_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = ProgressBar("facts")
    console = Console(force_terminal=True, record=True, width=120)
    monkeypatch.setattr(bar._progress.live, "console", console)
    bar.start("[/red]train\x1b.txt", 10)
    with console.capture() as shown:
        console.print(bar._progress.get_renderable())
    assert r"[/red]train\x1b.txt" in STYLE.sub("", shown.get())


def test_a_completion_is_shown_visibly_and_inserts_the_id() -> None:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    labels = {"Q1": Description("Paris\x1b[31m", "capi\ntal"), "Q2": Description("Parma")}
    dataset = Dataset.of({"train": [Fact("Q1", "P1", "Q2")]}).describe(labels)
    completer = make_completer(dataset.vocabulary)
    found = list(completer.get_completions(Document("?x: P1(Par"), CompleteEvent()))
    shown = {(one.text, one.display_text, one.display_meta_text) for one in found}
    assert shown == {("Q1", r"Paris\x1b[31m", r"capi\ntal"), ("Parma", "Parma", "Q2")}
