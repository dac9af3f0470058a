"""Questions to begin with: of different kinds and relations, and each can be asked."""

from __future__ import annotations

from answering_cases import countries

from nqe.demo import demo_dataset
from nqe.graph import Dataset, Graph
from nqe.query import execute
from nqe.server.examples import MOST, draw_examples


def test_examples_of_a_graph_can_be_asked_and_have_answers() -> None:
    graph = demo_dataset().graph
    examples = draw_examples(graph)
    assert len(set(examples)) == MOST
    assert draw_examples(graph) == examples
    answers = [len(execute(text, graph)) for text in examples]
    assert sum(count > 0 for count in answers) >= MOST - 1  # `but not` may have none
    relations = {text.split("(")[0].split(":")[1].strip() for text in examples}
    assert len(relations) >= 4


def test_a_tiny_or_empty_graph_has_as_many_examples_as_it_can() -> None:
    assert draw_examples(countries().graph)
    empty: Graph = Dataset.of({"train": []}).graph
    assert draw_examples(empty) == []
