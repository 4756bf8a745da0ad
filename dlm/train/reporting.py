"""Reports of a run: at a terminal, in ``log.jsonl`` and in ``run.json``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

from dlm.train.config import TrainConfig

Report = dict[str, float | str]
LOG = "log.jsonl"
RECORD = "run.json"


class Progress:
    """Context manager that shows the loop's reports: live at a terminal, else a line each.

    ``minutes`` is the limit of this invocation.
    """

    def __init__(self, config: TrainConfig, minutes: float, out: IO[str] = sys.stdout) -> None:
        self._config = config
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

    def __exit__(self, *error: object) -> None:
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
        """A report as one line, with the minutes that this invocation has left."""
        config, done = self._config, float(row["minutes"])
        spent = (time.monotonic() - self._began) / 60
        share = config.share(60 * done, int(row["step"]))
        whole = done / share if share else config.total_minutes
        left = max(0.0, min(whole - done, self._minutes - spent))
        step = f"{row['step']} of {config.total_steps}" if config.total_steps else row["step"]
        losses = (
            f"{name.replace('_', ' ')} {value:.3f}"
            for name, value in row.items()
            if isinstance(value, float) and name not in ("minutes", "utilisation")
        )
        speed = f"{row['tokens_per_s']:,} tokens/s"
        if "utilisation" in row:
            speed += f" ({float(row['utilisation']):.0%} of peak)"
        return (
            f"{row['phase']} step {step} · {done:.1f} of {config.total_minutes:g} min · "
            f"{left:.1f} min left · {speed} · {' · '.join(losses)}"
        )


def logged(directory: Path, progress: Progress) -> Callable[[Report], None]:
    """A function that shows a report and appends it to the run's log."""

    def report(row: Report) -> None:
        append_json(directory / LOG, row)
        progress(row)

    return report


def append_json(file: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a log of JSON lines."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def record(directory: Path, facts: Mapping[str, Any]) -> None:
    """Write a run's facts: configuration, machine, data, progress."""
    (directory / RECORD).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
