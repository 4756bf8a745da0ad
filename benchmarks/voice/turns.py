"""Voice to voice, false cutoffs, barge-in, words and tools: ``python -m benchmarks.voice.turns``.

Everything is said in real time through a real WebSocket to a real server in its own process, and is
measured in the audio domain at the client: from the last sample of speech in the recording to the
first audible sample of the reply on a loudspeaker that starts to play at once. Each recording has a
conversation of its own; a demo's lines share one. The agent's greeting is switched off. Times are
those of turns in which something was understood and no tool needed the network.

``--drafting both`` runs everything twice, with replies drafted while the user speaks and without,
and sets the two side by side; the rest of the results is that of the run with drafts. ``--calls``
holds several calls at once on one server. Results: benchmarks/results/turns.json.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from benchmarks.report import machine, shipped_checkpoint, write
from benchmarks.voice.calls import at_once, summary
from benchmarks.voice.corpus import PAUSES_MS, Utterance, demo_lines, orders, people, with_pauses
from benchmarks.voice.drafts import added, counted, fate
from benchmarks.voice.figures import BargeIn, Said, answered, cutoffs, figures, timing
from voice.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo_server import EMBEDDED, as_arguments, serving
from voice.turn_report import item_of
from voice.types import SAMPLE_RATE_HZ
from voice.virtual_audio import speech_span

PARTS = ("demo", "people", "orders", "pauses", "barge-in")
CALLED = "assistant"
"""The agent that several call at once."""
QUICK = 3
SPEAK_AFTER_S = 0.4
"""How long the agent has been audible when it is interrupted."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be measured.

    Attributes:
        parts: Some of `PARTS`.
        calls: How many calls at once, one after the other.
        most: Utterances of each part; None for all.
    """

    parts: Sequence[str]
    calls: Sequence[int]
    most: int | None = None


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


@dataclass(slots=True)
class Run:
    """What came of one way to run the server.

    Attributes:
        found: `Said`s, and `BargeIn`s or None, of one call at a time.
        drafts: The servers' counts after these.
        calls: Number of calls at once → what was said in them.
    """

    found: list[Any] = field(default_factory=list)
    drafts: list[dict[str, float]] = field(default_factory=list)
    calls: dict[int, list[Said]] = field(default_factory=dict)

    @property
    def said(self) -> list[Said]:
        """The utterances of one call at a time."""
        return [one for one in self.found if isinstance(one, Said)]

    @property
    def attempts(self) -> list[BargeIn | None]:
        """The interruptions."""
        return [one for one in self.found if not isinstance(one, Said)]


async def measure(run: Run, agent: str, chosen: Chosen, settings: Sequence[str]) -> None:
    """Run one agent's share of the parts."""
    lines = demo_lines(agent)[: chosen.most]
    async with serving(["--agent", agent, *as_arguments(settings)]) as server:
        url = server.realtime_url
        if "demo" in chosen.parts:
            run.found += await converse(url, lines)
        for utterance in alone(agent, chosen.parts)[: chosen.most]:
            run.found += await converse(url, [utterance])
        if "barge-in" in chosen.parts:
            for first, second in pairwise(lines):
                run.found.append(await interrupt(url, first, second))
                print(f"{first.name[:32]:32} {run.found[-1]}", flush=True)
        run.drafts.append(await counted(server.metrics_url))
        if agent == CALLED:
            for calls in chosen.calls:
                print(f"{calls} calls", flush=True)
                run.calls[calls] = await at_once(converse, url, lines, calls)


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


def side_by_side(runs: dict[str, Run]) -> dict[str, Any]:
    """With drafts and without: times, false cutoffs, what drafts cost, and several calls."""
    return {
        name: {
            **timing(answered(s for s in run.said if s.utterance.kind != "read")),
            "false_cutoffs": cutoffs([s for s in run.said if not s.utterance.pause_ms]),
            "drafts": fate(added(run.drafts)),
            "calls": {str(calls): summary(said) for calls, said in run.calls.items()},
        }
        for name, run in runs.items()
    }


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--drafting", choices=("on", "off", "both"), default="both")
    parser.add_argument("--calls", nargs="*", type=int, default=[1, 2, 4, 8], metavar="N")
    parser.add_argument("--quick", action="store_true", help="a few of each, as a check")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--name", default="turns", help="of the results file")
    return parser.parse_args()


async def main() -> None:
    """Measure and write the results."""
    given = parsed()
    began, checkpoint = machine(), shipped_checkpoint()
    settings = [*EMBEDDED, *given.set]
    chosen = Chosen(given.parts, given.calls, QUICK if given.quick else None)
    runs: dict[str, Run] = {}
    for name in ("on", "off") if given.drafting == "both" else (given.drafting,):
        runs[name] = Run()
        way = f"drafting.enabled={str(name == 'on').lower()}"
        for agent in (CALLED,) if given.quick else ("assistant", "coffee"):
            await measure(runs[name], agent, chosen, [*settings, way])
    run = next(iter(runs.values()))
    told = {"settings": settings, "checkpoint": checkpoint, **figures(run.said, run.attempts)}
    told["drafting"] = side_by_side(runs)
    print(write(given.name, "benchmarks.voice.turns", told, began))


if __name__ == "__main__":
    asyncio.run(main())
