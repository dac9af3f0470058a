"""The loss and gradients of one training batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import torch
from torch import Tensor

from nqe.model.model import Model
from nqe.sampling.query_table import QueryTable
from nqe.settings import TrainSettings
from nqe.training.candidates import (
    Candidates,
    draw_one_answer,
    sample_entities,
    take_all_entities,
)
from nqe.training.distributed import ProcessGroup
from nqe.training.loss import SoftmaxLoss
from nqe.training.relation_source import RelationSource

# Keys of the random generators; query_sources.py and relation_source.py use other ones.
_CANDIDATES, _DROPOUT = 3, 4


class BatchGradients:
    """Computes the gradients of batches; each process works on its share of the queries."""

    def __init__(
        self,
        model: Model,
        settings: TrainSettings,
        processes: ProcessGroup,
        relations: RelationSource | None = None,
    ) -> None:
        self.model, self.settings, self.processes = model, settings, processes
        self._relations = relations
        self._loss = SoftmaxLoss(settings.smoothing, model.entity_count)
        self._relation_loss = SoftmaxLoss(settings.smoothing, model.relation_count)

    @property
    def relation_count(self) -> int:
        """How many queries are added to each batch that ask for a relation."""
        return 0 if self._relations is None else self._relations.count

    def compute(self, table: QueryTable, step: int, progress: float) -> Tensor:
        """Add the gradients of a batch to the model's, and return the mean loss of its queries.

        The queries that ask for relations are part of the batch and of the mean. With several
        processes, both results are this process's part of a sum.
        """
        rng = self._seed(step)
        if self.settings.targets == "one":
            table = table.with_easy(draw_one_answer(table.easy, rng))
        own = table.take(self.processes.take_share(np.arange(len(table))))
        candidates = self._choose_candidates(table, own, progress, rng).to(self.model.device)
        self.model.train()
        with self._precision():
            comparison = self.model.compare(own.plans, candidates.entities)
        scale = 1 / (len(table) + self.relation_count)
        loss = self._loss(comparison, candidates.targets, scale, candidates.weight)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach() + self._ask_for_relations(step, scale, rng)

    @contextmanager
    def unchanged_buffers(self) -> Iterator[None]:
        """Restore what passing a batch changes in a model: the running means of a batch norm."""
        before = [one.clone() for one in self.model.buffers()]
        try:
            yield
        finally:
            for buffer, value in zip(self.model.buffers(), before, strict=True):
                buffer.copy_(value)

    def _ask_for_relations(self, step: int, scale: float, rng: np.random.Generator) -> Tensor | int:
        """Add the gradients of the relation queries of a step, and return their loss."""
        if self._relations is None:
            return 0
        queries = self._relations.draw(step)
        answers = queries.easy
        if self.settings.targets == "one":
            answers = draw_one_answer(answers, rng)
        own = self.processes.take_share(np.arange(len(queries)))
        if not len(own):
            return 0
        targets = take_all_entities(answers.take(own)).to(self.model.device).targets
        with self._precision():
            comparison = self.model.compare_relations(queries.facts.take(own))
        loss = self._relation_loss(comparison, targets, scale)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _seed(self, step: int) -> np.random.Generator:
        """Seed all random numbers of a step by its number, so that a resume repeats them."""
        key = (self.settings.seed, step)
        dropout = np.random.SeedSequence((*key, _DROPOUT, self.processes.rank))
        torch.manual_seed(int(dropout.generate_state(1, np.uint64)[0]))
        return np.random.default_rng((*key, _CANDIDATES))

    def _precision(self) -> AbstractContextManager[object]:
        if self.settings.autocast and self.model.device.type == "cuda":
            return torch.autocast("cuda", torch.bfloat16)
        return nullcontext()

    def _choose_candidates(
        self, table: QueryTable, own: QueryTable, progress: float, rng: np.random.Generator
    ) -> Candidates:
        count, entity_count = self.settings.candidates, self.model.entity_count
        is_sampled = self.settings.loss == "sampled" and progress < self.settings.full_from
        if not is_sampled or count >= entity_count:
            return take_all_entities(own.easy)
        return sample_entities(table.easy, own.easy, entity_count, count, rng)
