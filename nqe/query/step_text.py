"""Descriptions of a plan's steps in labels: as text, as JSON and as cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op, Plan, Step


def name_slot(step: Step, place: int, vocabulary: Vocabulary) -> str:
    """The name of a slot: subject, object, or the label of the attribute."""
    if place == SUBJECT:
        return "subject"
    if place == OBJECT:
        return "object"
    return vocabulary.relations.name(step.attributes[place - FIRST_QUALIFIER])


def describe_step(
    plan: Plan,
    number: int,
    vocabulary: Vocabulary,
    entity: int | None = None,
    bound: Mapping[int, int] | None = None,
) -> str:
    """A projection as an atom, with `entity` in its asked slot; another step as its word.

    `bound` gives entities to write in place of variables, by the slots they fill.
    """
    step = plan.steps[number]
    if step.op != Op.PROJECTION:
        return step.op.word
    variables = {
        place: f"?{plan.steps[one].variable}"
        for place, one in zip(step.filled, step.inputs, strict=True)
    }
    for place, one in (bound or {}).items():
        variables[place] = vocabulary.entities.name(one)
    asked = f"?{step.variable}" if entity is None else vocabulary.entities.name(entity)
    terms = [
        vocabulary.entities.name(anchor) if anchor is not None else variables.get(place, asked)
        for place, anchor in enumerate(step.slots)
    ]
    attributes = (vocabulary.relations.name(attribute) for attribute in step.attributes)
    pairs = ", ".join(
        f"{name}: {term}" for name, term in zip(attributes, terms[FIRST_QUALIFIER:], strict=True)
    )
    only = "only " if step.closed else ""
    relation = vocabulary.relations.name(step.relation)
    return f"{only}{relation}({terms[0]}, {terms[1]}{'; ' + pairs if pairs else ''})"


def describe_part(
    plan: Plan, number: int, vocabulary: Vocabulary, entity: int | None = None
) -> str:
    """A step with all below it in the words of a query, with `entity` for its variable."""
    step = plan.steps[number]
    match step.op:
        case Op.PROJECTION:
            below = (_describe_inner(plan, one, vocabulary) for one in step.inputs)
            atom = describe_step(plan, number, vocabulary, entity)
            return " and ".join([atom, *filter(None, below)])
        case Op.AND | Op.OR:
            inner = (_describe_inner(plan, one, vocabulary, entity) for one in step.inputs)
            return f" {step.op.word.lower()} ".join(filter(None, inner))
        case Op.NOT:
            [one] = step.inputs
            inside = describe_part(plan, one, vocabulary, entity)
            atom = describe_step(plan, one, vocabulary, entity)
            plain = inside == atom or plan.steps[one].op == Op.NOT
            return f"not {inside}" if plain else f"not ({inside})"
        case Op.ANY:
            return ""
        case _:
            assert_never(step.op)


def _describe_inner(
    plan: Plan, number: int, vocabulary: Vocabulary, entity: int | None = None
) -> str:
    """A part of a larger formula; an `or` needs brackets there."""
    text = describe_part(plan, number, vocabulary, entity)
    return f"({text})" if plan.steps[number].op == Op.OR else text


def step_to_json(plan: Plan, number: int, vocabulary: Vocabulary) -> dict[str, Any]:
    """A step as JSON data, without its set."""
    step = plan.steps[number]
    return {
        "step": number + 1,
        "variable": step.variable,
        "operator": step.op.word,
        "inputs": [one + 1 for one in step.inputs],
        "says": describe_step(plan, number, vocabulary),
    }


def step_to_cells(plan: Plan, number: int, vocabulary: Vocabulary) -> tuple[int, str, str, str]:
    """A step as cells of a table: its number, variable, text and inputs."""
    step = plan.steps[number]
    inputs = ", ".join(str(one + 1) for one in step.inputs)
    return number + 1, f"?{step.variable}", describe_step(plan, number, vocabulary), inputs
