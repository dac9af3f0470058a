"""Settings of training, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.settings.values import check_above, check_at_least, check_choice, check_fraction

BATCHINGS = ("parallel", "by-shape")
TARGETS = ("all", "one")
LOSSES = ("full", "sampled")
OPTIMIZERS = ("adam", "adamw")
DECAYS = ("linear", "cosine", "none")
MAX_WORKERS = 1_024
"""The most processes that sample queries at once."""
DEVICES = ("auto", "cpu", "cuda")


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
    relation_share: float = 0.0
    """The share of a batch that asks for the relation, or an attribute, of a fact."""
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
    rules: bool = True
    """Mine rules from the training facts afterwards, as evidence beside the model."""
    device: str = "auto"
    """auto, cpu or cuda."""
    autocast: bool = False
    """Compute in bf16 on CUDA."""
    workers: int = 1
    """Processes that sample queries of complex shapes from a graph in the background."""
    seed: int = 0
    """The same seed gives the same weights on a CPU."""

    @property
    def relation_batch(self) -> int:
        """How many queries of a batch ask for a relation: with any share, some but not all."""
        if not self.relation_share:
            return 0
        return min(max(1, round(self.batch * self.relation_share)), self.batch - 1)

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
            check_choice(f"train.{name}", getattr(self, name), allowed)
        for name in ("open_share", "answers_power", "one_hop_share", "full_from", "warm_up"):
            check_fraction(f"train.{name}", getattr(self, name))
        for name in ("smoothing", "average", "relation_share"):
            check_fraction(f"train.{name}", getattr(self, name), below_one=True)
        for name in ("batch", "candidates", "epochs", "valid_queries"):
            check_at_least(f"train.{name}", getattr(self, name), 1)
        if self.relation_share:
            check_at_least("train.batch", self.batch, 2)
        check_at_least("train.workers", self.workers, 1, MAX_WORKERS)
        for name in ("steps", "evaluate_steps", "patience", "save_steps"):
            if getattr(self, name) is not None:
                check_at_least(f"train.{name}", getattr(self, name), 1)
        for name in ("rate", "evaluate_minutes", "minutes"):
            if getattr(self, name) is not None:
                check_above(f"train.{name}", getattr(self, name), 0)
        for name in ("clip", "weight_decay", "seed"):
            check_at_least(f"train.{name}", getattr(self, name), 0)
