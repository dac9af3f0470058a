"""What a query is to the letter, whatever the order of its parts, and what the sampler refuses."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.query.plan import Op, Plan, Step


def signature_of(plan: Plan) -> bytes:
    """Equal for queries that differ in names of variables and in order alone."""
    return blake2b(_texts(plan)[-1].encode(), digest_size=16).digest()


def repeats_itself(plan: Plan) -> bool:
    """Whether an atom stands twice, or a branch repeats another to the letter."""
    texts = _texts(plan)
    atoms = [text for step, text in zip(plan.steps, texts, strict=True) if step.op == Op.PROJECTION]
    if len(set(atoms)) < len(atoms):
        return True
    branches = ([texts[one] for one in step.inputs] for step in plan.steps)
    return any(len(set(one)) < len(one) for one in branches)


def _texts(plan: Plan) -> list[str]:
    """What each step says, with its inputs' texts in sorted order."""
    texts: list[str] = []
    for step in plan.steps:
        if step.op == Op.PROJECTION:
            texts.append(_atom(step, texts))
        else:
            texts.append(f"{step.op.word}({','.join(sorted(texts[i] for i in step.inputs))})")
    return texts


def _atom(step: Step, texts: list[str]) -> str:
    filled = dict(zip(step.filled, step.inputs, strict=True))

    def terms() -> Iterator[str]:
        for place, anchor in enumerate(step.slots):
            if anchor is not None:
                yield str(anchor)
            else:
                yield texts[filled[place]] if place in filled else "?"

    subject, object_, *values = terms()
    pairs = sorted(f"{a}:{v}" for a, v in zip(step.attributes, values, strict=True))
    only = "only " if step.closed else ""
    assert len(step.slots) == len(values) + FIRST_QUALIFIER
    return f"{only}{step.relation}({subject},{object_};{','.join(pairs)})"
