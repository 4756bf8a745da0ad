"""What a server's drafts cost and came to, read from its own /metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from benchmarks.report import share

PREFIX = "quicksilver_draft"

Counts = Mapping[str, float]


async def counted(url: str) -> dict[str, float]:
    """The series about drafts as they stand: name and label → value."""
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(url)
        answer.raise_for_status()
    return read(answer.text)


def read(text: str) -> dict[str, float]:
    """As `counted`, of a scraped text."""
    from prometheus_client.parser import text_string_to_metric_families

    return {
        " ".join([sample.name.removesuffix("_total"), *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        if family.name.startswith(PREFIX)
        for sample in family.samples
        if sample.name.endswith("_total")
    }


def added(counts: list[Counts]) -> dict[str, float]:
    """The counts of several servers together."""
    names = {name for one in counts for name in one}
    return {name: sum(one.get(name, 0.0) for one in counts) for name in sorted(names)}


def fate(counts: Counts) -> dict[str, Any]:
    """How drafts ended, and what they cost, for the results file."""
    outcomes = {
        outcome: int(counts.get(f"{PREFIX}_outcomes {outcome}", 0))
        for outcome in ("stood", "revised", "discarded")
    }
    turns = sum(outcomes.values())
    used, wasted = (int(counts.get(f"{PREFIX}_forwards {used}", 0)) for used in ("yes", "no"))
    return {
        "turns": turns,
        "made": int(counts.get(f"{PREFIX}s yes", 0)),
        "not_made_for_want_of_time": int(counts.get(f"{PREFIX}s no", 0)),
        "committed_as_it_stood": share(outcomes["stood"], turns),
        "revised": share(outcomes["revised"], turns),
        "thrown_away": share(outcomes["discarded"], turns),
        "forwards": used + wasted,
        "forwards_discarded": share(wasted, used + wasted),
    }
