"""`nqe shell`: questions one after another, with completion and history."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory

from nqe.cli import printing
from nqe.cli.answers import Asker
from nqe.errors import NqeError
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.query.text import KEYWORDS, render_term

HELP = """Ask a query, as ?x: borders(?x, France) and not speaks(?x, German)
  steps QUERY   also show every step
  proof QUERY   also show why each is an answer
  plan QUERY    show how it is answered
  help, quit"""
COMPLETIONS = 20
LEAVE = ("quit", "exit")
# What is typed of a name: back to the last sign that cannot be part of one.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?|[(),;:]|[^\s()\[\],;:"&|!?]+|\S')
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|[^\s()\[\],;:"&|!?]+')
_NEXT = (",", ";", ":")
_TYPED = re.compile(r'("[^"]*|[^\s()\[\],;:"&|!?]+)$')


class NameCompleter(Completer):
    """Completes relations where a relation stands, and entities inside brackets, by label."""

    def __init__(self, graph: Graph) -> None:
        self._names = graph.vocabulary

    def get_completions(
        self,
        document: Document,
        event: CompleteEvent,  # noqa: ARG002 prompt-toolkit calls it so
    ) -> Iterator[Completion]:
        """Names that begin with, hold or resemble what is typed."""
        before = document.text_before_cursor
        typed = _TYPED.search(before)
        if not typed:
            return
        text = typed.group().strip('"').replace("_", " ")
        names = self._expected(before[: typed.start()])
        if names is self._names.relations:
            for word in sorted(KEYWORDS):
                if word.startswith(text):
                    yield Completion(word, start_position=-len(typed.group()))
        for hit in islice(names.search(text, COMPLETIONS), COMPLETIONS):
            label = names.labels[hit.number]
            name = label if label and not self._ambiguous(names, label) else names.ids[hit.number]
            yield Completion(
                render_term(name),
                start_position=-len(typed.group()),
                display=name,
                display_meta=names.descriptions[hit.number] or names.ids[hit.number],
            )

    def _expected(self, before: str) -> Names:
        """Inside an atom's brackets an entity is meant, after `;` an attribute, else a relation."""
        open_brackets: list[str] = []
        last = ""
        for token in _TOKEN.findall(before):
            if token == "(":
                is_atom = bool(_NAME.fullmatch(last)) and last not in KEYWORDS
                open_brackets.append("entity" if is_atom else "relation")
            elif token == ")" and open_brackets:
                open_brackets.pop()
            elif open_brackets and token in _NEXT:
                inside_atom = open_brackets[-1] != "relation" or token != ","
                if inside_atom:
                    open_brackets[-1] = self._after(token, open_brackets[-1])
            last = token
        expected = open_brackets[-1] if open_brackets else "relation"
        return self._names.entities if expected.startswith("entity") else self._names.relations

    @staticmethod
    def _after(token: str, before: str) -> str:
        """What stands next in an atom: qualifiers begin at `;`, and each has its `:`."""
        if token == ";" or (token == "," and before == "entity of a qualifier"):
            return "attribute"
        return "entity of a qualifier" if token == ":" else before

    @staticmethod
    def _ambiguous(names: Names, label: str) -> bool:
        try:
            names.resolve(label)
        except NqeError:
            return True
        return False


def run_shell(graph: Graph, name: str) -> None:
    """Read, answer, repeat, until the end of the input."""
    printing.note(f"{name}: {len(graph):,} facts. `help` for help, Ctrl-D to leave.")
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip() in LEAVE:
                return
            if line.strip():
                answer(line.strip(), graph)
        return
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(_history_file())),
        completer=NameCompleter(graph),
        auto_suggest=AutoSuggestFromHistory(),
        complete_while_typing=False,
    )
    while True:
        try:
            line = session.prompt("nqe> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line in LEAVE:
            return
        if line:
            answer(line, graph)


def answer(line: str, graph: Graph) -> None:
    """Do what one line says; an error is shown and the shell goes on."""
    word, _, rest = line.partition(" ")
    try:
        if word == "help" or (word in ("steps", "proof", "plan") and not rest):
            printing.say(HELP)
        elif word == "plan":
            _show_plan(rest, graph)
        elif word in ("steps", "proof"):
            Asker(graph, steps=word == "steps", proof=word == "proof").show(rest)
        else:
            Asker(graph).show(line)
    except NqeError as error:
        printing.note(f"nqe: {error}")


def _show_plan(query: str, graph: Graph) -> None:
    from nqe.query import bind
    from nqe.query.drawing import draw_text

    plan = bind(query, graph.vocabulary)
    printing.say(f"shape {plan.shape_name}")
    printing.say(draw_text(plan, graph.vocabulary))


def _history_file() -> Path:
    """Beside the cache: NQE_HOME, by default under the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "nqe"
    home = Path(os.environ.get("NQE_HOME", default))
    home.mkdir(parents=True, exist_ok=True)
    return home / "shell_history"
