"""What is said to the agent in benchmarks: the demo's lines, recordings of real people, and pauses.

Recordings of real people lie beside the checkout, in ../shared/audio; without them there are only
the demo's lines. Which tool a recording asks for is this module's judgement, below. The demo's
lines and their synthetic voices were chosen because the embedded recogniser understands them, so
its success there says nothing about other speech.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import soundfile

from voice.demo.recordings import CONVERSATIONS, load
from voice.demo.virtual_audio import room_tone, speech_span
from voice.prove.words import words
from voice.types import SAMPLE_RATE_HZ, Samples, samples_of_ms

SHARED = Path(__file__).resolve().parents[3] / "shared" / "audio"
PUT_ASIDE = Path(__file__).with_name("put_aside.json")

NO_TOOL = ""
INTENDED = {
    "speech-to-phrase-01": "add_to_list",
    "speech-to-phrase-02": "get_device",
    "speech-to-phrase-03": NO_TOOL,
    "speech-to-phrase-04": NO_TOOL,
    "speech-to-phrase-06": "set_timer",
    "speech-to-phrase-07": "set_timer",
    "speech-to-phrase-08": "get_date",
    "speech-to-phrase-09": "get_weather",
    "speech-to-phrase-10": "get_weather",
    "voice2json-11": "get_time",
    "voice2json-12": "set_device",
    "voice2json-13": "set_device",
    "voice2json-14": NO_TOOL,
    "assistant-sdk-python-22": "get_time",
    "cognitive-services-speech-sdk-24": "get_weather",
}
"""Recording → tool that should be called. Fragments that mean nothing on their own are left out."""

READ = ("pocketsphinx-", "tts-", "leopard-", "moonshine-", "whisper-", "vosk-api-")
"""Sources whose recordings are read sentences, the short ones too; none of them asks for a tool."""

PAUSES_MS = (300, 500, 700, 900)
LEAST_WORDS = 4
CLICK_AFTER_MS = 250
SPLICE_MS = 5

T = TypeVar("T")


def needed(parser: argparse.ArgumentParser, *folders: Path) -> None:
    """Exit with a message if recordings are missing that a benchmark cannot do without."""
    for folder in folders:
        if not folder.is_dir():
            parser.exit(
                2, f"{parser.prog}: needs recordings of people in {folder}, which is missing\n"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """Something to say to an agent.

    Attributes:
        samples: (T,) int16 at 16 kHz.
        end: Index just past the last sample of speech.
        text: What is said; None when only its meaning is known.
        tool: The tool that should be called, `NO_TOOL`, or None when nobody can say.
        slots: What an order asks for, in the words of the recording.
        pause_ms: Length of the pause put into it; 0 for none.
        around: (T,) int16 at 16 kHz, continuous background noise; None for no added noise.
        snr_db: Power of the speech relative to that noise.
    """

    name: str
    kind: str
    agent: str
    samples: Samples
    end: int
    text: str | None
    tool: str | None
    slots: dict[str, str] = field(default_factory=dict)
    pause_ms: int = 0
    around: Samples | None = None
    snr_db: int | None = None

    @property
    def plain(self) -> bool:
        """Whether it is said as it was recorded, without an added pause or noise."""
        return not self.pause_ms and self.snr_db is None


def spread(sounds: Sequence[T], most: int | None) -> list[T]:
    """At most ``most`` of them, evenly spread; all if that is None."""
    if most is None or len(sounds) <= most:
        return list(sounds)
    return [sounds[index * len(sounds) // most] for index in range(most)]


@cache
def _put_aside() -> frozenset[str]:
    return frozenset(Path(name).stem for name in json.loads(PUT_ASIDE.read_text(encoding="utf-8")))


def is_put_aside(name: str) -> bool:
    """Whether a recording is in the half kept for the figures; nobody speaks in both halves.

    Speakers of orders were told apart by spectrum and pitch, those of commands and read sentences
    by the collections that they come from.
    """
    return name in _put_aside()


def demo_lines(agent: str) -> list[Utterance]:
    """The lines of a demo's conversation, in order."""
    lines = []
    for line in CONVERSATIONS[agent]:
        samples = load(line.name)
        end = speech_end(samples, line.text)
        lines.append(Utterance(line.name, "demo", agent, samples, end, line.text, line.tool))
    return lines


@cache
def people() -> tuple[Utterance, ...]:
    """Commands and sentences said by real people; empty where the recordings are absent."""
    return tuple(_recorded(row, "assistant") for row in _rows("manifest.jsonl"))


@cache
def orders() -> tuple[Utterance, ...]:
    """Coffee orders spoken by real people; empty where the recordings are absent."""
    return orders_of("orders.jsonl")


def orders_of(*manifests: str) -> tuple[Utterance, ...]:
    """Coffee orders from some of the manifests in the recordings' folder."""
    return tuple(_recorded(row, "coffee") for name in manifests for row in _rows(name))


def everything() -> list[Utterance]:
    """The demo's lines of both agents, and all recordings of people."""
    return [*demo_lines("assistant"), *demo_lines("coffee"), *people(), *orders()]


def _recorded(row: dict[str, Any], agent: str) -> Utterance:
    name = Path(row["audio"]).stem
    text = row.get("text")
    samples = read_audio(SHARED / row["audio"])
    return Utterance(
        name=name,
        kind="read" if name.startswith(READ) else row.get("kind", "order"),
        agent=agent,
        samples=samples,
        end=speech_end(samples, text),
        text=text,
        tool="order_drink" if agent == "coffee" else _intended(name),
        slots=row.get("slots", {}),
    )


def alignable(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Utterances whose words are known and numerous enough for a pause between two of them."""
    return [u for u in utterances if u.text and len(words(u.text)) >= LEAST_WORDS]


def with_pauses(utterances: list[Utterance], lengths_ms: Sequence[int]) -> list[Utterance]:
    """Utterances with a pause put between two of their words, once per length.

    The gap is drawn at random, but the same on every run, from those that forced alignment finds.
    The pause is room noise as loud as the recording's own background. Utterances of fewer than four
    words, and those that cannot be aligned, are left out.
    """
    rng = np.random.default_rng(0)
    paused = []
    for utterance in alignable(utterances):
        gaps = word_ends(utterance.samples, utterance.text or "")[:-1]
        for length_ms in lengths_ms if gaps else []:
            samples = with_pause(utterance.samples, int(rng.choice(gaps)), length_ms)
            end = utterance.end + samples_of_ms(length_ms)
            paused.append(replace(utterance, samples=samples, end=end, pause_ms=length_ms))
    return paused


def read_audio(file: Path) -> Samples:
    """A recording, (T,) int16.

    Raises:
        ValueError: The recording is not mono, or not at 16 kHz.
    """
    samples, rate_hz = soundfile.read(file, dtype="int16")
    if rate_hz != SAMPLE_RATE_HZ or samples.ndim != 1:
        raise ValueError(
            f"{file}: got {rate_hz} Hz, {samples.ndim} dimensions; expected 16 kHz mono"
        )
    return np.asarray(samples, dtype=np.int16)


def speech_end(samples: Samples, text: str | None) -> int:
    """Index just past the last sample of speech.

    That is where the energy falls. If noise or a key's click after the last word keeps the energy
    up, it is the end of the last word, provided that forced alignment finds the words.
    """
    by_energy = speech_span(samples, SAMPLE_RATE_HZ)[1]
    ends = word_ends(samples, text) if text else []
    by_words = ends[-1] if ends else by_energy
    return by_words if by_energy - by_words > samples_of_ms(CLICK_AFTER_MS) else by_energy


def word_ends(samples: Samples, text: str) -> list[int]:
    """Where each word ends, as sample positions; empty if the words cannot be aligned.

    Args:
        samples: (T,) int16 at 16 kHz.
    """
    decoder = _aligner()
    try:
        decoder.set_align_text(" ".join(words(text)))
        decoder.start_utt()
        decoder.process_raw(samples.tobytes(), full_utt=True)
        decoder.end_utt()
    except RuntimeError:
        # A word is not in the dictionary, or the words are not what the recording says.
        return []
    spoken = [s for s in decoder.seg() or () if not s.word.startswith(("<", "(NULL", "["))]
    ends = [(segment.end_frame + 1) * SAMPLE_RATE_HZ // 100 for segment in spoken]
    return [min(end, len(samples)) for end in ends]


@cache
def _aligner() -> Any:
    import pocketsphinx

    return pocketsphinx.Decoder(samprate=SAMPLE_RATE_HZ, loglevel="FATAL")


def with_pause(samples: Samples, position: int, length_ms: int) -> Samples:
    """Samples with a pause of room noise at a position, faded over 5 ms on either side."""
    noise = _room_noise(samples_of_ms(length_ms), _floor(samples))
    ramp = np.linspace(0, 1, samples_of_ms(SPLICE_MS))
    before = samples[:position].astype(np.float64)
    after = samples[position:].astype(np.float64)
    fade = min(len(ramp), len(before), len(after))
    before[len(before) - fade :] *= 1 - ramp[:fade]
    after[:fade] *= ramp[:fade]
    return np.round(np.concatenate([before, noise, after])).astype(np.int16)


def _room_noise(count: int, level: float) -> Samples:
    file = SHARED / "noise" / "room-background.flac"
    noise = read_audio(file) if file.is_file() else room_tone(2.0, SAMPLE_RATE_HZ)
    wide = np.resize(noise, count).astype(np.float64)
    return np.round(wide * level / max(1.0, float(np.sqrt(np.mean(wide**2))))).astype(np.int16)


def _floor(samples: Samples) -> float:
    step = samples_of_ms(10)
    steps = samples[: len(samples) // step * step].astype(np.float64).reshape(-1, step)
    return float(np.quantile(np.sqrt(np.mean(steps**2, axis=1)), 0.05))


def _intended(stem: str) -> str | None:
    if stem.startswith(READ):
        return NO_TOOL
    return next((tool for name, tool in INTENDED.items() if stem.startswith(name)), None)


def _rows(name: str) -> list[dict[str, Any]]:
    file = SHARED / name
    if not file.is_file():
        return []
    return [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
