"""Signatures: equal for queries that differ only in the order of their parts."""

from __future__ import annotations

import pytest

from nqe import demo_dataset
from nqe.query import bind, parse
from nqe.sampling.signature import repeats_itself, signature_of, signature_of_query

VOCABULARY = demo_dataset().vocabulary


def test_the_signature_does_not_depend_on_the_order_of_parts() -> None:
    one = bind("?x: borders(?x, France) and speaks(?x, German)", VOCABULARY)
    other = bind("?x: speaks(?x, German) and borders(?x, France)", VOCABULARY)
    assert signature_of(one) == signature_of(other)
    assert signature_of(one) != signature_of(bind("?x: borders(?x, France)", VOCABULARY))
    assert repeats_itself(bind("?x: borders(?x, France) and borders(?x, France)", VOCABULARY))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("?x: p(?x, ?y) and q(?y, ?x)", "?x: q(?z, ?x) and p(?x, ?z)", True),
        ("?x, ?y: p(?x, ?z) and p(?y, ?z)", "?y, ?x: p(?y, ?a) and p(?x, ?a)", True),
        ("?x, ?y: p(?x, ?y)", "?y, ?x: p(?x, ?y)", True),
        ("?x, ?y: p(?x, ?y) and ?x != ?y", "?x, ?y: p(?x, ?y) and ?y != ?x", True),
        ("?x, ?y: p(?x, ?y) and ?x < ?y", "?x, ?y: p(?x, ?y) and ?y < ?x", False),
        ("?x: p(?x, ?y; a: b, c: ?y)", "?x: p(?x, ?y; c: ?y, a: b)", True),
        ("?x: p(?x, ?y) and q(?y, ?x)", "?x: p(?x, ?y) and q(?x, ?y)", False),
        ("?x: p(?x, ?y) and q(?y, ?z)", "?x: p(?x, ?z) and q(?y, ?z)", False),
        ("?x: p(?x, ?y) and not q(?x, ?y)", "?x: only p(?x, ?y) and not q(?x, ?y)", False),
        ("?x: p(?x, a) or not q(?x, ?y)", "?x: not q(?x, ?z) or p(?x, a)", True),
    ],
)
def test_the_signature_of_a_query_depends_on_its_meaning_alone(
    one: str, other: str, same: bool
) -> None:
    signatures = {signature_of_query(parse(text)) for text in (one, other)}
    assert len(signatures) == (1 if same else 2)
