"""Ctrl-C and SIGTERM: held back until what they would spoil is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Notes that someone wants training to end.

    A signal is a KeyboardInterrupt at once only within `let_through`; else `wanted` says that
    one came. Signals that are ignored stay so, and threads other than the main one see none.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._through = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heard = [one for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
            self._before = {one: signal.signal(one, self._note) for one in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """A block that can be left at any point without harm."""
        self._through = True
        try:
            if self.wanted:
                raise KeyboardInterrupt
            yield
        finally:
            self._through = False

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.wanted = True
        if self._through:
            raise KeyboardInterrupt
