"""How well other languages are recognised: ``python -m benchmarks.voice.languages FOLDER``.

FOLDER holds Debian's packages asterisk-core-sounds-LANGUAGE and -LANGUAGE-g722, as ``dpkg -x
PACKAGE FOLDER`` unpacks them: sentences that people spoke for telephone systems, with their texts.
Some of each language are drawn by the hash of their names. Sentences that are short, that have
figures or remarks in brackets, or whose text is not what the voice says (see `_usable`) are left
out. Each is heard with its language given and without, and `OtherLanguage` decides whether the
agent would ask for English.
Results go to benchmarks/results/languages.json.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Program, share
from voice.config import load_config
from voice.demo.virtual_audio import speech_span
from voice.dialogue.history import History
from voice.dialogue.other_language import OtherLanguage
from voice.hearing.asr.whisper import Decoded, WhisperRecognizer
from voice.prove.words import errors
from voice.types import SAMPLE_RATE_HZ, Message, Role, Samples, Transcript

LANGUAGES = ("en", "es", "fr", "it", "ru")
CLIPS = 60
LEAST_WORDS = 4
LONGEST_S = 10.0
FASTEST_LETTERS_PER_S = 25
"""A text with more letters a second than anybody speaks is not the recording's."""


def words(text: str) -> list[str]:
    """A text's words in lower case, in any script, without figures and signs."""
    return re.findall(r"[^\W\d_]+", text.lower())


def texts(folder: Path, language: str) -> dict[str, str]:
    """Name of a recording → its text."""
    file = folder / f"usr/share/doc/asterisk-core-sounds-{language}/core-sounds-{language}.txt.gz"
    lines = gzip.decompress(file.read_bytes()).decode("utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if not line.startswith(";"))
    return {name.strip(): text.strip() for name, colon, text in pairs if colon}


def clips(folder: Path, language: str) -> Iterator[tuple[str, Samples]]:
    """Texts and recordings, (T,) at 16 kHz, in a random order that is always the same."""
    said = texts(folder, language)
    voices = sorted((folder / "usr/share/asterisk/sounds").glob(f"{language}_*"))
    for name in sorted(said, key=lambda name: hashlib.sha256(name.encode()).digest()):
        file = next((v / f"{name}.g722" for v in voices if (v / f"{name}.g722").is_file()), None)
        if file is not None and len(words(said[name])) >= LEAST_WORDS:
            samples = _decoded(file)
            if _usable(said[name], samples):
                yield said[name], samples


def _usable(text: str, samples: Samples) -> bool:
    begin, end = speech_span(samples, SAMPLE_RATE_HZ)
    seconds = (end - begin) / SAMPLE_RATE_HZ
    fits = len(text) <= FASTEST_LETTERS_PER_S * seconds and seconds <= LONGEST_S
    return fits and not re.search(r"[\d()\[\]*#]", text)


def _decoded(file: Path) -> Samples:
    command = ["ffmpeg", "-v", "error", "-i", file, "-f", "s16le", "-ar", "16000", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.int16)


def asked_for_english(heard: Decoded) -> bool:
    """Whether the agent would answer that it speaks English."""
    judge, dialogue = OtherLanguage(), History()
    dialogue.add("said", Message(Role.USER, heard.text))
    language, sure = heard.language, heard.language_confidence
    judge.hear(
        "said",
        Transcript(1, heard.text, True, 0.0, 0, language=language, language_confidence=sure),
    )
    return judge.answer(dialogue, "") is not None


def measured(recognizer: WhisperRecognizer, folder: Path, language: str) -> dict[str, Any]:
    """The figures of one language."""
    named, asked, exact = Counter[str](), 0, 0
    wrong = {"told": 0, "by ear": 0}
    count = total = 0
    beams = recognizer.config.beam_size
    for text, samples in clips(folder, language):
        total += 1
        by_ear = recognizer.decode(samples, beams)
        told = recognizer.decode(samples, beams, language=language)
        named[by_ear.language] += 1
        asked += asked_for_english(by_ear)
        reference = words(text)
        count += len(reference)
        for way, heard in (("told", told), ("by ear", by_ear)):
            wrong[way] += errors(reference, words(heard.text))
        exact += words(told.text) == reference
        if total == CLIPS:
            break
    return {
        "clips": total,
        "language_named": share(named[language], total),
        "named": dict(named.most_common()),
        "asked_for_english": share(asked, total),
        "sentences_exact": share(exact, total),
        "word_error_rate": {way: share(errors_, count) for way, errors_ in wrong.items()},
    }


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.languages", __doc__, "set", "name")
    program.add_argument("folder", type=Path, metavar="FOLDER", help="of the unpacked packages")
    given = program.parse_args()
    settings = ["asr.whisper.model=base", *given.set]
    recognizer = WhisperRecognizer(load_config(None, settings).asr.whisper)
    figures: dict[str, Any] = {"settings": settings}
    for language in LANGUAGES:
        figures[language] = measured(recognizer, given.folder, language)
        print(language, figures[language], flush=True)
    program.write(figures, given.name)


if __name__ == "__main__":
    main()
