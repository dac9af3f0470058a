"""The loss and gradients of one training batch."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

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

# Keys of the random generators; query_sources.py uses other ones.
_CANDIDATES, _DROPOUT = 3, 4


class BatchGradients:
    """Computes the gradients of batches; each process works on its share of the queries."""

    def __init__(self, model: Model, settings: TrainSettings, processes: ProcessGroup) -> None:
        self.model, self.settings, self.processes = model, settings, processes
        self._loss = SoftmaxLoss(settings.smoothing, model.entity_count)

    def compute(self, table: QueryTable, step: int, progress: float) -> Tensor:
        """Add the gradients of a batch to the model's, and return the mean loss of its queries.

        With several processes, both are this process's part of a sum.
        """
        rng = self._seed(step)
        if self.settings.targets == "one":
            table = table.with_easy(draw_one_answer(table.easy, rng))
        own = table.take(self.processes.take_share(np.arange(len(table))))
        candidates = self._choose_candidates(table, own, progress, rng).to(self.model.device)
        self.model.train()
        with self._precision():
            comparison = self.model.compare(own.plans, candidates.entities)
        scale = 1 / len(table)
        loss = self._loss(comparison, candidates.targets, scale, candidates.weight)
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
