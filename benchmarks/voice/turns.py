"""Voice to voice, false cutoffs, barge-in, words and tools: ``python -m benchmarks.voice.turns``.

Everything is said in real time through a real WebSocket to a real server in its own process, and is
measured in the audio domain at the client: from the last sample of speech in the recording to the
first audible sample of the reply on a loudspeaker that starts to play at once. Each recording has a
conversation of its own; a demo's lines share one. The agent's greeting is switched off. Times are
those of turns in which something was understood and no tool needed the network. Results:
benchmarks/results/turns.json.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from benchmarks.report import machine, shipped_checkpoint, write
from benchmarks.voice.corpus import PAUSES_MS, Utterance, demo_lines, orders, people, with_pauses
from benchmarks.voice.figures import BargeIn, Said, figures
from voice.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo_server import serving
from voice.turn_report import item_of
from voice.types import SAMPLE_RATE_HZ
from voice.virtual_audio import speech_span

PARTS = ("demo", "people", "orders", "pauses", "barge-in")
EMBEDDED = ["asr.engine=sphinx", "tts.engine=espeak"]
SPEAK_AFTER_S = 0.4
"""How long the agent has been audible when it is interrupted."""


async def converse(url: str, utterances: Sequence[Utterance]) -> list[Said]:
    """Say utterances one after the other in one conversation."""
    said = []
    async with RealtimeClient.open(url, greet=False) as client:
        for utterance in utterances:
            samples = at_client_rate(utterance.samples, SAMPLE_RATE_HZ)
            turn = await client.turn(samples, utterance.end * RATE_HZ // SAMPLE_RATE_HZ)
            said.append(Said(utterance, turn))
            _show(said[-1])
            await asyncio.sleep(0.4)
    return said


async def interrupt(url: str, first: Utterance, second: Utterance) -> BargeIn | None:
    """Talk over the reply to the first utterance with the second.

    Returns:
        None when the reply was over before the agent could notice.
    """
    over = at_client_rate(second.samples, SAMPLE_RATE_HZ)
    async with RealtimeClient.open(url, greet=False) as client:
        since = len(client.events)
        client.microphone.say(at_client_rate(first.samples, SAMPLE_RATE_HZ))
        created = await client.wait_for("response.created", since)
        response_id = created.event["response"]["id"]
        item_id = await client.until(lambda: item_of(client.events, response_id))
        audible_s = await client.until(lambda: client.loudspeaker.first_audible_s(item_id))
        await asyncio.sleep(audible_s + SPEAK_AFTER_S - client.clock())
        spoken = len(client.events)
        position = client.microphone.say(over)
        spoken_s = client.microphone.time_of(position + speech_span(over, RATE_HZ)[0])
        with suppress(TimeoutError):
            # The client flushes its loudspeaker in the moment in which this event arrives.
            started = await client.wait_for("input_audio_buffer.speech_started", spoken, 4.0)
            await client.wait_for("conversation.item.truncated", spoken, 1.0)
            ended = len(client.events)
            await client.send({"type": "conversation.item.retrieve", "item_id": item_id})
            kept = await client.wait_for("conversation.item.retrieved", ended)
            content = kept.event["item"]["content"]
            heard = "".join(part.get("transcript") or part.get("text") or "" for part in content)
            silence_ms = 1000 * (started.at_s - spoken_s)
            return BargeIn(silence_ms, _text_of(client, response_id), heard)
    return None


def _text_of(client: RealtimeClient, response_id: str) -> str:
    return "".join(
        r.event["delta"]
        for r in client.events
        if r.type == "response.output_audio_transcript.delta"
        and r.event["response_id"] == response_id
    )


def _show(said: Said) -> None:
    turn = said.turn
    took = "-" if turn.voice_to_voice_ms is None else f"{turn.voice_to_voice_ms:.0f} ms"
    tools = ",".join(use.name for use in turn.tools) or "-"
    cut = " CUT" if turn.early_commits else ""
    print(
        f"{said.utterance.name[:32]:32} {took:>8} {tools:16} {turn.transcript!r}{cut}", flush=True
    )


async def measure(agent: str, parts: Sequence[str], options: Sequence[str]) -> list[Any]:
    """Run one agent's share of the parts; gives `Said`s, and `BargeIn`s or None."""
    found: list[Any] = []
    lines = demo_lines(agent)
    async with serving(["--agent", agent, *options]) as server:
        url = server.realtime_url
        if "demo" in parts:
            found += await converse(url, lines)
        for utterance in alone(agent, parts):
            found += await converse(url, [utterance])
        if "barge-in" in parts:
            for first, second in pairwise(lines):
                found.append(await interrupt(url, first, second))
                print(f"{first.name[:32]:32} {found[-1]}", flush=True)
    return found


def alone(agent: str, parts: Sequence[str]) -> list[Utterance]:
    """The utterances that have a conversation of their own."""
    commands = [u for u in people() if u.kind != "read"]
    chosen: list[Utterance] = []
    if "people" in parts:
        chosen += people()
    if "orders" in parts:
        chosen += orders()
    if "pauses" in parts:
        chosen += with_pauses(
            [*demo_lines("assistant"), *demo_lines("coffee"), *commands], PAUSES_MS
        )
    return [utterance for utterance in chosen if utterance.agent == agent]


async def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--name", default="turns", help="of the results file")
    given = parser.parse_args()
    began, checkpoint = machine(), shipped_checkpoint()
    settings = [*EMBEDDED, 'tools.database=":memory:"', *given.set]
    options = [part for setting in settings for part in ("--set", setting)]
    found = [
        one
        for agent in ("assistant", "coffee")
        for one in await measure(agent, given.parts, options)
    ]
    said = [one for one in found if isinstance(one, Said)]
    attempts = [one for one in found if not isinstance(one, Said)]
    told = {"settings": settings, "checkpoint": checkpoint, **figures(said, attempts)}
    print(write(given.name, "benchmarks.voice.turns", told, began))


if __name__ == "__main__":
    asyncio.run(main())
