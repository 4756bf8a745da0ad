"""The scorecard of the shipped agents, or of a server: ``python -m benchmarks.voice.proving``.

All callers of `voice.prove` hold their conversations, one after the other; options after ``--`` go
to `voice.prove`. Finished conversations are kept in ``--out``, so that the same command continues
where it was stopped. Results: benchmarks/results/proving.json.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT, Program
from voice.prove.__main__ import main as prove
from voice.prove.figures import against, figures, read


def by_agent(card: dict[str, Any]) -> dict[str, Any]:
    """Agent → its number of conversations, its figures, and what went wrong in which."""
    calls = sorted(card["conversations"], key=lambda call: str(call["agent"]))
    told = {}
    for agent, group in groupby(calls, key=lambda call: str(call["agent"])):
        own = list(group)
        told[Path(agent).stem] = {
            "conversations": len(own),
            "figures": figures(own),
            "failed": {call["id"]: call["wrong"] for call in own if not call["passed"]},
        }
    return told


def beside(card: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Figure → the other scorecard's value, this one's, and a verdict on the difference."""
    return {
        one.figure.name: [round(one.other, 2), round(one.this, 2), one.says]
        for one in against(card["conversations"], other["conversations"])
        if not math.isnan(one.other + one.this)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Have the callers call, and write the results.

    Raises:
        SystemExit: With status 1: no scorecard was written.
    """
    program = Program("benchmarks.voice.proving", __doc__, "name")
    program.add_argument("--out", type=Path, default=ROOT / "runs" / "proving")
    program.add_argument("--against", type=Path, help="another scorecard.json to stand beside it")
    program.add_argument("options", nargs="*", help="of voice.prove")
    options = program.parse_args(arguments)
    card = options.out / "scorecard.json"
    card.unlink(missing_ok=True)
    prove(["--out", str(options.out), "--resume", *options.options])
    if not card.is_file():
        program.exit(1)
    told = json.loads(card.read_text(encoding="utf-8"))
    found: dict[str, Any] = {"server": told["server"], "agents": by_agent(told)}
    if options.against:
        found["against"] = beside(told, read(options.against))
    program.write(found, options.name)


if __name__ == "__main__":
    main()
