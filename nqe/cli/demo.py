"""`nqe demo`: the main job on the embedded graph, in one go."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nqe.cli import printing

if TYPE_CHECKING:
    from nqe.graph import Dataset, Graph

ENTITY = "Romansh"

QUESTIONS = (
    (
        "Which countries share a border with France?",
        "?x: borders(?x, France)",
    ),
    (
        "In which years did countries that border Germany or Russia begin to pay in euros?",
        "?year: currency(?x, Euro; start_year: ?year) "
        "and (borders(?x, Germany) or borders(?x, Russia))",
    ),
    (
        "Which countries of Europe border a euro country, but neither pay in euros "
        "nor have an official language in Cyrillic script?",
        "?x: continent(?x, Europe) and borders(?x, ?y) and currency(?y, Euro) "
        "and not (currency(?x, Euro) or speaks(?x, ?l; official_status: official) "
        'and written_in(?l, "Cyrillic script"))',
    ),
)

HELD_OUT = (
    (
        "What does Puerto Rico pay in? The train split does not say it.",
        '?x: currency("Puerto Rico", ?x)',
    ),
    (
        "Which countries pay, or paid, in what Puerto Rico pays in?",
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
        float, typer.Option("--seconds", min=1, help="How long to train a model.")
    ] = 45.0,
) -> None:
    """Build the embedded graph, ask it questions, and train a model that predicts what it lacks.

    Example: nqe demo -o atlas.graph --seconds 5
    """
    from nqe.cli.print_graph import print_entity, print_statistics
    from nqe.demo import demo_dataset
    from nqe.graph.entity_facts import collect_entity_facts
    from nqe.graph.statistics import compute_statistics

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
    printing.note(f"\nNow ask your own: {_program()} shell {output}")


def _sample(dataset: Dataset, output: str) -> None:
    """Draw a small benchmark from the graph and show one of its queries."""
    from nqe.cli.queries import show_queries
    from nqe.sampling import sample, save_queries
    from nqe.settings import SamplingSettings

    place = str(Path(output).with_suffix(".queries"))
    printing.heading("A benchmark of logical queries, sampled from the graph")
    queries = sample(dataset, SamplingSettings(train=20, valid=5, test=5), workers=1)
    save_queries(queries, place, output)
    sizes = ", ".join(f"{name} {len(table):,}" for name, table in queries.splits.items())
    printing.say(f"{place}: {sizes} queries of 16 shapes; one of them:")
    show_queries(queries.splits["test"], dataset, "test", "pin", 1)


def _train(dataset: Dataset, output: str, seconds: float) -> None:
    """Train for a while, evaluate, and answer a question whose answer was held out."""
    from nqe.answering import train
    from nqe.cli.print_report import print_link_report
    from nqe.cli.progress import TrainingBar
    from nqe.evaluation import predict_links
    from nqe.model import EmbeddingRunner, load
    from nqe.settings import ModelSettings, RunSettings, TrainSettings

    place = Path(output).with_suffix(".demo.run")
    printing.heading("A model that predicts what the graph lacks")
    shutil.rmtree(place, ignore_errors=True)
    # Smaller than the defaults, which are for graphs of a hundred times as many facts.
    settings = RunSettings(
        ModelSettings(width=128, layers=2, feed_forward=256, dropout=0.1),
        TrainSettings(shapes=("1p",), batch=256, minutes=seconds / 60),
    )
    with TrainingBar() as bar:
        trained = train(dataset, place, settings=settings, name=output, on_step=bar.update)
    printing.say(f"{place}: {trained.steps:,} steps on the train split")
    print_link_report(predict_links(EmbeddingRunner(load(place)), dataset), "table")
    if trained.calibrated is not None:
        before, after = trained.calibrated.before.error, trained.calibrated.after.error
        printing.say(
            f"calibrated: probabilities are off by {after:.3f} on average, before by {before:.3f}"
        )
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
        answers = answerer.answer(query)
        rows = [
            (
                one.name,
                f"{one.probability:.3f}",
                one.source,
                "true" if one.entity in true else "",
            )
            for one in answers
        ]
        printing.table(("answer", "probability", "", "truth"), rows)
    predicted = next((one for one in answers if not one.known), answers[0])
    printing.heading(f"How it came to {predicted.name}")
    printing.say(str(explain(answerer, query, predicted.entity, top=3, truth=dataset.graph)))


def _ask(graph: Graph, question: str, query: str) -> None:
    """Show a question, its plan, its answers, and why the first is one."""
    from nqe.answering import Answerer, Request
    from nqe.cli.print_answers import AnswerPrinter
    from nqe.query import execute
    from nqe.query.drawing import draw_text

    result = execute(query, graph)
    printing.heading(question)
    printing.say(query)
    printing.say()
    printing.say(draw_text(result.plan, graph.vocabulary))
    printing.say()
    printer = AnswerPrinter(Answerer(graph), Request(query, top=12))
    printer.print(query, printer.answer([query])[0])
    if len(result):
        printing.say(f"\nWhy {result.labels[0]}:")
        printing.say(str(result.proof(int(result.answers[0]))))


def _program() -> str:
    """How this program was called, so that the next command can be typed."""
    name = Path(sys.argv[0]).name
    return sys.argv[0] if name == "nqe" and shutil.which("nqe") is None else "nqe"
