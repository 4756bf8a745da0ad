"""Sounds made while the agent speaks, and what becomes of its reply, measured at the client.

Interruptions of replies are made at a client that drops the agent's sound at the first sign of
speech, as any client of the API does. Other sounds are made during a long greeting, at a client
that can hold the agent's sound, as the page does.
"""

from __future__ import annotations

import asyncio
import base64
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from benchmarks.report import ROOT, percentiles, share
from benchmarks.voice.bystander import Sound
from benchmarks.voice.corpus import Utterance
from benchmarks.voice.heard_words import Heard, heard_words
from voice.audio import samples_from_pcm16
from voice.demo.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo.turn_report import Received, item_of, of_type
from voice.demo.virtual_audio import speech_span
from voice.dialogue.interruption import REOPEN_MS
from voice.types import SAMPLE_RATE_HZ, Samples

GREETING = (
    "Hello. I can tell you the time and the date, set an alarm, keep a list for you, and turn the"
    " light on or off in every room of the house. All of that works without the network, and"
    " nothing that you say is sent to anybody else."
)
"""Lasts more than ten seconds; the recogniser that checks the kept words knows all its words."""
DECIDED_AFTER_S = 2.5
"""Seconds after a sound within which the agent has stopped if it stops at all."""
IGNORED_AFTER_S = 0.5
"""An agent that went on for so long under a sound before its speech was over did not stop."""


@dataclass(frozen=True, slots=True)
class TalkedOver:
    """A sound over the agent's speech, and its effect.

    Attributes:
        kind: The kind of sound.
        after_ms: How long the agent had been audible when the sound began.
        decided_ms: Time from the decision that the user's turn had ended until the sound; None if
            the user had said nothing.
        silence_ms: From the sound's first sample until the loudspeaker was silent; None if it never
            was.
        stopped: Whether the agent was stopped for good.
        held_ms: How long the agent was held, if it went on.
        whole: The text of the reply; empty if the agent was not stopped.
        kept: What the dialogue keeps of the reply; None if the server did not say.
        heard: What was heard of the reply; None if that cannot be found out.
    """

    kind: str
    after_ms: float
    silence_ms: float | None
    stopped: bool
    held_ms: float = 0.0
    whole: str = ""
    kept: str | None = ""
    heard: Heard | None = None
    decided_ms: float | None = None

    @property
    def reopens(self) -> bool:
        """Whether the sound came so soon that it reopens the user's turn."""
        return self.decided_ms is not None and self.decided_ms < REOPEN_MS


async def interrupt(
    url: str, first: Utterance, second: Utterance, after_s: float
) -> TalkedOver | None:
    """Say an utterance, and talk over the reply to it with a second one.

    Args:
        url: The server's.
        first: What the agent replies to.
        second: What interrupts the reply.
        after_s: How long the agent has been audible when the second begins.

    Returns:
        None if the reply was over before the agent could notice, or there was none.
    """
    begin = speech_span(second.samples, SAMPLE_RATE_HZ)[0]
    sound = Sound(second.kind, second.samples, begin)
    async with RealtimeClient.open(url, greet=False) as client:
        client.microphone.say(at_client_rate(first.samples, SAMPLE_RATE_HZ))
        return await _talk_over(client, sound, after_s)


async def disturb(url: str, sound: Sound, after_s: float) -> TalkedOver | None:
    """Make a sound while the agent says its greeting to a client that can hold it.

    Returns:
        None if the greeting was over before the agent could notice, or there was none.
    """
    async with RealtimeClient.open(url, holds=True) as client:
        return await _talk_over(client, sound, after_s)


async def _talk_over(client: RealtimeClient, sound: Sound, after_s: float) -> TalkedOver | None:
    try:
        response_id, item_id, audible_s = await _audible(client)
    except (TimeoutError, ConnectionError):
        return None
    # Silence before the sound is shortened to the time that there is for it.
    lead = min(sound.start, int(after_s * SAMPLE_RATE_HZ))
    samples = sound.samples[sound.start - lead :]
    await asyncio.sleep(audible_s + after_s - lead / SAMPLE_RATE_HZ - client.clock())
    since = len(client.events)
    position = client.microphone.say(at_client_rate(samples, SAMPLE_RATE_HZ))
    said_s = client.microphone.time_of(position)
    spoken_s, ends_s = (said_s + at / SAMPLE_RATE_HZ for at in (lead, len(samples)))
    # From here on, an event that fails to come is the agent's failure, and counts as one.
    with suppress(TimeoutError, ConnectionError):
        left_s = ends_s + DECIDED_AFTER_S - client.clock()
        await client.wait_for("input_audio_buffer.speech_started", since, left_s)
    events = client.events[since:]
    holds = of_type(events, "quicksilver.hold")
    started = of_type(events, "input_audio_buffer.speech_started")
    noticed_s = min((r.at_s for r in (*holds[:1], *started[:1])), default=math.inf)
    over_s = _over_s(client, item_id, noticed_s)
    if over_s < min(noticed_s, spoken_s + IGNORED_AFTER_S):
        return None
    in_time = noticed_s <= over_s
    committed = of_type(client.events[:since], "input_audio_buffer.committed")
    over = TalkedOver(
        kind=sound.kind,
        after_ms=1000 * (spoken_s - audible_s),
        silence_ms=1000 * (noticed_s - spoken_s) if in_time else None,
        stopped=in_time and bool(started),
        decided_ms=1000 * (spoken_s - committed[-1].at_s) if committed else None,
    )
    if not over.stopped:
        return replace(over, held_ms=_held_ms(holds, client.clock()))
    whole, audio = _reply(client, response_id)
    played = sum(len(p.samples) for p in client.loudspeaker.timeline if p.item_id == item_id)
    heard = heard_words(whole, audio, played * SAMPLE_RATE_HZ // RATE_HZ)
    return replace(over, whole=whole, kept=await client.kept(item_id, since), heard=heard)


async def _audible(client: RealtimeClient) -> tuple[str, str, float]:
    """Ids of the first reply's response and item, and when its first audible sample sounds."""
    created = await client.wait_for("response.created")
    response_id = created.event["response"]["id"]
    item_id = await client.until(lambda: item_of(client.events, response_id))
    audible_s = await client.until(lambda: client.loudspeaker.first_audible_s(item_id))
    return response_id, item_id, audible_s


def _over_s(client: RealtimeClient, item_id: str, until_s: float) -> float:
    """When an item's audio that arrived until ``until_s`` would end if neither held nor cut."""
    over_s = -math.inf
    for received in of_type(client.events, "response.output_audio.delta"):
        if received.event["item_id"] == item_id and received.at_s <= until_s:
            samples = samples_from_pcm16(base64.b64decode(received.event["delta"]))
            over_s = max(over_s, received.at_s) + len(samples) / RATE_HZ
    return over_s


def _reply(client: RealtimeClient, response_id: str) -> tuple[str, Samples]:
    """Text and audio, at 16 kHz, of all that was sent of a reply."""
    own = [r for r in client.events if r.event.get("response_id") == response_id]
    text = "".join(r.event["delta"] for r in of_type(own, "response.output_audio_transcript.delta"))
    sound = [
        samples_from_pcm16(base64.b64decode(r.event["delta"]))
        for r in of_type(own, "response.output_audio.delta")
    ]
    audio = soxr.resample(np.concatenate([np.zeros(0, np.int16), *sound]), RATE_HZ, SAMPLE_RATE_HZ)
    return text, audio


def _held_ms(holds: Sequence[Received], now_s: float) -> float:
    """How long the agent's sound was held in all, up to now."""
    changes = [(r.at_s, 1 if r.event["held"] else -1) for r in holds]
    return 1000 * sum((now_s - at_s) * sign for at_s, sign in changes)


@contextmanager
def talkative(agent: str) -> Iterator[str]:
    """Yield the path of a copy of an agent's file with `GREETING` as its greeting."""
    told = (ROOT / "configs" / "agents" / f"{agent}.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{agent}.toml"
        changed = re.sub(r'(?m)^greeting = ".*"$', f'greeting = "{GREETING}"', told)
        file.write_text(changed, encoding="utf-8")
        yield str(file)


def figures(attempts: Sequence[TalkedOver | None]) -> dict[str, Any]:
    """How often the agent stopped, how soon it was silent, and whether it keeps what was heard.

    A server that does not say what it keeps is taken to keep something wrong.
    """
    made = [attempt for attempt in attempts if attempt]
    stopped = [attempt for attempt in made if attempt.stopped]
    silence_ms = [a.silence_ms for a in made if a.silence_ms is not None]
    judged = [a for a in stopped if a.heard is not None or a.kept is None]
    beginnings = sum(a.kept is not None and a.whole.startswith(a.kept) for a in stopped)
    return {
        "attempts": len(attempts),
        "stopped": share(len(stopped), len(made)),
        "silence_ms": percentiles(silence_ms),
        "held_ms_where_it_went_on": percentiles([a.held_ms for a in made if not a.stopped]),
        "kept_is_a_beginning": share(beginnings, len(stopped)),
        "kept_to_the_word": share(sum(_to_the_word(a) for a in judged), len(judged)),
        "kept": [_row(attempt) for attempt in stopped],
    }


def by_kind(attempts: Sequence[tuple[Sound, TalkedOver | None]]) -> dict[str, Any]:
    """The figures of each kind of sound, with the names of those that stopped the agent or not."""
    told = {}
    for kind in dict.fromkeys(sound.kind for sound, _ in attempts):
        own = [(sound.name, came) for sound, came in attempts if sound.kind == kind]
        told[kind] = figures([came for _, came in own]) | {
            "stopped_by": [name for name, came in own if came and came.stopped],
            "not_stopped_by": [name for name, came in own if came and not came.stopped],
            "not_counted": [name for name, came in own if came is None],
        }
    return told


def withdrawn(attempts: Sequence[TalkedOver | None]) -> dict[str, Any]:
    """Figures of replies that were withdrawn because the user went on: none of them may be kept."""
    made = [attempt for attempt in attempts if attempt]
    return {
        "attempts": len(attempts),
        "nothing_kept": share(sum(a.stopped and a.kept == "" for a in made), len(made)),
        "silence_ms": percentiles([a.silence_ms for a in made if a.silence_ms is not None]),
    }


def as_intended(
    attempts: Sequence[tuple[float, TalkedOver | None]], moments_s: Sequence[float], reopens: bool
) -> list[TalkedOver | None]:
    """The outcomes of interruptions that were planned for some moments.

    Args:
        attempts: When each interruption was planned, and its outcome.
        moments_s: The moments to select.
        reopens: Whether an interruption at these moments should reopen the turn. One that came too
            early or too late for that does not count, and is returned as None.
    """
    meant = [came for after_s, came in attempts if after_s in moments_s]
    return [came if came and came.reopens == reopens else None for came in meant]


def _to_the_word(attempt: TalkedOver) -> bool:
    heard, kept = attempt.heard, attempt.kept
    return heard is not None and kept is not None and not heard.off(kept)


def _row(attempt: TalkedOver) -> dict[str, Any]:
    heard, kept = attempt.heard, attempt.kept
    return {
        "kind": attempt.kind,
        "after_ms": round(attempt.after_ms),
        "whole": attempt.whole,
        "kept": kept,
        "words_kept": None if kept is None else len(kept.split()),
        "words_heard": heard and [heard.least, heard.likely, heard.most],
    }
