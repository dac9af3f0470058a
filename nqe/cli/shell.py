"""The command `nqe shell`: an interactive prompt with completion and history."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nqe.cli import printing
from nqe.cli.options import DeviceOption, FactsOption, GraphOption, PlaceArgument, RulesOption
from nqe.errors import NqeError
from nqe.home import find_home

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer

    from nqe.answering import Answerer
    from nqe.graph.graph import Graph
    from nqe.graph.vocabulary import Vocabulary

HELP = """Ask a query such as ?x: borders(?x, France) and not speaks(?x, German)
  steps QUERY      also show every step
  stated QUERY     only answers that the facts state
  predicted QUERY  only answers that the facts do not state, of a RUN or by rules
  proof QUERY      show the exact answers and why each is one
  why QUERY        explain the best answer of a RUN or by rules
  plan QUERY       show the steps that answer the query
  help, quit"""
COMMANDS = ("steps", "stated", "predicted", "proof", "why", "plan")
LEAVE = ("quit", "exit")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(shell)


def shell(
    place: PlaceArgument,
    facts: FactsOption = "all",
    graph: GraphOption = None,
    rules: RulesOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Ask questions at an interactive prompt, with completion and history.

    Example: nqe shell atlas
    """
    from nqe.answering import open as open_answerer
    from nqe.cli.open_run import note_calibration

    answerer = open_answerer(place, graph=graph, facts=facts, device=device, rules=rules)
    if answerer.has_model:
        note_calibration(place, answerer)
    printing.note(f"{place}: {len(answerer.graph):,} facts. `help` for help, Ctrl-D to leave.")
    for line in _read_lines(answerer):
        if line in LEAVE:
            return
        if line:
            run_line(line, answerer)


def run_line(line: str, answerer: Answerer) -> None:
    """Run one line; an error is printed, and the shell goes on."""
    word, _, query = line.partition(" ")
    try:
        if word == "help" or (word in COMMANDS and not query):
            printing.say_lines(HELP)
        elif word == "plan":
            _show_plan(query, answerer.graph.vocabulary)
        elif word == "why":
            _explain(query, answerer)
        elif word in COMMANDS:
            _ask(query, answerer, word)
        else:
            _ask(line, answerer)
    except NqeError as error:
        printing.note_error("", error)


def _ask(query: str, answerer: Answerer, word: str = "") -> None:
    """Print the answers of a query, as the word before it says."""
    from nqe.answering.request import EXACT, Request
    from nqe.cli.print_answers import AnswerPrinter

    proof = word == "proof"
    request = Request(
        query,
        EXACT if proof else None,
        predicted_only=word == "predicted",
        stated_only=word == "stated",
    )
    printer = AnswerPrinter(answerer, request, steps=word == "steps", proof=proof)
    printer.print(query, printer.answer([query])[0])


def _explain(query: str, answerer: Answerer) -> None:
    explanation = answerer.explain(query)
    printing.note_warnings(explanation.warnings)
    printing.say_lines(str(explanation))


def _show_plan(query: str, vocabulary: Vocabulary) -> None:
    from nqe.query import bind
    from nqe.query.drawing import draw_text
    from nqe.query.graph_drawing import draw_graph_text
    from nqe.query.join_plan import JoinPlan

    plan = bind(query, vocabulary)
    if isinstance(plan, JoinPlan):
        printing.say_lines(draw_graph_text(plan.graph, vocabulary))
    else:
        printing.say(f"shape {plan.shape_name}")
        printing.say_lines(draw_text(plan, vocabulary))
    printing.note_warnings(plan.warnings)


def _read_lines(answerer: Answerer) -> Iterator[str]:
    """Yield the lines that a person types, or those of a pipe, stripped."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin)
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
    from prompt_toolkit.history import FileHistory

    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(_history_file())),
        completer=make_completer(answerer.graph),
        auto_suggest=AutoSuggestFromHistory(),
        complete_while_typing=False,
    )
    while True:
        try:
            yield session.prompt("nqe> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def make_completer(graph: Vocabulary | Graph) -> Completer:
    """Make a completer of relation names, and of entity names inside brackets."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    from nqe.query.completion import complete

    class NameCompleter(Completer):
        def get_completions(
            self,
            document: Document,
            complete_event: CompleteEvent,  # noqa: ARG002
        ) -> Iterator[Completion]:
            for option in complete(document.text_before_cursor, graph):
                start = -option.replaces
                meta = option.description or None
                yield Completion(option.text, start, display=option.name, display_meta=meta)

    return NameCompleter()


def _history_file() -> Path:
    """The history file, in NQE_HOME or by default in the user's cache folder."""
    home = find_home()
    home.mkdir(parents=True, exist_ok=True)
    return home / "shell_history"
