"""Short words by many speakers, for fitting and measuring what stops the agent.

They are single words of real people (speech_commands), pieces of sentences of others
(speechocean762), and phrases by espeak-ng's and flite's voices. Speakers are in two halves; which
half a person is in depends on their name alone, and nothing is fitted to a held-out speaker. The
recordings are in ../shared/data/speech.
"""

from __future__ import annotations

import io
import json
import lzma
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from benchmarks.report import ROOT
from benchmarks.voice.dead_air import is_held_out
from voice.types import SAMPLE_RATE_HZ, Samples, Segment

SPEECH = ROOT.parent / "shared" / "data" / "speech"
YOUNGEST = 16
PIECE_S = (0.2, 0.9)


def _phrases(text: str) -> list[str]:
    return text.split("|")


AGREEING = _phrases(
    "okay|yeah|yep|yup|sure|right|yes|good|great|nice|cool|fine|exactly|true|really|I see|got it"
    "|of course|all right|sounds good|oh okay|oh|ah|wow|perfect|hmm|mm|mhm|mm hmm|uh huh|um hum|aha"
)
STOPPING = _phrases(
    "stop|no|wait|hold on|hang on|never mind|cancel|quit|enough|shut up|quiet|pause|be quiet"
    "|no no|wait wait|stop it|excuse me|sorry|but|actually|hey|hello|listen|nope|not that|don't"
)
OTHER = _phrases(
    "more|what|who|where|when|why|again|repeat|louder|slower|help|next|back|off|on|up|down|go"
    "|left|one|two|ten|the light|a timer|milk|tomorrow|and then|how about|what about|turn it"
)
FLITE_VOICES = ("kal16", "slt", "rms", "awb")
VARIANTS = _phrases(
    "m1|m2|m3|m4|m5|m6|m7|m8|f1|f2|f3|f4|f5|klatt|klatt4|Alex|adam|linda|steph|pablo"
)
HELD_OUT_VARIANTS = _phrases(
    "Andy|Annie|belinda|benjamin|caleb|david|grandma|ian|john|max|Michael|paul|quincy|robert|travis"
)


@dataclass(frozen=True, slots=True)
class ShortWord:
    """A short word or phrase, and who said it.

    Attributes:
        word: As written; "" for a piece of a sentence.
        held_out: Whether its speaker is held out.
        samples: (T,) int16 at 16 kHz, with the recording's silence.
        speaker: The speaker's name; "" for none.
    """

    word: str
    held_out: bool
    samples: Samples
    speaker: str = ""


def recorded(folder: Path = SPEECH) -> Iterator[ShortWord]:
    """All single words of real people, in the order of the archive."""
    with tarfile.open(folder / "speech_commands.tar") as tar:
        for member in tar:
            if member.isfile():
                # As in speech_commands/stop-ffb86d3c_nohash_3.ogg.
                word, rest = member.name.rpartition("/")[2].split("-", 1)
                speaker = rest.split("_", 1)[0]
                yield ShortWord(word, is_held_out(speaker), _read(tar, member.name), speaker)


def each_by_another(words: Sequence[str], most: int) -> Iterator[ShortWord]:
    """At most ``most`` recordings of each word, all by different, held-out speakers."""
    heard: set[str] = set()
    found: Counter[str] = Counter()
    for word in recorded(SPEECH):
        wanted = word.word in words and found[word.word] < most and word.samples.any()
        if wanted and word.held_out and word.speaker not in heard:
            heard.add(word.speaker)
            found[word.word] += 1
            yield word
        if found.total() == most * len(words):
            return


def pieces(count: int, rng: np.random.Generator, folder: Path = SPEECH) -> Iterator[ShortWord]:
    """Pieces of short sentences, cut anywhere, read by adults who are not held out."""
    with lzma.open(folder / "manifest.jsonl.xz", "rt") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    known = [
        row["audio"]
        for row in rows
        if row["corpus"] == "speechocean762"
        and int(row["speaker_age"]) >= YOUNGEST
        and not is_held_out(row["speaker"])
    ]
    with tarfile.open(folder / "speechocean762.tar") as tar:
        for index in rng.permutation(len(known))[:count]:
            samples = _read(tar, known[index])
            length = round(rng.uniform(*PIECE_S) * SAMPLE_RATE_HZ)
            # Readers begin and end with a little silence.
            first = rng.integers(3200, max(3201, len(samples) - length - 3200))
            yield ShortWord("", False, samples[first : first + length])


def spoken(
    phrases: Sequence[str], rng: np.random.Generator, held_out: bool = False
) -> Iterator[ShortWord]:
    """Each phrase by each of espeak-ng's voices, at a random pitch and speed."""
    from voice.speech.tts.espeak import EspeakSynthesizer

    for variant in HELD_OUT_VARIANTS if held_out else VARIANTS:
        for phrase in phrases:
            voice = EspeakSynthesizer(f"en-us+{variant}", pitch=int(rng.integers(25, 75)))
            segment = Segment(1, 0, phrase, phrase)
            chunks = voice.synthesize(segment, float(rng.uniform(0.8, 1.3)))
            samples = np.concatenate([chunk.samples for chunk in chunks])
            said = _resampled(samples, voice.sample_rate_hz)
            yield ShortWord(phrase, held_out, said, variant)


def spoken_by_flite(phrases: Sequence[str]) -> Iterator[ShortWord]:
    """Each phrase by each of flite's voices; every other voice is held out."""
    for index, voice in enumerate(FLITE_VOICES):
        for phrase in phrases:
            command = ["flite", "-voice", voice, "-t", phrase, "-o", "/dev/stdout"]
            wav = subprocess.run(command, capture_output=True, check=True).stdout
            samples, rate_hz = soundfile.read(io.BytesIO(wav), dtype="int16")
            yield ShortWord(phrase, index % 2 == 1, _resampled(samples, rate_hz), voice)


def _read(tar: tarfile.TarFile, name: str) -> Samples:
    stored = tar.extractfile(name)
    assert stored is not None
    samples, rate_hz = soundfile.read(io.BytesIO(stored.read()), dtype="int16")
    return _resampled(samples, rate_hz)


def _resampled(samples: Any, rate_hz: int) -> Samples:
    if rate_hz == SAMPLE_RATE_HZ:
        return np.asarray(samples, np.int16)
    return np.asarray(soxr.resample(samples, rate_hz, SAMPLE_RATE_HZ), np.int16)
