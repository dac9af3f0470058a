"""Labels are data: whatever they hold, what is shown of them is visible and acts on nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from answering_cases import untrained
from answering_commands import write_run
from helpers import nqe, well
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.answering import Answerer, explain
from nqe.answering.answer_drawing import draw_answers
from nqe.errors import NqeError
from nqe.graph import Dataset, Description, Fact
from nqe.query import bind, execute
from nqe.query.drawing import draw_mermaid, draw_text
from nqe.query.svg import draw_svg
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""What must not be shown; tabs separate cells, and line breaks end lines."""
TITLE = "\x1b]0;owned\x07\x1b[31mred"
LABELS = {
    "a": Description(TITLE, "cursor\x1b[2Jgone\nnqe: a second line", ("\x9b31m", "al\tias")),
    "b": Description("two\nnqe: lines\r\x00"),
    "c": Description("\u202egpj.exe\u2069\u2028", "tab\there"),
    "d": Description("</text><script>alert('1')</script>"),
    "e": Description('"><svg onload="x">&[red]x[/red]\x7f\x85'),
    "f": Description("twin\x1b[5m", "the first\x08"),
    "g": Description("twin\x1b[5m", "the second\x0c"),
    "r": Description("next\x1bto\n|x|"),
    "q": Description("with\x07\x9c"),
}
FACTS = [
    Fact("a", "r", "b", (("q", "c"),)),
    Fact("b", "r", "c"),
    Fact("c", "r", "d", (("q", "a"),)),
    Fact("d", "r", "e"),
    Fact("e", "r", "f"),
    Fact("f", "r", "g"),
    Fact("a", "r", "g"),
    Fact("g", "r", "a"),
]
CHAIN = "?x: r(?y, ?x) and r(a, ?y; q: c) and not r(d, ?x)"
ATOM = "r(a, b; q: c)"


def hostile_dataset() -> Dataset:
    return Dataset.of({"train": FACTS, "valid": FACTS[:3], "test": FACTS[3:6]}).describe(LABELS)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph, a RUN and a query set of hostile labels, and with hostile files."""
    folder = tmp_path_factory.mktemp("hostile")
    dataset = hostile_dataset()
    dataset.save(folder / "g.graph")
    write_run(folder / "g.run", dataset, "g.graph")
    few = SamplingSettings(shapes=("1p", "2p"), train=2, valid=2, test=2)
    save_queries(sample(dataset, few, workers=1), folder / "g.queries", "g.graph")
    (folder / "bad\x1b[31m.txt").write_text("a,r,b\na\x1b[5m,r,b\na,r,b,\x9bq\n")
    (folder / "queries.txt").write_text(f"{CHAIN}\n?x: r(?x, \x1b[31mnobody)\n?x: r(?x\x07\n")
    return folder


def check_visible(*texts: str) -> None:
    for text in texts:
        assert not HIDDEN.search(text), text


@pytest.mark.parametrize(
    "words",
    [
        ("show", "g.graph", "a"),
        ("show", "g.graph", "b"),
        ("find", "g.graph", "red"),
        ("stats", "g.graph"),
        ("ask", "g.graph", CHAIN, "--steps", "--proof"),
        ("ask", "g.run", CHAIN, "--steps"),
        ("explain", "g.run", CHAIN),
        ("explain", "g.run", CHAIN, "--format", "markdown"),
        ("explain", "g.run", CHAIN, "--json"),
        ("score", "g.run", ATOM),
        ("suggest", "g.run", "a"),
        ("plan", "g.graph", CHAIN),
        ("plan", "g.graph", CHAIN, "--mermaid"),
        ("sparql", "g.graph", CHAIN),
        ("queries", "show", "g.queries", "--split", "train"),
        ("queries", "stats", "g.queries"),
        ("show", "g.graph", "a", "--json"),
        ("find", "g.graph", "red", "--json"),
        ("ask", "g.graph", CHAIN, "--json", "--steps", "--proof"),
    ],
    ids=lambda words: " ".join(words).replace(CHAIN, "QUERY"),
)
def test_no_command_shows_a_hidden_character(place: Path, words: tuple[str, ...]) -> None:
    run = nqe(*words, cwd=place)
    check_visible(well(run), run.err)


def test_json_holds_the_labels_exactly(place: Path) -> None:
    shown = json.loads(well(nqe("show", "g.graph", "a", "--json", cwd=place)))
    assert Description(shown["label"], shown["description"], tuple(shown["aliases"])) == LABELS["a"]
    found = json.loads(well(nqe("find", "g.graph", "gpj", "--json", cwd=place)))
    assert [one["label"] for one in found if one["id"] == "c"] == [LABELS["c"].label]


def test_a_line_break_in_a_label_makes_no_line_of_its_own(place: Path) -> None:
    for words in (("show", "g.graph", "a"), ("ask", "g.graph", CHAIN, "--proof")):
        run = nqe(*words, cwd=place)
        assert not [line for line in (run.out + run.err).splitlines() if line.startswith("nqe:")]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("show", "g.graph", "\x1b[31m?"), r"no entity is called '\x1b[31m?'"),
        (("show", "g.graph", "twin\x1b[5n"), r"did you mean 'twin\x1b[5m'"),
        (("show", "g.graph", "twin\x1b[5m"), r"twin\x1b[5m (f), the first\x08; twin\x1b[5m (g)"),
        (("ask", "g.graph", '?x: r(?x, "\u202eno\nbody")'), r"called '\u202eno\nbody'"),
        (("ask", "g.graph", "?x:\tr(?x, \x1b"), r"?x:\tr(?x, \x1b"),
        (("stats", "no\x1b[31m\nwhere"), r"no\x1b[31m"),
        (("show", "g.graph", "a", "--facts", "tr\x07ain"), r"tr\x07ain"),
        (("ask", "g.run", CHAIN, "--mode", "ex\x9bact"), r"ex\x9bact"),
        (("sample", "g.graph", "-o", "x", "--shape", "1\x1bp"), r"1\x1bp"),
        (("train", "g.graph", "-o", "x", "--set", "model.\x1bwidth=1"), r"model.\x1bwidth"),
    ],
    ids=lambda one: repr(one)[:40],
)
def test_errors_show_what_they_quote_visibly(
    place: Path, words: tuple[str, ...], shown: str
) -> None:
    run = nqe(*words, cwd=place)
    assert run.code == 2
    check_visible(run.out, run.err)
    assert shown in run.err
    assert "Traceback" not in run.err


def test_the_report_of_bad_lines_is_visible_and_keeps_the_lines(place: Path) -> None:
    name = "bad\x1b[31m.txt"
    run = nqe("import", name, "-o", "some.graph", "--skip-bad", cwd=place)
    check_visible(well(run), run.err)
    assert r"bad\x1b[31m.txt:2: " in run.err
    rows = (place / "some.graph" / "bad_lines.tsv").read_text().split("\n")
    assert rows[2].split("\t")[2] == "a,r,b,\x9bq"
    stopped = nqe("import", name, "-o", "other.graph", cwd=place)
    assert stopped.code == 2
    check_visible(stopped.err)


def test_the_shell_and_files_of_queries_show_no_hidden_character(place: Path) -> None:
    lines = (place / "queries.txt").read_bytes()
    given_lines = lines + f"proof {CHAIN}\nwhy {CHAIN}\nplan {CHAIN}\n".encode()
    run = nqe("shell", "g.run", cwd=place, given=given_lines)
    check_visible(well(run), run.err)
    assert "Why " in run.out
    many = nqe("ask", "g.graph", "--file", "queries.txt", cwd=place)
    assert many.code == 1
    check_visible(many.out, many.err)
    assert many.err.count("nqe: queries.txt:") == 2


def test_answers_in_a_file_are_exact(place: Path) -> None:
    query = "?x: r(a, ?x; q: c)"
    (place / "one.txt").write_text(query + "\n")
    well(nqe("ask", "g.graph", "--file", "one.txt", "-o", "out.jsonl", cwd=place))
    text = (place / "out.jsonl").read_text()
    check_visible(text)
    assert [answer["label"] for answer in json.loads(text)["answers"]] == [LABELS["b"].label]


def test_a_drawing_is_xml_in_which_a_label_is_nothing_but_text(place: Path) -> None:
    well(nqe("plan", "g.graph", CHAIN, "--svg", "plan.svg", cwd=place))
    text = (place / "plan.svg").read_text()
    check_visible(text)
    names = {element.tag.partition("}")[2] for element in ElementTree.fromstring(text).iter()}
    assert names == {"svg", "title", "defs", "marker", "path", "rect", "circle", "text"}
    assert r"\x1b]0;owned\x07\x1b[31mred" in text


# Labels that no file can hold as well: a lone surrogate stands in no UTF-8.
any_labels = st.text(
    st.one_of(
        st.characters(codec=None),
        st.sampled_from(
            "\x00\x1b\x9b\n\r\t\x85\u2028\u202e\u2066\ud800\udfff\ufffe\uffff<>&\"']$`|"
        ),
    ),
    min_size=1,
    max_size=12,
)


@given(st.lists(any_labels, min_size=5, max_size=5))
@settings(max_examples=25)
def test_any_label_is_shown_visibly_in_all_that_is_made_for_people(labels: list[str]) -> None:
    named = zip("abcrq", labels, strict=True)
    described = {name: Description(label, label) for name, label in named}
    graph = Dataset.of({"train": FACTS}).describe(described).graph
    plan, vocabulary = bind(CHAIN, graph.vocabulary), graph.vocabulary
    picture = draw_svg(plan, vocabulary, {0: labels})
    ElementTree.fromstring(picture)
    drawn, mermaid = draw_text(plan, vocabulary), draw_mermaid(plan, vocabulary)
    result = execute("?x: r(a, ?x; q: c)", graph)
    proof = str(result.proof(graph.vocabulary.entities.resolve("b")))
    check_visible(picture, drawn, mermaid, repr(result), proof)
    assert len(drawn.split("\n")) == len(plan.steps)
    assert len(proof.split("\n")) == 1
    assert all(re.match(r"flowchart|  \w+|$", line) for line in mermaid.split("\n"))
    with pytest.raises(NqeError) as unknown:
        vocabulary.entities.resolve(f"no{labels[0]}body")
    check_visible(str(unknown.value))


def test_explanations_and_drawn_answers_are_visible() -> None:
    labels = {**LABELS, "a": Description("\ud800\x1b"), "e": Description("a`` `|b")}
    graph = Dataset.of({"train": FACTS}).describe(labels).graph
    answerer = Answerer(graph, untrained(graph.vocabulary))
    explanation = explain(answerer, CHAIN)
    markdown, picture = explanation.to_markdown(), draw_answers(answerer, CHAIN)
    check_visible(str(explanation), markdown, picture)
    rows = [line for line in markdown.split("\n") if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}
    ElementTree.fromstring(picture)
