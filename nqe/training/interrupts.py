"""Ctrl-C and SIGTERM during training, held back while a state must not be left half-changed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Notes signals that ask training to end.

    Within `let_through` a signal raises KeyboardInterrupt at once; elsewhere `received` says
    that one came. Ignored signals stay ignored, and only the main thread handles any.
    """

    def __init__(self) -> None:
        self.received = False
        self._passes = False
        self._former_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._former_handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former_handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Raise KeyboardInterrupt for a signal that came before, or comes within the block."""
        self._passes = True
        try:
            if self.received:
                raise KeyboardInterrupt
            yield
        finally:
            self._passes = False

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.received = True
        if self._passes:
            raise KeyboardInterrupt
