"""Drawings of plans: as a tree of text lines, as Mermaid, and as the nodes that SVG draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op, Plan, Step
from nqe.query.step_text import describe_step, name_slot
from nqe.shown_text import join_visible, make_visible


@dataclass(frozen=True)
class Node:
    """An anchor, a step or the target; `step` is the number of a step, None for other nodes.

    In the drawing of a query graph it is a variable, an anchor or a condition.
    """

    name: str
    kind: str
    """anchor, target, or the word of a step's operator in lower case.

    In query graphs: asked, variable, anchor, p (an atom), comparison, negation or choice.
    """
    text: str
    step: int | None = None


@dataclass(frozen=True)
class Edge:
    """An arrow from an anchor or a step to the step that uses it; the text names the slot."""

    source: Node
    target: Node
    text: str = ""


@dataclass(frozen=True)
class Drawing:
    """The nodes and the edges between them; those of a plan in the order of its steps."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def roots(self) -> tuple[Node, ...]:
        """The nodes from which no edge leads on: the target, or the variables asked for."""
        sources = {edge.source.name for edge in self.edges}
        return tuple(node for node in self.nodes if node.name not in sources)

    def inputs(self, node: Node) -> list[Edge]:
        """The edges that end at a node."""
        return self._inputs_by_name.get(node.name, [])

    @cached_property
    def _inputs_by_name(self) -> dict[str, list[Edge]]:
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.target.name, []).append(edge)
        return found


def draw(plan: Plan, vocabulary: Vocabulary) -> Drawing:
    """The computational graph of a plan, as in the paper's Figure 1c, with visible texts."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    step_nodes: list[Node] = []
    for number, step in enumerate(plan.steps):
        node = Node(f"s{number}", step.op.word.lower(), _label_step(step, vocabulary), number)
        anchors = {
            place: Node(
                f"s{number}a{place}", "anchor", make_visible(vocabulary.entities.name(anchor))
            )
            for place, anchor in enumerate(step.slots)
            if anchor is not None
        }
        inputs = [step_nodes[number] for number in step.inputs]
        if step.op == Op.PROJECTION:
            sources = anchors | dict(zip(step.filled, inputs, strict=True))
            edges += _connect_slots(step, sources, node, vocabulary)
        else:
            edges += [Edge(source, node) for source in inputs]
        nodes += [*anchors.values(), node]
        step_nodes.append(node)
    target = Node("target", "target", f"?{plan.target.variable}")
    edges.append(Edge(step_nodes[-1], target, _label_asked_slot(plan.target, vocabulary)))
    return Drawing((*nodes, target), tuple(edges))


def _connect_slots(
    step: Step, sources: dict[int, Node], node: Node, vocabulary: Vocabulary
) -> Iterator[Edge]:
    """The edges from what fills the slots of a projection, in the order of the slots."""
    for place in sorted(sources):
        yield Edge(sources[place], node, make_visible(name_slot(step, place, vocabulary)))


def _label_step(step: Step, vocabulary: Vocabulary) -> str:
    if step.op != Op.PROJECTION:
        return step.op.word
    return ("only " if step.closed else "") + make_visible(vocabulary.relations.name(step.relation))


def _label_asked_slot(step: Step, vocabulary: Vocabulary) -> str:
    if step.op != Op.PROJECTION:
        return ""
    return make_visible(name_slot(step, step.asked, vocabulary))


def draw_text(plan: Plan, vocabulary: Vocabulary) -> str:
    """The plan as a tree from the target down, with one line per step."""
    return join_visible(_draw_lines(plan, len(plan.steps) - 1, vocabulary, "", ""))


def _draw_lines(
    plan: Plan, number: int, vocabulary: Vocabulary, first: str, rest: str
) -> Iterator[str]:
    step = plan.steps[number]
    yield f"{first}{number + 1}. ?{step.variable} = {describe_step(plan, number, vocabulary)}"
    for place, one in enumerate(step.inputs):
        last = place == len(step.inputs) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _draw_lines(plan, one, vocabulary, rest + branch, rest + below)


# The outline of each kind of node in Mermaid's syntax.
_MERMAID = {
    "anchor": '(["{}"])',
    "p": '["{}"]',
    "and": '(("{}"))',
    "or": '(("{}"))',
    "not": '(("{}"))',
    "any": '(("{}"))',
    "target": '((("{}")))',
    "asked": '(["{}"])',
    "variable": '("{}")',
    "comparison": '{{{{"{}"}}}}',
    "negation": '{{{{"{}"}}}}',
    "choice": '{{{{"{}"}}}}',
}


def draw_mermaid(plan: Plan, vocabulary: Vocabulary) -> str:
    """The plan as a Mermaid flow chart."""
    return write_mermaid(draw(plan, vocabulary))


def write_mermaid(drawing: Drawing) -> str:
    """A drawing as a Mermaid flow chart."""
    lines = ["flowchart LR"]
    for node in drawing.nodes:
        outline = _MERMAID[node.kind].format(_escape_mermaid(node.text))
        lines.append(f"  {node.name}{outline}")
    for edge in drawing.edges:
        label = f"|{_escape_mermaid(edge.text)}|" if edge.text else ""
        lines.append(f"  {edge.source.name} -->{label} {edge.target.name}")
    return "\n".join(lines) + "\n"


def _escape_mermaid(text: str) -> str:
    """Text with the characters of Mermaid's syntax replaced by character codes."""
    return "".join(f"#{ord(c)};" if c in '"|#[](){}<>&`' else c for c in text)
