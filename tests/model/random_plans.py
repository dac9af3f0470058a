"""Plans for tests: random trees of all operators, and chosen atoms of any arity."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from small_models import ENTITY_COUNT, RELATION_COUNT

from nqe.model.batch import LEAST_FACTS
from nqe.query.plan import Op, Plan, PlanBuilder

entities = st.integers(0, ENTITY_COUNT - 1)
relations = st.integers(0, RELATION_COUNT - 1)
DEEPEST = 4


@st.composite
def plans(draw: st.DrawFn, deepest: int = DEEPEST) -> Plan:
    """A random tree with any operator at its root."""
    builder = PlanBuilder()
    _add(draw, builder, deepest)
    return builder.finish()


batches = st.lists(plans(), min_size=1, max_size=6)


def _add(draw: st.DrawFn, builder: PlanBuilder, room: int) -> int:
    """Add a random step with at most `room` levels below it, and return its number."""
    inner = (Op.AND, Op.OR, Op.NOT) if room else ()
    op = draw(st.sampled_from((Op.PROJECTION, Op.PROJECTION, *inner, Op.ANY)))
    if op == Op.PROJECTION:
        return _add_projection(draw, builder, room)
    least, most = {Op.NOT: (1, 1), Op.ANY: (0, 0)}.get(op, (2, 4))
    count = draw(st.integers(least, most))
    return builder.add_connective(
        op, "x", tuple(_add(draw, builder, room - 1) for _ in range(count))
    )


def _add_projection(draw: st.DrawFn, builder: PlanBuilder, room: int) -> int:
    arity = draw(st.integers(2, 6))
    asked, *others = draw(st.permutations(range(arity)))
    filled = others[: draw(st.integers(0, 2))] if room else []
    inputs = tuple((slot, _add(draw, builder, room - 1)) for slot in filled)
    slots = tuple(
        None if slot == asked or slot in filled else draw(entities) for slot in range(arity)
    )
    attributes = tuple(draw(relations) for _ in range(arity - 2))
    return builder.add_projection(
        "x", draw(relations), attributes, slots, asked, draw(st.booleans()), inputs
    )


def atom(
    arity: int, asked: int = 0, *, closed: bool = True, shift: int = 0, relation: int = 0
) -> Plan:
    """A one-hop plan whose anchors and attributes are consecutive numbers from `shift` on."""
    builder = PlanBuilder()
    slots = tuple(None if slot == asked else (slot + shift) % ENTITY_COUNT for slot in range(arity))
    attributes = tuple((slot + shift) % RELATION_COUNT for slot in range(arity - 2))
    builder.add_projection("x", relation, attributes, slots, asked, closed)
    return builder.finish()


def longest() -> Plan:
    """An atom as long as the longest of WD50K, whose last slot another atom fills."""
    builder = PlanBuilder()
    below = builder.add_projection("y", 1, (), (3, None), 1, False)
    attributes = tuple(place % RELATION_COUNT for place in range(65))
    slots: tuple[int | None, ...] = (None, *(place % ENTITY_COUNT for place in range(65)), None)
    builder.add_projection("x", 2, attributes, slots, 0, True, ((66, below),))
    return builder.finish()


def negated(op: Op, plans: Sequence[Plan]) -> Plan:
    """The negation of a connective of one-hop plans."""
    builder = PlanBuilder()
    inputs = []
    for plan in plans:
        step = plan.target
        inputs.append(
            builder.add_projection(
                "x", step.relation, step.attributes, step.slots, step.asked, step.closed
            )
        )
    connective = builder.add_connective(op, "x", tuple(inputs))
    builder.add_connective(Op.NOT, "x", (connective,))
    return builder.finish()


def mixed() -> list[Plan]:
    """Atoms of all arities up to six, rare and frequent ones, very long ones, and connectives."""
    many = [atom(3, 2, closed=bool(n % 2), shift=n) for n in range(LEAST_FACTS + 3)]
    few = [atom(arity, asked) for arity in range(2, 7) for asked in range(arity)]
    deep = [negated(op, few[:3]) for op in (Op.AND, Op.OR)]
    return [*few, longest(), *many, *deep, longest()]
