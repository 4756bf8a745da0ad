"""SIGINT and SIGTERM while a run trains: the first stops it after its step, the second at once."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from dlm.train.loop import Run

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ASKED = b"\nstopping after this step; the same again quits at once\n"


class Stopping:
    """A context. Outside the main thread, which alone may take signals, it changes nothing.

    Args:
        run: Is asked to stop. Until it has made a step there is nothing to save, and the first
            signal quits as well.

    Attributes:
        exit_code: 128 and the number of the signal that asked, as shells have it; 0 for none.
    """

    def __init__(self, run: Run) -> None:
        self.exit_code = 0
        self._run = run
        self._first_step = run.step
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._ask) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.exit_code or self._run.step == self._first_step:
            raise SystemExit(128 + number)
        self.exit_code = 128 + number
        self._run.stop()
        # Python's own streams may be in the middle of a line when a signal comes.
        os.write(2, _ASKED)
