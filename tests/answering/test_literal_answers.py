"""Literals are asked for, sampled, trained and predicted like all other entities."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_dataset import settings

import nqe
from nqe.graph import Dataset, Fact
from nqe.graph.literals import is_literal_id
from nqe.query.step_table import StepTable
from nqe.sampling import sample
from nqe.settings import SamplingSettings

PEOPLE = 30


def people() -> Dataset:
    """People of three towns; those of a town are of one height, and were born in one decade."""
    train, valid = [], []
    for number in range(PEOPLE):
        person, town = f"person{number}", number % 3
        since = (("since", f"{1900 + number}-05^^time"),)
        train.append(Fact(person, "lives_in", f"town{town}", since))
        train.append(Fact(person, "called", f"Person {number}^^text@en"))
        height = Fact(person, "height", f"1.{town + 6} m^^number")
        born = Fact(person, "born", f"{187 + town}X^^time")
        (valid if number % 5 == 0 else train).extend((height, born))
    return Dataset.of({"train": train, "valid": valid})


DATASET = people()


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("?x: lives_in(person1, ?t; since: ?x)", ["May 1901"]),
        ("?x: lives_in(?x, ?t; since: 1901-05)", ["person1"]),
        ('?x: lives_in(?x, ?t; since: "May 1901")', ["person1"]),
        ("?x: height(person1, ?x)", ["1.7 m"]),
        ('?x: height(?x, "1.70 m") and lives_in(?x, town1; since: "1901-05^^time")', ["person1"]),
        ("?x: born(person1, ?x)", ["1880s"]),
        ('?x: called(?x, "Person 7")', ["person7"]),
        ('?x: called(?x, "Person 7^^text@en") and not born(?x, 187X)', ["person7"]),
        ("?y: height(?x, ?y) and born(?x, 187X)", ["1.6 m"]),
    ],
)
def test_literals_are_asked_for_in_every_slot(question: str, labels: list[str]) -> None:
    assert nqe.execute(question, DATASET.graph).labels == labels
    again = nqe.parse(str(nqe.parse(question)))
    assert nqe.execute(again, DATASET.graph).labels == labels


def test_the_sampler_draws_questions_about_literals_and_with_literals() -> None:
    few = SamplingSettings(shapes=("1p", "2i"), train=60, valid=0, test=0)
    table = sample(DATASET, few, workers=1).splits["train"]
    ids = DATASET.vocabulary.entities.ids
    assert any(is_literal_id(ids[number]) for number in table.easy.values.tolist())
    anchors = {slot for row in range(len(table)) for slot in list_anchors(table.plans, row)}
    assert any(is_literal_id(ids[number]) for number in anchors)


def list_anchors(plans: StepTable, row: int) -> list[int]:
    return [slot for step in plans.plan(row).steps for slot in step.slots if slot is not None]


def test_a_model_predicts_literals(tmp_path: Path) -> None:
    nqe.train(DATASET, tmp_path / "run", settings=settings(steps=30, evaluate_steps=30, rate=2e-2))
    DATASET.save(tmp_path / "graph")
    answerer = nqe.open(tmp_path / "run", graph=tmp_path / "graph", facts="train")
    answers = answerer.answer("?x: height(person0, ?x)", top=3)
    assert answers[0].source == "predicted"
    assert answers[0].label in ("1.6 m", "1.7 m", "1.8 m")
    assert nqe.open(tmp_path / "graph").answer("?x: height(person1, ?x)")[0].label == "1.7 m"
