"""How a session reacts to a sound while the agent speaks, without a server or real time.

The sound is mixed into a quiet room and resampled as by a client's microphone. A session's hearing
and conversation receive it packet by packet. The recogniser is never behind, the agent's echo is
assumed to be cancelled, and no language model judges whether a message ends.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from voice.config import AgentConfig, EndpointingConfig
from voice.demo.client import RATE_HZ, at_client_rate
from voice.demo.virtual_audio import PACKET_MS, room_tone
from voice.dialogue.commands import HoldSpeaking, ReleaseSpeaking, Speak, StopSpeaking
from voice.dialogue.conversation import Conversation
from voice.hearing.asr import Recognizer
from voice.hearing.asr.domain import Domain
from voice.hearing.audio_input import AudioInput, HearingEvent
from voice.hearing.vad import Vad
from voice.inputs import Announce, AudioSent, SessionOptions
from voice.types import SAMPLE_RATE_HZ, Samples, ms_of_samples

LEAD_S, TAIL_S = 0.7, 1.5
MOMENTS = 8
"""Packets after which the detector's windows are aligned with the frames in the same way again."""
SPOKEN = "I can set an alarm, keep a list for you, and turn the light on or off in every room."
_PACKET = RATE_HZ * PACKET_MS // 1000
_PASSES = 12
"""Passes of the event loop that suffice to deliver all that a packet has caused."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sound:
    """Something heard while the agent speaks.

    Attributes:
        kind: The kind of sound.
        samples: (T,) int16 at 16 kHz.
        start: Its first audible sample.
        held_out: Whether nothing was fitted to or tuned on its voice; None for kinds of sound
            that are not split by voice.
        name: What it is, and whose; "" where that is not known.
    """

    kind: str
    samples: Samples
    start: int
    held_out: bool | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sound did to the agent.

    Attributes:
        held_after_ms: From the sound's start until the agent was first held; None if it never was.
        stopped_after_ms: The same until the agent was stopped for good.
        silent_ms: How long a reply that went on was held in all.
        held_out: See `Sound`.
    """

    held_after_ms: float | None
    stopped_after_ms: float | None
    silent_ms: float
    held_out: bool | None = None


class Bystander:
    """Hears sounds as a session does whose agent is speaking."""

    def __init__(self, recognizer: Recognizer, vad: Vad, agent: AgentConfig) -> None:
        self._recognizer = recognizer
        self._vad = vad
        self._domain = Domain.of(agent)

    def hear(self, sound: Sound, moment: int = 0) -> Outcome:
        """Hear one sound.

        Args:
            moment: Packets by which the sound is delayed; `MOMENTS` values make a difference.
        """
        lead = round(LEAD_S * RATE_HZ) // _PACKET * _PACKET + moment * _PACKET
        start = lead * SAMPLE_RATE_HZ // RATE_HZ + sound.start
        self._vad.reset()
        return asyncio.run(self._hear(picked_up(sound.samples, lead), start))

    async def _hear(self, packets: Iterator[Samples], start: int) -> Outcome:
        session = _Speaking(self._recognizer, self._vad, self._domain)
        hearing = asyncio.create_task(session.ears.run())
        for packet in packets:
            session.ears.append(packet, RATE_HZ)
            for _ in range(_PASSES):
                await asyncio.sleep(0)
            if session.stopped is not None:
                break
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
        silent = 0 if session.stopped is not None else session.silent
        first = _after(session.first_held, start)
        return Outcome(first, _after(session.stopped, start), ms_of_samples(silent))


class _Speaking:
    """The hearing and the conversation of a session whose agent says something long.

    Attributes:
        first_held: Position in the audio at which the agent's sound was first held.
        stopped: Position at which the agent was stopped.
        silent: Samples for which the agent's sound was held before it went on.
    """

    def __init__(self, recognizer: Recognizer, vad: Vad, domain: Domain) -> None:
        self.first_held: int | None = None
        self.stopped: int | None = None
        self.silent = 0
        self._held = 0
        options, numbers = SessionOptions(holds=True), itertools.count()
        self._conversation = Conversation(options, {}, lambda prefix: f"{prefix}{next(numbers)}")
        self.ears = AudioInput(
            recognizer, vad, EndpointingConfig(), AtOnce(), self._tell, lambda turn_id: None
        )
        self.ears.configure(options)
        self.ears.expect(domain)
        said = self._conversation.feed(Announce(SPOKEN))
        reply_id = next(command.reply_id for command in said if isinstance(command, Speak))
        self._conversation.feed(AudioSent(reply_id))

    def _tell(self, event: HearingEvent) -> None:
        now = self.ears.position
        for command in self._conversation.feed(event):
            match command:
                case HoldSpeaking():
                    self.first_held = self.first_held or now
                    self._held = now
                case ReleaseSpeaking():
                    self.silent += now - self._held
                case StopSpeaking():
                    self.stopped = self.stopped or now


class AtOnce(Executor):
    """An executor that does the work inside `submit`, so that nothing is ever behind."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call the function now; the future is done when this returns."""
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def picked_up(samples: Samples, lead: int) -> Iterator[Samples]:
    """A sound as a client's microphone delivers it: packets of (T,) int16 at `RATE_HZ`.

    Args:
        samples: (T,) int16 at 16 kHz.
        lead: Samples at `RATE_HZ` before it.
    """
    said = at_client_rate(samples, SAMPLE_RATE_HZ)
    length = lead + len(said) + round(TAIL_S * RATE_HZ)
    mixed = np.resize(room_tone(5.0, RATE_HZ), length).astype(np.int32)
    mixed[lead : lead + len(said)] += said
    heard = np.clip(mixed, -32768, 32767).astype(np.int16)
    for first in range(0, length - _PACKET + 1, _PACKET):
        yield heard[first : first + _PACKET]


def _after(at: int | None, start: int) -> float | None:
    return None if at is None else ms_of_samples(at - start)
