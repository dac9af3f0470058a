"""Relations that may hold between entities: ranked by the model, marked by the facts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from answering_cases import untrained

import nqe
from nqe.answering import Answerer
from nqe.errors import NqeError
from nqe.graph import Description, Fact, Graph
from nqe.graph.fact_columns import Facts
from nqe.model import Model

FACTS = [
    Fact("anna", "lives_in", "rome", (("since", "1990"), ("with", "ben"))),
    Fact("anna", "works_in", "rome"),
    Fact("anna", "born_in", "oslo"),
    Fact("ben", "lives_in", "rome", (("since", "1990"), ("until", "1990"))),
]
GRAPH = Graph.of(FACTS).describe({"lives_in": Description("lives in")})
NAMES = GRAPH.vocabulary


@cache
def model() -> Model:
    return untrained(NAMES, predict_relations=True)


def answerer(graph: Graph = GRAPH) -> Answerer:
    return Answerer(graph, model())


def test_all_relations_are_ranked_by_the_model_s_softmax() -> None:
    found = answerer().predict_relations("anna", "rome", [("since", "1990")])
    entity, relation = NAMES.entities.resolve, NAMES.relations.resolve
    columns = [[entity("anna")], [-1], [entity("rome")], [0, 1], [relation("since")]]
    asked = Facts(*(np.array(one) for one in (*columns, [entity("1990")], [1])))
    scores = model().score_relations(asked)[0].softmax(0)
    assert len(found) == len(NAMES.relations)
    for one in found:
        assert one.probability == pytest.approx(float(scores[one.relation]))
        assert one.id == NAMES.relations.ids[one.relation]
    assert [one.probability for one in found] == sorted((float(s) for s in scores), reverse=True)
    assert sum(one.probability for one in found) == pytest.approx(1)


def known(*arguments: Any, **options: Any) -> set[str]:
    found = answerer().predict_relations(*arguments, **options)
    return {one.id for one in found if one.known}


def test_what_facts_state_is_marked_also_if_they_say_more() -> None:
    assert known("anna", "rome") == {"lives_in", "works_in"}
    assert known("anna", "rome", [("since", "1990")]) == {"lives_in"}
    assert known("rome", "anna") == set()
    assert known("anna", "rome", [("since", "1990"), ("since", "1990")]) == set()


def test_the_attribute_of_a_qualifier_can_be_asked_for() -> None:
    assert known("ben", "rome", [(None, "1990")], relation="lives in") == {"since", "until"}
    both = [("since", "1990"), (None, "1990")]
    assert known("ben", "rome", both, relation="lives_in") == {"until"}
    assert known("anna", "rome", [(None, "ben")], relation="lives_in") == {"with"}


def test_names_are_looked_up_and_numbers_taken_as_they_are() -> None:
    numbers = [NAMES.entities.resolve(name) for name in ("anna", "rome")]
    assert nqe.predict_relations(answerer(), *numbers) == nqe.predict_relations(
        answerer(), "anna", "rome"
    )
    [first] = answerer().predict_relations("anna", "rome", top=1)
    assert first == answerer().predict_relations("anna", "rome")[0]
    labelled = {one.id: one.name for one in answerer().predict_relations("anna", "rome")}
    assert (labelled["lives_in"], labelled["works_in"]) == ("lives in", "works_in")
    assert set(first.to_json()) == {"relation", "label", "probability", "known"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"relation": "lives_in"}, "0 relations are missing; give the relation and all"),
        ({"qualifiers": [(None, "1990")]}, "2 relations are missing; give the relation and all"),
        ({"object_": "paris"}, "paris"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NqeError, match=sentence):
        answerer().predict_relations(**({"subject": "anna", "object_": "rome"} | options))


def test_a_model_without_relations_to_predict_and_a_graph_alone_refuse() -> None:
    with pytest.raises(NqeError, match="trained without relations to predict; train one with"):
        Answerer(GRAPH, untrained(NAMES)).predict_relations("anna", "rome")
    with pytest.raises(NqeError, match="a graph alone predicts nothing; open a RUN"):
        Answerer(GRAPH).predict_relations("anna", "rome")


def test_names_that_were_added_after_training_are_not_predicted_with() -> None:
    later = Graph.of(
        [*FACTS, Fact("anna", "a_new_relation", "rome"), Fact("zoe", "born_in", "rome")]
    )
    found = answerer(later).predict_relations("anna", "rome")
    before = answerer().predict_relations("anna", "rome")
    assert [(one.id, one.probability) for one in found[:-1]] == [
        (one.id, pytest.approx(one.probability)) for one in before
    ]
    assert (found[-1].id, found[-1].probability, found[-1].known) == ("a_new_relation", 0, True)
    with pytest.raises(NqeError, match="zoe was added to the graph after the model was trained"):
        answerer(later).predict_relations("zoe", "rome")
    with pytest.raises(NqeError, match="a_new_relation was added to the graph after"):
        answerer(later).predict_relations(
            "anna", "rome", [(None, "1990")], relation="a_new_relation"
        )
