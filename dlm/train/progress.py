"""How a run goes on: a live line where a person watches, one line a report where nobody does."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import IO, Any, Self

Report = dict[str, float | str]


class Progress:
    """Shows reports of the loop; a context.

    Args:
        total_minutes: Of the whole run.
        minutes: Bound of this invocation.
        out: A terminal gets the live line.
    """

    def __init__(self, total_minutes: float, minutes: float, out: IO[str] = sys.stdout) -> None:
        self._total_minutes = total_minutes
        self._minutes = minutes
        self._out = out
        self._began = time.monotonic()
        self._live: Any = None
        self._heldout: Report = {}

    def __enter__(self) -> Self:
        if self._out.isatty():
            from rich.console import Console
            from rich.live import Live

            waiting = "waiting for the first dialogues"
            self._live = Live(waiting, console=Console(file=self._out), refresh_per_second=4)
            self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, row: Report) -> None:
        """Show a report."""
        if self._live is None:
            print(self.line(row), file=self._out, flush=True)
            return
        self._heldout |= {name: v for name, v in row.items() if name.startswith("heldout_")}
        self._live.update(self.line({**self._heldout, **row}))

    def line(self, row: Report) -> str:
        """A report in one line, with the minutes that are left of this invocation."""
        done = float(row["minutes"])
        spent = (time.monotonic() - self._began) / 60
        left = max(0.0, min(self._total_minutes - done, self._minutes - spent))
        losses = (
            f"{name.replace('_', ' ')} {value:.3f}"
            for name, value in row.items()
            if isinstance(value, float) and name not in ("minutes", "utilisation")
        )
        speed = f"{row['tokens_per_s']:,} tokens/s"
        if "utilisation" in row:
            speed += f" ({float(row['utilisation']):.0%} of peak)"
        return (
            f"{row['phase']} step {row['step']} · {done:.1f} of {self._total_minutes:g} min · "
            f"{left:.1f} min left · {speed} · {' · '.join(losses)}"
        )
