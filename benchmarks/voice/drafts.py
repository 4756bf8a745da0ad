"""What a server's drafts cost and came to, read from its own /metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from benchmarks.report import share

PREFIX = "quicksilver_draft"

Counts = Mapping[str, float]


async def counted(url: str) -> dict[str, float]:
    """The current values of the series about drafts: name and labels → value."""
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(url)
        answer.raise_for_status()
    return read(answer.text)


def read(text: str) -> dict[str, float]:
    """The series about drafts in the text of /metrics, see `counted`."""
    from prometheus_client.parser import text_string_to_metric_families

    return {
        " ".join([sample.name.removesuffix("_total"), *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        if family.name.startswith(PREFIX)
        for sample in family.samples
        if sample.name.endswith("_total")
    }


def added(counts: Sequence[Counts]) -> dict[str, float]:
    """The counts of several servers together."""
    names = {name for one in counts for name in one}
    return {name: sum(one.get(name, 0.0) for one in counts) for name in sorted(names)}


def fate(counts: Counts) -> dict[str, Any]:
    """How drafts ended, and what they cost, for the results file.

    Turns with drafts in which the model was never asked for a reply are counted apart, as needless:
    nothing had been understood, or the user went on.
    """
    outcomes = {
        outcome: int(counts.get(f"{PREFIX}_outcomes {outcome}", 0))
        for outcome in ("stood", "revised", "discarded", "needless")
    }
    turns = sum(outcomes.values())
    answered = turns - outcomes["needless"]
    used, wasted = (int(counts.get(f"{PREFIX}_forwards {used}", 0)) for used in ("yes", "no"))
    made = int(counts.get(f"{PREFIX}s yes", 0))
    return {
        "turns": turns,
        "needless": share(outcomes["needless"], turns),
        "made": made,
        "made_from_the_one_before": share(int(counts.get(f"{PREFIX}s_revised", 0)), made),
        "not_made_for_want_of_time": int(counts.get(f"{PREFIX}s no", 0)),
        "not_made_since_unlikely_to_stand": int(counts.get(f"{PREFIX}s_unlikely", 0)),
        "committed_as_it_stood": share(outcomes["stood"], answered),
        "revised": share(outcomes["revised"], answered),
        "thrown_away": share(outcomes["discarded"], answered),
        "forwards": used + wasted,
        "forwards_per_turn": round((used + wasted) / turns, 2) if turns else None,
        "forwards_discarded": share(wasted, used + wasted),
    }
