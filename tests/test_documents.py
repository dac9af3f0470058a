"""JSON files with a digest: what was changed is noticed, and all numbers are finite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.documents import check_digest, parse_document, render_document
from nqe.errors import StorageError

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
contents = st.dictionaries(st.text(), values).filter(lambda content: "digest" not in content)


@given(contents)
def test_what_is_read_is_what_was_written_in_any_layout(content: dict[str, object]) -> None:
    text = render_document(Path("x"), content)
    for layout in (text, json.dumps(json.loads(text), sort_keys=True)):
        read = parse_document(layout.encode())
        check_digest(read)
        del read["digest"]
        assert read == content


@given(contents, st.text(), values)
def test_a_changed_entry_is_noticed(content: dict[str, object], key: str, value: object) -> None:
    read = parse_document(render_document(Path("x"), content).encode())
    changed = {**read, key: value}
    if key == "digest" or (json.dumps(content.get(key)) == json.dumps(value) and key in content):
        return
    with pytest.raises(ValueError, match="does not fit its digest"):
        check_digest(changed)


def test_a_missing_digest_is_noticed_unless_the_version_had_none() -> None:
    with pytest.raises(ValueError, match="its digest is missing"):
        check_digest({"a": 1})
    check_digest({"a": 1}, required=False)
    with pytest.raises(ValueError, match="does not fit its digest"):
        check_digest({"a": 1, "digest": "0"}, required=False)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_not_written(number: float) -> None:
    with pytest.raises(StorageError, match="x: not written, as a number in it is not finite; "):
        render_document(Path("x"), {"a": [number]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": NaN}', "NaN is not a finite number"),
        ('{"a": -Infinity}', "-Infinity is not a finite number"),
        ('{"a": 1e999}', "1e999 is not a finite number"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
        ("[" * 100_000, "nested too deep"),
        ("[]", "not a JSON object"),
    ],
    ids=["nan", "infinity", "overflow", "digits", "deep", "list"],
)
def test_what_is_no_document_is_a_value_error(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_document(text.encode())


def test_a_path_that_is_no_utf8_can_be_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(render_document(path, {"dataset": "a\udcff", "é": 1}), encoding="utf-8")
    read = parse_document(path.read_bytes())
    check_digest(read)
    assert read["dataset"] == "a\udcff"
