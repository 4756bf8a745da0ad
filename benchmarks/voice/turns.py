"""Voice to voice, false cutoffs, barge-in, noise, words and tools: ``benchmarks.voice.turns``.

Everything is said in real time through a real WebSocket to a real server in its own process, and
measured in the audio at the client: from the last sample of speech in the recording to the first
audible sample of the reply, on a loudspeaker that starts to play at once. Each recording has a
conversation of its own; a demo's lines share one. The agent's greeting is off, except where it is
what is talked over. Times are those of turns in which something was understood and no tool needed
the network.

Parts that are timed are said in one conversation at a time: demo, people, orders, barge-in. Read
sentences, pauses and noise are said in `ABREAST` conversations at once, and give false cutoffs,
words and tools. Backchannels, and words that mean stop, are said over greetings, each in a call of
its own, `OVER_GREETINGS` calls at once, by speakers to whom nothing was fitted. ``calls`` holds
several calls on one server; ``ordering`` does so with callers who order in whole sentences.
``--drafting both`` runs demo, people, orders and calls a second time without drafts, and compares
the two; all other results are those of the first run.

On two quiet cores the default takes about 40 minutes, of which ordering takes 15; ``--most 3``
checks everything in five.
Results: benchmarks/results/turns.json.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice import talking_over
from benchmarks.voice.conversing import at_once, converse, each, some_at_once, summary
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
from benchmarks.voice.drafts import added, counted, fate
from benchmarks.voice.figures import Said, answered, cutoffs, figures, timing
from benchmarks.voice.humming import WORDS, hums
from benchmarks.voice.interruptions import (
    AGREEING,
    BACKCHANNEL,
    GO_ON,
    HUM,
    STOP,
    STOPPING,
    Sound,
    backchannels,
    sentences,
    sound_of,
)
from benchmarks.voice.noise import KINDS, SNRS_DB, recorded, with_noise
from benchmarks.voice.short_words import ShortWord, each_by_another
from benchmarks.voice.talking_over import (
    TalkedOver,
    as_intended,
    disturb,
    interrupt,
    talkative,
)
from voice.demo.server import EMBEDDED, as_arguments, serving

PARTS = ("demo", "people", "orders", "read", "pauses", "noise", "barge-in", "backchannels", "calls",
         "ordering")  # fmt: skip
TWICE = ("demo", "people", "orders", "calls")
"""Parts that are run once with drafts and once without."""
ROOM = "server.max_sessions=16"
"""Enough for eight callers who call again while the server still closes their last call."""
MOST = {"pauses": 12, "noise": 16}
"""Most recordings of these parts, which say each of them several times."""
OVER_A_GREETING = {GO_ON: 40, HUM: 20, BACKCHANNEL: 8, STOP: 24, "sentence": 6}
"""How many sounds of each kind are made over a greeting."""
ABREAST = 3
OVER_GREETINGS = 2
AGENTS = ("assistant", "coffee")
CALLED = "assistant"
"""The agent for several calls at once, and for sounds over its greeting."""
ORDERED = "coffee"
ORDERS_A_CALL = 4
REOPENS_S = 0.3
INTERRUPTS_S = (1.0, 1.7)
"""How long the agent has been audible when it is interrupted: within the 700 ms after the end of
the turn in which an interruption reopens that turn, and after them."""
DISTURBED_S = 1.5


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be measured.

    Attributes:
        parts: Some of `PARTS`.
        calls: Numbers of calls at once, measured one after the other.
        most: Most recordings of each part; None for those of `MOST`, else all.
    """

    parts: Sequence[str]
    calls: Sequence[int]
    most: int | None = None

    def of(self, part: str) -> int | None:
        """The most recordings of a part; None for all."""
        return MOST.get(part) if self.most is None else self.most


@dataclass(slots=True)
class Run:
    """The outcomes of one way to run the server.

    Attributes:
        said: Turns of one call at a time, or of `ABREAST`.
        cut: Interruptions of replies: when each was planned, and its outcome.
        disturbed: Sounds made over the greeting, and the outcome of each.
        drafts: The servers' counts of drafts, without those of several calls on one server.
        calls: Number of calls at once → turns in them.
        ordering: The same for callers who order.
        seconds: Part → how long it took.
    """

    said: list[Said] = field(default_factory=list)
    cut: list[tuple[float, TalkedOver | None]] = field(default_factory=list)
    disturbed: list[tuple[Sound, TalkedOver | None]] = field(default_factory=list)
    drafts: list[dict[str, float]] = field(default_factory=list)
    calls: dict[int, list[Said]] = field(default_factory=dict)
    ordering: dict[int, list[Said]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time spent in the context to a part's."""
        began = time.monotonic()
        print(part, flush=True)
        yield
        self.seconds[part] = round(self.seconds.get(part, 0.0) + time.monotonic() - began, 1)


def alone(part: str, most: int | None) -> list[Utterance]:
    """The utterances, for both agents, of a part in which each has its own conversation."""
    commands = [u for u in people() if u.kind != "read"]
    match part:
        case "people":
            return spread(commands, most)
        case "orders":
            return spread(orders(), most)
        case "read":
            return spread([u for u in people() if u.kind == "read"], most)
        case "pauses":
            lines = [line for agent in AGENTS for line in demo_lines(agent)]
            return with_pauses(spread(alignable([*lines, *commands]), most), PAUSES_MS)
        case "noise":
            near = [u for u in [*people(), *orders()] if u.kind in ("command", "order")]
            noises = [recorded(kind) for kind in KINDS]
            return with_noise(spread(near, most), noises, SNRS_DB)
    raise ValueError(f"got the part {part!r}; expected one that is said alone")


def sounds(most: int | None) -> list[Sound]:
    """The sounds to make over the agent's greeting; voices that are in halves are held out."""
    told = {kind: min(count, most or count) for kind, count in OVER_A_GREETING.items()}
    synthetic = [sound for sound in backchannels() if sound.held_out]
    return [
        *(sound_of(GO_ON, w) for w in _of_people(AGREEING, told[GO_ON])),
        *(sound_of(HUM, word) for word in by_another_hummer(told[HUM])),
        *(replace(s, kind=BACKCHANNEL) for s in spread(synthetic, told[BACKCHANNEL])),
        *(sound_of(STOP, word) for word in _of_people(STOPPING, told[STOP])),
        *spread(list(sentences()), told["sentence"]),
    ]


def by_another_hummer(count: int) -> list[ShortWord]:
    """``count`` hums, each by another held-out hummer, with the words in turn."""
    turns = [(WORDS[index % len(WORDS)], 2 * index + 1) for index in range(count)]
    return [hum for word, number in turns for hum in hums([word], hummers=[number])]


def _of_people(words: Sequence[str], count: int) -> list[ShortWord]:
    """``count`` recordings of some words, about as many of each, all by different speakers."""
    return list(each_by_another(words, -(-count // len(words))))[:count]


async def measure(run: Run, agent: str, chosen: Chosen, settings: Sequence[str]) -> None:
    """Run the chosen parts for one agent."""
    lines = demo_lines(agent)[: chosen.most]
    async with serving(["--agent", agent, *as_arguments(settings)]) as server:
        url = server.realtime_url
        if "demo" in chosen.parts:
            with run.timed("demo"):
                run.said += await converse(url, lines)
        for part in ("people", "orders", "read", "pauses", "noise"):
            if part in chosen.parts:
                own = [u for u in alone(part, chosen.of(part)) if u.agent == agent]
                with run.timed(part):
                    run.said += await each(url, own, 1 if part in TWICE else ABREAST)
        if "barge-in" in chosen.parts:
            with run.timed("barge-in"):
                for after_s in (REOPENS_S, *INTERRUPTS_S):
                    for first, second in pairwise(lines):
                        came = await interrupt(url, first, second, after_s)
                        run.cut.append((after_s, came))
                        print(f"{first.name[:32]:32} {came}", flush=True)
        run.drafts.append(await counted(server.metrics_url))
        if agent == CALLED and "calls" in chosen.parts:
            for calls in chosen.calls:
                with run.timed(f"{calls} calls"):
                    run.calls[calls] = await at_once(converse, url, lines, calls)
        if agent == ORDERED and "ordering" in chosen.parts:
            ordered = spread(orders(), chosen.of("ordering"))
            for calls in chosen.calls:
                with run.timed(f"ordering, {calls} calls"):
                    run.ordering[calls] = await at_once(order, url, ordered, calls)


async def order(url: str, utterances: Sequence[Utterance]) -> list[Said]:
    """Say orders, `ORDERS_A_CALL` in each conversation."""
    starts = range(0, len(utterances), ORDERS_A_CALL)
    held = [await converse(url, utterances[at : at + ORDERS_A_CALL]) for at in starts]
    return [said for call in held for said in call]


async def disturb_all(run: Run, chosen: Chosen, settings: Sequence[str]) -> None:
    """Make all kinds of sounds over the agent's long greeting."""
    with talkative(CALLED) as file, run.timed("backchannels"):
        async with serving(["--agent", file, *as_arguments(settings)]) as server:
            heard = sounds(chosen.most)

            async def over_a_greeting(sound: Sound) -> TalkedOver | None:
                came = await disturb(server.realtime_url, sound, DISTURBED_S)
                print(sound.kind, sound.name, came, flush=True)
                return came

            came = await some_at_once(over_a_greeting, heard, OVER_GREETINGS)
            run.disturbed = list(zip(heard, came, strict=True))


def side_by_side(runs: dict[str, Run]) -> dict[str, Any]:
    """Compare runs with drafts and without: times, false cutoffs, drafts, and several calls.

    Only kinds of turns that are in both runs count.
    """
    told = {}
    for name, run in runs.items():
        said = [s for s in run.said if s.utterance.kind != "read" and s.utterance.plain]
        told[name] = {
            **timing(answered(said)),
            "false_cutoffs": cutoffs(said),
            "drafts": fate(added(run.drafts)),
            "calls": {str(calls): summary(held) for calls, held in run.calls.items()},
            "ordering": {str(calls): summary(held) for calls, held in run.ordering.items()},
            "seconds": run.seconds,
        }
    return told


async def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.turns", __doc__, "set", "name")
    program.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    program.add_argument("--drafting", choices=("on", "off", "both"), default="both")
    program.add_argument("--calls", nargs="*", type=int, default=[1, 2, 4, 8], metavar="N")
    program.add_argument("--most", type=int, help="recordings of each part, as a check")
    given = program.parse_args()
    checkpoint = shipped_checkpoint()
    settings = [*EMBEDDED, ROOM, *given.set]
    runs: dict[str, Run] = {}
    for name in ("on", "off") if given.drafting == "both" else (given.drafting,):
        parts = [part for part in given.parts if not runs or part in TWICE]
        chosen, run = Chosen(parts, given.calls, given.most), Run()
        way = [*settings, f"drafting.enabled={str(name == 'on').lower()}"]
        for agent in AGENTS if {*parts} - {"backchannels"} else ():
            await measure(run, agent, chosen, way)
        if "backchannels" in parts:
            await disturb_all(run, chosen, way)
        runs[name] = run
    run = next(iter(runs.values()))
    told = {"settings": settings, "checkpoint": checkpoint, **figures(run.said)}
    told["barge_in"] = talking_over.figures(as_intended(run.cut, INTERRUPTS_S, reopens=False))
    told["reopened"] = talking_over.withdrawn(as_intended(run.cut, [REOPENS_S], reopens=True))
    told["while_the_agent_speaks"] = talking_over.by_kind(run.disturbed)
    told["drafting"] = side_by_side(runs)
    program.write(told, given.name)


if __name__ == "__main__":
    asyncio.run(main())
