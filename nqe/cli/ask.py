"""The command `nqe ask`: answer a question, or every question of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli.options import (
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    PlaceArgument,
    RulesOption,
    check_among,
    refuse_options,
)
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.answering import Answerer

PART_FAILED = 1
EXACT, RULES = "exact", "rules"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(ask)


def ask(
    place: PlaceArgument,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="A query such as ?x: p(?x, a).")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            help="exact (stated facts), rules, embedding or hybrid; hybrid by default for a RUN.",
        ),
    ] = None,
    facts: FactsOption = "all",
    top: Annotated[
        int | None,
        typer.Option("--top", "--limit", min=1, help="Answers to show; 10 by default for a RUN."),
    ] = None,
    order_by: Annotated[
        str | None,
        typer.Option(
            "--order-by", help="Sort exact answers: '?year desc, ?x'; a count is 'count desc'."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="All answers with at least this probability, 0 to 1."),
    ] = None,
    among: Annotated[
        str | None, typer.Option("--among", help="Keep only answers that also answer this query.")
    ] = None,
    predicted: Annotated[
        bool, typer.Option("--predicted", help="Only answers that the facts do not state.")
    ] = False,
    stated: Annotated[
        bool, typer.Option("--stated", help="Only answers that the facts state.")
    ] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Show the set of every step.")] = False,
    proof: Annotated[
        bool, typer.Option("--proof", help="Show why each entity is an answer.")
    ] = False,
    file: Annotated[
        str | None,
        typer.Option("--file", help="Ask one query per line of a file; - is standard input."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", help="Write the answers of --file as .jsonl, .csv or .parquet."
        ),
    ] = None,
    max_bindings: Annotated[
        int | None,
        typer.Option("--max-bindings", min=1, help="The most facts that one step may look at."),
    ] = None,
    graph: GraphOption = None,
    rules: RulesOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer a logical question from stated facts and, with a RUN, from a model's predictions.

    Example: nqe ask atlas '?x: borders(?x, France) and not speaks(?x, German)'

    A GRAPH answers from its facts, and with --mode rules also from rules, which are mined first
    unless --rules names saved ones; a RUN also predicts answers, with probabilities. `nqe explain`
    shows why. Python: nqe.open(place).answer(query).
    """
    from nqe.answering import Request
    from nqe.cli.ask_file import check_output, print_file, write_file
    from nqe.cli.open_run import find_among
    from nqe.cli.print_answers import AnswerPrinter

    if (query is None) == (file is None):
        raise NqeError("ask needs a query, or --file with one query per line; give one of them")
    if predicted and stated:
        raise NqeError("--predicted and --stated leave nothing together; give one of them")
    if output is not None:
        if file is None:
            raise NqeError("-o writes the answers of many queries; name their file with --file")
        refuse_options("with -o", steps=steps, proof=proof)
        check_output(output)
    if rules is not None and mode is None:
        mode = RULES
    answerer = _open(place, mode, threshold, facts, graph, rules, device, max_bindings, proof)
    allowed = find_among(answerer, among)
    request = Request(
        "",
        mode,
        top,
        threshold,
        allowed,
        predicted_only=predicted,
        stated_only=stated,
        order_by=order_by,
    )
    printer = AnswerPrinter(answerer, request, steps=steps, proof=proof, as_json=as_json)
    if file is None:
        assert query is not None
        printer.print(query, printer.answer([query])[0])
        failed = 0
    elif output is None:
        failed = print_file(printer, file)
    else:
        failed = write_file(printer, file, output)
    raise typer.Exit(PART_FAILED if failed else 0)


def _open(
    place: str,
    mode: str | None,
    threshold: float | None,
    facts: str,
    graph: str | None,
    rules: str | None,
    device: str,
    max_bindings: int | None,
    proof: bool,
) -> Answerer:
    """Open the graph or the RUN; refuse options that do not apply to it."""
    from nqe.answering import MODES
    from nqe.answering import open as open_answerer
    from nqe.answering.open_graph import open_dataset
    from nqe.answering.request import EMBEDDING, HYBRID
    from nqe.cli.open_rules import open_with_rules
    from nqe.cli.open_run import note_calibration
    from nqe.query.exact import MAX_BINDINGS
    from nqe.run_folders import is_run

    check_among("mode", mode or EXACT, MODES)
    if is_run(Path(place)):
        refuse_options("with a RUN", max_bindings=max_bindings)
        refuse_options("with a RUN, which has its own", rules=rules)
        _check_proof(proof, mode)
        answerer = open_answerer(place, graph=graph, facts=facts, device=device)
        if mode in (None, HYBRID):
            note_calibration(place, answerer)
        elif mode == RULES:
            note_calibration(place, answerer.with_rules_alone())
        return answerer
    if mode == EMBEDDING or (mode == HYBRID and rules is None):
        open_dataset(place)  # Raises if there is no graph.
        raise NqeError(
            f"{place}: a graph, but --mode {mode} needs a model; give a RUN, or --mode rules"
        )
    if mode in (HYBRID, RULES):
        refuse_options("with a graph", "give a RUN or leave it out", graph=graph)
        _check_proof(proof, mode)
        return open_with_rules(place, rules, facts, max_bindings)
    refuse_options("with --mode exact", rules=rules)
    refuse_options("with a graph", "give a RUN or leave it out", threshold=threshold, graph=graph)
    return open_answerer(place, facts=facts, max_bindings=max_bindings or MAX_BINDINGS)


def _check_proof(proof: bool, mode: str | None) -> None:
    """Refuse a proof of what is predicted."""
    if proof and mode != EXACT:
        raise NqeError("--proof needs --mode exact; `nqe explain` shows why a RUN gives an answer")
