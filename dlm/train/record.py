"""What a run tells of itself, in files of its directory: ``log.jsonl`` and ``run.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dlm.train.progress import Progress, Report

LOG = "log.jsonl"
RECORD = "run.json"


def logged(directory: Path, progress: Progress) -> Callable[[Report], None]:
    """A report of the loop that is shown and added to the log."""

    def report(row: Report) -> None:
        append_json(directory / LOG, row)
        progress(row)

    return report


def append_json(file: Path, row: Report) -> None:
    """Add a line to a log of JSON lines."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def record(directory: Path, told: Mapping[str, Any]) -> None:
    """Write what is known of the run."""
    (directory / RECORD).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
