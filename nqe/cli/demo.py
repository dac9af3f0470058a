"""The command `nqe demo`: a tour of NQE on the embedded graph `atlas`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing
from nqe.errors import NqeError

if TYPE_CHECKING:
    from nqe.answering import Answerer, Answers
    from nqe.graph import Dataset, Graph

QUERIES, RUN_ENDING = ".queries", ".demo.run"
"""How the names of the query set and of the RUN end, beside the graph."""
ENTITY = "Romansh"

QUESTIONS = (
    (
        "Which countries share a border with France?",
        "?x: borders(?x, France)",
    ),
    (
        "In which years did countries that border Germany or Russia adopt the euro?",
        "?year: currency(?x, Euro; start_year: ?year) "
        "and (borders(?x, Germany) or borders(?x, Russia))",
    ),
    (
        "Which countries of Europe border a euro country, but neither use the euro "
        "nor have an official language in Cyrillic script?",
        "?x: continent(?x, Europe) and borders(?x, ?y) and currency(?y, Euro) "
        "and not (currency(?x, Euro) or speaks(?x, ?l; official_status: official) "
        'and written_in(?l, "Cyrillic script"))',
    ),
)

HELD_OUT = (
    (
        "Which currency does Puerto Rico use? The train split does not state it.",
        '?x: currency("Puerto Rico", ?x)',
    ),
    (
        "Which countries use, or used, the currency of Puerto Rico?",
        '?x: currency(?x, ?y) and currency("Puerto Rico", ?y)',
    ),
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(demo)


def demo(
    output: Annotated[
        str, typer.Option("-o", "--output", help="The graph folder to write.")
    ] = "atlas.graph",
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, max=86_400, help="How long to train a model.")
    ] = 45.0,
) -> None:
    """Build the embedded graph, ask it questions, and train a model that predicts what it lacks.

    Example: nqe demo -o atlas.graph --seconds 5
    """
    from nqe.cli.print_graph import print_entity, print_statistics
    from nqe.demo import demo_dataset
    from nqe.graph.entity_facts import collect_entity_facts
    from nqe.graph.statistics import compute_statistics

    _check_outputs(output)
    dataset = demo_dataset()
    dataset.save(output)
    printing.note(f"atlas, a graph of the world, is now in {output}")
    print_statistics(compute_statistics(dataset, top=5))
    graph = dataset.graph
    print_entity(collect_entity_facts(graph, graph.vocabulary.entities.resolve(ENTITY)), limit=12)
    for question, query in QUESTIONS:
        _ask(graph, question, query)
    _sample(dataset, output)
    _train(dataset, output, seconds)
    printing.note("")
    run = Path(output).with_suffix(RUN_ENDING)
    printing.note(f"Now ask your own: {_program_name()} shell {output}")
    printing.note(f"Or on a page in your browser: {_program_name()} serve {run}")


def _check_outputs(output: str) -> None:
    """Refuse a graph without a name, and outputs that hold other files, before any is written."""
    from nqe.graph import storage as graphs
    from nqe.run_folders import RUN
    from nqe.sampling import storage as queries

    if not Path(output).name:
        raise NqeError(f"{output}: has no name; write one such as atlas.graph")
    graphs.check_output(Path(output))
    queries.check_output(Path(output).with_suffix(QUERIES))
    RUN.check_output(Path(output).with_suffix(RUN_ENDING))


def _sample(dataset: Dataset, output: str) -> None:
    """Sample a small benchmark from the graph, and show one of its queries."""
    from nqe.cli.queries import show_queries
    from nqe.sampling import sample, save_queries
    from nqe.settings import SamplingSettings

    place = str(Path(output).with_suffix(QUERIES))
    printing.heading("A benchmark of logical queries, sampled from the graph")
    queries = sample(dataset, SamplingSettings(train=20, valid=5, test=5), workers=1)
    save_queries(queries, place, output)
    sizes = ", ".join(f"{name} {len(table):,}" for name, table in queries.splits.items())
    printing.say(f"{place}: {sizes} queries of 16 shapes; one of them:")
    show_queries(queries.splits["test"], dataset, "test", "pin", 1)


def _train(dataset: Dataset, output: str, seconds: float) -> None:
    """Train a model, evaluate it, and answer questions whose answers were held out."""
    from nqe.answering import OpenedRun, train
    from nqe.cli.print_report import print_link_report
    from nqe.cli.progress import TrainingBar
    from nqe.demo import make_demo_settings
    from nqe.evaluation import predict_links

    place = Path(output).with_suffix(RUN_ENDING)
    printing.heading("A model that predicts what the graph lacks")
    shutil.rmtree(place, ignore_errors=True)
    settings = make_demo_settings(seconds)
    with TrainingBar() as bar:
        trained = train(dataset, place, settings=settings, name=output, on_step=bar.update)
    printing.say(f"{place}: {trained.steps:,} steps on the train split")
    print_link_report(predict_links(OpenedRun.load(place).open_runner(dataset), dataset), "table")
    if trained.calibrated is not None:
        before, after = trained.calibrated.before.error, trained.calibrated.after.error
        printing.say(f"calibrated: expected calibration error {after:.3f}, before {before:.3f}")
    _predict(dataset, place)


def _predict(dataset: Dataset, place: Path) -> None:
    """Answer questions whose answers the train split does not state, and explain one of them."""
    from nqe.answering import explain
    from nqe.answering import open as open_answerer
    from nqe.query import execute

    answerer = open_answerer(place, graph=dataset, facts="train")
    for question, query in HELD_OUT:
        printing.heading(question)
        printing.say(query)
        true = set(execute(query, dataset.graph).answers.tolist())
        answers = _answer(answerer, query)
        rows = [
            (
                answer.name,
                f"{answer.probability:.3f}",
                answer.source,
                "true" if answer.entity in true else "",
            )
            for answer in answers
        ]
        printing.table(("answer", "probability", "", "truth"), rows)
    predicted = next((answer for answer in answers if not answer.known), answers[0])
    printing.heading(f"How it came to {predicted.name}")
    printing.say_lines(str(explain(answerer, query, predicted.entity, top=3)))


def _answer(answerer: Answerer, query: str) -> Answers:
    """Answer a question that asks for entities."""
    from nqe.answering import Answers

    answers = answerer.answer(query)
    assert isinstance(answers, Answers), "the questions have one target"
    return answers


def _ask(graph: Graph, question: str, query: str) -> None:
    """Show a question, its plan, its answers, and a proof of the first answer."""
    from nqe.answering import Answerer, Request
    from nqe.cli.print_answers import AnswerPrinter
    from nqe.query import execute
    from nqe.query.binder import bind_tree
    from nqe.query.drawing import draw_text

    result = execute(bind_tree(query, graph), graph)
    printing.heading(question)
    printing.say(query)
    printing.say()
    printing.say_lines(draw_text(result.plan, graph.vocabulary))
    printing.say()
    printer = AnswerPrinter(Answerer(graph), Request(query, top=12))
    printer.print(query, printer.answer([query])[0])
    if len(result):
        printing.say()
        printing.say(f"Why {result.labels[0]}:")
        printing.say_lines(str(result.proof(int(result.answers[0]))))


def _program_name() -> str:
    """The name by which this program was called, for the command to type next."""
    name = Path(sys.argv[0]).name
    return sys.argv[0] if name == "nqe" and shutil.which("nqe") is None else "nqe"
