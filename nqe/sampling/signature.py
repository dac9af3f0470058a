"""Signatures: equal for queries that differ only in the order of their parts."""

from __future__ import annotations

from hashlib import blake2b

from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.query.plan import Op, Plan, Step


def signature_of(plan: Plan) -> bytes:
    """Compute a hash that ignores the order of parts and the names of variables."""
    return blake2b(_step_texts(plan)[-1].encode(), digest_size=16).digest()


def repeats_itself(plan: Plan) -> bool:
    """Whether an atom occurs twice, or a branch is the same as another."""
    texts = _step_texts(plan)
    atoms = [text for step, text in zip(plan.steps, texts, strict=True) if step.op == Op.PROJECTION]
    if len(set(atoms)) < len(atoms):
        return True
    branches = ([texts[number] for number in step.inputs] for step in plan.steps)
    return any(len(set(texts)) < len(texts) for texts in branches)


def _step_texts(plan: Plan) -> list[str]:
    """Write each step as text, with the texts of its inputs in sorted order."""
    texts: list[str] = []
    for step in plan.steps:
        if step.op == Op.PROJECTION:
            texts.append(_atom_text(step, texts))
        else:
            texts.append(f"{step.op.word}({','.join(sorted(texts[i] for i in step.inputs))})")
    return texts


def _atom_text(step: Step, texts: list[str]) -> str:
    terms = ["?" if anchor is None else str(anchor) for anchor in step.slots]
    for place, number in zip(step.filled, step.inputs, strict=True):
        terms[place] = texts[number]
    values = terms[FIRST_QUALIFIER:]
    pairs = sorted(f"{a}:{v}" for a, v in zip(step.attributes, values, strict=True))
    only = "only " if step.closed else ""
    return f"{only}{step.relation}({terms[SUBJECT]},{terms[OBJECT]};{','.join(pairs)})"
