"""Summarises the log of a training run: ``python -m benchmarks.dlm.training runs/small``.

Results: benchmarks/results/training.json, with a loss curve of a few dozen points and the shares of
the data that the run was trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Program, percentiles

POINTS = 40


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Steps, minutes, speed by phase, and the curve.

    Args:
        rows: Lines of the run's log, in order. Of steps that were repeated after the run was
            resumed from an earlier state, the last counts.
    """
    steps = list({row["step"]: row for row in rows}.values())
    steps.sort(key=lambda row: row["step"])
    phases = {row["phase"] for row in steps}
    stride = max(1, len(steps) // POINTS)
    return {
        "steps": steps[-1]["step"],
        "minutes": steps[-1]["minutes"],
        "tokens_per_s": {
            phase: percentiles([r["tokens_per_s"] for r in steps if r["phase"] == phase])
            for phase in sorted(phases)
        },
        "curve": [
            {key: row[key] for key in ("step", "minutes", "causal", "denoising") if key in row}
            for row in [*steps[::stride], steps[-1]]
        ],
    }


def main() -> None:
    """Read the log and write the results."""
    program = Program("benchmarks.dlm.training", __doc__)
    program.add_argument("run", type=Path, help="directory of the run")
    arguments = program.parse_args()
    lines = (arguments.run / "log.jsonl").read_text(encoding="utf-8").splitlines()
    told = figures([json.loads(line) for line in lines])
    told["config"] = json.loads((arguments.run / "config.json").read_text(encoding="utf-8"))
    run = json.loads((arguments.run / "run.json").read_text(encoding="utf-8"))
    told |= {"tokens": run["tokens"], "shares": run["data"]["shares"]}
    told |= {key: run["config"][key] for key in ("readings", "reasons")}
    print({key: value for key, value in told.items() if key not in ("curve", "config")})
    program.write(told)


if __name__ == "__main__":
    main()
