"""How the plan of a query is shown: that of a tree, or the conditions of any other query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nqe.graph.vocabulary import Vocabulary
from nqe.query.binder import Question, bind, read_query
from nqe.query.drawing import Drawing, draw, draw_text, write_mermaid
from nqe.query.graph_drawing import draw_graph, draw_graph_text
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Plan
from nqe.query.query_graph import QueryGraph
from nqe.query.readings import describe_readings
from nqe.query.svg import write_svg


@dataclass(frozen=True)
class PlanView:
    """The steps of a query as text, and what is drawn of them on demand."""

    text: str
    notes: tuple[str, ...]
    title: str
    draw: Callable[[], Drawing]

    @property
    def mermaid(self) -> str:
        """The picture as a Mermaid flow chart."""
        return write_mermaid(self.draw())

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        return write_svg(self.draw(), self.title)


def view_plan(query: Question, vocabulary: Vocabulary) -> PlanView:
    """The view of a query; one that is no tree shows its conditions, which are joined."""
    if not isinstance(query, Plan | JoinPlan):
        graph = read_query(query).graph
        if not graph.is_tree:
            return _view_graph(graph, vocabulary)
    plan = bind(query, vocabulary)
    if isinstance(plan, JoinPlan):
        raise plan.refuse("so it has no steps to draw", "give its text, whose conditions are drawn")
    text = f"shape {plan.shape_name}\n{draw_text(plan, vocabulary)}"
    title = str(plan.query(vocabulary))
    return PlanView(text, plan.warnings, title, lambda: draw(plan, vocabulary))


def _view_graph(graph: QueryGraph, vocabulary: Vocabulary) -> PlanView:
    text = draw_graph_text(graph, vocabulary)
    notes = describe_readings(graph, vocabulary)
    title = text.partition("\n")[0]
    return PlanView(text, notes, title, lambda: draw_graph(graph, vocabulary))
