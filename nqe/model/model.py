"""The interface of all models: encode queries as vectors, and score entities against them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nqe.errors import NqeError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Vocabulary
from nqe.model.fuzzy_logic import Logic, Product
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings

Entities = Tensor | slice | None
"""Some entities of a model: those with the given numbers, a range of them, or all (None)."""


@dataclass(frozen=True, eq=False)
class EntityBlock:
    """Some entities, ready to be compared with query vectors; see `Model.score`."""

    vectors: Tensor  # (entities, width)
    bias: Tensor  # (entities,)

    def __len__(self) -> int:
        return len(self.bias)

    def __getitem__(self, rows: slice | Tensor) -> EntityBlock:
        return EntityBlock(self.vectors[rows], self.bias[rows])


@dataclass(frozen=True, eq=False)
class Comparison:
    """Queries and entities, transformed so that scores are queries · entitiesᵀ + bias."""

    queries: Tensor  # (queries, width)
    entities: Tensor  # (entities, width)
    bias: Tensor  # (entities,)

    def scores(self) -> Tensor:
        """The score of each entity for each query, (queries, entities)."""
        return torch.addmm(self.bias, self.queries, self.entities.T)


class Model(nn.Module, ABC):
    """A model that encodes queries as vectors and scores entities against them.

    This is all that training, evaluation and answering use of a model. The score of an entity
    for a query is an inner product plus a bias, so that scores can be computed for any block
    of entities. To add a kind of model, implement `encode` and `entity_block` and register the
    class in `nqe.model.MODELS`.
    """

    logic: Logic
    """How hybrid answers combine probabilities, unless the caller chooses another logic."""

    def __init__(
        self,
        settings: ModelSettings,
        entity_count: int,
        relation_count: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Relations include attributes; `vocabulary` is saved with the model if it is given."""
        super().__init__()
        self.settings = settings
        self.entity_count, self.relation_count = entity_count, relation_count
        self.vocabulary = vocabulary
        self.logic = Product()

    @property
    def device(self) -> torch.device:
        """The device that the weights are on."""
        return next(self.parameters()).device

    @property
    def needs_facts(self) -> bool:
        """Whether `encode` works only after `with_facts`."""
        return False

    def with_facts(self, facts: Facts) -> Model:  # noqa: ARG002
        """The same model, with the same weights, that draws context from facts in its numbers.

        A model without context is returned as it is.
        """
        return self

    @abstractmethod
    def encode(self, plans: StepTable) -> Tensor:
        """One vector per query, (queries, width), on the model's device.

        A vector does not depend on which other queries are in the table. Implementations
        begin with `self.check(plans)`.
        """

    def encode_finite(self, plans: StepTable) -> Tensor:
        """The vectors of `encode`, after a check that their numbers are finite."""
        return _check_finite(self.encode(plans))

    @abstractmethod
    def entity_block(self, entities: Entities = None) -> EntityBlock:
        """All entities, a range of them or those with the given numbers, on the model's device."""

    def prepare(self, vectors: Tensor) -> Tensor:
        """Transform vectors from `encode` for an inner product with entity blocks."""
        return vectors

    def score(self, vectors: Tensor, block: EntityBlock) -> Tensor:
        """The scores of vectors from `encode` against a block, (queries, entities)."""
        return Comparison(self.prepare(vectors), block.vectors, block.bias).scores()

    def compare(self, plans: StepTable, entities: Tensor | None = None) -> Comparison:
        """Encode queries and compare them with all or some entities in one autograd graph.

        Training uses this. The scores equal those of `encode`, `entity_block` and `score`. A model
        overrides it if it can avoid a second gradient of the entity table's size.
        """
        block = self.entity_block(entities)
        return Comparison(self.prepare(self.encode(plans)), block.vectors, block.bias)

    @property
    def predicts_relations(self) -> bool:
        """Whether it can be asked for a relation, by `compare_relations`."""
        return False

    def compare_relations(self, facts: Facts) -> Comparison:  # noqa: ARG002
        """Encode facts that each miss one relation, and compare them with all relations.

        -1 stands for the relation, or the attribute, that is asked for. The facts are closed: they
        have no other qualifiers. The "entities" of the comparison are the relations.
        """
        raise NqeError(
            "the model was trained without relations to predict; train one with "
            "train.relation_share above 0, such as 0.1"
        )

    def score_relations(self, facts: Facts) -> Tensor:
        """The score of every relation for the masked one of each fact, (facts, relations)."""
        with torch.inference_mode():
            return _check_finite(self.compare_relations(facts).scores())

    def check_masked(self, facts: Facts) -> None:
        """Refuse facts that do not miss just one relation, or with names that it does not have."""
        for column in (facts.subject, facts.object, facts.value):
            _check_numbers("entity", column, self.entity_count)
        _check_numbers("relation", facts.relation, self.relation_count, -1)
        _check_numbers("relation", facts.attribute, self.relation_count, -1)
        masked = (facts.relation < 0) + np.bincount(
            facts.qualifier_fact[facts.attribute < 0], minlength=len(facts)
        )
        if (masked != 1).any():
            raise NqeError(
                f"fact {int((masked != 1).argmax())} misses {masked[masked != 1][0]} relations; "
                "put -1 in place of one relation or attribute"
            )

    @property
    def expresses_all(self) -> bool:
        """Whether it can encode any plan; if not, `find_inexpressible` finds those it cannot.

        Only such a model can be trained on a graph alone, and answer in the mode hybrid.
        """
        return True

    def find_inexpressible(self, plans: StepTable) -> Mapping[str, Booleans]:  # noqa: ARG002
        """What plans have that this kind of model cannot express, and the plans that have it.

        The names are words that follow "cannot express", such as "a `not`".
        """
        return {}

    def check_expressible(self, plans: StepTable, shapes: Sequence[str] = ()) -> None:
        """Refuse plans that this kind of model cannot express; `shapes` are those of the plans."""
        found = self.find_inexpressible(plans)
        if not found:
            return
        names = np.array(shapes, dtype=object)
        what = [
            f"{name} ({', '.join(dict.fromkeys(names[plans]))})" if shapes else name
            for name, plans in found.items()
        ]
        advice = "choose other shapes or queries" if shapes else "ask without it"
        raise NqeError(
            f"a model of the kind '{self.settings.kind}' cannot express {', or '.join(what)}; "
            f"{advice}, or train a model of the kind 'nqe'"
        )

    def check(self, plans: StepTable) -> None:
        """Refuse plans that this kind of model cannot express, or with names that it lacks."""
        self.check_expressible(plans)
        anchors = plans.filler[plans.kind == Kind.KNOWN]
        _check_numbers("entity", anchors, self.entity_count)
        _check_numbers("relation", plans.relation, self.relation_count, -1)
        _check_numbers("relation", plans.attribute, self.relation_count, -1)


def _check_finite(numbers: Tensor) -> Tensor:
    """Return what a model computed, after a check that it is finite."""
    if not bool(numbers.isfinite().all()):
        raise NqeError(
            "the model gives numbers that are not finite, so its answers mean nothing; "
            "train it again"
        )
    return numbers


def _check_numbers(kind: str, numbers: Integers, count: int, lowest: int = 0) -> None:
    """`lowest` is -1 for columns in which -1 stands for no number."""
    least, greatest = int(numbers.min(initial=lowest)), int(numbers.max(initial=-1))
    if least < lowest or greatest >= count:
        wrong = least if least < lowest else greatest
        raise NqeError(
            f"{kind} number {wrong} is not one of the model's {count:,}; "
            "use queries and a model of the same graph"
        )
