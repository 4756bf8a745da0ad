"""Sounds made while the agent speaks: what becomes of its reply, at the client.

Interruptions of replies go to a client that drops the agent's sound at the first sign of speech, as
any client of the API does; other sounds to one that holds it, as the page does, while the agent
says a greeting that is long enough.
"""

from __future__ import annotations

import asyncio
import base64
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
from voice.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.conversation import REOPEN_MS
from voice.turn_report import Received, item_of, of_type
from voice.types import SAMPLE_RATE_HZ, Samples
from voice.virtual_audio import speech_span

GREETING = (
    "Hello. I can tell you the time and the date, set an alarm, keep a list for you, and turn the"
    " light on or off in every room of the house. All of that works without the network, and"
    " nothing that you say is sent to anybody else."
)
"""Sounds for more than ten seconds; the recogniser that checks the kept words knows all of it."""
DECIDED_AFTER_S = 2.5
"""How long after a sound the agent has stopped if it stops at all."""


@dataclass(frozen=True, slots=True)
class TalkedOver:
    """A sound over the agent's speech, and what came of it.

    Attributes:
        kind: Of sound.
        after_ms: How long the agent had been audible when it began.
        decided_ms: How long the end of the user's turn had been decided by then; None where nothing
            had been said.
        silence_ms: From its first sample until the loudspeaker was silent; None if it never was.
        stopped: Whether the agent was stopped for good.
        held_ms: How long it was held where it went on.
        whole: The text of the reply; empty where the agent was not stopped.
        kept: What the dialogue keeps of it.
        heard: What was heard of it; None where nobody can tell.
    """

    kind: str
    after_ms: float
    silence_ms: float | None
    stopped: bool
    held_ms: float = 0.0
    whole: str = ""
    kept: str = ""
    heard: Heard | None = None
    decided_ms: float | None = None

    @property
    def reopens(self) -> bool:
        """Whether it was so soon that the user only went on with the turn."""
        return self.decided_ms is not None and self.decided_ms < REOPEN_MS


async def interrupt(
    url: str, first: Utterance, second: Utterance, after_s: float
) -> TalkedOver | None:
    """Talk over the reply to the first utterance with the second.

    Args:
        url: Of the server.
        first: Is answered.
        second: Is said over the answer.
        after_s: How long the agent has been audible when its first sample of speech is said.

    Returns:
        None when the reply was over before the agent could notice, or there was none.
    """
    begin = speech_span(second.samples, SAMPLE_RATE_HZ)[0]
    sound = Sound(second.kind, second.samples, begin)
    async with RealtimeClient.open(url, greet=False) as client:
        client.microphone.say(at_client_rate(first.samples, SAMPLE_RATE_HZ))
        with suppress(TimeoutError, ConnectionError):
            return await _talk_over(client, sound, after_s)
    return None


async def disturb(url: str, sound: Sound, after_s: float) -> TalkedOver | None:
    """Make a sound while the agent says its greeting to a client that can hold it.

    Returns:
        None when the greeting was over.
    """
    async with RealtimeClient.open(url, holds=True) as client:
        with suppress(TimeoutError, ConnectionError):
            return await _talk_over(client, sound, after_s)
    return None


async def _talk_over(client: RealtimeClient, sound: Sound, after_s: float) -> TalkedOver | None:
    created = await client.wait_for("response.created")
    response_id = created.event["response"]["id"]
    item_id = await client.until(lambda: item_of(client.events, response_id))
    audible_s = await client.until(lambda: client.loudspeaker.first_audible_s(item_id))
    await asyncio.sleep(audible_s + after_s - sound.start / SAMPLE_RATE_HZ - client.clock())
    since = len(client.events)
    position = client.microphone.say(at_client_rate(sound.samples, SAMPLE_RATE_HZ))
    spoken_s = client.microphone.time_of(position) + sound.start / SAMPLE_RATE_HZ
    ends_s = client.microphone.time_of(position) + len(sound.samples) / SAMPLE_RATE_HZ
    over_s = client.loudspeaker.silent_from_s
    with suppress(TimeoutError):
        left_s = ends_s + DECIDED_AFTER_S - client.clock()
        await client.wait_for("input_audio_buffer.speech_started", since, left_s)
    events = client.events[since:]
    holds = of_type(events, "quicksilver.hold")
    started = of_type(events, "input_audio_buffer.speech_started")
    silent_s = [r.at_s for r in (*holds[:1], *started[:1])]
    if over_s < (min(silent_s) if silent_s else ends_s):
        return None
    committed = of_type(client.events[:since], "input_audio_buffer.committed")
    decided_ms = 1000 * (spoken_s - committed[-1].at_s) if committed else None
    over = TalkedOver(
        kind=sound.kind,
        after_ms=1000 * (spoken_s - audible_s),
        silence_ms=1000 * (min(silent_s) - spoken_s) if silent_s else None,
        stopped=bool(started),
        decided_ms=decided_ms,
    )
    if not started:
        return replace(over, held_ms=_held_ms(holds, client.clock()))
    whole, audio = _reply(client, response_id)
    played = sum(len(p.samples) for p in client.loudspeaker.timeline if p.item_id == item_id)
    heard = heard_words(whole, audio, played * SAMPLE_RATE_HZ // RATE_HZ)
    kept = await _kept(client, item_id, since)
    return replace(over, whole=whole, kept=kept, heard=heard)


async def _kept(client: RealtimeClient, item_id: str, since: int) -> str:
    """What the dialogue keeps of a reply that was truncated."""
    await client.wait_for("conversation.item.truncated", since)
    asked = len(client.events)
    await client.send({"type": "conversation.item.retrieve", "item_id": item_id})
    kept = await client.wait_for("conversation.item.retrieved", asked)
    content: list[dict[str, Any]] = kept.event["item"]["content"]
    return "".join(part.get("transcript") or part.get("text") or "" for part in content)


def _reply(client: RealtimeClient, response_id: str) -> tuple[str, Samples]:
    """Text and sound, at 16 kHz, of all that was sent of a reply."""
    own = [r for r in client.events if r.event.get("response_id") == response_id]
    text = "".join(r.event["delta"] for r in of_type(own, "response.output_audio_transcript.delta"))
    sound = [
        samples_from_pcm16(base64.b64decode(r.event["delta"]))
        for r in of_type(own, "response.output_audio.delta")
    ]
    audio = soxr.resample(np.concatenate([np.zeros(0, np.int16), *sound]), RATE_HZ, SAMPLE_RATE_HZ)
    return text, audio


def _held_ms(holds: Sequence[Received], now_s: float) -> float:
    """How long the sound was held in all, up to now."""
    changes = [(r.at_s, 1 if r.event["held"] else -1) for r in holds]
    return 1000 * sum((now_s - at_s) * sign for at_s, sign in changes)


@contextmanager
def talkative(agent: str) -> Iterator[str]:
    """The file of an agent that is like another but says `GREETING`."""
    told = (ROOT / "configs" / "agents" / f"{agent}.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{agent}.toml"
        changed = re.sub(r'(?m)^greeting = ".*"$', f'greeting = "{GREETING}"', told)
        file.write_text(changed, encoding="utf-8")
        yield str(file)


def figures(attempts: Sequence[TalkedOver | None]) -> dict[str, Any]:
    """Whether the agent stopped, how soon it was silent, and whether it keeps what was heard."""
    made = [attempt for attempt in attempts if attempt]
    stopped = [attempt for attempt in made if attempt.stopped]
    silence_ms = [a.silence_ms for a in made if a.silence_ms is not None]
    known = [(a.heard, a.kept) for a in stopped if a.heard is not None]
    return {
        "attempts": len(attempts),
        "stopped": share(len(stopped), len(made)),
        "silence_ms": percentiles(silence_ms),
        "held_ms_where_it_went_on": percentiles([a.held_ms for a in made if not a.stopped]),
        "kept_is_a_beginning": share(
            sum(a.whole.startswith(a.kept) for a in stopped), len(stopped)
        ),
        "kept_to_the_word": share(sum(not heard.off(kept) for heard, kept in known), len(known)),
        "kept": [_row(attempt) for attempt in stopped],
    }


def by_kind(attempts: Sequence[tuple[Sound, TalkedOver | None]]) -> dict[str, Any]:
    """The figures of each kind of sound, in the order in which they were made, and their names."""
    told = {}
    for kind in dict.fromkeys(sound.kind for sound, _ in attempts):
        own = [(sound.name, came) for sound, came in attempts if sound.kind == kind]
        told[kind] = figures([came for _, came in own]) | {
            "stopped_by": [name for name, came in own if came and came.stopped],
            "not_stopped_by": [name for name, came in own if came and not came.stopped],
            "not_counted": [name for name, came in own if came is None],
        }
    return told


def withdrawn(attempts: Sequence[TalkedOver]) -> dict[str, Any]:
    """Replies that the user went on before: nothing of them may be kept, heard or not."""
    return {
        "attempts": len(attempts),
        "nothing_kept": share(sum(not a.kept for a in attempts), len(attempts)),
        "silence_ms": percentiles([a.silence_ms for a in attempts if a.silence_ms is not None]),
    }


def _row(attempt: TalkedOver) -> dict[str, Any]:
    heard = attempt.heard
    return {
        "kind": attempt.kind,
        "after_ms": round(attempt.after_ms),
        "whole": attempt.whole,
        "kept": attempt.kept,
        "words_kept": len(attempt.kept.split()),
        "words_heard": heard and [heard.least, heard.likely, heard.most],
    }
