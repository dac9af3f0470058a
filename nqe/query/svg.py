"""Drawings of plans as SVG documents, from the anchors on the left to the target on the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from xml.sax.saxutils import escape, quoteattr

from nqe.graph.vocabulary import Vocabulary
from nqe.query.drawing import Drawing, Edge, Node, draw
from nqe.query.plan import Plan
from nqe.shown_text import make_visible

FONT = "Helvetica, Arial, sans-serif"
FONT_SIZE = 13
LETTER = 7.2  # the mean width of a letter at this font size
NOTE_SIZE, NOTE_LETTER, LINE = 11, 6.0, 14
ROW = 46
GAP = 96
MARGIN = 16
HEIGHT = 30
RADIUS = 21

# The fill and the outline of each kind of node; they differ in greyscale, too.
COLOURS = {
    "anchor": ("#eef3fb", "#3b6fb6"),
    "p": ("#ffffff", "#333333"),
    "and": ("#e6f4ea", "#2e7d46"),
    "or": ("#fdf3dc", "#b07d10"),
    "not": ("#fbe9e7", "#b23b2e"),
    "any": ("#f2f2f2", "#666666"),
    "target": ("#3b6fb6", "#1f4a85"),
    "asked": ("#3b6fb6", "#1f4a85"),
    "variable": ("#ffffff", "#3b6fb6"),
    "comparison": ("#f3ecf8", "#7a4a9e"),
    "negation": ("#fbe9e7", "#b23b2e"),
    "choice": ("#fdf3dc", "#b07d10"),
}
_ROUNDED = ("anchor", "asked", "variable")
_INVERTED = ("target", "asked")
ROUND = ("and", "or", "not", "any", "target")


@dataclass(frozen=True)
class Box:
    """The place of a node: its centre and its width."""

    node: Node
    x: float
    y: float
    width: float

    @property
    def round(self) -> bool:
        """Whether it is drawn as a circle."""
        return self.node.kind in ROUND


def draw_svg(
    plan: Plan, vocabulary: Vocabulary, notes: Mapping[int, Sequence[str]] | None = None
) -> str:
    """A plan as an SVG document; `notes` are lines of text to write below steps."""
    drawing = draw(plan, vocabulary)
    return write_svg(drawing, str(plan.query(vocabulary)), _find_nodes(drawing, notes or {}))


def write_svg(
    drawing: Drawing, title: str, node_notes: Mapping[str, Sequence[str]] | None = None
) -> str:
    """A drawing as an SVG document; the notes are lines of text below nodes, by their names."""
    node_notes = node_notes or {}
    boxes = place_nodes(drawing, node_notes)
    lines = max((len(one) for one in node_notes.values()), default=0)
    notes_end = (boxes[name].x + _note_width(one) / 2 for name, one in node_notes.items())
    ends = (box.x + box.width / 2 for box in boxes.values())
    width = max((*ends, *notes_end)) + MARGIN
    height = max(box.y for box in boxes.values()) + RADIUS + MARGIN + lines * LINE
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family={quoteattr(FONT)} '
        f'font-size="{FONT_SIZE}" role="img">',
        f"<title>{escape(make_visible(title))}</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        *(_draw_edge(edge, boxes) for edge in drawing.edges),
        *(line for box in boxes.values() for line in _draw_node(box)),
        *(line for name, one in node_notes.items() for line in _draw_note(boxes[name], one)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _find_nodes(drawing: Drawing, notes: Mapping[int, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The visible notes by the names of nodes; those of the last step belong to the target."""
    names = {node.step: node.name for node in drawing.nodes if node.step is not None}
    names[max(names)] = drawing.nodes[-1].name
    return {names[step]: [*map(make_visible, lines)] for step, lines in notes.items() if lines}


def _draw_note(box: Box, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        y = box.y + RADIUS + (number + 1) * LINE - 2
        yield (
            f'<text x="{box.x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{NOTE_SIZE}" '
            f'fill="#333">{escape(line)}</text>'
        )


def _note_width(lines: Sequence[str]) -> float:
    return max(len(line) for line in lines) * NOTE_LETTER


def place_nodes(
    drawing: Drawing, notes: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Box]:
    """Place nodes in columns by their distance from the target, and in rows near their inputs.

    `notes` are lines of text below nodes, by their names.
    """
    notes = notes or {}
    level, rows = _place_rows(drawing)
    widths = {node.name: _node_width(node) for node in drawing.nodes}
    with_notes = widths | {
        name: max(widths[name], _note_width(lines)) for name, lines in notes.items()
    }
    column = _place_columns(drawing, level, with_notes)
    row_height = ROW + max((len(lines) for lines in notes.values()), default=0) * LINE
    return {
        node.name: Box(
            node,
            column[level[node.name]],
            MARGIN + RADIUS + rows[node.name] * row_height,
            widths[node.name],
        )
        for node in drawing.nodes
    }


def _place_columns(
    drawing: Drawing, level: Mapping[str, int], widths: Mapping[str, float]
) -> list[float]:
    """The centre of each column, from that of the target on the right to the leftmost one."""
    levels = range(max(level.values()) + 1)
    column_width = [max(widths[name] for name, one in level.items() if one == i) for i in levels]
    labels = [
        max((len(edge.text) for edge in drawing.edges if level[edge.target.name] == i), default=0)
        for i in levels
    ]
    centre = [0.0] * len(levels)
    x = float(MARGIN)
    for i in reversed(levels):
        centre[i] = x + column_width[i] / 2
        x += column_width[i]
        if i:
            x += max(GAP / 2, labels[i - 1] * LETTER * 0.85 + 28)
    return centre


def _place_rows(drawing: Drawing) -> tuple[dict[str, int], dict[str, float]]:
    """The level of each node, by its distance from a root, and its row, near its inputs."""
    level = {node.name: 0 for node in drawing.roots}
    order = list(drawing.roots)
    children: dict[str, list[Node]] = {}
    # Nodes that lead to several others are placed by the first of them.
    for node in order:
        new = [edge.source for edge in drawing.inputs(node) if edge.source.name not in level]
        children[node.name] = list({one.name: one for one in new}.values())
        level |= {one.name: level[node.name] + 1 for one in new}
        order += children[node.name]
    return level, _place_in_rows(drawing.roots, children)


def _place_in_rows(
    roots: Sequence[Node], children: Mapping[str, Sequence[Node]]
) -> dict[str, float]:
    """Rows from above: one for each node without children, the middle of them for the others."""
    rows: dict[str, float] = {}
    free_rows = count()
    left = [(node, False) for node in reversed(roots)]
    while left:
        node, is_placed = left.pop()
        below = children[node.name]
        if is_placed:
            rows[node.name] = sum(rows[one.name] for one in below) / len(below)
        elif below:
            left += [(node, True), *((one, False) for one in reversed(below))]
        else:
            rows[node.name] = float(next(free_rows))
    return rows


def _node_width(node: Node) -> float:
    if node.kind in ROUND:
        return 2.0 * RADIUS
    return max(48.0, len(node.text) * LETTER + 22)


def _draw_node(box: Box) -> Iterator[str]:
    fill, outline = COLOURS[box.node.kind]
    style = f'fill="{fill}" stroke="{outline}" stroke-width="1.4"'
    if box.round:
        yield f'<circle cx="{box.x:.1f}" cy="{box.y:.1f}" r="{RADIUS}" {style}/>'
    else:
        corner = HEIGHT / 2 if box.node.kind in _ROUNDED else 4
        left, top = box.x - box.width / 2, box.y - HEIGHT / 2
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{HEIGHT}" '
            f'rx="{corner:.0f}" {style}/>'
        )
    ink = "white" if box.node.kind in _INVERTED else "#1c1c1c"
    yield (
        f'<text x="{box.x:.1f}" y="{box.y + FONT_SIZE * 0.35:.1f}" text-anchor="middle" '
        f'fill="{ink}">{escape(box.node.text)}</text>'
    )


def _draw_edge(edge: Edge, boxes: dict[str, Box]) -> str:
    source, target = boxes[edge.source.name], boxes[edge.target.name]
    start, end = source.x + source.width / 2, target.x - target.width / 2
    bend = (end - start) / 2
    path = (
        f"M{start:.1f} {source.y:.1f} C{start + bend:.1f} {source.y:.1f} "
        f"{end - bend:.1f} {target.y:.1f} {end:.1f} {target.y:.1f}"
    )
    line = f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#arrow)"/>'
    if not edge.text:
        return line
    x, y = (start + end) / 2, (source.y + target.y) / 2 - 5
    return (
        f'{line}<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="11" fill="#444" '
        f'stroke="white" stroke-width="3" paint-order="stroke">{escape(edge.text)}</text>'
    )
