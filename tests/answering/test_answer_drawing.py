"""Drawings of a plan with the best entities of every step."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch

import nqe
from nqe.answering import MODES
from nqe.answering.answer_drawing import draw_answers
from nqe.model import new_model
from nqe.settings import ModelSettings

QUERY = "?x: borders(?x, ?y) and currency(?y, Euro) and not speaks(?x, German)"


@pytest.mark.parametrize("mode", MODES)
def test_a_drawing_names_the_best_entities_of_each_step(mode: str) -> None:
    atlas = nqe.demo_dataset()
    names = atlas.vocabulary
    torch.manual_seed(0)
    small = ModelSettings(width=8, layers=1, heads=2, feed_forward=8)
    model = new_model(small, len(names.entities), len(names.relations), names)
    rules = nqe.mine_rules(atlas) if mode == "rules" else None
    answerer = nqe.Answerer(atlas, model, rules=rules)
    tree = ElementTree.fromstring(draw_answers(answerer, QUERY, mode, top=2))
    texts = [one.text or "" for one in tree.iter() if one.tag.endswith("text")]
    best = answerer.answer(QUERY, mode, top=1)[0]
    assert any(text.startswith(f"{best.name[:20]}") for text in texts)
    assert any(text.endswith("more stated") for text in texts) == (mode != "embedding")
    width = float(tree.attrib["width"])
    assert all(float(one.attrib["x"]) < width for one in tree.iter() if "x" in one.attrib)
