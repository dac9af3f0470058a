"""Building a data set from facts: which ids are allowed, and what a refused fact leaves."""

from __future__ import annotations

import pytest

from nqe.errors import InputError
from nqe.graph import Fact, Graph, builder


@pytest.mark.parametrize(
    "name",
    ["", " a", "a ", "a\nb", "a\tb", "a\x00", "a\u2028b", "\ufeffa", "\udce4", "a\x85b", "\x7f"],
)
def test_an_id_that_a_text_format_could_not_hold_is_refused(name: str) -> None:
    for fact in (Fact(name, "r", "b"), Fact("a", name, "b"), Fact("a", "r", "b", (("q", name),))):
        with pytest.raises(InputError, match=r"rename it|give it a name"):
            Graph.of([fact])


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "a\u00a0b", "👩\u200d🚀", "\U0001fadf", '5" disk']
)
def test_an_id_may_be_in_any_script(name: str) -> None:
    assert Graph.of([Fact(name, "r", "b")]).vocabulary.entities.number(name) is not None


def test_a_refused_fact_leaves_no_ids_behind() -> None:
    several = builder.DatasetBuilder()
    collector = several.split("train")
    collector.add(Fact("a", "r", "b"))
    with pytest.raises(InputError):
        collector.add(Fact("new", "new_relation", "b", (("q", "x"), ("q2", " "))))
    vocabulary, splits = several.finish()
    assert list(vocabulary.entities.ids) == ["a", "b"]
    assert list(vocabulary.relations.ids) == ["r"]
    assert len(splits["train"]) == 1


def test_facts_that_are_stated_again_and_again_are_held_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = [Fact("a", "r", "b", (("q", f"v{n % 7}"),) * (n % 3)) for n in range(1000)]
    expected = Graph.of(facts)
    monkeypatch.setattr(builder, "MERGED_AT", 50)
    several = builder.DatasetBuilder()
    collector = several.split("train")
    for fact in facts:
        collector.add(fact)
        assert len(collector.to_columns()) <= 50 + 21
    vocabulary, splits = several.finish()
    assert Graph(vocabulary, splits["train"]) == expected
    assert expected.facts.count.sum() == 1000
