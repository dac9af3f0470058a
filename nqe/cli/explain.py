"""The command `nqe explain`: why an entity is an answer, or why it does not rank higher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.open_rules import open_with_rules
from nqe.cli.open_run import note_calibration, open_run
from nqe.cli.options import (
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    PlaceArgument,
    QueryArgument,
    RulesOption,
    check_among,
    refuse_options,
)
from nqe.errors import NqeError
from nqe.run_folders import is_run

if TYPE_CHECKING:
    from nqe.answering import Answerer

TEXT, MARKDOWN, JSON = "text", "markdown", "json"
HYBRID, RULES = "hybrid", "rules"
ALL = "all"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(explain)


def explain(
    place: PlaceArgument,
    query: QueryArgument,
    entity: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENTITY]…",
            help="An id or label, one for each target; by default the best answer.",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="hybrid (by default), or rules: without a model, of a graph."),
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
    rules: RulesOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show why an entity is an answer, or why it does not rank higher (Python: nqe.explain).

    Example: nqe explain atlas.run '?x: borders(?x, ?y)' Spain

    Every atom is stated, with its fact, or predicted, with its probability, the rules that predict
    it and what the model alone gives it.
    """
    from nqe.answering import explain as explain_answer

    if truth and facts.strip() == ALL:
        raise NqeError("--truth needs facts that are left out; name the known ones with --facts")
    check_among("format", form, (TEXT, MARKDOWN, JSON))
    check_among("mode", mode or HYBRID, (HYBRID, RULES))
    answerer = _open(place, mode, graph, rules, facts, device)
    full = answerer.with_facts(ALL).graph if truth else None
    explanation = explain_answer(answerer, query, entity or None, top=top, truth=full)
    printing.note_warnings(explanation.warnings)
    if as_json or form == JSON:
        printing.json_block(explanation.to_json())
    else:
        text = explanation.to_markdown() if form == MARKDOWN else str(explanation)
        printing.say_lines(text.rstrip("\n"))


def _open(
    place: str, mode: str | None, graph: str | None, rules: str | None, facts: str, device: str
) -> Answerer:
    """Open a RUN, or a graph with rules."""
    if not is_run(Path(place)) and (mode == RULES or rules is not None):
        refuse_options("with a graph", "give a RUN or leave it out", graph=graph)
        return open_with_rules(place, rules, facts)
    refuse_options("with a RUN, which has its own", rules=rules)
    answerer = open_run(place, graph, facts, device).choose_explained(mode)
    note_calibration(place, answerer)
    return answerer
