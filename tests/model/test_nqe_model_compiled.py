"""The NQE model under torch.compile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import example, given, settings
from random_plans import atom, batches, negated
from small_models import small_model

from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable


@pytest.fixture(autouse=True)
def _reset_compiler() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def mixed_plans() -> list[Plan]:
    """Plans with padding, a projection of a projection, all connectives and Any."""
    builder = PlanBuilder()
    below = builder.add_projection("y", 1, (), (3, None), 1, False)
    above = builder.add_projection("x", 0, (1,), (None, None, 4), 0, True, ((1, below),))
    anything = builder.add_connective(Op.ANY, "x", ())
    builder.add_connective(Op.AND, "x", (above, anything))
    return [
        atom(4, 3),
        negated(Op.OR, [atom(2), atom(3, 1)]),
        builder.finish(),
        negated(Op.AND, [atom(2, 1), atom(3, 2)]),
    ]


# The warning comes from torch, which instantiates a Function to trace it.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@example(mixed_plans())
@given(batches)
@settings(max_examples=1)
def test_a_compiled_model_gives_a_query_the_same_vector_in_any_batch(
    plans: list[Plan],
) -> None:
    model = small_model()
    # aot_eager traces the whole model as inductor does, but skips the C++ compiler, which takes
    # most of a minute for a model of this size on two cores.
    torch._dynamo.reset()
    with torch.no_grad():
        alone = torch.cat([model.encode(StepTable.of([plan])) for plan in plans])
        model.compile(backend="aot_eager", fullgraph=True)
        together = model.encode(StepTable.of(plans))
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
