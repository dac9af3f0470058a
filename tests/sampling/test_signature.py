"""Signatures: equal for queries that differ only in the order of their parts."""

from __future__ import annotations

from nqe import demo_dataset
from nqe.query import bind
from nqe.sampling.signature import repeats_itself, signature_of

VOCABULARY = demo_dataset().vocabulary


def test_the_signature_does_not_depend_on_the_order_of_parts() -> None:
    one = bind("?x: borders(?x, France) and speaks(?x, German)", VOCABULARY)
    other = bind("?x: speaks(?x, German) and borders(?x, France)", VOCABULARY)
    assert signature_of(one) == signature_of(other)
    assert signature_of(one) != signature_of(bind("?x: borders(?x, France)", VOCABULARY))
    assert repeats_itself(bind("?x: borders(?x, France) and borders(?x, France)", VOCABULARY))
