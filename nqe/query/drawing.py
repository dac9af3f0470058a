"""Plans as pictures: a text tree, a Mermaid graph, and the nodes that the SVG draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op, Plan, Step
from nqe.query.step_text import describe_step, name_slot


@dataclass(frozen=True)
class Node:
    """An anchor, a projection, a connective, or the target; `step` is None for an anchor."""

    name: str
    kind: str
    text: str
    step: int | None = None


@dataclass(frozen=True)
class Edge:
    """From what fills a slot (or is combined) to what uses it."""

    source: Node
    target: Node
    text: str = ""


@dataclass(frozen=True)
class Drawing:
    """Nodes in the order in which they are worked out, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def inputs(self, node: Node) -> list[Edge]:
        """The edges that lead to a node."""
        return [edge for edge in self.edges if edge.target == node]


def draw(plan: Plan, vocabulary: Vocabulary) -> Drawing:
    """The computational graph of a plan, as in the paper's Figure 1c."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    of_step: list[Node] = []
    for number, step in enumerate(plan.steps):
        node = Node(f"s{number}", step.op.word.lower(), _text(step, vocabulary), number)
        leaves = {
            place: Node(f"s{number}a{place}", "anchor", vocabulary.entities.name(anchor))
            for place, anchor in enumerate(step.slots)
            if anchor is not None
        }
        sources = leaves | {
            place: of_step[one] for place, one in zip(step.filled, step.inputs, strict=False)
        }
        edges += [
            Edge(sources[place], node, name_slot(step, place, vocabulary))
            for place in sorted(sources)
        ]
        if step.op != Op.PROJECTION:
            edges += [Edge(of_step[one], node) for one in step.inputs]
        nodes += [*leaves.values(), node]
        of_step.append(node)
    target = Node("target", "target", f"?{plan.target.variable}")
    edges.append(Edge(of_step[-1], target, _asked_slot(plan.target, vocabulary)))
    return Drawing((*nodes, target), tuple(edges))


def _text(step: Step, vocabulary: Vocabulary) -> str:
    if step.op != Op.PROJECTION:
        return step.op.word
    return ("only " if step.closed else "") + vocabulary.relations.name(step.relation)


def _asked_slot(step: Step, vocabulary: Vocabulary) -> str:
    return name_slot(step, step.asked, vocabulary) if step.op == Op.PROJECTION else ""


def text_tree(plan: Plan, vocabulary: Vocabulary) -> str:
    """The plan from the target down, a line a step."""
    return "\n".join(_lines(plan, len(plan.steps) - 1, vocabulary, "", ""))


def _lines(plan: Plan, number: int, vocabulary: Vocabulary, first: str, rest: str) -> Iterator[str]:
    step = plan.steps[number]
    yield f"{first}{number + 1}. ?{step.variable} = {describe_step(plan, number, vocabulary)}"
    for place, one in enumerate(step.inputs):
        last = place == len(step.inputs) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _lines(plan, one, vocabulary, rest + branch, rest + below)


_MERMAID = {
    "anchor": '(["{}"])',
    "p": '["{}"]',
    "target": '((("{}")))',
}


def mermaid(plan: Plan, vocabulary: Vocabulary) -> str:
    """The plan as a Mermaid flow chart."""
    drawing = draw(plan, vocabulary)
    lines = ["flowchart LR"]
    for node in drawing.nodes:
        form = _MERMAID.get(node.kind, '(("{}"))')
        lines.append(f"  {node.name}{form.format(_mermaid_text(node.text))}")
    for edge in drawing.edges:
        label = f"|{_mermaid_text(edge.text)}|" if edge.text else ""
        lines.append(f"  {edge.source.name} -->{label} {edge.target.name}")
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Text with what Mermaid takes for syntax written as character codes."""
    return "".join(f"#{ord(c)};" if c in '"|#[](){}<>' else c for c in text)
