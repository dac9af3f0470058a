"""Metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counts of requests, and how long they took."""

    MEDIA_TYPE = CONTENT_TYPE_LATEST

    def __init__(self, count_waiting: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "nqe_requests",
            "Requests by route and status.",
            ("route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "nqe_request_seconds",
            "How long requests took, by route.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "nqe_batch_questions",
            "How many questions were answered together.",
            buckets=SIZES,
            registry=self._registry,
        )
        waiting = Gauge(
            "nqe_waiting_questions", "Questions that wait or run.", registry=self._registry
        )
        waiting.set_function(count_waiting)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request and its time."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_batches(self, sizes: Iterable[int]) -> None:
        """Count batches of questions."""
        for size in sizes:
            self._batches.observe(size)

    def render(self) -> bytes:
        """The metrics as text."""
        return generate_latest(self._registry)
