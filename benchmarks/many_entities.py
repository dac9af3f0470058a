"""How quick and how exact the index of entity vectors is: 2p questions over 5 million entities.

The vectors are those of a trained model over WD50K (`--checkpoint`), repeated with noise. Without
a checkpoint, or in the quick form, a model with random weights stands in.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from machine import arguments, benchmark_data, describe, markdown_table, peak_memory, write_result

from nqe.answering import Answerer, Answers, HybridOptions
from nqe.answering.entity_index import Look
from nqe.answering.entity_scores import COLUMNS
from nqe.answering.predictions import Predictions
from nqe.graph import Dataset, Graph
from nqe.graph.fact_columns import Facts
from nqe.graph.ragged import offsets
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model import Model, load, new_model
from nqe.settings import ModelSettings

BEST = 100
ROWS = 2**17


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    entities: int = 5_000_000
    facts: int = 1_000_000
    questions: int = 10


QUICK = Sizes(20_000, 500, 2)


def repeat_model(trained: Model, entities: int, noise: float) -> Model:
    """The same model with more entities: copies of its vectors, with noise on all but the first.

    The noise is Gaussian; `noise` is its deviation, relative to that of each coordinate.
    """
    model = new_model(trained.settings, entities, trained.relation_count)
    own, more = trained.state_dict(), model.state_dict()
    generator = torch.Generator().manual_seed(0)
    for name, values in own.items():
        if len(values.shape) == 0 or len(values) != trained.entity_count:
            more[name].copy_(values)
            continue
        deviation = noise * values.std(0)
        for start in range(0, entities, len(values)):
            part = more[name][start : start + len(values)]
            part.copy_(values[: len(part)])
            if start:
                part.add_(torch.randn(part.shape, generator=generator) * deviation)
    return model.eval()


def repeat_graph(graph: Graph, entities: int, count: int) -> Graph:
    """The facts of a graph, and more of them between random copies of their entities."""
    rng = np.random.default_rng(0)
    facts, own = graph.facts, graph.entity_count
    names = Vocabulary(
        Names.of("entity", [f"e{number:08d}" for number in range(entities)]),
        Names.of("relation", [f"r{number:05d}" for number in range(graph.relation_count)]),
    )
    row = rng.integers(len(facts.relation), size=count)
    copy = own * rng.integers(entities // own, size=(2, count))
    subject = np.concatenate([facts.subject, facts.subject[row] + copy[0]])
    relation = np.concatenate([facts.relation, facts.relation[row]])
    object_ = np.concatenate([facts.object, facts.object[row] + copy[1]])
    nothing = np.zeros(0, dtype=np.int64)
    start = offsets(np.zeros(len(subject), dtype=np.int64))
    ones = np.ones(len(subject), dtype=np.int64)
    columns = Facts(subject, relation, object_, start, nothing, nothing, ones)
    return Graph(names, columns.to_canonical())


def draw_questions(graph: Graph, count: int) -> list[str]:
    """2p questions along facts that follow each other."""
    rng = np.random.default_rng(1)
    facts, names = graph.facts, graph.vocabulary
    second = rng.permutation(np.flatnonzero(np.isin(facts.subject, facts.object)))[:count]
    texts = []
    for row in second.tolist():
        first = rng.choice(np.flatnonzero(facts.object == facts.subject[row]))
        anchor = names.entities.ids[int(facts.subject[first])]
        relations = [names.relations.ids[int(facts.relation[one])] for one in (row, first)]
        texts.append(f"?x: {relations[0]}(?y, ?x) and {relations[1]}({anchor}, ?y)")
    return texts


def ask(answerer: Answerer, questions: list[str]) -> tuple[list[Answers], list[float]]:
    """The best answers that are not stated, and how many milliseconds each question takes."""
    answers, times = [], []
    for text in questions:
        start = time.perf_counter()
        answers.append(answerer.answer(text, top=BEST, predicted_only=True))
        times.append(1000 * (time.perf_counter() - start))
    return answers, times


def compare_bindings(answerer: Answerer, questions: list[str]) -> tuple[list[float], list[float]]:
    """For each binding of second steps: the share of the best that is found, the log-sum's error.

    Stated entities count like all others here.
    """
    engine = answerer.neural
    recalls: list[float] = []
    errors: list[float] = []
    curve = engine.calibration.curve(answerer.graph)
    for text in questions:
        run = answerer.run([answerer.answer(text, "exact").plan])
        bindings = run.choose_bindings(np.array([run.table.step_count - 1]))
        predictions = Predictions.of(bindings, engine.predictor, curve)
        comparison = engine.predictor.compare(predictions.vectors, curve.temperature)
        queries, index = comparison.queries, engine.predictor.entities.index
        weight = torch.from_numpy(bindings.weight).to(queries)
        memory = queries.new_empty(len(queries) * len(index))
        with torch.no_grad():
            look = index.look(queries, weight, curve.temperature, memory)
            best, total = find_best(comparison.entities, comparison.bias, queries)
            parts = [look.rest, *score_parts(queries, look)]
            found = look.to_columns(best.flatten().numpy()).reshape(best.shape) >= 0
            recalls += found.mean(1).tolist()
            errors += (torch.stack(parts).logsumexp(0) - total).abs().tolist()
    return recalls, errors


def score_parts(queries: torch.Tensor, look: Look) -> Iterator[torch.Tensor]:
    """Yield the log-sums over parts of the entities that are looked at, (queries,)."""
    for start in range(0, len(look), COLUMNS):
        some = look.read(slice(start, min(start + COLUMNS, len(look))))
        yield torch.addmm(some.bias, queries, some.vectors.T).logsumexp(1)


def find_best(
    vectors: torch.Tensor, bias: torch.Tensor, queries: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The best entities of each query, (queries, best), and the log-sum over all, (queries,)."""
    values, numbers, sums = [], [], []
    for start in range(0, len(bias), ROWS):
        rows = slice(start, start + ROWS)
        scores = torch.addmm(bias[rows], queries, vectors[rows].T)
        top = scores.topk(min(BEST, scores.shape[1]), 1)
        values.append(top.values)
        numbers.append(top.indices + start)
        sums.append(scores.logsumexp(1))
    place = torch.cat(values, 1).topk(BEST, 1).indices
    return torch.cat(numbers, 1).gather(1, place), torch.stack(sums).logsumexp(0)


def share_found(exact: Answers, found: Answers) -> float:
    """The share of the exact best answers that are among those found."""
    wanted = set(exact.ids)
    return len(wanted & set(found.ids)) / max(len(wanted), 1)


def measure(dataset: Dataset, trained: Model, sizes: Sizes, noise: float) -> list[tuple[str, str]]:
    """Everything that is measured, as rows of a table."""
    graph = repeat_graph(dataset.known("all"), sizes.entities, sizes.facts)
    questions = draw_questions(
        dataset_like(graph, len(dataset.vocabulary.entities)), sizes.questions
    )
    indexed = Answerer(
        graph, repeat_model(trained, sizes.entities, noise), options=HybridOptions(search="index")
    )
    predictor = indexed.neural.predictor
    before = peak_memory()
    start = time.perf_counter()
    index = predictor.entities.index
    built = time.perf_counter() - start
    print(f"built in {built:.1f} s", flush=True)
    peak = peak_memory() - before
    held = sum(one.nbytes for one in (index.vectors, index.entities, index.bias, index.places))
    exact = Answerer(graph)
    exact._neural = replace(indexed.neural, options=HybridOptions(search="exact"))
    ask(indexed, questions[:2])
    ask(exact, questions[:1])
    found, times = ask(indexed, questions)
    print(f"with the index, ms: {_middle(times)}", flush=True)
    wanted, slow = ask(exact, questions)
    shares = [share_found(*pair) for pair in zip(wanted, found, strict=True)]
    recalls, errors = compare_bindings(indexed, questions[:4])
    return [
        ("a 2p question with the index, ms: median, slowest", _middle(times)),
        ("the same, exact, ms: median, slowest", _middle(slow)),
        (f"share of the exact best {BEST} predictions: mean, least", _mean(shares, min(shares))),
        (
            f"share of the exact best {BEST} of one binding: mean, least",
            _mean(recalls, min(recalls)),
        ),
        ("error of the log-sum of one binding: mean, largest", _mean(errors, max(errors))),
        ("seconds to build the index", f"{built:.1f}"),
        ("GB that the index holds", f"{held / 2**30:.2f}"),
        ("GB that building it adds at most", f"{peak:.2f}"),
    ]


def dataset_like(graph: Graph, entities: int) -> Graph:
    """The facts among the first copies of all entities."""
    facts = graph.facts
    first = np.flatnonzero((facts.subject < entities) & (facts.object < entities))
    return Graph(graph.vocabulary, facts.take(first))


def _middle(times: list[float]) -> str:
    return f"{statistics.median(times):.0f}, {max(times):.0f}"


def _mean(values: list[float], other: float) -> str:
    return f"{statistics.mean(values):.3f}, {other:.3f}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--checkpoint", type=Path, help="a model trained on WD50K")
    parser.add_argument("--entities", type=int, help="the number of entities")
    parser.add_argument("--questions", type=int, help="the number of questions")
    parser.add_argument("--noise", type=float, default=0.25, help="relative to the deviation")
    options = parser.parse_args()
    dataset = benchmark_data(quick=options.quick)
    sizes = QUICK if options.quick else Sizes()
    sizes = replace(
        sizes,
        entities=options.entities or sizes.entities,
        questions=options.questions or sizes.questions,
    )
    names = dataset.vocabulary
    if options.checkpoint is None:
        settings = ModelSettings(width=16, layers=1, heads=2, feed_forward=16)
        trained = new_model(settings, len(names.entities), len(names.relations))
    else:
        trained = load(options.checkpoint)
    rows = measure(dataset, trained, sizes, options.noise)
    origin = "random weights" if options.checkpoint is None else "trained on WD50K"
    text = "\n".join(
        [
            "# Very large graphs\n",
            f"By `benchmarks/many_entities.py`: {sizes.questions} 2p questions in mode hybrid over "
            f"{sizes.entities:,} entities and {sizes.facts:,} facts more than those of the data "
            f"set; a model of width {trained.settings.width}, {origin}, whose entity vectors are "
            f"repeated with Gaussian noise of {options.noise:g} of each coordinate's deviation; "
            f"not calibrated; {torch.get_num_threads()} threads.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            markdown_table(("measured", "value"), rows),
        ]
    )
    write_result("many-entities", text, quick=options.quick)


if __name__ == "__main__":
    main()
