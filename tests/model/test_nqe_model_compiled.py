"""The model under torch.compile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import example, given, settings
from random_plans import atom, batches, negated
from small_models import small_model

from nqe.model.batch import Batch
from nqe.query.plan import Op, Plan, PlanBuilder


@pytest.fixture(autouse=True)
def _nothing_compiled() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def mixed_plans() -> list[Plan]:
    """Padding, a projection of a projection, all connectives, and Any."""
    builder = PlanBuilder()
    below = builder.projection("y", 1, (), (3, None), 1, False)
    above = builder.projection("x", 0, (1,), (None, None, 4), 0, True, ((1, below),))
    anything = builder.connective(Op.ANY, "x", ())
    builder.connective(Op.AND, "x", (above, anything))
    return [
        atom(4, 3),
        negated(Op.OR, [atom(2), atom(3, 1)]),
        builder.finish(),
        negated(Op.AND, [atom(2, 1), atom(3, 2)]),
    ]


# Of torch's own: it makes a Function to trace what is in one.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@example(mixed_plans())
@given(batches)
@settings(max_examples=1)
def test_compiled_a_query_has_among_others_the_vector_it_has_alone(plans: list[Plan]) -> None:
    model = small_model()
    # aot_eager traces the whole model as inductor does, but leaves out the C++ compiler, with
    # which a model of this size takes most of a minute on two cores.
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        alone = torch.cat([model(Batch.of([plan])) for plan in plans])
        torch.testing.assert_close(compiled(Batch.of(plans)), alone, atol=1e-5, rtol=0)
