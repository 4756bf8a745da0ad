"""The fault ledger: something goes wrong in a turn, and what was asked for must be done once.

A caller asks for an errand that a tool with side effects does. At some moment of the turn a fault
is injected, and at the end what the tools have stored is compared with what should be there. Which
server and tool these are and how the caller sounds is not known here.
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
"""Number of moments in a turn, from before its last word until its answer is over."""
STRIDE = 67
"""Coprime to `MOMENTS`, so that a few faults spread over the turn and many cover every moment."""
SLOW_S = 7.0
"""How long a slow tool takes: longer than an answer waits for it."""
PATIENCE_S = 12.0
"""How long a caller waits for something to be done."""
ASKED_EVERY_S = 0.5
AFTERWARDS_S = 1.0
"""How long to watch afterwards whether something is done again."""


OUTCOMES = ("as it should be", "doubled", "lost", "never called")


class Kind(StrEnum):
    """What goes wrong.

    At the moment of the fault the caller says something else (interruption), asks for the response
    again (retry) or loses the line and calls again (reconnect), or the server restarts. With a slow
    or failing tool the caller interrupts, too.
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
    """A fault, and its time in ms after the last sample of the request."""

    kind: Kind
    at_ms: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Errand:
    """Something to ask for.

    Attributes:
        says: The words that ask for it.
        tool: The tool that does it.
        table: The table in which the tool records that it was done.
        row: Column → value in the rows that record it.
    """

    says: str
    tool: str
    table: str
    row: Mapping[str, Any] = field(default_factory=dict)

    def done(self, store: Store | None) -> int:
        """How often it was done."""
        rows = (store or {}).get(self.table, ())
        return sum(self.row.items() <= row.items() for row in rows)


@dataclass(frozen=True, slots=True)
class Site:
    """A server to test with faults, and a caller.

    Attributes:
        door: Fault → the way to the server, with the fault's `trouble` for the tools.
        errands: What is asked for; the second one after the line was lost.
        other: The words of an interruption.
        speak: Makes the sound of the caller's words.
        background: (T,) int16 at 24 kHz, the noise around the caller.
        restart: Stops the server and starts it again.
        ours: Whether the server runs the tools itself; then each call that it reports must be done.
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
    """The outcome of an errand in a conversation with a fault.

    Attributes:
        called: Number of calls that the server reported.
        done: How often the errand was done.
        least: How often it had to be done, at least.
    """

    fault: Fault
    called: int
    done: int
    least: int = 1

    @property
    def outcome(self) -> str:
        """One of `OUTCOMES`.

        "never called" means that the server did not understand, or that the fault came too early.
        """
        if self.done >= self.least:
            return OUTCOMES[self.done > 1]
        return "lost" if self.called else "never called"


def faults(kinds: Sequence[Kind], count: int) -> list[Fault]:
    """So many faults, of all kinds equally often, spread over the moments of a turn."""
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
    """What a fault does to the tools: each call slow, the first call failing, or nothing."""
    failing = fault.kind is Kind.FAILING

    async def meet(call: ToolCall) -> str:
        nonlocal failing
        await asyncio.sleep(SLOW_S if fault.kind is Kind.SLOW else 0)
        refused, failing = failing, False
        return "The other side does not answer." if refused else ""

    return meet


async def put(fault: Fault, site: Site) -> list[Entry]:
    """Hold a conversation with a fault in it, and return an entry for each of its errands.

    Raises:
        OSError: No server can be reached.
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
        # A call begun before the line breaks must be completed by a server that runs it; anything
        # else may be lost with the line.
        least = 1 if not fault.kind.breaks else min(called, 1) if site.ours else 0
        entries = [Entry(fault, called, done, least)]
    if fault.kind.breaks:
        async with site.door(fault).open(site.agent, site.background) as line:
            await _ask(line, site, second.says)
            await _hear_out(line, second)
            entries.append(Entry(fault, *await _count(line, second)))
    return entries


async def _ask(line: Line, site: Site, text: str, until_ms: int = 0) -> None:
    """Say something, and wait until a time after its last sample of speech."""
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
    """Wait until the errand is done and the agent has spoken, then in case it is done again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while not errand.done(await line.store()):  # noqa: ASYNC110 - a server is asked
                await asyncio.sleep(ASKED_EVERY_S)
    with suppress(TimeoutError, ConnectionError):
        await line.client.settled()
    await asyncio.sleep(AFTERWARDS_S)


async def _count(line: Line, errand: Errand) -> tuple[int, int]:
    """How often the errand's tool was called, as the server reports, and how often it was done."""
    made = [one for one in calls(line.client.events) if one.name == errand.tool]
    return len(made), errand.done(await line.store())
