"""Plans for tests: random trees of all operators, and chosen atoms of any arity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from small_models import ENTITY_COUNT, RELATION_COUNT

from nqe.model.batch import LEAST_FACTS
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable

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


@st.composite
def conjunctive_plans(draw: st.DrawFn, chain: int = 2) -> Plan:
    """Facts joined by variables as subjects and objects, with at most `chain` in a row."""
    builder = PlanBuilder()
    _add_variable(draw, builder, chain)
    return builder.finish()


conjunctive_batches = st.lists(conjunctive_plans(), min_size=1, max_size=6)


def _add_variable(draw: st.DrawFn, builder: PlanBuilder, chain: int) -> int:
    """Add the facts that restrict a variable, in one And or several."""
    facts = [_add_fact(draw, builder, chain) for _ in range(draw(st.integers(1, 3)))]
    while len(facts) > 1 and draw(st.booleans()):
        facts = [builder.add_connective(Op.AND, "x", tuple(facts[:2])), *facts[2:]]
    return builder.add_connective(Op.AND, "x", tuple(facts)) if len(facts) > 1 else facts[0]


def _add_fact(draw: st.DrawFn, builder: PlanBuilder, chain: int) -> int:
    asked = draw(st.integers(0, 1))
    is_filled = chain > 1 and draw(st.booleans())
    inputs = ((1 - asked, _add_variable(draw, builder, chain - 1)),) if is_filled else ()
    attributes = tuple(draw(st.lists(relations, max_size=3)))
    slots = tuple(
        None if slot == asked or (is_filled and slot == 1 - asked) else draw(entities)
        for slot in range(2 + len(attributes))
    )
    return builder.add_projection(
        "x", draw(relations), attributes, slots, asked, draw(st.booleans()), inputs
    )


def chain(length: int, *, first: int = 0, value: int | None = None) -> Plan:
    """Facts in a row from an entity to the target; the first may have a qualifier."""
    builder, below = PlanBuilder(), ()
    for number in range(length):
        attributes = (1,) if value is not None and not number else ()
        slots = (first if not number else None, None, value)[: 2 + len(attributes)]
        step = builder.add_projection("x", 0, attributes, slots, 1, False, below)
        below = ((0, step),)
    return builder.finish()


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


def mixed_conjunctive() -> list[Plan]:
    """Atoms of many arities with the target as subject and as object, chains and an And."""
    atoms = [atom(arity, asked) for arity in range(2, 7) for asked in range(2)]
    many = [atom(3, 1, closed=bool(n % 2), shift=n) for n in range(70)]
    return [*atoms, conjunction(atoms[:3]), chain(2), *many, chain(2, value=3)]


def conjunction(plans: Sequence[Plan]) -> Plan:
    """The And of one-hop plans."""
    counts = np.array([len(plans)], dtype=np.int64)
    return StepTable.of(plans).conjoin(counts).plan(0)


def mixed() -> list[Plan]:
    """Atoms of all arities up to six, rare and frequent ones, very long ones, and connectives."""
    many = [atom(3, 2, closed=bool(n % 2), shift=n) for n in range(LEAST_FACTS + 3)]
    few = [atom(arity, asked) for arity in range(2, 7) for asked in range(arity)]
    deep = [negated(op, few[:3]) for op in (Op.AND, Op.OR)]
    return [*few, longest(), *many, *deep, longest()]
