"""Settings of models, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nqe.errors import NqeError
from nqe.settings.values import check_above, check_at_least, check_choice, check_fraction, describe

HETEROGENEITIES = ("dual", "node", "edge")
MOST = {"width": 65_536, "layers": 1_000, "heads": 65_536, "feed_forward": 1_000_000}
"""The largest sizes of a model: far more than is useful, but no mistyped number is tried."""

MOST_CONTEXT = 1_000
"""The largest number of facts that a projection sees."""

STARQE = "starqe"
STARQE_SETTINGS = ("kind", "width", "layers", "dropout")
"""The settings that a model of this kind has; all others belong to the kind nqe."""


@dataclass(frozen=True)
class ModelSettings:
    """How a model is built."""

    kind: str = "nqe"
    """The kind of model, a name in `nqe.model.MODELS`."""
    width: int = 200
    """The length of every vector."""
    layers: int = 3
    """The number of layers of the encoder; of starqe, also the longest chain of facts."""
    heads: int = 4
    """The number of attention heads; the width must be a multiple of it."""
    feed_forward: int = 400
    """The width of the hidden layer of each feed-forward network."""
    dropout: float = 0.2
    """The fraction of activations that are dropped during training."""
    encoder: str = "transformer"
    """The encoder of facts, a name in `nqe.model.ENCODERS`."""
    heterogeneity: str = "dual"
    """What attention distinguishes: roles and edges (dual), roles (node) or edges (edge)."""
    logic: str = "product"
    """The fuzzy logic, a name in `nqe.model.LOGICS`; `mean` is the paper's Logic-blind variant."""
    score: str = "centred"
    """How queries and entities are compared, a name in `nqe.model.SCORERS`; the paper has `dot`."""
    temperature: float = 12.0
    """The initial value of the factor of the centred score, which is learnt."""
    steepness: float = 8.0
    """Embeddings are sigmoid(steepness · (weights - mean)); larger values let them move faster."""

    predict_relations: bool = False
    """Whether a relation can be asked for; `train.relation_share` above 0 turns it on."""
    context: int = 0
    """The most facts about its known entities that a projection sees; 0 is the paper's model."""

    def __post_init__(self) -> None:
        check_choice("model.heterogeneity", self.heterogeneity, HETEROGENEITIES)
        for name, most in MOST.items():
            check_at_least(f"model.{name}", getattr(self, name), 1, most)
        check_at_least("model.context", self.context, 0, MOST_CONTEXT)
        for name in ("temperature", "steepness"):
            check_above(f"model.{name}", getattr(self, name), 0)
        check_fraction("model.dropout", self.dropout, below_one=True)
        if self.kind == STARQE:
            self._check_starqe()
        elif self.width % self.heads:
            raise NqeError(
                f"setting model.width is {self.width}, which {self.heads} heads cannot share; "
                "choose a multiple of model.heads"
            )

    def _check_starqe(self) -> None:
        """Refuse what a model of the kind starqe does not have, rather than ignore it."""
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.name in STARQE_SETTINGS or value == setting.default:
                continue
            is_relations = setting.name == "predict_relations"
            advice = "set train.relation_share to 0" if is_relations else "leave it out"
            raise NqeError(
                f"setting model.{setting.name} is {describe(value)}, but a model of the kind "
                f"'{STARQE}' has no such setting; {advice}"
            )
        if self.width % 2:
            raise NqeError(
                f"setting model.width is {self.width}, but vectors of the kind '{STARQE}' are of "
                "complex numbers; choose an even width"
            )
