"""What the ears make of sounds while the agent speaks: ``benchmarks.voice.interruptions``.

Interruptions: commands and orders of real people, and single words of theirs, that mean stop or
something else. Backchannels: single words of real people that mean go on, and hums, which nobody
recorded, by flite's voices. Noise: a kitchen and a room. Each is heard as if the agent were
speaking, whose echo is taken to be gone; figures are how often the agent is stopped, how soon its
sound is held, and for how long where it goes on. How single words sound was learned from, and all
rules were set on, half of the voices: how often the others' stop the agent is told by itself.
Results: benchmarks/results/interruptions.json.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.report import machine, percentiles, share, write
from benchmarks.voice.corpus import SHARED, orders, people, read_audio
from benchmarks.voice.short_words import recorded, spoken_by_flite
from voice.asr.sphinx import SphinxRecognizer
from voice.audio import Framer
from voice.backchannel_sound import asks_to_go_on
from voice.config import EndpointingConfig, SphinxConfig, VadConfig, load_agent
from voice.doubt import Doubt
from voice.endpointing import Endpointer
from voice.turn_end import Cues
from voice.types import (
    SAMPLE_RATE_HZ,
    AudioFrame,
    Pause,
    Samples,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    TurnEnded,
    ms_of_samples,
)
from voice.vad import make_vad
from voice.virtual_audio import room_tone, speech_span

STOPPING = ("stop", "no")
OTHER = ("off", "down", "go", "left", "one")
AGREEING = ("right", "yes")
PER_WORD, PER_OTHER_WORD = 60, 15
"""Recordings of each word by either half of the speakers."""
HUMS = ("um hum", "uh huh", "okay", "yeah", "oh", "I see", "right", "sure")
NOISE_SAMPLES = 2 * SAMPLE_RATE_HZ
LEAD_S, TAIL_S = 0.5, 1.5


@dataclass(frozen=True, slots=True)
class Sound:
    """Something heard while the agent speaks.

    Attributes:
        kind: Of sound.
        samples: (T,) int16 at 16 kHz.
        start: Its first audible sample.
        held_out: Whether it is by a voice that nothing was learned from or set on; None where that
            holds for none of its kind.
    """

    kind: str
    samples: Samples
    start: int
    held_out: bool | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        held_after_ms: From its start to the moment the agent's sound was held; None when never.
        stopped_after_ms: The same for the moment the agent was stopped for good.
        silent_ms: How long a reply that went on was held.
        held_out: See `Sound`.
    """

    held_after_ms: float | None
    stopped_after_ms: float | None
    silent_ms: float
    held_out: bool | None = None


class Bystander:
    """Hears sounds as a session does that is speaking."""

    def __init__(self, vad: str) -> None:
        self._vad = make_vad(VadConfig(engine=vad))  # type: ignore[arg-type]
        self._recognizer = SphinxRecognizer(SphinxConfig(), load_agent("assistant"))

    def hear(self, sound: Sound) -> Outcome:
        """Hear one sound in a quiet room."""
        lead, tail = (room_tone(seconds, SAMPLE_RATE_HZ) for seconds in (LEAD_S, TAIL_S))
        audio = np.concatenate([lead, sound.samples, tail])
        start = len(lead) + sound.start
        self._vad.reset()
        endpointer = Endpointer(EndpointingConfig())
        before: list[AudioFrame] = []
        stream, doubt = None, None
        held: int | None = None
        first_held: int | None = None
        silent = 0
        for frame in Framer().push(audio):
            before.append(frame)
            stops = False
            interim = stream.accept(frame) if stream is not None else None
            if interim is not None and doubt is not None:
                doubt.text = interim.text
                stops = doubt.outlasted
            probability = self._vad.probability(frame)
            for event in endpointer.accept(frame, probability, Cues()):
                now = frame.end_sample
                match event:
                    case SpeechStarted(turn_id, at):
                        stream = self._recognizer.open(turn_id)
                        first = at - endpointer.pre_roll_samples
                        for earlier in (f for f in before if f.start_sample >= first):
                            stream.accept(earlier)
                        doubt = Doubt(("reply",), answering=False, start_sample=at)
                        held = now
                        first_held = first_held or now
                    case SpeechLasted() if doubt is not None:
                        doubt.lasted = True
                        stops = doubt.outlasted
                    case Pause(_, at) if stream is not None and doubt is not None:
                        sounded = asks_to_go_on(audio[:at], at - doubt.start_sample)
                        stops = doubt.proven(replace(stream.finish(), go_on=sounded), at)
                        if not stops and held is not None:
                            silent, held = silent + now - held, None
                    case SpeechResumed():
                        held = now
                    case TurnEnded():
                        stream = doubt = None
            if stops:
                return Outcome(_after(first_held, start), _after(frame.end_sample, start), 0.0)
        return Outcome(_after(first_held, start), None, ms_of_samples(silent))


def _after(at: int | None, start: int) -> float | None:
    return None if at is None else ms_of_samples(at - start)


def sentences() -> Iterator[Sound]:
    """Commands and orders of real people."""
    for said in [*people(), *orders()]:
        if said.kind in ("command", "order"):
            yield _sound("sentence", said.samples)


def spoken_words(words: Sequence[str], kind: str, most: int = PER_WORD) -> Iterator[Sound]:
    """Single words of real people, the first so many of each by either half of the speakers."""
    found: Counter[tuple[str, bool]] = Counter()
    for word in recorded():
        which = word.word, word.held_out
        if word.word in words and found[which] < most:
            found[which] += 1
            yield _sound(kind, word.samples, word.held_out)


def hums() -> Iterator[Sound]:
    """What people say to listeners, by flite's voices."""
    for word in spoken_by_flite(HUMS):
        yield _sound("synthetic backchannel", word.samples, word.held_out)


def noises() -> Iterator[Sound]:
    """Sounds of a kitchen and of a room, where nobody speaks."""
    for name in ("kitchen", "room-background"):
        audio = read_audio(SHARED / "noise" / f"{name}.flac")
        for start in range(0, len(audio) - NOISE_SAMPLES, NOISE_SAMPLES):
            yield Sound("noise", audio[start : start + NOISE_SAMPLES], 0)


def _sound(kind: str, samples: Samples, held_out: bool | None = None) -> Sound:
    return Sound(kind, samples, speech_span(samples, SAMPLE_RATE_HZ)[0], held_out)


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Figures of one kind of sound; ``stopped_held_out`` where its voices are of two halves."""
    others = [o for o in outcomes if o.held_out]
    held = [o.held_after_ms for o in outcomes if o.held_after_ms is not None]
    stopped = [o.stopped_after_ms for o in outcomes if o.stopped_after_ms is not None]
    silent = [o.silent_ms for o in outcomes if o.stopped_after_ms is None and o.silent_ms]
    return {
        "stopped": share(len(stopped), len(outcomes)),
        "stopped_held_out": share(sum(o.stopped_after_ms is not None for o in others), len(others)),
        "held": share(len(held), len(outcomes)),
        "held_after_ms": percentiles(held),
        "stopped_after_ms": percentiles(stopped),
        "silent_ms_where_it_went_on": percentiles(silent),
    }


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--vad", choices=("silero", "webrtc"), default="silero")
    options = parser.parse_args()
    began = machine()
    sounds = [
        *sentences(),
        *spoken_words(STOPPING, "word that means stop"),
        *spoken_words(OTHER, "another word", PER_OTHER_WORD),
        *spoken_words(AGREEING, "word that means go on"),
        *hums(),
        *noises(),
    ]
    bystander = Bystander(options.vad)
    outcomes: dict[str, list[Outcome]] = {}
    for sound in sounds:
        outcome = replace(bystander.hear(sound), held_out=sound.held_out)
        outcomes.setdefault(sound.kind, []).append(outcome)
    figures = {kind: figures_of(found) for kind, found in outcomes.items()}
    for kind, group in figures.items():
        print(kind, group)
    print(write("interruptions", "benchmarks.voice.interruptions", figures, began))


if __name__ == "__main__":
    main()
