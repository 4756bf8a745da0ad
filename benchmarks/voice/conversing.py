"""Holding conversations in real time: utterances said one after the other, or several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from benchmarks.voice.corpus import Utterance
from benchmarks.voice.figures import Said, answered, cutoffs, timing
from voice.demo.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo.turn_report import Turn, report
from voice.types import SAMPLE_RATE_HZ

BETWEEN_S = 0.4
"""From the end of a reply to the next utterance of the same conversation."""
APART_S = 0.7
"""Between the starts of two conversations, so that callers do not speak in chorus."""

T = TypeVar("T")
Outcome = TypeVar("Outcome")


async def converse(
    url: str, utterances: Sequence[Utterance], silence_ms: int | None = None
) -> list[Said]:
    """Say utterances one after the other in one conversation.

    Every reply but the last is heard to its end. The first utterance's background noise lasts for
    the whole conversation. When the agent hangs up, the remaining utterances are not said.

    Args:
        silence_ms: Silence after which a turn ends, whatever was said; None lets the server decide.
    """
    said: list[Said] = []
    around = utterances[0].around
    background = None if around is None else at_client_rate(around, SAMPLE_RATE_HZ)
    async with RealtimeClient.open(url, greet=False, background=background) as client:
        if silence_ms is not None:
            await _wait_for_silence(client, silence_ms)
        for utterance in utterances:
            if said:
                await client.loudspeaker.drained()
                await asyncio.sleep(BETWEEN_S)
            said.append(Said(utterance, await _turn(client, utterance)))
            _show(said[-1])
            if client.closed is not None:
                break
    return said


async def _turn(client: RealtimeClient, utterance: Utterance) -> Turn:
    """Say an utterance; if the agent hangs up during it, the turn has no reply."""
    since, begun_s = len(client.events), client.clock()
    samples = at_client_rate(utterance.samples, SAMPLE_RATE_HZ)
    end = utterance.end * RATE_HZ // SAMPLE_RATE_HZ
    try:
        return await client.turn(samples, end, hear_out=False)
    except ConnectionError:
        return report(client.events[since:], begun_s + end / RATE_HZ, None)


async def each(
    url: str, utterances: Sequence[Utterance], abreast: int = 1, silence_ms: int | None = None
) -> list[Said]:
    """Say each utterance in a conversation of its own.

    Args:
        abreast: How many conversations are held at once.

    Returns:
        The outcomes, in the order of the utterances.
    """

    async def alone(utterance: Utterance) -> Said:
        [said] = await converse(url, [utterance], silence_ms)
        return said

    return await some_at_once(alone, utterances, abreast)


async def some_at_once(
    do: Callable[[T], Awaitable[Outcome]], things: Sequence[T], abreast: int
) -> list[Outcome]:
    """Do something with each of many things, at most ``abreast`` at once.

    Returns:
        The outcomes, in the order of the things.
    """
    free = asyncio.Semaphore(abreast)

    async def alone(number: int, thing: T) -> Outcome:
        async with free:
            if number < abreast:
                await asyncio.sleep(number * APART_S)
            return await do(thing)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(alone(*numbered)) for numbered in enumerate(things)]
    return [task.result() for task in tasks]


Converse = Callable[[str, Sequence[Utterance]], Awaitable[list[Said]]]


async def at_once(
    converse: Converse, url: str, lines: Sequence[Utterance], calls: int
) -> list[Said]:
    """Hold several calls at once; each begins with another line, and none says goodbye."""
    staying = [line for line in lines if line.tool != "end_conversation"]

    async def call(number: int) -> list[Said]:
        await asyncio.sleep(number * APART_S)
        first = number % len(staying)
        return await converse(url, [*staying[first:], *staying[:first]])

    said = await asyncio.gather(*(call(number) for number in range(calls)))
    return [one for some in said for one in some]


def summary(said: Sequence[Said]) -> dict[str, Any]:
    """The figures for one number of calls at once."""
    return {
        "turns": len(said),
        "replied": sum(one.turn.status == "completed" for one in said),
        "false_cutoffs": cutoffs(said),
        **timing(answered(said)),
    }


async def _wait_for_silence(client: RealtimeClient, silence_ms: int) -> None:
    since = len(client.events)
    detection: dict[str, Any] = {"type": "server_vad", "silence_duration_ms": silence_ms}
    session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
    await client.send({"type": "session.update", "session": session})
    await client.wait_for("session.updated", since)


def _show(said: Said) -> None:
    turn = said.turn
    took = "-" if turn.voice_to_voice_ms is None else f"{turn.voice_to_voice_ms:.0f} ms"
    tools = ",".join(use.name for use in turn.tools) or "-"
    cut = " CUT" if turn.early_commits else ""
    print(
        f"{said.utterance.name[:32]:32} {took:>8} {tools:16} {turn.transcript!r}{cut}", flush=True
    )
