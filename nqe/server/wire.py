"""Wire types: what the server takes and gives, from which OpenAPI is made.

A reply is built from the answering package's own types by `nqe.server.replies`; tests hold both
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from nqe.notebook import render_table, render_text, to_frame

if TYPE_CHECKING:
    from pandas import DataFrame

QUERY_EXAMPLE = "?x: borders(?x, France) and not official_language(?x, German)"
ROWS_EXAMPLE = "?x, ?y: borders(?x, ?y) and official_language(?x, ?l) and official_language(?y, ?l)"
JSON_EXAMPLE = {
    "target": "x",
    "formula": {"relation": "borders", "subject": {"variable": "x"}, "object": "France"},
}
FACT_EXAMPLE = {"subject": "France", "relation": "borders", "object": "Spain", "qualifiers": []}
STATEMENT_EXAMPLE = "borders(France, Spain)"

Query = Annotated[
    str | dict[str, Any],
    Field(
        description="A question: text, or the JSON form of a query.",
        examples=[QUERY_EXAMPLE, JSON_EXAMPLE],
    ),
]
Mode = Literal["hybrid", "rules", "embedding", "exact"]
StepKind = Literal["anchor", "p", "and", "or", "not", "any", "target"]
GraphKind = Literal["anchor", "p", "asked", "variable", "comparison", "negation", "choice"]
NodeKind = StepKind | GraphKind


class WireModel(BaseModel):
    """What all wire types have in common: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(WireModel):
    """What went wrong, and what to do next."""

    type: str = Field(description="Names the kind of problem, for programs.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The status of the reply.")
    detail: str = Field(description="What went wrong here, and what to do next.")
    line: int | None = Field(default=None, description="Where in a query's text, from 1.")
    column: int | None = Field(default=None, description="Where in that line, from 1.")
    length: int | None = Field(default=None, description="How many characters are meant there.")
    names: list[str] | None = Field(default=None, description="Names that may have been meant.")


class Asked(WireModel):
    """One question, and how to answer it."""

    query: Query
    mode: Mode | None = Field(
        default=None,
        description="By default hybrid with a model or rules, and exact without; rules leaves the "
        "model out. A question that is no tree is answered exactly if it cannot be otherwise.",
    )
    top: int | None = Field(default=None, ge=1, description="At most this many answers or rows.")
    limit: int | None = Field(default=None, ge=1, description="The same as `top`; give one.")
    order_by: str | None = Field(
        default=None,
        description="Of exact answers: the columns to sort by, such as `?year desc, ?x` or "
        "`count desc`; by default their ids.",
    )
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="Only answers with at least this probability."
    )
    among: Query | None = Field(
        default=None, description="Only entities among the exact answers of this question."
    )
    predicted_only: bool = Field(default=False, description="Only answers that no fact states.")
    stated_only: bool = Field(default=False, description="Only answers that facts state.")
    steps: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="Also show each step, with this many entities; only trees have steps.",
    )

    @model_validator(mode="after")
    def _check_limit(self) -> Asked:
        if self.top is not None and self.limit is not None:
            raise PydanticCustomError("limit", "top and limit mean the same; give one of them")
        return self


class AskedMany(WireModel):
    """Several questions, which are answered together."""

    requests: tuple[Asked, ...] = Field(min_length=1)


TAGS = ("one", "many")


def _count_asked(data: Any) -> str:
    has_many = "requests" in data if isinstance(data, dict) else isinstance(data, AskedMany)
    return TAGS[has_many]


AskedAny = Annotated[
    Annotated[Asked, Tag("one")] | Annotated[AskedMany, Tag("many")], Discriminator(_count_asked)
]


class AskedWhy(WireModel):
    """A question, and the answer to explain."""

    query: Query
    entity: str | None = Field(
        default=None, description="The id or label of an answer; by default the best one."
    )
    row: tuple[str, ...] | None = Field(
        default=None,
        description="If the answers are rows: the id or label in each column; by default those of "
        "the first row.",
    )
    mode: Literal["hybrid", "rules", "exact"] | None = Field(
        default=None,
        description="Of the answers to explain; rules leaves the model out, and exact gives a "
        "proof from facts alone.",
    )


class AskedText(WireModel):
    """The text of a question, which may still be wrong."""

    query: Query


class AskedScore(WireModel):
    """A statement to score."""

    statement: str = Field(description="One atom without variables.", examples=[STATEMENT_EXAMPLE])
    alternatives: int = Field(default=3, ge=0, le=20, description="Others for each slot.")


class AskedSuggestions(WireModel):
    """The entity to suggest statements about."""

    entity: str = Field(description="An id or a label.", examples=["France"])
    relation: str | None = Field(default=None, description="Only statements with this relation.")
    top: int = Field(default=10, ge=1, le=100, description="How many statements.")


class GivenFact(WireModel):
    """A fact to add, by ids or labels."""

    subject: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    object: str = Field(min_length=1)
    qualifiers: tuple[tuple[str, str], ...] = Field(
        default=(), description="Pairs of an attribute and its value."
    )


class GivenFacts(WireModel):
    """Facts to add."""

    facts: tuple[GivenFact, ...] = Field(min_length=1)
    new_names: bool = Field(
        default=False,
        description="Whether a name that the graph lacks becomes the id of a new entity or "
        "relation; otherwise it is refused, as it may be misspelt.",
    )


class Named(WireModel):
    """An entity or a relation with its names."""

    id: str
    label: str | None
    description: str | None


class FoundAnswer(Named):
    """An answer."""

    probability: float | None = Field(
        description="Calibrated; 1 if facts make it certain. None in the mode embedding."
    )
    score: float | None = Field(
        default=None, description="In the mode embedding, the softmax score."
    )
    source: Literal["stated", "predicted"]
    seen: bool = Field(description="Whether the model was trained with the entity.")
    elsewhere: bool = Field(
        description="Whether it is predicted though no fact has it in the asked slot."
    )


class FoundStep(WireModel):
    """One step of the plan, with the likeliest members of its set."""

    step: int
    variable: str
    operator: Literal["P", "And", "Or", "Not", "Any"]
    inputs: tuple[int, ...] = Field(description="The steps whose sets it uses.")
    says: str
    count: int = Field(
        description="How many members; in the mode hybrid, those with a probability above 0.5."
    )
    entities: tuple[FoundAnswer, ...]


class FoundAnswers(WireModel):
    """The answers of one question, the likeliest first."""

    query: str = Field(description="The question as text, with names as they were read.")
    mode: Mode
    answers: tuple[FoundAnswer, ...]
    stated_count: int = Field(description="How many answers facts state, listed or not.")
    likely_count: int | None = Field(
        description="How many predictions are above 0.5 (or the threshold), listed or not."
    )
    unless: tuple[str, ...] = Field(
        description="What missing facts may say against stated answers below 1."
    )
    unseen: tuple[str, ...] = Field(
        description="Names of the query that the model was not trained with; rules alone predict "
        "about them."
    )
    notes: tuple[str, ...] = Field(description="How names were read; what can have no effect.")
    steps: tuple[FoundStep, ...]
    milliseconds: float = Field(description="How long it took, waiting included.")

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, place: int) -> FoundAnswer:
        return self.answers[place]

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        return [one.id for one in self.answers]

    def to_pandas(self) -> DataFrame:
        """Return the answers as a data frame; raises NqeError if pandas is not installed."""
        return to_frame(*self._table())

    def _repr_html_(self) -> str:
        """How a notebook shows the answers."""
        return render_table(*self._table(), caption=self.query)

    def _table(self) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        measure = "score" if self.mode == "embedding" else "probability"
        rows = [(one.id, one.label, getattr(one, measure), one.source) for one in self.answers]
        return ("id", "label", measure, "source"), rows


class FoundCell(Named):
    """What stands for a target in one row."""

    kind: Literal["entity", "relation"]


class FoundRow(WireModel):
    """What stands for each target in one row, and how many there are of what is counted."""

    cells: tuple[FoundCell, ...] = Field(description="One for each target, in their order.")
    count: int | None = Field(description="None if the question counts nothing.")
    probability: float = Field(description="1 if facts make it certain.")
    known: bool = Field(description="Whether the row follows from facts alone.")

    @property
    def source(self) -> str:
        """Where the row comes from: 'stated' or 'predicted'."""
        return "stated" if self.known else "predicted"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the cells."""
        return tuple(one.id for one in self.cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the cells, or the ids of what has none."""
        return tuple(one.label or one.id for one in self.cells)


class FoundRows(WireModel):
    """The answers of a question of several targets, of a count, or of a relation."""

    query: str = Field(description="The question as text, with names as they were read.")
    mode: Mode
    targets: tuple[str, ...] = Field(description="The variables of the columns.")
    counted: str | None = Field(description="The variable that is counted, if any.")
    rows: tuple[FoundRow, ...]
    stated_count: int = Field(description="How many rows facts state, listed or not.")
    likely_count: int | None = Field(
        description="How many predictions are above 0.5 (or the threshold), listed or not."
    )
    unseen: tuple[str, ...] = Field(
        description="Names of the question that the model was not trained with."
    )
    notes: tuple[str, ...] = Field(description="How names were read; what can have no effect.")
    milliseconds: float = Field(description="How long it took, waiting included.")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> FoundRow:
        return self.rows[place]

    @property
    def ids(self) -> list[tuple[str, ...]]:
        """The ids of the rows."""
        return [one.ids for one in self.rows]

    def to_pandas(self) -> DataFrame:
        """Return the rows in labels as a data frame; raises NqeError without pandas."""
        return to_frame(*self._table())

    def _repr_html_(self) -> str:
        """How a notebook shows the rows."""
        return render_table(*self._table(), caption=self.query)

    def _table(self) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        columns, rows = self.targets, [tuple[Any, ...](one.names) for one in self.rows]
        if self.counted is not None:
            columns = (*columns, "count")
            rows = [(*names, one.count) for names, one in zip(rows, self.rows, strict=True)]
        if self.mode == "exact":
            return columns, rows
        pairs = zip(rows, self.rows, strict=True)
        rows = [(*names, one.probability, one.source) for names, one in pairs]
        return (*columns, "probability", "source"), rows


class FoundMany(WireModel):
    """The answers of several questions, in their order; a problem for each that has none."""

    replies: tuple[FoundAnswers | FoundRows | Problem, ...]


class FoundFact(WireModel):
    """A fact in ids and in labels."""

    subject: Named
    relation: Named
    object: Named
    qualifiers: tuple[tuple[Named, Named], ...]


class AddedFact(FoundFact):
    """A fact that was added, with the number by which it can be taken back."""

    number: int


class AddedFacts(WireModel):
    """Facts that were added and not taken back."""

    facts: tuple[AddedFact, ...]
    count: int = Field(description="How many facts the graph has now.")


class FoundRule(WireModel):
    """A rule: what it says, how often it was looked at, and how often it was right."""

    rule: str = Field(description="As logic: what follows <- from what.")
    words: str = Field(description="In words, with its counts.")
    support: int = Field(description="How many of its predictions are true.")
    predictions: int = Field(description="How many it makes where something is known.")
    confidence: float = Field(description="The share that is true, lower where there are few.")


class FiredRule(FoundRule):
    """A rule that predicts something, with the facts that it does so from."""

    facts: tuple[FoundFact, ...]


class FoundRules(WireModel):
    """The rules that predict facts of a relation, those of most confidence first."""

    relation: Named
    rules: tuple[FoundRule, ...]
    count: int = Field(description="How many there are, listed or not.")


class FoundReason(Named):
    """Why an entity is in the set of a step: a fact, a prediction, or the reasons of its parts."""

    kind: Literal["fact", "prediction", "and", "or", "not", "any"]
    variable: str
    of_relation: bool = Field(
        description="Whether the variable stands for a relation, which id and label are then of."
    )
    probability: float = Field(description="Of the whole, with everything below it.")
    own: float = Field(description="Of this atom alone; 1 if it is stated.")
    says: str = Field(description="The atom with names in it, or what a negation did not find.")
    ways: int = Field(description="How many ways lead here; the likeliest is shown.")
    alone: float = Field(description="The probability of the likeliest way alone.")
    fact: FoundFact | None
    rules: tuple[FiredRule, ...] = Field(
        description="The strongest rules that predict the atom, if it is predicted."
    )
    more_rules: int = Field(description="How many more rules predict it.")
    model: float | None = Field(
        description="What the model alone gives a predicted atom; None if it knows nothing of it."
    )
    because: tuple[FoundReason, ...]


class FoundRemoved(WireModel):
    """What a negation took away."""

    says: str
    entities: tuple[FoundAnswer, ...]


class _Explanation(WireModel):
    """What the explanations of all answers have in common."""

    query: str
    rank: int
    reason: FoundReason
    ways: int = Field(
        default=1,
        description="Of a question that is no tree: how many bindings of its other variables lead "
        "to the answer; the reason has the likeliest.",
    )
    weakest: str | None = Field(description="The part that lowers the probability most.")
    steps: tuple[FoundStep, ...]
    removed: tuple[FoundRemoved, ...]
    unseen: tuple[str, ...]
    notes: tuple[str, ...]
    text: str = Field(description="The whole explanation as text.")

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """How a notebook shows the explanation."""
        return render_text(self.text)


class FoundExplanation(_Explanation):
    """Why an entity has its rank."""

    answer: FoundAnswer


class FoundRowExplanation(_Explanation):
    """Why a row has its rank; that of a proof is its place in the order of ids."""

    row: FoundRow


class PlanNode(WireModel):
    """A node of the drawn plan, with its centre."""

    id: str
    kind: NodeKind
    text: str
    step: int | None = Field(description="The step that it stands for, in the plan of a tree.")
    x: float
    y: float
    width: float


class PlanEdge(WireModel):
    """An arrow of the drawn plan; its text names the slot."""

    source: str
    target: str
    text: str


class PlanDrawing(WireModel):
    """The plan as a drawing, from the anchors on the left to what is asked for on the right.

    That of a question that is no tree has its variables and the conditions between them.
    """

    nodes: tuple[PlanNode, ...]
    edges: tuple[PlanEdge, ...]


class FoundParse(WireModel):
    """What the text of a question means, or what is wrong with it."""

    problem: Problem | None
    text: str | None = Field(description="The question in its usual form.")
    json_: dict[str, Any] | None = Field(
        alias="json", description="The question in its JSON form, for builders."
    )
    shape: str | None = Field(
        description="One of the 16 shapes, or the shape as a tree; None if it is no tree."
    )
    targets: tuple[str, ...] = Field(description="The variables that it asks for.")
    counted: str | None = Field(description="The variable that it counts, if any.")
    modes: tuple[Mode, ...] = Field(description="The modes that can answer it; the default first.")
    steps: tuple[FoundStep, ...]
    drawing: PlanDrawing | None
    notes: tuple[str, ...]


class FoundSparql(WireModel):
    """The question in SPARQL."""

    sparql: str


class FoundSlot(WireModel):
    """One slot of a scored statement."""

    slot: str
    answer: FoundAnswer
    rank: int = Field(description="Among the entities that no other fact states there.")
    alternatives: tuple[FoundAnswer, ...]


class FoundScore(WireModel):
    """How likely a statement is, or would be if no fact stated it."""

    statement: str
    stated: bool
    probability: float
    slots: tuple[FoundSlot, ...]
    rule: FiredRule | None = Field(description="The strongest rule that predicts it.")
    unseen: tuple[str, ...]
    notes: tuple[str, ...]


class FoundSuggestion(WireModel):
    """A likely statement that the graph lacks."""

    subject: Named
    relation: Named
    object: Named
    probability: float
    statement: str


class FoundSuggestions(WireModel):
    """Likely statements, the likeliest first."""

    suggestions: tuple[FoundSuggestion, ...]


class FoundCompletion(WireModel):
    """A text that can replace what is typed of a name."""

    text: str
    replaces: int = Field(description="How many characters before the cursor it replaces.")
    name: str
    description: str


class FoundCompletions(WireModel):
    """Names that fit at the cursor."""

    completions: tuple[FoundCompletion, ...]


class FoundName(Named):
    """A name that was searched for."""

    how: str = Field(description="What matched: an id, a label, a prefix, a part, a spelling.")


class FoundNames(WireModel):
    """Names, those that fit best first."""

    names: tuple[FoundName, ...]


class FoundEntity(Named):
    """An entity with its facts."""

    aliases: tuple[str, ...]
    seen: bool
    fact_count: int
    as_subject: tuple[FoundFact, ...]
    as_object: tuple[FoundFact, ...]
    as_value: tuple[FoundFact, ...]
    predicted: tuple[FoundSuggestion, ...] = Field(
        description="Likely statements that no fact states, if they were asked for."
    )


class FoundRelation(Named):
    """A relation, and how it is used."""

    facts: int = Field(description="How many facts have it as their relation.")
    qualifiers: int = Field(description="How many qualifiers have it as their attribute.")
    examples: tuple[FoundFact, ...]


class FoundRelations(WireModel):
    """The relations, those of most facts first."""

    relations: tuple[FoundRelation, ...]
    count: int = Field(description="How many there are, listed or not.")


class Frequency(Named):
    """How often a name is used."""

    count: int


class FoundModel(WireModel):
    """What is known about the model."""

    kind: str
    parameters: int
    trained_on: str | None
    calibrated: bool
    settings: dict[str, Any]
    card: str | None = Field(description="The model's card, in Markdown.")
    curve: tuple[dict[str, Any], ...] = Field(description="Validations during training.")
    reliability: dict[str, Any] | None = Field(
        description="How often predictions of a probability are right."
    )


class FoundGraph(WireModel):
    """The graph at a glance, and the model."""

    name: str
    facts: int
    entities: int
    relations: int
    splits: dict[str, int]
    with_qualifiers: int
    arities: dict[int, int] = Field(description="How many facts have how many entities.")
    most_connected: tuple[Frequency, ...]
    model: FoundModel | None
    rules: int = Field(description="How many rules predict, with the model or alone.")
    examples: tuple[str, ...] = Field(description="Questions to begin with.")
    writable: bool
    version: str


class Health(WireModel):
    """Whether the server lives, or is ready."""

    status: Literal["ok", "ready", "starting", "stopping"]
    detail: str | None = None
    progress: float | None = Field(default=None, description="How far the start is, from 0 to 1.")
