"""The model under torch.compile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from random_plans import atom, negated
from small_models import small_model

from nqe.model import Batch
from nqe.query.plan import Op, PlanBuilder


@pytest.fixture(autouse=True)
def _nothing_compiled() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def mixed_batch() -> Batch:
    """Padding, a projection of a projection, all connectives, and Any."""
    builder = PlanBuilder()
    below = builder.projection("y", 1, (), (3, None), 1, False)
    above = builder.projection("x", 0, (1,), (None, None, 4), 0, True, ((1, below),))
    anything = builder.connective(Op.ANY, "x", ())
    builder.connective(Op.AND, "x", (above, anything))
    return Batch.of(
        [
            atom(4, 3),
            negated(Op.OR, [atom(2), atom(3, 1)]),
            builder.finish(),
            negated(Op.AND, [atom(2, 1), atom(3, 2)]),
        ]
    )


# Of torch's own: it makes a Function to trace what is in one.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_a_compiled_model_gives_the_same_vectors_from_one_graph() -> None:
    model, batch = small_model(), mixed_batch()
    # aot_eager traces the whole model as inductor does, but leaves out the C++ compiler, with
    # which a model of this size takes most of a minute on two cores.
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(compiled(batch), model(batch), atol=1e-5, rtol=0)
