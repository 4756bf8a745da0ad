"""Tables of the latest results, as they stand in the documents: ``python -m benchmarks.tables``.

A document holds ``<!-- results: NAME -->`` and ``<!-- end -->``; what stands between is made from
the files in benchmarks/results, and a test asserts that it is current: no figure is typed by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS, ROOT

DOCUMENTS = ("README.md", "docs/model-card.md")
_BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def latency(told: dict[str, Any]) -> list[list[str]]:
    """Voice to voice, of turns.json; what was not understood, and the network, are left out."""
    figures = told["figures"]
    rows = [["", "n", "p50", "p95"]]
    named = [("understood turns", figures["all"]), ("people alone", figures["people"])]
    named += [(f"{kind}s", t) for kind, t in figures["kinds"].items() if kind != "read"]
    for name, timing in named:
        whole = timing["voice_to_voice_ms"]
        if whole["n"]:
            cells = [str(whole["n"]), _ms(whole["p50"]), _ms(whole["p95"])]
            rows.append([f"voice to voice, {name}", *cells])
    after = figures["all"]["end_of_turn_to_voice_ms"]
    cells = [str(after["n"]), _ms(after["p50"]), _ms(after["p95"])]
    rows.append(["end-of-turn decision to first audible sample", *cells])
    silence = figures["barge_in"]["silence_ms"]
    if silence["n"]:
        cells = [str(silence["n"]), _ms(silence["p50"]), _ms(silence["p95"])]
        rows.append(["barge-in: first sample of speech to silence", *cells])
    return rows


def understanding(told: dict[str, Any]) -> list[list[str]]:
    """Recognition, tools and false cutoffs by kind, of turns.json."""
    figures = told["figures"]
    rows = [["", "utterances", "word errors", "intended tool called", "cut off early"]]
    for kind, group in figures["kinds"].items():
        rows.append(
            [
                kind,
                str(group["utterances"]),
                _rate(group["word_error_rate"]),
                _rate(group["intended_called"]),
                _rate(group["false_cutoffs"]),
            ]
        )
    for kind, cut in figures["false_cutoffs"].items():
        if kind.startswith("pause"):
            rows.append([f"with a {kind}", str(cut["of"]), "", "", _rate(cut)])
    return rows


def footprint(told: dict[str, Any]) -> list[list[str]]:
    """Start-up and memory, of footprint.json."""
    figures = told["figures"]
    return [
        ["", ""],
        ["start to first answer of /healthz, median", f"{figures['start_s']['p50']} s"],
        ["resident memory of the idle server", f"{figures['idle_mib']:.0f} MiB"],
        ["one call adds", f"{figures['one_call_adds_mib']:.0f} MiB"],
    ]


def quality(told: dict[str, Any]) -> list[list[str]]:
    """The shipped model on held-out dialogues, of quality.json."""
    names = {
        "decision": "call or talk, right",
        "tool": "tool name exact",
        "call": "tool name and arguments exact",
        "reply": "reply has the result's numbers and no other",
        "well_formed": "answer well formed",
        "tokens_per_forward_calls": "tokens per forward, calls",
        "tokens_per_forward_replies": "tokens per forward, replies",
    }
    spans, free = told["figures"]["spans"], told["figures"]["free"]
    rows = [["", "cases", "arguments are spans of what was said", "arguments free"]]
    for name, label in names.items():
        form = "{:.2f}" if name.startswith("tokens") else "{:.1%}"
        cells = [form.format(figures[name]) for figures in (spans, free)]
        rows.append([label, str(spans.get(f"{name}_cases", "")), *cells])
    return rows


TABLES: dict[str, tuple[str, Callable[[dict[str, Any]], list[list[str]]]]] = {
    "latency": ("turns", latency),
    "understanding": ("turns", understanding),
    "footprint": ("footprint", footprint),
    "quality": ("quality", quality),
}


def render(name: str, results: Path = RESULTS) -> str:
    """A table in Markdown, with the run that it comes from."""
    file, rows_of = TABLES[name]
    told = json.loads((results / f"{file}.json").read_text(encoding="utf-8"))
    header, *rows = rows_of(told)
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    machine = told["machine"]
    where = f"{machine['cores']} cores of {machine['cpu']}"
    return (
        f"{table}\n\n`{told['command']}`, {told['date'][:10]}, commit {told['commit']}, {where}.\n"
    )


def filled(text: str, results: Path = RESULTS) -> str:
    """A document with its tables made anew."""
    return _BLOCK.sub(lambda m: f"{m[1]}{render(m[2], results)}{m[3]}", text)


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def _rate(share: dict[str, Any]) -> str:
    if not share["of"]:
        return ""
    return f"{100 * share['rate']:.1f}% ({share['count']} of {share['of']})"


def main() -> int:
    """Write the tables into the documents; with ``--check`` only say whether they are current."""
    stale = []
    for name in DOCUMENTS:
        document = ROOT / name
        old = document.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            stale.append(name)
            if "--check" not in sys.argv:
                document.write_text(new, encoding="utf-8")
    print(f"changed: {', '.join(stale) or 'nothing'}")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
