"""Settings of the server: its limits, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nqe.settings.values import check_above, check_at_least


@dataclass(frozen=True)
class ServingSettings:
    """How much the server takes in and keeps waiting; what is beyond a limit gets a clear reply."""

    body: int = 1 << 20
    """The most bytes that the body of a request may have."""
    queries: int = 256
    """The most questions in one request."""
    steps: int = 64
    """The most steps that the plan of a question may have."""
    fan_in: int = 32
    """The most parts that an `and` or `or` may join."""
    top: int = 1_000
    """The most answers that may be asked for; as many are listed if none are named."""
    rows: int = 200
    """The most facts, names or suggestions in one reply."""
    queue: int = 512
    """The most questions that may wait; others are told to come again."""
    share: int = 256
    """The most questions of one client that may wait."""
    batch: int = 64
    """The most questions that are answered together."""
    heavy_facts: int = 200_000
    """A question that may look at more facts is answered apart from the others."""
    seconds: float = 30.0
    """How long a request may take, waiting included."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "seconds":
                check_at_least(f"serving.{field.name}", getattr(self, field.name), 1)
        check_above("serving.seconds", self.seconds, 0)
