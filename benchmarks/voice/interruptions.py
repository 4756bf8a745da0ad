"""How the agent reacts to sounds while it speaks: ``benchmarks.voice.interruptions``.

Interruptions are commands, orders and single words of real people, which mean stop or something
else. Backchannels are single words of real people that mean go on; hums, which are synthesised from
a physical model (`benchmarks.voice.humming`); and hums and other backchannels as flite's and
espeak-ng's voices, which cannot hum, say them. Noise is that of a kitchen and of a room. Each sound
is heard as by a session whose agent is speaking (`benchmarks.voice.bystander`). Figures are how
often the agent is stopped, how soon its sound is held, and for how long if it goes on. Half of the
voices were used to learn how single words sound and to tune all rules; how often the other half
stops the agent is reported apart.
Results: benchmarks/results/interruptions.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.report import Program, percentiles, share
from benchmarks.voice.bystander import MOMENTS, Bystander, Outcome, Sound
from benchmarks.voice.corpus import SHARED, needed, orders, people, read_audio
from benchmarks.voice.humming import HUMMERS, WORDS, hums
from benchmarks.voice.short_words import SPEECH, ShortWord, recorded, spoken, spoken_by_flite
from voice.config import AsrConfig, VadConfig, load_agent
from voice.demo.virtual_audio import speech_span
from voice.hearing.asr import Recognizers
from voice.hearing.vad import make_vad
from voice.types import SAMPLE_RATE_HZ

STOPPING = ("stop", "no")
OTHER = ("off", "down", "go", "left", "one")
AGREEING = ("right", "yes")
PER_WORD, PER_OTHER_WORD = 60, 15
"""Most recordings of each word, by each half of the speakers."""
HUMS_EACH = 2
GO_ON, HUM, STOP = "word that means go on", "synthetic hum", "word that means stop"
BACKCHANNEL = "synthetic backchannel"
SPOKEN = ("um hum", "uh huh", "okay", "yeah", "oh", "I see", "right", "sure")
NOISE_SAMPLES = 2 * SAMPLE_RATE_HZ


def sentences() -> Iterator[Sound]:
    """Commands and orders of real people."""
    for said in [*people(), *orders()]:
        if said.kind in ("command", "order"):
            start = speech_span(said.samples, SAMPLE_RATE_HZ)[0]
            yield Sound("sentence", said.samples, start, name=said.name)


def spoken_words(words: Sequence[str], kind: str, most: int = PER_WORD) -> Iterator[Sound]:
    """Single words of real people: the first ``most`` of each by each half of the speakers."""
    found: Counter[tuple[str, bool]] = Counter()
    for word in recorded():
        which = word.word, word.held_out
        if word.word in words and found[which] < most:
            found[which] += 1
            yield sound_of(kind, word)


def hummed() -> Iterator[Sound]:
    """Hums by synthetic hummers, as many by each."""
    for number in range(HUMMERS):
        first = number * HUMS_EACH
        words = [WORDS[(first + further) % len(WORDS)] for further in range(HUMS_EACH)]
        for word in hums(words, hummers=[number]):
            yield sound_of(HUM, word)


def backchannels() -> Iterator[Sound]:
    """Backchannels by flite's voices and by the held-out ones of espeak-ng's."""
    for word in spoken_by_flite(SPOKEN):
        yield sound_of(f"{BACKCHANNEL}, flite", word)
    for word in spoken(SPOKEN, np.random.default_rng(0), held_out=True):
        yield sound_of(f"{BACKCHANNEL}, espeak-ng", word)


def noises() -> Iterator[Sound]:
    """Sounds of a kitchen and of a room, where nobody speaks."""
    for name in ("kitchen", "room-background"):
        audio = read_audio(SHARED / "noise" / f"{name}.flac")
        for start in range(0, len(audio) - NOISE_SAMPLES, NOISE_SAMPLES):
            yield Sound("noise", audio[start : start + NOISE_SAMPLES], 0)


def sound_of(kind: str, word: ShortWord) -> Sound:
    """A short word as a sound to hear."""
    start = speech_span(word.samples, SAMPLE_RATE_HZ)[0]
    return Sound(kind, word.samples, start, word.held_out, f"{word.word}, {word.speaker}")


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Figures of one kind of sound; ``stopped_held_out`` is of its held-out voices, if any."""
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
    program = Program("benchmarks.voice.interruptions", __doc__)
    program.add_argument("--vad", choices=("silero", "webrtc"), default="silero")
    program.add_argument("--asr", choices=("whisper", "sphinx"), default="whisper")
    options = program.parse_args()
    needed(program, SPEECH, SHARED)
    sounds = [
        *sentences(),
        *spoken_words(STOPPING, STOP),
        *spoken_words(OTHER, "another word", PER_OTHER_WORD),
        *spoken_words(AGREEING, GO_ON),
        *hummed(),
        *backchannels(),
        *noises(),
    ]
    agent = load_agent("assistant")
    recognizer, _ = Recognizers().of(AsrConfig(engine=options.asr), agent)
    bystander = Bystander(recognizer, make_vad(VadConfig(engine=options.vad)), agent)
    outcomes: dict[str, list[Outcome]] = {}
    for index, sound in enumerate(sounds):
        # Where a pause is heard depends on where the word begins in the detector's windows.
        heard = bystander.hear(sound, index % MOMENTS)
        outcome = replace(heard, held_out=sound.held_out)
        outcomes.setdefault(sound.kind, []).append(outcome)
    figures = {kind: figures_of(found) for kind, found in outcomes.items()}
    for kind, group in figures.items():
        print(kind, group)
    program.write(figures)


if __name__ == "__main__":
    main()
