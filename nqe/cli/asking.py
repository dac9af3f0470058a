"""The command that answers: ask."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from nqe.cli import printing
from nqe.cli.batches import Asked, check_output, print_file, write_file
from nqe.cli.models import RunModel, is_model
from nqe.cli.options import (
    EMBEDDING,
    EXACT,
    HYBRID,
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    check_among,
    open_dataset,
    refuse_options,
)
from nqe.cli.predictions import Predictor
from nqe.errors import NqeError

PART_FAILED = 1


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(ask)


def ask(
    place: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH|RUN",
            help="A folder made by `nqe import`, or `atlas`; or one made by `nqe train`.",
        ),
    ],
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="A query, as ?x: p(?x, a).")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", help="exact (stated facts), embedding or hybrid; a RUN answers by hybrid."
        ),
    ] = None,
    facts: FactsOption = "all",
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Answers to show; 10 of a RUN.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="All answers with at least this probability, 0 to 1."),
    ] = None,
    among: Annotated[
        str | None, typer.Option("--among", help="Keep answers that also answer this query.")
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Show every step's set.")] = False,
    proof: Annotated[bool, typer.Option("--proof", help="Show why each is an answer.")] = False,
    file: Annotated[
        str | None, typer.Option("--file", help="Ask one query a line of a file, or of -.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write the answers of --file to a .jsonl or .parquet."),
    ] = None,
    max_bindings: Annotated[
        int | None, typer.Option("--max-bindings", min=1, help="Facts a step may look at.")
    ] = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer a logical question from stated facts, and a model's predictions if it has one.

    Example: nqe ask atlas '?x: borders(?x, France) and not speaks(?x, German)'

    A GRAPH gives what its facts state (Python: nqe.execute), a RUN also what its model predicts
    (nqe.Answerer), with probabilities; `nqe explain` tells why.
    """
    if (query is None) == (file is None):
        raise NqeError("ask needs a query, or --file with one query a line; give one of them")
    if output is not None:
        _check_batch(file, output, steps=steps, proof=proof)
    asked: Asked
    if is_model(place):
        refuse_options("with a RUN", max_bindings=max_bindings)
        if proof:
            raise NqeError("--proof shows facts alone; `nqe explain` shows why a RUN answers so")
        mode = _check_mode(mode or HYBRID, threshold)
        model = RunModel.load(place, device)
        answerer = model.answerer(model.dataset(graph), facts)
        if mode == HYBRID:
            model.note_calibration()
        asked = Predictor(answerer, mode, among, top, threshold, steps=steps)
    else:
        _check_graph(place, mode, threshold=threshold, graph=graph)
        mode = EXACT
        asked = _asker(place, facts, among, max_bindings, top, steps=steps, proof=proof)
    failed = _answer(asked, mode, query, file, output, as_json)
    raise typer.Exit(PART_FAILED if failed else 0)


def _answer(
    asked: Asked, mode: str, query: str | None, file: str | None, output: str | None, as_json: bool
) -> int:
    """Ask; gives the number of queries in error, of a file."""
    if file is not None and output is not None:
        return write_file(asked, mode, file, output)
    if file is not None:
        return print_file(asked, file, as_json)
    assert query is not None
    [found] = asked.answer([query])
    if isinstance(found, NqeError):
        raise found
    if as_json:
        printing.json_line(asked.to_json(query, found))
    else:
        asked.print(found)
    return 0


def _asker(
    graph: str,
    facts: str,
    among: str | None,
    max_bindings: int | None,
    top: int | None,
    *,
    steps: bool,
    proof: bool,
) -> Asked:
    from nqe.cli.answers import Asker
    from nqe.query.exact import MAX_BINDINGS

    known = open_dataset(graph).known(facts)
    return Asker(known, among, max_bindings or MAX_BINDINGS, top, steps=steps, proof=proof)


def _check_batch(file: str | None, output: str, **given: bool) -> None:
    if file is None:
        raise NqeError("-o is for the answers of many queries; name a file of them with --file")
    refuse_options("with -o", **given)
    check_output(output)


def _check_mode(mode: str, threshold: float | None) -> str:
    check_among("mode", mode, (HYBRID, EMBEDDING, EXACT))
    if threshold is not None and not 0 <= threshold <= 1:
        raise NqeError(f"--threshold is {threshold:g}; give a probability from 0 to 1")
    return mode


def _check_graph(place: str, mode: str | None, **given: Any) -> None:
    """Refuse what needs a model."""
    check_among("mode", mode or EXACT, (HYBRID, EMBEDDING, EXACT))
    if mode not in (None, EXACT):
        open_dataset(place)  # which tells of one that is not there
        raise NqeError(f"{place}: a graph, not a model, which --mode {mode} needs; give a RUN")
    refuse_options("with a graph", "give a RUN or leave it out", **given)
