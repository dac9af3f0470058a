"""Settings, frozen; the only home of defaults."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from nqe.errors import NqeError

SLOTS = ("subject", "object", "value")
MATCHES = ("closed", "open", "any")
DRAWS = ("fact", "relation")
BALANCES = ("none", "missing")


@dataclass(frozen=True)
class SamplingSettings:
    """How queries are sampled."""

    shapes: tuple[str, ...] = ()
    """Shapes to sample, by name (2p) or as trees (P(P())); empty means the paper's 16."""
    train: int | None = None
    """Training queries per shape; None chooses a number by the size of the graph."""
    valid: int | None = None
    """Validation queries per shape; None chooses a number by the size of the graph."""
    test: int | None = None
    """Test queries per shape; None chooses a number by the size of the graph."""
    match: str = "closed"
    """The kind of atoms: closed as in the paper, open, or any (a mixture of both)."""
    slots: tuple[str, ...] = SLOTS
    """The slots that may be asked for or hold a variable."""
    qualifiers: int | None = None
    """The number of qualifiers of every atom; None means any number."""
    draw: str = "fact"
    """How a walk begins: at a fact drawn uniformly, or at a fact of a relation drawn uniformly."""
    balance: str = "none"
    """With `missing`, equally many queries per number of missing links, if the graph allows it."""
    max_answers: int = 1_000
    """A query with more answers is left out."""
    train_answers: int = 100
    """A training query keeps at most this many of its answers, drawn at random."""
    seed: int = 0
    """The same seed gives the same files."""

    def __post_init__(self) -> None:
        _among("match", self.match, MATCHES)
        _among("draw", self.draw, DRAWS)
        _among("balance", self.balance, BALANCES)
        for slot in self.slots:
            _among("slots", slot, SLOTS)
        for name in ("train", "valid", "test", "qualifiers"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise NqeError(f"setting {name} is {value}; it cannot be negative")
        for name in ("max_answers", "train_answers"):
            if getattr(self, name) < 1:
                raise NqeError(f"setting {name} is {getattr(self, name)}; it must be 1 or more")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON data."""
        return to_json(self)


HETEROGENEITIES = ("dual", "node", "edge")
BATCHINGS = ("parallel", "by-shape")
TARGETS = ("all", "one")
LOSSES = ("full", "sampled")
OPTIMIZERS = ("adam", "adamw")
DECAYS = ("linear", "cosine", "none")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class ModelSettings:
    """The structure of a model. Other kinds of models may use only some of the settings."""

    kind: str = "nqe"
    """The kind of model, a name in `nqe.model.MODELS`."""
    width: int = 200
    """The length of every vector."""
    layers: int = 3
    """The number of layers of the encoder."""
    heads: int = 4
    """The number of attention heads; each has width / heads values."""
    feed_forward: int = 400
    """The width inside the feed-forward network of a layer."""
    dropout: float = 0.2
    """The part of the activations that is set to 0 in training."""
    encoder: str = "transformer"
    """The encoder of projections, a name in `nqe.model.ENCODERS`."""
    heterogeneity: str = "dual"
    """What attention distinguishes: roles and kinds of edges (dual), roles (node), edges (edge)."""
    logic: str = "product"
    """The fuzzy logic, a name in `nqe.model.LOGICS`; `mean` is the paper's Logic-blind."""
    score: str = "centred"
    """How entities are scored, a name in `nqe.model.SCORERS`; `dot` is the paper's score."""
    temperature: float = 12.0
    """The initial value of the factor of the centred score; the factor is learnt."""
    steepness: float = 8.0
    """Vectors of names are sigmoid(steepness · (weights - mean)): how fast training moves them."""

    def __post_init__(self) -> None:
        _among("model.heterogeneity", self.heterogeneity, HETEROGENEITIES)
        for name in ("width", "layers", "heads", "feed_forward"):
            _at_least(f"model.{name}", getattr(self, name), 1)
        for name in ("temperature", "steepness"):
            _above(f"model.{name}", getattr(self, name), 0)
        _part("model.dropout", self.dropout, whole=False)
        if self.width % self.heads:
            raise NqeError(
                f"setting model.width is {self.width}, which {self.heads} heads cannot share; "
                "choose a multiple of model.heads"
            )


@dataclass(frozen=True)
class TrainSettings:
    """How a model is trained."""

    shapes: tuple[str, ...] = ()
    """Shapes to train on; empty means all of the query set, or all 16 from a graph."""
    facts: str = "train"
    """The splits to learn from when there is no query set: train, or train,valid."""
    open_share: float = 0.1
    """From a graph: the share of open queries among one-hop queries; the others are closed."""
    answers_power: float = 0.5
    """From a graph: how often a one-hop query occurs is its number of answers to this power."""
    one_hop_share: float = 0.5
    """From a graph: the share of one-hop queries in a batch when there are other shapes."""
    batch: int = 1024
    """Queries per step, over all processes together."""
    batching: str = "parallel"
    """All shapes mixed in each batch (parallel), or one shape per batch (by-shape)."""
    targets: str = "all"
    """All answers of a query are targets (all), or one drawn per step as in the paper (one)."""
    smoothing: float = 0.1
    """The ε of label smoothing."""
    loss: str = "sampled"
    """Softmax over all entities (full), or over a sample of them until `full_from` (sampled)."""
    candidates: int = 5_000
    """The number of entities drawn for a sampled softmax."""
    full_from: float = 0.9
    """The part of the training after which a sampled softmax is replaced by the full one."""
    optimizer: str = "adam"
    """adam or adamw."""
    rate: float = 2e-3
    """The highest learning rate."""
    warm_up: float = 0.02
    """The part of the training during which the learning rate rises."""
    decay: str = "linear"
    """How the learning rate falls to zero after the warm-up: linear, cosine or none."""
    weight_decay: float = 0.0
    """The weight decay of adamw; with adam, the factor of an L2 penalty."""
    clip: float = 1.0
    """Gradients are clipped to this norm; 0 does not clip."""
    average: float = 0.0
    """The decay of an exponential moving average of the weights (EMA); 0 keeps no average."""
    epochs: int = 36
    """The number of passes over the queries; from a graph, over its one-hop queries."""
    steps: int | None = None
    """The total number of steps, instead of epochs."""
    minutes: float | None = None
    """The duration of the training, instead of epochs (--time-budget on the command line)."""
    evaluate_steps: int | None = None
    """Validate after every this many steps; None means by `evaluate_minutes`."""
    evaluate_minutes: float = 5.0
    """Validate after every this many minutes."""
    valid_queries: int = 3_000
    """The number of validation queries, drawn once."""
    patience: int | None = None
    """Stop after this many validations without a better MRR; None never stops early."""
    save_steps: int | None = None
    """Save `last` after every this many steps, besides at each validation."""
    device: str = "auto"
    """auto, cpu or cuda."""
    autocast: bool = False
    """Compute in bf16 on CUDA."""
    workers: int = 1
    """Processes that sample queries of complex shapes from a graph in the background."""
    seed: int = 0
    """The same seed gives the same weights on a CPU."""

    @property
    def end(self) -> dict[str, float | None]:
        """The settings that say when training is complete."""
        return {
            "epochs": self.epochs,
            "steps": self.steps,
            "minutes": self.minutes,
            "patience": self.patience,
        }

    def __post_init__(self) -> None:
        for name, allowed in (
            ("batching", BATCHINGS),
            ("targets", TARGETS),
            ("loss", LOSSES),
            ("optimizer", OPTIMIZERS),
            ("decay", DECAYS),
            ("device", DEVICES),
        ):
            _among(f"train.{name}", getattr(self, name), allowed)
        for name in ("open_share", "answers_power", "one_hop_share", "full_from", "warm_up"):
            _part(f"train.{name}", getattr(self, name))
        for name in ("smoothing", "average"):
            _part(f"train.{name}", getattr(self, name), whole=False)
        for name in ("batch", "candidates", "epochs", "valid_queries", "workers"):
            _at_least(f"train.{name}", getattr(self, name), 1)
        for name in ("steps", "evaluate_steps", "patience", "save_steps"):
            if getattr(self, name) is not None:
                _at_least(f"train.{name}", getattr(self, name), 1)
        for name in ("rate", "evaluate_minutes", "minutes"):
            if getattr(self, name) is not None:
                _above(f"train.{name}", getattr(self, name), 0)
        for name in ("clip", "weight_decay", "seed"):
            _at_least(f"train.{name}", getattr(self, name), 0)


@dataclass(frozen=True)
class RunSettings:
    """Everything a run is made from."""

    model: ModelSettings = field(default_factory=ModelSettings)
    train: TrainSettings = field(default_factory=TrainSettings)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON data, by section."""
        return {"model": to_json(self.model), "train": to_json(self.train)}

    def to_toml(self) -> str:
        """The settings as a file that `nqe train -c` reads."""
        return "\n".join(
            f"[{section}]\n"
            + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items() if v is not None)
            for section, values in self.to_json().items()
        )


def run_settings(
    given: Mapping[str, Mapping[str, Any]], where: str = "settings", base: RunSettings | None = None
) -> RunSettings:
    """Settings with some given by section and name, checked; the others as in `base`."""
    settings = base or RunSettings()
    sections = {one.name: one for one in fields(RunSettings)}
    changed: dict[str, Any] = {}
    for section, values in given.items():
        if section not in sections:
            raise NqeError(
                f"{where}: unknown section '{section}'; choose one of {', '.join(sections)}"
            )
        changed[section] = changed_settings(getattr(settings, section), section, values, where)
    return replace(settings, **changed)


def changed_settings(settings: Any, section: str, given: Any, where: str) -> Any:
    """One section with some values given."""
    if not isinstance(given, Mapping):
        raise NqeError(f"{where}: {section} is a section, not a value; write [{section}] above it")
    known = {one.name: str(one.type) for one in fields(settings)}
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {section}.{near[0]}?" if near else f"see `{section}` in the docs"
            raise NqeError(f"{where}: unknown setting '{section}.{name}'; {hint}")
    values = {
        name: _typed(f"{section}.{name}", value, known[name], where)
        for name, value in given.items()
    }
    return replace(settings, **values)


def read_settings(path: str | Path, base: RunSettings | None = None) -> RunSettings:
    """The settings of a TOML file with the sections [model] and [train]."""
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NqeError(f"{path}: no such file; name a TOML file of settings") from None
    except (OSError, ValueError) as error:
        raise NqeError(f"{path}: not a TOML file ({error}); see the training guide") from error
    return run_settings(given, str(path), base)


def assigned(text: str) -> dict[str, dict[str, Any]]:
    """What `section.name=value` says; the value is written as in TOML, quotes may be left out."""
    name, equals, value = text.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise NqeError(
            f"--set {text}: no section and value; write section.name=value, as train.rate=1e-3"
        )
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    return {section: {key: parsed}}


def to_json(settings: Any) -> dict[str, Any]:
    """A section's values as JSON data."""
    values = {one.name: getattr(settings, one.name) for one in fields(settings)}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _typed(name: str, value: Any, kind: str, where: str) -> Any:
    """The value as its setting wants it; the kinds are those the dataclasses above write."""
    if value is None and kind.endswith("None"):
        return None
    accepted, convert, wanted = _KINDS[kind.removesuffix(" | None")]
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        raise NqeError(f"{where}: setting {name} is {value!r}; give {wanted}")
    return convert(value)


def _texts(value: Any) -> tuple[str, ...]:
    return split_list(value) if isinstance(value, str) else tuple(str(one) for one in value)


# By the type of a setting: what is accepted, how it is taken, and what to say of other things.
_KINDS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any], str]] = {
    "bool": ((bool,), bool, "true or false"),
    "int": ((int,), int, "a whole number"),
    "float": ((int, float), float, "a number"),
    "str": ((str,), str, "text"),
    "tuple[str, ...]": ((str, list, tuple), _texts, "a list of names"),
}


def split_list(text: str) -> tuple[str, ...]:
    """The parts of a list written with commas; commas within brackets stay."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts if part.strip())


def _at_least(name: str, value: float, least: float) -> None:
    if not least <= value < math.inf:
        raise NqeError(f"setting {name} is {value}; it must be {least} or more")


def _above(name: str, value: float, limit: float) -> None:
    if not limit < value < math.inf:
        raise NqeError(f"setting {name} is {value}; it must be more than {limit}")


def _part(name: str, value: float, *, whole: bool = True) -> None:
    if not 0 <= value <= 1 or (value == 1 and not whole):
        least = "from 0 to 1" if whole else "from 0 to below 1"
        raise NqeError(f"setting {name} is {value}; it is a part, {least}")


def _among(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise NqeError(f"setting {name} is '{value}'; choose one of {', '.join(allowed)}")
