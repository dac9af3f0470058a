"""What facts state is kept over the demo graph, whatever an untrained model says."""

from __future__ import annotations

import statistics
from functools import cache

import pytest
from answering_cases import untrained

from nqe import demo_dataset
from nqe.answering import Answerer, HybridOptions, explain
from nqe.answering.calibration import MAX_PREDICTED
from nqe.errors import TooManyBindings
from nqe.query import bind, execute

OUTSIDE = "?x: borders(?x, ?y) and not continent(?y, Europe)"
FRANCE = "?x: borders(?x, France)"


@cache
def atlas(beam: int = HybridOptions.beam) -> Answerer:
    """The demo graph with an untrained model, which is not calibrated."""
    dataset = demo_dataset()
    model = untrained(dataset.vocabulary, temperature=1.0)
    return Answerer(dataset, model, options=HybridOptions(beam))


def find_least_chances() -> dict[int, float]:
    """For each exact answer, how likely its best stated neighbour is to lie outside of Europe.

    Of the model this takes only what it says against that neighbour.
    """
    graph = demo_dataset().graph
    [europe] = atlas().compute_sets([bind("?y: continent(?y, Europe)", graph)])
    borders = graph.facts.relation == graph.vocabulary.relations.resolve("borders")
    subjects, objects = graph.facts.subject[borders], graph.facts.object[borders]
    best: dict[int, float] = {}
    for one, chance in zip(subjects.tolist(), 1 - europe.look_up(objects), strict=True):
        best[one] = max(best.get(one, 0.0), float(chance))
    return {one: best[one] for one in execute(OUTSIDE, graph).answers.tolist()}


@pytest.mark.parametrize("beam", [1, HybridOptions.beam])
def test_the_beam_loses_no_stated_answer_of_a_negation_below_a_projection(beam: int) -> None:
    least = find_least_chances()
    assert len(least) > 100
    answers = atlas(beam).answer(OUTSIDE, top=len(least))
    assert {one.entity for one in answers} == set(least)
    for one in answers:
        assert one.probability >= min(least[one.entity], MAX_PREDICTED) - 1e-6
    # Those with one neighbour alone may be less likely, as the model may doubt it.
    assert statistics.quantiles([one.probability for one in answers], n=20)[0] >= 0.99


def test_an_answer_of_two_negations_is_certain_where_the_answer_without_is() -> None:
    twice = "?x: not (not borders(?x, France))"
    plain, doubled = (atlas().answer(query, threshold=1) for query in (FRANCE, twice))
    assert plain.ids == doubled.ids
    assert len(plain) == 8
    assert all(one.probability == 1 for one in doubled)


def test_ranks_are_places_in_the_list_also_among_equal_answers() -> None:
    answers = atlas().answer(FRANCE, top=12)
    assert [explain(atlas(), FRANCE, one.entity).rank for one in answers] == list(range(1, 13))


def test_an_explanation_keeps_to_the_limit_of_bindings() -> None:
    dataset = demo_dataset()
    limited = Answerer(dataset, untrained(dataset.vocabulary), max_bindings=100)
    with pytest.raises(TooManyBindings, match="more than the limit of 100"):
        limited.explain(OUTSIDE)
