"""The commands `nqe score` and `nqe suggest`: the probabilities of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.open_run import find_among, note_calibration, open_run
from nqe.cli.options import (
    AmongOption,
    DeviceOption,
    FactsOption,
    GraphOption,
    JsonOption,
    RunArgument,
)
from nqe.cli.print_answers import note_unseen, note_unseen_names, to_table_row

if TYPE_CHECKING:
    from nqe.answering import StatementScore, Suggestion


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(score)
    app.command()(suggest)


def score(
    run: RunArgument,
    statement: Annotated[
        str,
        typer.Argument(metavar="STATEMENT", help="A statement such as borders(France, Spain)."),
    ],
    facts: FactsOption = "all",
    top: Annotated[int, typer.Option("--top", min=1, help="Alternatives to show per slot.")] = 5,
    among: AmongOption = None,
    graph: GraphOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show how likely a statement is, and alternatives for its slots (Python: nqe.score).

    Example: nqe score atlas.run 'borders(France, Spain)'

    The probability is the one that it would have if no fact stated it; beside it stands whether
    one does, and below it the strongest rule that predicts it.
    """
    from nqe.answering import score as score_statement

    answerer = open_run(run, graph, facts, device)
    found = score_statement(answerer, statement, top, find_among(answerer, among))
    note_calibration(run, answerer)
    printing.note_warnings(found.warnings)
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
    """List the most likely statements about an entity that no fact states (Python: nqe.suggest).

    Example: nqe suggest atlas.run France --relation borders
    """
    from nqe.answering import suggest as suggest_statements
    from nqe.query.readings import describe_reading

    answerer = open_run(run, graph, facts, device)
    names = answerer.graph.vocabulary
    number = names.entities.to_number(entity)
    allowed = find_among(answerer, among)
    found = suggest_statements(answerer, number, relation=relation, top=top, among=allowed)
    note_calibration(run, answerer)
    printing.note_warnings(describe_reading(names.entities, entity))
    if relation is not None:
        printing.note_warnings(describe_reading(names.relations, relation))
    about = answerer.make_answer(number, 1.0, known=True)
    if as_json:
        data = {"entity": about.id, "suggestions": [one.to_json() for one in found]}
        printing.json_block(data)
    else:
        _show_suggestions(found)
    if not found:
        note_unseen([about], answerer.rules is not None)
        where = "" if among is None else " among the answers of --among"
        printing.note(f"no suggestion: no statement that is not stated is possible{where}")


def _show_score(found: StatementScore) -> None:
    given = printing.chance(found.probability)
    if found.stated:
        printing.say(f"{found.statement}  stated; if it were missing, it would have {given}")
    else:
        printing.say(f"{found.statement}  not stated; it has {given}")
    rows = []
    for slot in found.slots:
        rows.append((slot.slot, f"rank {slot.rank:,}", *to_table_row(slot.answer)))
        rows += [(slot.slot, "instead", *to_table_row(answer)) for answer in slot.alternatives]
    printing.table(("slot", "", "id", "label", "probability", "known by"), rows)
    if found.rule is not None:
        printing.say_lines(f"the strongest rule: {found.rule}")
    note_unseen_names(found.unseen, found.has_rules)


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
