"""The command `nqe rules`: mine rules from a graph, or read saved ones, and list them in words."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.cli.options import JsonOption, refuse_options
from nqe.errors import NqeError
from nqe.settings import MAX_WORKERS

if TYPE_CHECKING:
    from nqe.graph import Dataset
    from nqe.rules import Rules, RuleText

SHOWN = 20
"""A table shows this many rules unless --top says otherwise; JSON and CSV have all."""
COLUMNS = ("relation", "rule", "support", "predictions", "confidence", "words")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(rules)


def rules(
    place: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH|RUN|RULES",
            help="A graph (made by `nqe import`, or `atlas`), a RUN, or rules saved with -o.",
        ),
    ],
    relation: Annotated[
        str | None, typer.Option("--relation", help="List only rules that predict this relation.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, help=f"Rules to list; {SHOWN}, or all as JSON or CSV."),
    ] = None,
    least_support: Annotated[
        int, typer.Option("--least-support", min=0, help="List rules that were right this often.")
    ] = 0,
    least_confidence: Annotated[
        float,
        typer.Option("--least-confidence", min=0, max=1, help="List rules at least this likely."),
    ] = 0.0,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Save all rules to this folder.")
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option("--facts", help="The facts to mine: splits such as train,valid; train."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, max=MAX_WORKERS, help="The number of threads; all cores by default."
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Mine rules, or read saved ones, and list them in words (Python: nqe.mine_rules).

    Example: nqe rules atlas --relation borders

    ?x is given, and ?y or the name in its place is predicted. The rules of a RUN are read from it
    if it has some, and otherwise mined from its graph.
    """
    from nqe.rules.storage import check_output

    if as_json and as_csv:
        raise NqeError("--json and --csv are both given; choose one of them")
    if output is not None:
        check_output(Path(output))
    found, dataset = _open_rules(place, facts, workers)
    if output is not None:
        found.save(output)
        printing.note(f"{output}: written, {len(found):,} rules")
    number = None if relation is None else _find_relation(relation, found, dataset)
    rows = found.find(number, least_support=least_support, least_confidence=least_confidence)
    most = len(rows) if top is None and (as_json or as_csv) else top or SHOWN
    listed = [found.describe(row) for row in rows[:most].tolist()]
    if as_json:
        for rule in listed:
            printing.json_line(rule.to_json())
    elif as_csv:
        _write_csv(listed)
    elif listed:
        cells = [(printing.chance(rule.confidence), rule.words) for rule in listed]
        printing.table(("confidence", "rule"), cells)
    if len(rows) > len(listed):
        printing.note(f"… and {len(rows) - len(listed):,} more (--top)")
    printing.note(f"{len(rows):,} rule(s)")


def _open_rules(place: str, facts: str | None, workers: int | None) -> tuple[Rules, Dataset | None]:
    """Read saved rules, or mine those of a graph, which is returned as well."""
    from nqe.answering import mine_rules
    from nqe.answering.open_graph import open_dataset
    from nqe.cli.progress import ProgressBar
    from nqe.rules import load_rules
    from nqe.rules.storage import KIND
    from nqe.run_folders import RULES, RUN

    path = Path(place)
    saved = path / RULES if RUN.recognises(path) and (path / RULES).exists() else path
    if KIND.recognises(saved) or saved != path:
        refuse_options("for rules that are saved", facts=facts, workers=workers)
        return load_rules(saved), None
    dataset = open_dataset(place)
    with ProgressBar("parts") as progress:
        found = mine_rules(dataset, facts or "train", workers=workers, progress=progress)
    return found, dataset


def _find_relation(text: str, rules: Rules, dataset: Dataset | None) -> int:
    """The rules' own number of a relation that is named by its id, label or alias."""
    own = rules.vocabulary.relations
    if dataset is None:
        return own.resolve(text)
    names = dataset.vocabulary.relations
    name = names.ids[names.resolve(text)]
    number = own.number(name)
    if number is None:
        raise NqeError(f"no rules predict facts of '{text}'; no known fact is one of it")
    return number


def _write_csv(rules: list[RuleText]) -> None:
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rule.to_json() for rule in rules)
