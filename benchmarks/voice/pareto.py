"""Dead air against false cutoffs over whole calls: ``python -m benchmarks.voice.pareto``.

`benchmarks.voice.endpointing` tries rules on pauses that were heard once. This benchmark says
recordings to a real server in real time and hears its replies. Turns are ended by silence alone, at
several lengths that the client sets, and then by each profile. Dead air is voice to voice, the
reply's latency included.

It takes the half of the recordings that a hash of their names selects, whole and with a pause put
between two words. Some are of voices that limits were set on, since no other commands have
transcripts. Several are said at once. Whether that changes anything is shown by ``--alone``, which
says a third of the recordings of two points once more, one at a time; it takes three minutes more.
On two quiet cores the rest takes about five and a half; ``--most 3`` checks it. Results:
benchmarks/results/pareto.json and docs/pareto.svg.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import ROOT, Program, drawn, percentiles, shipped_checkpoint
from benchmarks.voice.conversing import each
from benchmarks.voice.corpus import (
    PAUSES_MS,
    Utterance,
    alignable,
    demo_lines,
    orders,
    people,
    spread,
    with_pauses,
)
from benchmarks.voice.dead_air import is_held_out
from benchmarks.voice.figures import Said, answered, cutoffs
from voice.demo.server import EMBEDDED, as_arguments, serving
from voice.hearing.end_of_turn import Profile

SILENCES_MS = (300, 600, 1000)
AGAIN_MS, AGAIN_PROFILE = 600, Profile.BALANCED
"""The settings of the two points that ``--alone`` also measures one call at a time."""
WHOLE, PAUSED = 10, 20
"""Utterances at each point: as recorded, and with a pause."""
ABREAST = 4
ALONE = 3
"""Every third utterance is also said one at a time."""
AGENTS = ("assistant", "coffee")
PLOT = ROOT / "docs" / "pareto.svg"


@dataclass(frozen=True, slots=True)
class Point:
    """A way to end turns.

    Attributes:
        rule: Silence alone, or ours.
        setting: Milliseconds, or the profile.
        silence_ms: The silence that the client asks for; None lets the server decide.
        profile: The server's profile.
        abreast: Calls at once.
    """

    rule: str
    setting: str
    silence_ms: int | None
    profile: Profile
    abreast: int


def points(one_at_a_time: bool = False) -> list[Point]:
    """All points to measure, on request with those that are measured one call at a time."""
    silence = [Point("silence alone", f"{ms} ms", ms, AGAIN_PROFILE, ABREAST) for ms in SILENCES_MS]
    ours = [Point("ours", profile.value, None, profile, ABREAST) for profile in Profile]
    alone = [
        Point("silence alone", f"{AGAIN_MS} ms", AGAIN_MS, AGAIN_PROFILE, 1),
        Point("ours", AGAIN_PROFILE.value, None, AGAIN_PROFILE, 1),
    ]
    return [*silence, *ours, *(alone if one_at_a_time else ())]


def utterances(most: int | None) -> list[Utterance]:
    """Held-out recordings in the agents' domains, whole and with a pause."""
    lines = [line for agent in AGENTS for line in demo_lines(agent)]
    commands = [u for u in people() if u.kind == "command"]
    kept = [u for u in [*lines, *commands, *orders()] if is_held_out(u.name)]
    whole = spread(kept, WHOLE if most is None else most)
    paused = with_pauses(alignable(kept), PAUSES_MS)
    return [*whole, *spread(paused, PAUSED if most is None else most)]


async def measure(
    said: Sequence[Utterance], wanted: Sequence[Point], settings: Sequence[str]
) -> dict[Point, list[Said]]:
    """Say the utterances at every point; points of one profile share a server."""
    found: dict[Point, list[Said]] = {point: [] for point in wanted}
    for agent in AGENTS:
        own = [utterance for utterance in said if utterance.agent == agent]
        for profile in Profile if own else ():
            way = [*settings, f'endpointing.profile="{profile.value}"']
            async with serving(["--agent", agent, *as_arguments(way)]) as server:
                for point in (p for p in found if p.profile is profile):
                    print(f"{agent}: {point.rule}, {point.setting}", flush=True)
                    url = server.realtime_url
                    some = own if point.abreast > 1 else own[::ALONE]
                    found[point] += await each(url, some, point.abreast, point.silence_ms)
    return found


def dead_air(said: Sequence[Said]) -> list[float]:
    """Voice to voice, in ms, of the turns that were not cut off."""
    times = [s.turn.voice_to_voice_ms for s in answered(said) if not s.turn.early_commits]
    return [ms for ms in times if ms is not None]


def row(point: Point, said: Sequence[Said]) -> dict[str, Any]:
    """A point's row in the results file."""
    times = dead_air(said)
    return {
        "rule": point.rule,
        "setting": point.setting,
        "calls_at_once": point.abreast,
        "utterances": len(said),
        "false_cutoffs": cutoffs(said),
        "mean_ms": round(float(np.mean(times))) if times else None,
        "dead_air_ms": percentiles(times),
    }


def compared(several: Sequence[Said], alone: Sequence[Said]) -> dict[str, Any]:
    """Compare utterances said one at a time with the same ones said in several calls at once.

    The mean difference and its standard error are over those that were cut off in neither.
    """
    chosen = {id(said.utterance) for said in alone}
    several = [said for said in several if id(said.utterance) in chosen]
    both = zip(several, alone, strict=True)
    pairs = [(dead_air([one]), dead_air([other])) for one, other in both]
    differences = [one[0] - other[0] for one, other in pairs if one and other]
    count = len(differences)
    error = float(np.std(differences, ddof=1)) / math.sqrt(count) if count > 1 else None
    return {
        "utterances": len(several),
        "timed_in_both": count,
        "mean_difference_ms": round(float(np.mean(differences)), 1) if count else None,
        "standard_error_ms": None if error is None else round(error, 1),
        "false_cutoffs_at_once": cutoffs(several),
        "false_cutoffs_alone": cutoffs(alone),
    }


def figures(found: dict[Point, list[Said]]) -> dict[str, Any]:
    """All that goes into the results file."""
    alone = [point for point in found if point.abreast == 1]
    at_once = {(p.rule, p.setting): p for p in found if p.abreast > 1}
    return {
        "points": [row(point, said) for point, said in found.items()],
        "at_once_against_alone": {
            f"{p.rule}, {p.setting}": compared(found[at_once[p.rule, p.setting]], found[p])
            for p in alone
        },
    }


def draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Plot mean dead air over false cutoffs, a line for each rule."""
    with drawn(file) as axes:
        for rule in dict.fromkeys(one["rule"] for one in rows):
            known = [r for r in rows if r["rule"] == rule and r["calls_at_once"] > 1]
            known = sorted((r for r in known if r["mean_ms"]), key=lambda one: one["mean_ms"])
            cut = [100 * one["false_cutoffs"]["rate"] for one in known]
            axes.plot(cut, [one["mean_ms"] for one in known], label=rule, marker="o")
            for index, (x, one) in enumerate(zip(cut, known, strict=True)):
                at = (x, one["mean_ms"])
                # The fastest point's label goes below it, so that it does not cover another.
                beside = (5, 5 if index else -13)
                axes.annotate(one["setting"], at, xytext=beside, textcoords="offset points")
        axes.set(xlabel="turns cut off, %", ylabel="mean voice to voice, ms")
        axes.margins(x=0.12, y=0.1)
        axes.set_ylim(bottom=0)


def main() -> None:
    """Measure, write the results and draw."""
    program = Program("benchmarks.voice.pareto", __doc__, "set", "name")
    program.add_argument("--most", type=int, help="utterances of each kind, as a check")
    program.add_argument("--alone", action="store_true", help="two points one at a time as well")
    program.add_argument("--plot", type=Path, default=PLOT)
    given = program.parse_args()
    settings = [*EMBEDDED, *given.set]
    found = asyncio.run(measure(utterances(given.most), points(given.alone), settings))
    told = {"settings": settings, "checkpoint": shipped_checkpoint(), **figures(found)}
    told["took_s"] = program.took_s
    draw(told["points"], given.plot)
    for one in told["points"]:
        print(one)
    print(told["at_once_against_alone"])
    program.write(told, given.name)


if __name__ == "__main__":
    main()
