"""Queries as SPARQL, over Wikidata's statement model and over RDF 1.2 annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count

from nqe.errors import choose
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op, Plan, Step
from nqe.writers import rdf

INDENT = "  "


@dataclass(frozen=True)
class Model:
    """How facts are written in RDF: what a fact, its qualifiers, and any entity look like."""

    prefixes: dict[str, str]
    fact: str
    qualifier: str
    is_qualifier: str
    entity: tuple[str, ...]


# In these texts {s} {r} {o} are the main triple, {st} the fact's node, {a} {v} a qualifier.
MODELS = {
    "wikidata": Model(
        prefixes={
            "wd": rdf.ENTITY,
            "wds": rdf.STATEMENT,
            "p": rdf.TO_STATEMENT,
            "ps": rdf.MAIN_VALUE,
            "pq": rdf.QUALIFIER,
        },
        fact="{s} p:{r} {st} . {st} ps:{r} {o} .",
        qualifier="{st} pq:{a} {v} .",
        # Wikidata keeps full values and normalised ones below the same prefix.
        is_qualifier="STRSTARTS(STR({a}), STR(pq:)) && "
        "!CONTAINS(STRAFTER(STR({a}), STR(pq:)), '/')",
        entity=(
            "{x} ?p{n} ?st{n} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)))",
            "?st{n} ?p{n} {x} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)) && "
            "STRSTARTS(STR({x}), STR(wd:)))",
        ),
    ),
    "rdf12": Model(
        prefixes={
            "wd": rdf.ENTITY,
            "wdt": rdf.DIRECT,
            "rdf": rdf.REIFIES.removesuffix("reifies"),
        },
        fact="{st} rdf:reifies <<( {s} wdt:{r} {o} )>> .",
        qualifier="{st} wdt:{a} {v} .",
        is_qualifier="{a} != rdf:reifies",
        entity=(
            "?st{n} rdf:reifies <<( {x} ?p{n} ?o{n} )>> .",
            "?st{n} rdf:reifies <<( ?s{n} ?p{n} {x} )>> .",
            "?st{n} rdf:reifies ?t{n} ; ?p{n} {x} . FILTER(?p{n} != rdf:reifies)",
        ),
    ),
}


def sparql(plan: Plan, vocabulary: Vocabulary, model: str = "wikidata") -> str:
    """The plan as a SPARQL query whose one column are the answers."""
    writer = _Writer(plan, vocabulary, choose(MODELS, model, "RDF model"))
    target = f"?{_variable(plan.target)}"
    body = writer.group(len(plan.steps) - 1, target, bound=False)
    prefixes = [f"PREFIX {name}: <{iri}>" for name, iri in writer.model.prefixes.items()]
    text = [f"# {plan.query(vocabulary)}", *prefixes, f"SELECT DISTINCT {target} WHERE {{"]
    return "\n".join([*text, *_indented(body), "}"]) + "\n"


@dataclass
class _Writer:
    """Renders steps; every variable but the target gets a new name, as SPARQL has no scopes."""

    plan: Plan
    vocabulary: Vocabulary
    model: Model
    numbers: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        # Every new name ends in a number; beginning beyond the target's, none can be the target.
        digits = re.search(r"\d*$", _variable(self.plan.target))
        self.numbers = count(1 + int(digits.group() or 0) if digits else 1)

    def group(self, number: int, variable: str, *, bound: bool) -> list[str]:
        """Lines that restrict a variable; not bound: they must bind it themselves."""
        step = self.plan.steps[number]
        match step.op:
            case Op.PROJECTION:
                return self._projection(step, variable)
            case Op.AND:
                return self._conjunction(step.inputs, variable, bound=bound)
            case Op.OR:
                return self._disjunction(step, variable)
            case Op.NOT:
                return self._conjunction((number,), variable, bound=bound)
            case Op.ANY:
                return [] if bound else self._entity(variable)

    def _conjunction(self, inputs: Sequence[int], variable: str, *, bound: bool) -> list[str]:
        """What holds first, then what must not."""
        positive, negative = self._sides(inputs)
        lines = [line for one in positive for line in self.group(one, variable, bound=bound)]
        if not positive and not bound:
            lines = self._entity(variable)
        for one in negative:
            inner = self.group(one, variable, bound=False)
            lines += ["MINUS {", *_indented(inner), "}"]
        return lines

    def _sides(self, inputs: Sequence[int]) -> tuple[list[int], list[int]]:
        """The inputs that hold, and those under a `not`; two `not`s are none."""
        positive: list[int] = []
        negative: list[int] = []
        for one in inputs:
            inner, holds = one, True
            while self.plan.steps[inner].op == Op.NOT:
                inner, holds = self.plan.steps[inner].inputs[0], not holds
            (positive if holds else negative).append(inner)
        return positive, negative

    def _disjunction(self, step: Step, variable: str) -> list[str]:
        lines: list[str] = []
        for one in step.inputs:
            branch = _indented(self.group(one, variable, bound=False))
            lines += ["UNION {" if lines else "{", *branch, "}"]
        return lines

    def _projection(self, step: Step, variable: str) -> list[str]:
        node = f"?st{next(self.numbers)}"
        filled = {
            place: self._new(one) for place, one in zip(step.filled, step.inputs, strict=True)
        }
        terms = [
            self._constant(anchor) if anchor is not None else filled.get(place, variable)
            for place, anchor in enumerate(step.slots)
        ]
        relations = self.vocabulary.relations.ids
        relation = _local(relations[step.relation])
        lines = [self.model.fact.format(s=terms[0], o=terms[1], r=relation, st=node)]
        pairs = [
            (_local(relations[attribute]), term)
            for attribute, term in zip(step.attributes, terms[FIRST_QUALIFIER:], strict=True)
        ]
        lines += [self.model.qualifier.format(st=node, a=a, v=v) for a, v in pairs]
        # Each of the pattern's qualifiers needs a pair of its own.
        lines += [
            f"FILTER({one} != {other})"
            for (name, one), (second, other) in combinations(pairs, 2)
            if name == second
        ]
        if step.closed:
            lines.append(self._nothing_left(node, pairs))
        for place, one in zip(step.filled, step.inputs, strict=True):
            lines += self.group(one, filled[place], bound=True)
        return lines

    def _nothing_left(self, node: str, pairs: Sequence[tuple[str, str]]) -> str:
        """Closed: every qualifier of the fact is one of the pattern's."""
        number = next(self.numbers)
        a, v = f"?a{number}", f"?q{number}"
        prefix = self.model.qualifier.split(":", 1)[0].split()[-1]
        same = " || ".join(f"({a} = {prefix}:{name} && {v} = {term})" for name, term in pairs)
        condition = self.model.is_qualifier.format(a=a) + (f" && !({same})" if same else "")
        return f"FILTER NOT EXISTS {{ {node} {a} {v} . FILTER({condition}) }}"

    def _entity(self, variable: str) -> list[str]:
        """Every entity that stands anywhere in a fact."""
        ways = [way.format(x=variable, n=next(self.numbers)) for way in self.model.entity]
        union = " UNION ".join(f"{{ {way} }}" for way in ways)
        return [f"{{ SELECT DISTINCT {variable} WHERE {{ {union} }} }}"]

    def _new(self, number: int) -> str:
        return f"?{_variable(self.plan.steps[number])}_{next(self.numbers)}"

    def _constant(self, entity: int) -> str:
        return f"wd:{_local(self.vocabulary.entities.ids[entity])}"


def _variable(step: Step) -> str:
    """The name of a step's variable, in letters that SPARQL allows."""
    return re.sub(r"[^A-Za-z0-9_]", "_", step.variable)


def _local(name: str) -> str:
    """An id as the local part of a prefixed name, its special characters escaped."""
    return re.sub(r"([~.\-!$&'()*+,;=/?#@])", r"\\\1", rdf.escape_id(name))


def _indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line for line in lines]
