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

TEXT, MARKDOWN, JSON = "text", "markdown", "json"


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
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show why an entity is an answer, or why it does not rank higher (Python: nqe.explain).

    Example: nqe explain atlas.run '?x: borders(?x, ?y)' Spain

    Every atom is stated, with its fact, or predicted, with its probability. If --facts leaves out
    some facts, these show which candidates are true.
    """
    from nqe.answering import explain as explain_answer

    check_among("format", form, (TEXT, MARKDOWN, JSON))
    answerer = open_run(run, graph, facts, device)
    truth = None if facts.strip() == "all" else answerer.with_facts("all").graph
    explanation = explain_answer(answerer, query, entity, top=top, truth=truth)
    note_calibration(run, answerer)
    for warning in explanation.warnings:
        printing.note(f"nqe: note: {warning}")
    if as_json or form == JSON:
        printing.json_block(explanation.to_json())
    else:
        text = explanation.to_markdown() if form == MARKDOWN else str(explanation)
        printing.say_lines(text.rstrip("\n"))
