"""Training with relations as further targets: they are learnt, and repeat for a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bag_model import BagModel
from toy_dataset import StatusRecorder, same_weights, settings, town_queries, towns, weights

from nqe.errors import NqeError
from nqe.evaluation import predict_links
from nqe.graph import Dataset
from nqe.graph.fact_columns import Facts
from nqe.model import MODELS, EmbeddingRunner, load, new_model
from nqe.sampling.relation_queries import make_relation_queries
from nqe.settings import TrainSettings
from nqe.training import fit_weights
from nqe.training.distributed import ProcessGroup
from nqe.training.gradients import BatchGradients
from nqe.training.query_sources import Position, open_source
from nqe.training.relation_source import RelationSource, open_relation_source

DATASET = towns()
WITH_RELATIONS = {"relation_share": 0.3, "candidates": 30}


class Crash(BaseException):
    """Ends a training abruptly, like a power cut."""


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town_queries(DATASET, tmp_path_factory.mktemp("towns") / "q", "1p", "2in")


def test_relations_are_learnt(tmp_path: Path) -> None:
    recorder = StatusRecorder()
    chosen = settings({"dropout": 0.0}, steps=300, evaluate_steps=300, relation_share=0.5, batch=64)
    fit_weights(DATASET, tmp_path / "run", settings=chosen, on_step=recorder.update)
    assert np.mean(recorder.losses[-20:]) < np.mean(recorder.losses[:20]) - 1
    names = DATASET.vocabulary
    untrained = new_model(chosen.model, len(names.entities), len(names.relations), names)
    before, after = (
        predict_links(EmbeddingRunner(model), DATASET, "train").group("part")
        for model in (untrained, load(tmp_path / "run"))
    )
    assert before["relation"].mrr < 0.6
    assert after["main_relation"].mrr > 0.95
    assert after["attribute"].mrr > 0.95


@pytest.mark.parametrize("source", ["graph", "queries"])
def test_the_same_seed_gives_the_same_weights_after_an_interruption(
    tmp_path: Path, queries: Path, source: str
) -> None:
    given = queries if source == "queries" else None
    changes: dict[str, Any] = {"steps": 14, "evaluate_steps": 7, "save_steps": 3, "targets": "one"}
    chosen = settings({"dropout": 0.2}, **WITH_RELATIONS, **changes)

    def crash(status: Any) -> None:
        if status.step == 8:
            raise Crash

    fit_weights(DATASET, tmp_path / "whole", given, chosen)
    with pytest.raises(Crash):
        fit_weights(DATASET, tmp_path / "parts", given, chosen, on_step=crash)
    fit_weights(DATASET, tmp_path / "parts", given, chosen, resume=True)
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


def test_a_part_that_is_not_asked_for_changes_no_other_weights(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "without", settings=settings(relation_share=0.0))
    fit_weights(DATASET, tmp_path / "with", settings=settings({"predict_relations": True}))
    without, with_relations = weights(tmp_path / "without"), weights(tmp_path / "with")
    assert not any(name.startswith("relation_scores") for name in without)
    assert all(torch.equal(value, with_relations[name]) for name, value in without.items())


def test_the_batches_of_both_kinds_have_the_size_of_a_batch_together(queries: Path) -> None:
    chosen = settings(batch=20, relation_share=0.25).train
    for given in (None, str(queries)):
        with open_source(DATASET, given, chosen, Position()) as source:
            table, _ = next(source.batches(Position()))
        relations = open_relation_source(DATASET, chosen)
        assert relations is not None
        assert (len(table), relations.count) == (15, 5)


def gradients_of(processes: list[ProcessGroup], chosen: TrainSettings) -> list[torch.Tensor]:
    """The loss and the gradients of one step, summed over processes."""
    torch.manual_seed(0)
    names = DATASET.vocabulary
    model_settings = settings({"dropout": 0.0}, relation_share=0.25).model
    model = new_model(model_settings, len(names.entities), len(names.relations)).double()
    relations = RelationSource(DATASET.splits["train"], chosen)
    with open_source(DATASET, None, chosen, Position()) as source:
        table, _ = next(source.batches(Position()))
    losses = [
        BatchGradients(model, chosen, one, relations).compute(table, 0, 0.0) for one in processes
    ]
    return [torch.stack(losses).sum(), *(one.grad for one in model.parameters())]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_processes_share_the_relation_queries_of_a_batch(count: int) -> None:
    chosen = settings(batch=20, relation_share=0.25, loss="full").train
    alone = gradients_of([ProcessGroup()], chosen)
    shared = gradients_of([ProcessGroup(rank, count) for rank in range(count)], chosen)
    for found, expected in zip(shared, alone, strict=True):
        torch.testing.assert_close(found, expected)


def test_the_loss_is_the_mean_over_both_kinds() -> None:
    chosen = settings(batch=20, relation_share=0.25, loss="full", smoothing=0.0).train
    torch.manual_seed(0)
    names = DATASET.vocabulary
    sizes = settings({"dropout": 0.0}, relation_share=0.25).model
    model = new_model(sizes, len(names.entities), len(names.relations)).double()
    relations = RelationSource(DATASET.splits["train"], chosen)
    with open_source(DATASET, None, chosen, Position()) as source:
        table, _ = next(source.batches(Position()))
    total = BatchGradients(model, chosen, ProcessGroup(), relations).compute(table, 5, 0.0)
    entities = model.compare(table.plans).scores().log_softmax(1)
    drawn = relations.draw(5)
    of_relations = model.compare_relations(drawn.facts).scores().log_softmax(1)
    losses = [
        -scores[row, answers[row]].mean()
        for scores, answers in ((entities, table.easy), (of_relations, drawn.easy))
        for row in range(len(scores))
    ]
    torch.testing.assert_close(total, torch.stack(losses).mean().detach())


def test_all_relation_slots_of_all_facts_are_asked_for() -> None:
    chosen = settings(batch=64, relation_share=0.5).train
    source = RelationSource(DATASET.splits["train"], chosen)
    every = make_relation_queries(DATASET.splits["train"])
    drawn = {str(one.facts.row(n)) for one in map(source.draw, range(150)) for n in range(32)}
    assert drawn == {str(every.facts.row(number)) for number in range(len(every))}


def test_a_run_without_relations_cannot_be_continued_with_them(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2))
    more = settings(steps=4, relation_share=0.1)
    with pytest.raises(NqeError, match="its model was built without relations to predict; resume"):
        fit_weights(DATASET, tmp_path / "run", settings=more, resume=True)


def test_a_kind_of_model_that_predicts_no_relations_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "bag", BagModel)
    chosen = settings({"kind": "bag"}, relation_share=0.1)
    with pytest.raises(NqeError, match=r"relation_share is 0\.1, but a model of the kind 'bag'"):
        fit_weights(DATASET, tmp_path / "run", settings=chosen)
    assert not (tmp_path / "run").exists()


def test_a_split_without_facts_has_no_relations_to_ask_for() -> None:
    splits = {"train": DATASET.splits["train"], "valid": Facts.empty()}
    with pytest.raises(NqeError, match=r"train\.facts is 'valid', which has no facts to ask"):
        open_relation_source(
            Dataset(DATASET.vocabulary, splits), settings(relation_share=0.1, facts="valid").train
        )
