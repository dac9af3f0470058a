"""What might rank hybrid answers better, each tried alone on validation queries.

Uses the query set and the model of `trained`, with train facts known. What has to be fitted is
fitted on the first half of the queries; every trial is measured on the second half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from hybrid_quality import WITH_VARIABLE, some_queries
from machine import arguments, benchmark_data, describe, markdown_table, write_result
from torch import Tensor
from trained import Shared

import nqe
from nqe.answering import Answerer, HybridOptions, HybridRunner
from nqe.answering.calibration import Curve
from nqe.answering.probability import MAX_PREDICTED, to_logit
from nqe.evaluation import Report, evaluate
from nqe.evaluation.evaluator import Runner
from nqe.graph import Dataset
from nqe.graph.arrays import Booleans, Integers
from nqe.model import EmbeddingRunner
from nqe.model.fuzzy_logic import Product
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.shapes import NEGATIVE, SHAPES
from nqe.query.step_table import StepTable
from nqe.sampling import QueryTable

Floats = npt.NDArray[np.float64]

SCALES, BEAMS, MIXES = (2.0, 6.0), (256,), (0.0, 0.1, 0.3, 1.0)
ADAPTED = ("2i", "3i", "2in", "3in")
CANDIDATES = 500
"""The adapter ranks answers among this many of the likeliest entities."""
FLOOR = 1e-6
"""A mix needs the log of a probability, which may be 0."""


# Trials


class QtoCurve(Curve):
    """QTO's scaling: the softmax times the number of stated answers, if there are any."""

    def compute_shift(self, _relation: Integers, _slot: Integers, stated: Integers) -> Floats:
        """The log of the number of stated answers."""
        return np.log(np.maximum(stated, 1).astype(np.float64))

    def to_probabilities(self, logs: Floats, shift: Floats, _elsewhere: Booleans) -> Floats:
        """The scaled softmax."""
        return np.minimum(np.exp(logs + shift), MAX_PREDICTED)

    def find_least_logs(self, probability: Floats, shift: Floats) -> Floats:
        """What scales to a probability."""
        return np.log(probability) - shift


class ScaledNegation(Product):
    """What is negated counts several times."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def negate(self, inputs: Tensor) -> Tensor:
        """1 - scale · q."""
        return (1 - self.scale * inputs).clamp_min(0)


@dataclass(frozen=True, eq=False)
class Mix:
    """The log of the hybrid runner's probability plus a multiple of the embedding's log softmax."""

    hybrid: Runner
    embedding: EmbeddingRunner
    weight: float

    @property
    def entity_count(self) -> int:
        """The number of entities."""
        return self.hybrid.entity_count

    def run(self, plans: StepTable) -> Mixed:
        """Run both."""
        one, other = self.hybrid.run(plans), self.embedding.run(plans)
        first = one.block(0, self.entity_count).clamp_min(FLOOR).log()
        second = other.block(0, self.entity_count).double().log_softmax(1)
        return Mixed(first + self.weight * second)


@dataclass(frozen=True, eq=False)
class Mixed:
    """Scores of all entities."""

    scores: Tensor

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities."""
        return self.scores[:, first:last]


def open_answerer(shared: Shared, options: HybridOptions | None = None) -> Answerer:
    """The model over train facts; only the validation facts are missing."""
    splits = {name: shared.dataset.splits[name] for name in ("train", "valid")}
    dataset = Dataset(shared.dataset.vocabulary, splits)
    return nqe.open(shared.use_run(), graph=dataset, facts="train", options=options)


def with_engine(answerer: Answerer, **changes: object) -> Answerer:
    """The same answerer with changes to how its model is used."""
    answerer._neural = replace(answerer.neural, **changes)  # type: ignore[arg-type]
    return answerer


def list_runners(shared: Shared) -> Iterator[tuple[str, Runner]]:
    """The trials that need no fit, after what they are compared with."""
    yield "as it is", HybridRunner(open_answerer(shared))
    answerer = open_answerer(shared)
    calibration = answerer.neural.calibration
    curve = QtoCurve(**{**vars(calibration.facts), "temperature": 1.0})
    yield (
        "QTO's scaling",
        HybridRunner(with_engine(answerer, calibration=replace(calibration, facts=curve))),
    )
    for scale in SCALES:
        logic = ScaledNegation(scale)
        yield (
            f"what is negated counts {scale:g} times",
            HybridRunner(with_engine(open_answerer(shared), logic=logic)),
        )
    for beam in BEAMS:
        options = HybridOptions(beam=beam)
        yield f"beam {beam}", HybridRunner(open_answerer(shared, options))


# The mix, by shape


def rank_by_shape(runner: Runner, table: QueryTable) -> dict[str, float]:
    """The MRR of each shape."""
    by_shape = Report.of(evaluate(runner, table)).group("shape")
    return {name: by_shape[name].mrr for name in SHAPES if name in by_shape}


def mix(shared: Shared, fitted: QueryTable, measured: QueryTable) -> dict[str, float]:
    """The MRR by shape with the weight that was best for the shape on other queries."""
    hybrid = HybridRunner(open_answerer(shared))
    embedding = EmbeddingRunner(hybrid.answerer.neural.predictor.model)
    found: dict[str, float] = {}
    for name in dict.fromkeys(measured.shape):
        one, other = (take_shape(table, name) for table in (fitted, measured))
        runners = [Mix(hybrid, embedding, weight) for weight in MIXES]
        best = max(runners, key=lambda runner: rank_by_shape(runner, one)[name])
        found[name] = rank_by_shape(best, other)[name]
    return found


def take_shape(table: QueryTable, name: str) -> QueryTable:
    """The queries of one shape."""
    return table.take(np.flatnonzero(np.array(table.shape) == name))


# CQD-A's adapter: a slope and an offset per relation and slot, on the logits of the parts


@dataclass(frozen=True, eq=False)
class Parts:
    """One query: the logits of its candidates in each part, and which are hard answers."""

    place: Integers  # (parts,) relation and slot, as one number
    negated: Booleans  # (parts,)
    logits: Tensor  # (parts, candidates)
    hard: Booleans  # (candidates,)


def split_parts(plan: Plan) -> list[tuple[Plan, bool]]:
    """The projections of a conjunction, each as a plan, and whether it is negated."""
    negated = {step.inputs[0] for step in plan.steps if step.op == Op.NOT}
    found = []
    for number, step in enumerate(plan.steps):
        if step.op == Op.PROJECTION:
            builder = PlanBuilder()
            builder.add_projection(
                "x", step.relation, step.attributes, step.slots, step.asked, step.closed
            )
            found.append((builder.finish(), number in negated))
    return found


def collect_parts(answerer: Answerer, table: QueryTable) -> list[Parts]:
    """The candidates of each query, without its other answers."""
    found, count = [], answerer.graph.entity_count
    for row in range(len(table)):
        plans, negated = zip(*split_parts(table.plans.plan(row)), strict=True)
        targets = answerer.neural.run_table(StepTable.of(plans)).targets
        chances = np.stack([one.to_array(count) for one in targets])
        signed = np.where(np.array(negated)[:, None], 1 - chances, chances)
        order = np.argsort(-signed.prod(0), kind="stable")[:CANDIDATES]
        easy, hard = table.easy[row], table.hard[row]
        order = np.union1d(np.setdiff1d(order, easy), hard)
        steps = [plan.steps[0] for plan in plans]
        found.append(
            Parts(
                np.array([step.relation * 3 + min(step.asked, 2) for step in steps]),
                np.array(negated),
                torch.from_numpy(to_logit(np.maximum(chances[:, order], 1e-9))),
                np.isin(order, hard),
            )
        )
    return found


def score_parts(one: Parts, slope: Tensor, offset: Tensor) -> Tensor:
    """The log of the product of the adapted parts, (candidates,)."""
    place = torch.from_numpy(one.place)
    moved = slope[place][:, None] * one.logits + offset[place][:, None]
    sign = torch.from_numpy(np.where(one.negated, -1.0, 1.0))[:, None]
    return torch.nn.functional.logsigmoid(sign * moved).sum(0)


def fit_adapter(parts: Sequence[Parts], size: int, rounds: int = 60) -> tuple[Tensor, Tensor]:
    """Fit slopes and offsets so that hard answers come before the other candidates."""
    logs = torch.zeros(2, size, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([logs], lr=0.05)
    for _ in range(rounds):
        optimizer.zero_grad()
        losses = []
        for one in parts:
            scores = score_parts(one, logs[0].exp(), logs[1])
            hard = torch.from_numpy(one.hard)
            others = scores[~hard].logsumexp(0)
            losses.append((torch.logaddexp(scores[hard], others) - scores[hard]).mean())
        loss = torch.stack(losses).mean() + 0.01 * logs.square().sum() / len(parts)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return logs[0].detach().exp(), logs[1].detach()


def rank_parts(parts: Sequence[Parts], slope: Tensor, offset: Tensor) -> float:
    """The mean over queries of the mean reciprocal rank of the hard answers."""
    found = []
    for one in parts:
        scores = score_parts(one, slope, offset).numpy()
        others = np.sort(scores[~one.hard])
        above = len(others) - others.searchsorted(scores[one.hard], side="right")
        found.append(np.mean(1 / (1 + above)))
    return float(np.mean(found))


def adapter_rows(
    shared: Shared, fitted: QueryTable, measured: QueryTable
) -> Iterator[tuple[str, str, str, str]]:
    """The MRR of each shape among the candidates, before and after the fit."""
    answerer = open_answerer(shared, HybridOptions(least=1e-9))
    size = 3 * len(answerer.graph.vocabulary.relations)
    learnt = [one for name in ADAPTED for one in collect_parts(answerer, take_shape(fitted, name))]
    slope, offset = fit_adapter(learnt, size)
    plain = torch.ones(size, dtype=torch.float64), torch.zeros(size, dtype=torch.float64)
    for name in ADAPTED:
        parts = collect_parts(answerer, take_shape(measured, name))
        before, after = rank_parts(parts, *plain), rank_parts(parts, slope, offset)
        yield name, str(len(parts)), f"{before:.4f}", f"{after:.4f}"


# The page


def row_of(name: str, by_shape: dict[str, float]) -> tuple[str, ...]:
    """The means, and the shapes that a trial is about."""
    means = (
        np.mean([by_shape[one] for one in group]) for group in (WITH_VARIABLE, NEGATIVE, SHAPES)
    )
    return (name, *(f"{value:.4f}" for value in means), f"{by_shape['3p']:.4f}")


def halves(table: QueryTable) -> tuple[QueryTable, QueryTable]:
    """The first and the second half of the queries of each shape."""
    shapes = np.array(table.shape)
    bounds = [np.flatnonzero(shapes == name) for name in dict.fromkeys(table.shape)]
    cuts = [(0, len(rows) // 2, len(rows)) for rows in bounds]
    parts = [[rows[a:b] for a, b in pairwise(cut)] for rows, cut in zip(bounds, cuts, strict=True)]
    first, second = (np.concatenate(part) for part in zip(*parts, strict=True))
    return table.take(first), table.take(second)


def page(shared: Shared, count: int) -> str:
    """The result of all trials."""
    fitted, measured = halves(some_queries(shared.use_queries(), "valid", count))
    rows = []
    for name, runner in list_runners(shared):
        rows.append(row_of(name, rank_by_shape(runner, measured)))
        print(*rows[-1], flush=True)
    name = "the best mix with embedding for each shape"
    rows.append(row_of(name, mix(shared, fitted, measured)))
    columns = ("trial", f"MRR of {' '.join(WITH_VARIABLE)}", "negation", "all 16", "3p")
    return "\n".join(
        [
            "# What might rank hybrid answers better\n",
            f"By `benchmarks/hybrid_trials.py --count {count}`: each alone, {len(measured):,} "
            "validation queries, train facts known, hard answers; what is fitted is fitted on as "
            "many others.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            markdown_table(columns, rows),
            "## CQD-A's adapter: a slope and an offset per relation and slot\n",
            f"MRR among the {CANDIDATES} likeliest entities.\n",
            markdown_table(
                ("shape", "queries", "without", "with"), adapter_rows(shared, fitted, measured)
            ),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=200, help="queries of each shape")
    options = parser.parse_args()
    shared = Shared(benchmark_data(quick=options.quick), quick=options.quick)
    write_result("hybrid-trials", page(shared, options.count), quick=options.quick)


if __name__ == "__main__":
    main()
