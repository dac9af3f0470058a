"""Commands about a model's answers: explain, score, suggest, calibrate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.choices import (
    AmongOption,
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    RunArgument,
)
from nqe.cli.models import RunModel
from nqe.cli.predictions import among_of, answer_row, note_unseen, note_unseen_names
from nqe.cli.results import check_among, check_plot

if TYPE_CHECKING:
    from nqe.answering import Calibrated, StatementScore, Suggestion

TEXT, MARKDOWN, JSON = "text", "markdown", "json"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(explain)
    app.command()(score)
    app.command()(suggest)
    app.command()(calibrate)


def explain(
    run: RunArgument,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query, as ?x: p(?x, a).")],
    entity: Annotated[
        str | None,
        typer.Argument(metavar="[ENTITY]", help="An id or label; the best answer if absent."),
    ] = None,
    facts: FactsOption = "all",
    top: Annotated[int, typer.Option("--top", min=1, help="Entities to show of a step.")] = 5,
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = TEXT,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show why an entity is an answer, or why it is not higher (Python: nqe.explain).

    Example: nqe explain atlas.run '?x: borders(?x, ?y)' Spain

    Every atom is stated, with its fact, or predicted, with its probability. If some facts are
    kept back by --facts, the rest tells what is true.
    """
    from nqe.answering import explain as explain_answer
    from nqe.query import bind

    check_among("format", form, (TEXT, MARKDOWN, JSON))
    model = RunModel.load(run, device)
    dataset = model.dataset(graph)
    answerer = model.answerer(dataset, facts)
    plan = bind(query, answerer.graph)
    truth = None if facts.strip() == "all" else dataset.graph
    explanation = explain_answer(answerer, plan, entity, top=top, truth=truth)
    model.note_calibration()
    for warning in plan.warnings:
        printing.note(f"nqe: note: {warning}")
    if as_json or form == JSON:
        printing.json_block(explanation.to_json())
    else:
        text = explanation.markdown() if form == MARKDOWN else str(explanation)
        printing.say(text.rstrip("\n"))


def score(
    run: RunArgument,
    statement: Annotated[
        str,
        typer.Argument(metavar="STATEMENT", help="One atom of names, as borders(France, Spain)."),
    ],
    facts: FactsOption = "all",
    top: Annotated[int, typer.Option("--top", min=1, help="Alternatives to show of a slot.")] = 5,
    among: AmongOption = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Tell how likely a statement is, and what else its slots might hold (Python: nqe.score).

    Example: nqe score atlas.run 'borders(France, Spain)'

    The probability is the model's alone, whether a fact says it or not.
    """
    from nqe.answering import score as score_statement

    model = RunModel.load(run, device)
    answerer = model.answerer(model.dataset(graph), facts)
    found = score_statement(answerer, statement, top, among_of(answerer.graph, among))
    model.note_calibration()
    if as_json:
        printing.json_block(found.to_json())
    else:
        _show_score(found)


def suggest(
    run: RunArgument,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="An id or label.")],
    relation: Annotated[
        str | None, typer.Option("--relation", help="Only statements with this relation.")
    ] = None,
    facts: FactsOption = "all",
    top: Annotated[int, typer.Option("--top", min=1, help="Statements to show.")] = 10,
    among: AmongOption = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """List the likeliest statements about an entity that no fact says (Python: nqe.suggest).

    Example: nqe suggest atlas.run France --relation borders
    """
    from nqe.answering import suggest as suggest_statements

    model = RunModel.load(run, device)
    answerer = model.answerer(model.dataset(graph), facts)
    number = answerer.graph.vocabulary.entities.to_number(entity)
    only = among_of(answerer.graph, among)
    found = suggest_statements(answerer, number, relation=relation, top=top, among=only)
    model.note_calibration()
    about = answerer.entity_answer(number, 1.0, known=True)
    if as_json:
        data = {"entity": about.id, "suggestions": [one.to_json() for one in found]}
        printing.json_block(data)
    else:
        _show_suggestions(found)
    if not found:
        note_unseen([about])
        where = "" if among is None else " among what --among gives"
        printing.note(f"no suggestion: nothing that is not stated is possible{where}")


def calibrate(
    run: RunArgument,
    plot: Annotated[
        str | None, typer.Option("--plot", help="Draw the reliability diagram to this file.")
    ] = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Fit how scores become probabilities, and keep it in RUN (Python: nqe.calibrate).

    Example: nqe calibrate atlas.run

    It is fitted on the valid split, and measured on test where there is one.
    """
    from nqe.answering import calibrate as calibrate_model
    from nqe.answering.reliability import plot as draw
    from nqe.files import new_file

    picture = check_plot(plot)
    model = RunModel.load(run, device)
    dataset = model.dataset(graph)
    place = graph or model.named or run
    model.check(place, dataset.fingerprint)
    model.check_vocabulary(place, dataset)
    done = calibrate_model(run, dataset, device)
    if as_json:
        printing.json_block(done.to_json())
    else:
        _show_calibration(done)
    printing.note(f"{done.folder}: calibrated")
    if picture is not None:
        with new_file(picture) as temporary:
            draw({"before": done.before, "after": done.after}, temporary)
        printing.note(f"{picture}: written")


def _show_score(found: StatementScore) -> None:
    stated = "stated" if found.stated else "not stated"
    printing.say(f"{found.statement}  {printing.chance(found.probability)}  {stated}")
    rows = []
    for slot in found.slots:
        rows.append((slot.slot, f"rank {slot.rank:,}", *answer_row(slot.answer)))
        rows += [(slot.slot, "instead", *answer_row(one)) for one in slot.alternatives]
    printing.table(("slot", "", "id", "label", "probability", "known by"), rows)
    note_unseen_names(found.unseen)


def _show_suggestions(found: list[Suggestion]) -> None:
    rows = [
        (
            one.subject.name,
            one.relation_label or one.relation,
            one.object.name,
            printing.chance(one.probability),
        )
        for one in found
    ]
    if rows:
        printing.table(("subject", "relation", "object", "probability"), rows)


def _show_calibration(done: Calibrated) -> None:
    before, after = done.before, done.after
    printing.heading(f"Reliability on {done.split}")
    measures = (
        ("expected calibration error", before.error, after.error),
        ("Brier score", before.brier, after.brier),
        ("Brier score of the base rate", before.base, after.base),
    )
    rows = [(name, *(printing.chance(one) for one in pair)) for name, *pair in measures]
    printing.table(("measure", "before", "after"), rows)
    for name, one in (("before", before), ("after", after)):
        printing.heading(f"Predictions by probability, {name}")
        bins = [
            (printing.chance(said), printing.chance(right), count)
            for said, right, count in one.bins
        ]
        printing.table(("probability said", "share that is right", "predictions"), bins)
