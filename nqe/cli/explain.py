"""The command `nqe explain`: why an entity is an answer, or why it does not rank higher."""

from __future__ import annotations

from typing import Annotated

import typer

from nqe.cli import printing
from nqe.cli.open_run import note_calibration, open_run
from nqe.cli.options import (
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    QueryArgument,
    RunArgument,
    check_among,
)
from nqe.errors import NqeError

TEXT, MARKDOWN, JSON = "text", "markdown", "json"
ALL = "all"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(explain)


def explain(
    run: RunArgument,
    query: QueryArgument,
    entity: Annotated[
        str | None,
        typer.Argument(metavar="[ENTITY]", help="An id or label; by default the best answer."),
    ] = None,
    facts: FactsOption = "all",
    top: Annotated[int, typer.Option("--top", min=1, help="Entities to show per step.")] = 5,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = TEXT,
    truth: Annotated[
        bool,
        typer.Option(
            "--truth", help="Of a benchmark: mark candidates easy, hard or wrong by all its facts."
        ),
    ] = False,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show why an entity is an answer, or why it does not rank higher (Python: nqe.explain).

    Example: nqe explain atlas.run '?x: borders(?x, ?y)' Spain

    Every atom is stated, with its fact, or predicted, with its probability.
    """
    from nqe.answering import explain as explain_answer

    if truth and facts.strip() == ALL:
        raise NqeError("--truth needs facts that are left out; name the known ones with --facts")
    check_among("format", form, (TEXT, MARKDOWN, JSON))
    answerer = open_run(run, graph, facts, device)
    full = answerer.with_facts(ALL).graph if truth else None
    explanation = explain_answer(answerer, query, entity, top=top, truth=full)
    note_calibration(run, answerer)
    printing.note_warnings(explanation.warnings)
    if as_json or form == JSON:
        printing.json_block(explanation.to_json())
    else:
        text = explanation.to_markdown() if form == MARKDOWN else str(explanation)
        printing.say_lines(text.rstrip("\n"))
