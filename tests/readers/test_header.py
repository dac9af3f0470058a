"""First lines that look like headers, and those that do not."""

from __future__ import annotations

import pytest
from helpers import ReadContent
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph import Fact
from nqe.readers import Columns
from nqe.readers.header import looks_like_header, suggest_options

HEADERS = {
    "usual names": "item,prop,value\nQ42,P31,Q5\n",
    "usual names above words": "source,kind,target\nHelsinki,twin,Tallinn\n",
    "usual names alone": "from,to,distance\n",
    "usual names in another style": "Source_ID,edge-type,Target ID\nx,y,z\n",
    "variables of SPARQL": "?s,?p,?o\na,r,b\n",
    "a column of numbers": "person,award,won\nA B,x,1903\nC D,x,1911\nE F,y,1935\n",
    "a column of dates": "who,what,when\na,b,1999-01-02\nc,b,2000-01-02\ne,b,2001-05-01\n",
    "a column of items": "country,border,neighbour\nQ1,P47,Q2\nQ2,P47,Q3\nQ3,P47,Q1\n",
    "a column of addresses": "page,links,other\nhttp://a,x,b\nhttp://c,x,d\nhttp://e,x,f\n",
    "small letters above capitals": "actor,film,role\nKeanu,The Matrix,Neo\nAnn,The Matrix,Eve\n"
    "Keanu,Speed,Jack\n",
    "numbered names": "drug,with,effect\nDrug 1,Drug 2,x\nDrug 2,Drug 3,x\nDrug 3,Drug 1,y\n",
    "addresses of people": "who,lives,reach\na,b,a@x.org\nc,d,c@x.org\ne,f,e@x.org\n",
    "German names": "Subjekt,Prädikat,Objekt\nAnn,kennt,Bob\n",
    "a relation that no other line has": "product,group,supplier\n"
    + "".join(f"w{n}x,tools,acme{n % 3}x\n" for n in range(8)),
    "a column of codes": "city,flies,place\nHEL,to,LHR\nLHR,to,JFK\nJFK,to,HEL\n",
}
FACTS = {
    "a rare relation of a known entity": "w1x,made by,me\n"
    + "".join(f"w{n}x,group,a{n % 3}x\n" for n in range(8)),
    "a rare relation of items": "Q9,P9,Q99\n" + "".join(f"Q{n},P1,Q2{n}\n" for n in range(8)),
    "one fact in small letters": "water,is a,drug\nAnn,knows,Bob\nBob,knows,Cid\n",
    "one fact": "a,r,b\n",
    "facts of items": "Q1,P47,Q2\nQ2,P47,Q3\nQ3,P48,Q1\nQ4,P49,Q1\n",
    "names": "Marie Curie,spouse,Pierre Curie\nIrene,mother,Marie Curie\nPierre,son,Eugene\n",
    "a relation that stands again": "Ann,born,spring\nBob,born,1903\nCy,born,1904\nDi,born,1\n",
    "qualifiers": "a,r,b\nc,s,1,q,x\nd,s,2,q,y,q,z\ne,s,3\nf,s,4\n",
    "one name twice": "value,r,value\na,s,b\n",
    "a number in the first line": "a,1,value,to\nb,2,c,d\n",
}


@pytest.mark.parametrize("text", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_header_is_asked_about(read_content: ReadContent, text: str, separator: str) -> None:
    with pytest.raises(InputError, match=r"facts:1: the first line .* header .* --format statem"):
        read_content(text.replace(",", separator))


@pytest.mark.parametrize("text", FACTS.values(), ids=FACTS)
def test_a_fact_is_not(text: str) -> None:
    assert not looks_like_header(text.splitlines(), ",")


def test_the_options_that_the_error_names_settle_the_question(read_content: ReadContent) -> None:
    text = HEADERS["usual names"]
    facts = set(read_content(text, format="statements").graph)
    assert facts == {Fact("item", "prop", "value"), Fact("Q42", "P31", "Q5")}


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("item,prop,value", "--subject item --relation prop --object value"),
        ("from,to,miles", "--subject from --object to --relation-name NAME"),
        ("source,kind,target", "--subject source --relation kind --object target"),
        ("person,award,won", "--subject person --object award --relation-name NAME"),
        ("city,land", "--subject city --object land --relation-name NAME"),
        ("the city,is in", "--subject 'the city' --object 'is in' --relation-name NAME"),
        (",person,friend", "--subject person --object friend --relation-name NAME"),
        ("a,aLabel,b,bLabel", "--subject a --object b --relation-name NAME"),
        ("Sujet,Prédicat,Objet", "--subject Sujet --relation Prédicat --object Objet"),
    ],
)
def test_the_options_are_those_for_the_names_of_the_columns(names: str, options: str) -> None:
    assert suggest_options(names.split(",")) == options


def test_a_column_of_kinds_that_all_differ_is_not_suggested_as_the_relation() -> None:
    names, kinds = ["source", "label", "target"], "abcdef"
    different = [["x", kind, "y"] for kind in kinds]
    assert suggest_options(names, different).endswith("--object target --relation-name NAME")
    repeated = different * 2
    assert suggest_options(names, repeated) == "--subject source --relation label --object target"


def test_following_the_advice_for_a_header_reads_the_rows(read_content: ReadContent) -> None:
    text = HEADERS["small letters above capitals"]
    advice = r"\(--subject actor --object film --relation-name NAME; --relation COLUMN in place"
    with pytest.raises(InputError, match=advice):
        read_content(text)
    columns = Columns(subject="actor", object="film", relation_name="played in")
    assert Fact("Keanu", "played in", "Speed", (("role", "Jack"),)) in set(
        read_content(text, columns=columns).graph
    )


def test_a_header_with_one_name_twice_asks_for_another_name(read_content: ReadContent) -> None:
    with pytest.raises(InputError, match="write another name for one of the columns 'name', and"):
        read_content("name,name,since\nAnn,Bob,1999\nBob,Cid,2000\nCid,Dan,2001\n")


@given(st.lists(st.text("ab1,\t "), max_size=6), st.sampled_from(",\t"))
def test_whatever_the_lines_are_the_question_has_an_answer(lines: list[str], sign: str) -> None:
    assert looks_like_header(lines, sign) in (True, False)
