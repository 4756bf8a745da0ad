"""The fault ledger: something goes wrong in a turn, and what it asked for must be done once.

A caller asks for an errand that a tool with side effects does. At a moment of the turn there is a
fault, and what the tools have kept at the end is held against what should be there. Which server it
is, what the tool is and how the caller sounds is not known here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from voice.prove.doors import Door, Line, Store, Trouble
from voice.prove.judge import calls
from voice.prove.sound import Utterance
from voice.types import Samples, ToolCall

EVERY_MS = 40
FIRST_MS = -400
MOMENTS = 110
"""So many moments of a turn, from before its last word until its answer is over."""
STRIDE = 67
"""Coprime to `MOMENTS`: a few faults are spread over all moments, and many meet each."""
SLOW_S = 7.0
"""Longer than an answer waits for a tool."""
PATIENCE_S = 12.0
"""How long a caller waits for something to be done."""
ASKED_EVERY_S = 0.5
AFTERWARDS_S = 1.0
"""How long what was done is watched for being done again."""


OUTCOMES = ("as it should be", "doubled", "lost", "never called")


class Kind(StrEnum):
    """What goes wrong.

    At the moment the caller says something else (interruption), asks for the response again
    (retry), loses the line and calls again (reconnect), or the server restarts. A slow or failing
    tool is interrupted as well.
    """

    INTERRUPTION = "interruption"
    RETRY = "retried request"
    RECONNECT = "reconnect"
    SLOW = "slow tool"
    FAILING = "failing tool"
    RESTART = "server restarted"

    @property
    def breaks(self) -> bool:
        """Whether the line is lost."""
        return self in (Kind.RECONNECT, Kind.RESTART)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and when: after the last sample of the request, in ms."""

    kind: Kind
    at_ms: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Errand:
    """Something to ask for.

    Attributes:
        tool: What does it.
        table: Where the tool keeps that it was done.
        row: Column → value of its rows there.
    """

    says: str
    tool: str
    table: str
    row: Mapping[str, Any] = field(default_factory=dict)

    def done(self, store: Store) -> int:
        """How often it was done."""
        rows = store.get(self.table, ())
        return sum(self.row.items() <= row.items() for row in rows)


@dataclass(frozen=True, slots=True)
class Site:
    """A server to put faults on, and a caller.

    Attributes:
        door: The way to it, for a fault; it puts in the `trouble` that is with the tools.
        errands: The second is asked for after a line was lost.
        other: What an interruption says.
        background: (T,) int16 at 24 kHz, what is around the caller.
        restart: Stops the server and starts it again.
        ours: Whether it runs the tools itself: then a call that it told of must be done.
    """

    door: Callable[[Fault], Door]
    agent: str
    errands: tuple[Errand, Errand]
    other: str
    speak: Callable[[str], Utterance]
    background: Samples
    restart: Callable[[], Awaitable[None]] | None = None
    ours: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """An errand of a faulted turn.

    Attributes:
        called: Calls that the server told of.
        done: How often it was done.
        least: How often it must have been, at least.
    """

    fault: Fault
    called: int
    done: int
    least: int = 1

    @property
    def outcome(self) -> str:
        """Where nothing was called, the server did not understand, or the caller was too early."""
        if self.done >= self.least:
            return OUTCOMES[self.done > 1]
        return "lost" if self.called else "never called"


def faults(kinds: Sequence[Kind], count: int) -> list[Fault]:
    """So many, each kind as often, spread over the moments of a turn."""
    return [
        Fault(kinds[at % len(kinds)], _moment(at // len(kinds)), at // len(kinds))
        for at in range(count)
    ]


def _moment(number: int) -> int:
    return FIRST_MS + EVERY_MS * (number * STRIDE % MOMENTS)


def table(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Kind of fault → how many turns, and how many of each outcome."""
    counted: dict[str, Counter[str]] = {}
    for entry in entries:
        counted.setdefault(entry.fault.kind, Counter()).update(["turns", entry.outcome])
    return {
        kind: {name: row[name] for name in ("turns", *OUTCOMES)} for kind, row in counted.items()
    }


def trouble(fault: Fault) -> Trouble:
    """What is wrong with the tools: slow each time, or failing at first."""
    failing = fault.kind is Kind.FAILING

    async def meet(call: ToolCall) -> str:
        nonlocal failing
        await asyncio.sleep(SLOW_S if fault.kind is Kind.SLOW else 0)
        refused, failing = failing, False
        return "The other side does not answer." if refused else ""

    return meet


async def put(fault: Fault, site: Site) -> list[Entry]:
    """Hold a conversation with a fault in it: an entry for each of its errands.

    Raises:
        OSError: Nobody listens there.
        VoiceError: The server refuses.
    """
    first, second = site.errands
    async with site.door(fault).open(site.agent, site.background) as line:
        await _ask(line, site, first.says, fault.at_ms)
        await _meet(fault, line, site)
        await _hear_out(line, first)
        if fault.kind is Kind.FAILING and not first.done(await line.store()):
            await _ask(line, site, first.says)
            await _hear_out(line, first)
        called, done = await _count(line, first)
        # What is begun when the line breaks is finished; what is not may be lost with it.
        least = 1 if not fault.kind.breaks else min(called, 1) if site.ours else 0
        entries = [Entry(fault, called, done, least)]
    if fault.kind.breaks:
        async with site.door(fault).open(site.agent, site.background) as line:
            await _ask(line, site, second.says)
            await _hear_out(line, second)
            entries.append(Entry(fault, *await _count(line, second)))
    return entries


async def _ask(line: Line, site: Site, text: str, until_ms: int = 0) -> None:
    """Say something, and wait until so long after its last sample."""
    await line.client.settled()
    said = site.speak(text)
    microphone, clock = line.client.microphone, line.client.clock
    position = microphone.say(said.samples)
    end_s = microphone.time_of(position + said.end)
    await asyncio.sleep(max(0.0, end_s + until_ms / 1000 - clock()))


async def _meet(fault: Fault, line: Line, site: Site) -> None:
    match fault.kind:
        case Kind.RETRY:
            for _ in range(2):
                await line.client.send({"type": "response.create"})
        case Kind.RECONNECT:
            line.client.hang_up()
        case Kind.RESTART:
            assert site.restart is not None
            await site.restart()
        case _:
            line.client.microphone.say(site.speak(site.other).samples)


async def _hear_out(line: Line, errand: Errand) -> None:
    """Wait until it is done and the agent has spoken, and whether it is done again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while not errand.done(await line.store()):  # noqa: ASYNC110 - a server is asked
                await asyncio.sleep(ASKED_EVERY_S)
    with suppress(TimeoutError, ConnectionError):
        await line.client.settled()
    await asyncio.sleep(AFTERWARDS_S)


async def _count(line: Line, errand: Errand) -> tuple[int, int]:
    """How often it was called, as the server tells, and how often it was done."""
    made = [one for one in calls(line.client.events) if one.name == errand.tool]
    return len(made), errand.done(await line.store())
