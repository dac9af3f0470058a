"""Training with context: facts that are known at answering count, even those never trained on."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from toy_dataset import same_weights, settings, towns

from nqe.evaluation.evaluator import evaluate
from nqe.graph import Dataset, Fact
from nqe.graph.pattern import OBJECT
from nqe.model import EmbeddingRunner, Model, load
from nqe.sampling.one_hop import make_link_queries
from nqe.training import OnStep, TrainingStatus, fit_weights
from nqe.training.run_folder import RunFolder

CITIES = 8
OLD, NEW = range(120), range(120, 160)


def list_facts(relation: str, people: range) -> list[Fact]:
    return [Fact(f"p{n}", relation, f"c{n * 7 % CITIES}") for n in people]


def people_and_cities() -> Dataset:
    """People live where they were born; train says nothing at all about the new ones."""
    return Dataset.of(
        {
            "train": list_facts("born_in", OLD) + list_facts("lives_in", OLD),
            "valid": list_facts("born_in", NEW),
            "test": list_facts("lives_in", NEW),
        }
    )


DATASET = people_and_cities()


def train(folder: Path, context: int) -> Model:
    chosen = settings(
        {"feed_forward": 32, "dropout": 0.1, "context": context},
        steps=100,
        evaluate_steps=100,
        batch=64,
        loss="full",
        open_share=0.0,
    )
    fit_weights(DATASET, folder, settings=chosen)
    return load(folder)


def measure(model: Model, known: str) -> float:
    """The MRR of where the new people live, over known facts."""
    queries = make_link_queries(DATASET.split("test").facts, DATASET.graph)
    objects = queries.take(np.flatnonzero(queries.plans.asked_kinds == OBJECT))
    runner = EmbeddingRunner(model.with_facts(DATASET.known(known).facts))
    return float((1 / evaluate(runner, objects).compute_ranks()).mean())


def test_where_new_people_live_follows_from_facts_that_became_known_after_training(
    tmp_path: Path,
) -> None:
    model = train(tmp_path / "context", 4)
    assert measure(model, "train,valid") > 0.9
    # Guessing among the cities gives about a third.
    assert measure(model, "train") < 0.5


def test_without_context_facts_that_became_known_after_training_do_not_help(
    tmp_path: Path,
) -> None:
    assert measure(train(tmp_path / "plain", 0), "train,valid") < 0.5


@pytest.mark.usefixtures("interruptible")
def test_a_resumed_run_sees_the_same_context_and_reaches_the_same_weights(tmp_path: Path) -> None:
    dataset, model = towns(), {"context": 3}
    fit_weights(dataset, tmp_path / "whole", settings=settings(model))
    with pytest.raises(KeyboardInterrupt):
        fit_weights(dataset, tmp_path / "parts", settings=settings(model), on_step=stop_at(7))
    fit_weights(dataset, tmp_path / "parts", resume=True)
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


def stop_at(step: int) -> OnStep:
    def on_step(status: TrainingStatus) -> None:
        if status.step == step:
            signal.raise_signal(signal.SIGINT)

    return on_step


def test_the_average_of_the_weights_has_the_same_context(tmp_path: Path) -> None:
    fit_weights(towns(), tmp_path / "run", settings=settings({"context": 3}, average=0.9))
    assert RunFolder.open(tmp_path / "run").state.step == 12
