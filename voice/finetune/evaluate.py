"""Word errors of Whisper models at contexts of 30 s, of 8 s, and of the utterance itself.

``python -m voice.finetune.evaluate MODEL... --manifest FILE`` decodes every clip greedily in 8-bit
integers, as it is and degraded, and clips in which nobody speaks. The manifest has a JSON object
with ``audio``, ``text`` and ``kind`` on each line. Times are medians of the ratio, clip by clip, to
the first model at 30 s, so that a busy machine matters little. Words are compared in the form of
the Whisper paper: no case, no punctuation, numbers as digits. A text counts as repeating itself if
the same three successive words occur in it at least twice, and more often than they were said.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlm.command_line import number, told
from voice.finetune.augment import Audio, degraded, without_speech
from voice.finetune.data import NO_TIMESTAMPS, START
from voice.hearing.asr.whisper import SHORT, STOCK, Needs
from voice.prove.words import errors
from voice.types import SAMPLE_RATE_HZ

_RUN = 3
"""Length in words of the sequences that are counted to find repeats."""
_TOKENS_PER_S, _TOKENS = 8, 12
_QUIET_S = (1.0, 3.0, 6.0)


@dataclass(frozen=True, slots=True)
class Way:
    """How to decode."""

    name: str
    needs: Needs


WAYS = (
    Way("30 s", Needs(shortest_s=30.0, silence_s=0.0, repetition_penalty=1.0)),
    Way("8 s, penalty 1.1", STOCK),
    Way("own length", SHORT),
)


@dataclass(slots=True)
class Score:
    """Counts over clips.

    Attributes:
        words: Words that were said.
        errors: Word errors.
        repeats: Clips whose text repeats itself.
        quiet: Clips in which nobody speaks.
        invented: Those of them in which words were recognised.
        ratios: Each clip's decoding time, relative to the first model at 30 s.
    """

    words: int = 0
    errors: int = 0
    repeats: int = 0
    quiet: int = 0
    invented: int = 0
    ratios: list[float] = field(default_factory=list)


class Decoder:
    """A model folder for CTranslate2, decoded greedily on a thread."""

    def __init__(self, folder: Path) -> None:
        import ctranslate2
        from faster_whisper.feature_extractor import FeatureExtractor
        from tokenizers import Tokenizer

        self._whisper = ctranslate2.models.Whisper(
            str(folder), compute_type="int8", intra_threads=1
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._mel = FeatureExtractor()

    def decode(self, audio: Audio, way: Way) -> str:
        """The words of (T,) audio at 16 kHz of at most 30 s."""
        import ctranslate2

        seconds = len(audio) / SAMPLE_RATE_HZ
        samples = round(way.needs.window_s(seconds) * SAMPLE_RATE_HZ)
        mel = self._mel(np.pad(audio, (0, samples - len(audio))))[None, :, : samples // 320 * 2]
        found = self._whisper.generate(
            ctranslate2.StorageView.from_array(np.ascontiguousarray(mel)),
            [[START, NO_TIMESTAMPS]],
            beam_size=1,
            max_length=_TOKENS + round(seconds * _TOKENS_PER_S),
            repetition_penalty=way.needs.repetition_penalty,
        )
        text: str = self._tokenizer.decode(found[0].sequences_ids[0])
        return text.strip()


def judge(
    models: Sequence[Path], rows: Iterable[tuple[str, Audio, str]]
) -> dict[tuple[str, str, str], Score]:
    """Scores by (kind of clip, model, way); an empty text means that nobody speaks."""
    from transformers.models.whisper.english_normalizer import EnglishTextNormalizer

    plain = EnglishTextNormalizer({})  # type: ignore[no-untyped-call]
    decoders = [Decoder(folder) for folder in models]
    scores: dict[tuple[str, str, str], Score] = defaultdict(Score)
    for kind, audio, text in rows:
        unit = 0.0
        for folder, decoder in zip(models, decoders, strict=True):
            for way in WAYS:
                started = time.perf_counter()
                heard = decoder.decode(audio, way)
                spent = time.perf_counter() - started
                unit = unit or spent
                score = scores[kind, folder.name, way.name]
                score.ratios.append(spent / unit)
                words = str(plain(heard)).split()
                if not text:
                    score.quiet += 1
                    score.invented += bool(words)
                    continue
                wanted = str(plain(text)).split()
                score.words += len(wanted)
                score.errors += errors(wanted, words)
                score.repeats += repeats(wanted, words)
    return scores


def repeats(wanted: Sequence[str], heard: Sequence[str]) -> bool:
    """Whether some successive words occur at least twice, and more often than they were said."""
    said = _runs(wanted)
    return any(count > max(1, said[run]) for run, count in _runs(heard).items())


def rows_of(manifest: Path, kinds: Sequence[str], limit: int) -> Iterator[tuple[str, Audio, str]]:
    """Kind, sound and words of a manifest's clips, also degraded; then of clips without speech."""
    lines = map(json.loads, manifest.read_text(encoding="utf-8").splitlines())
    rows = [row for row in lines if not kinds or row.get("kind") in kinds][: limit or None]
    sounds = [_sound(manifest.parent / row["audio"]) for row in rows]
    for index, (row, audio) in enumerate(zip(rows, sounds, strict=True)):
        yield row.get("kind", ""), audio, row["text"]
        rng = np.random.default_rng(index)
        yield "degraded", degraded(audio, sounds, rng), row["text"]
    for index in range(len(rows) // 4):
        rng = np.random.default_rng([index, 1])
        samples = round(_QUIET_S[index % len(_QUIET_S)] * SAMPLE_RATE_HZ)
        yield "nobody speaks", without_speech(samples, sounds, rng), ""


def table(scores: dict[tuple[str, str, str], Score]) -> str:
    """The scores as Markdown."""
    lines = [
        "| clips | model | context | word errors | repeats | invented | time |",
        "|" + "---|" * 7,
    ]
    for (kind, model, way), score in scores.items():
        errors = f"{score.errors / score.words:.1%} of {score.words}" if score.words else ""
        invented = f"{score.invented} of {score.quiet}" if score.quiet else ""
        ratio = statistics.median(score.ratios)
        lines.append(
            f"| {kind} | {model} | {way} | {errors} | {score.repeats} | {invented} | {ratio:.2f} |"
        )
    return "\n".join(lines)


def _runs(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


def _sound(path: Path) -> Audio:
    from faster_whisper.audio import decode_audio

    if path.suffix == ".npy":
        return np.asarray(np.load(path), np.float32) / np.float32(32768)
    audio: Audio = decode_audio(str(path), sampling_rate=SAMPLE_RATE_HZ)
    return audio


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, decode and print.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser(
        "python -m voice.finetune.evaluate", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("models", type=Path, nargs="+", help="folders with a model.bin")
    parser.add_argument("--manifest", type=Path, required=True)
    parser.add_argument("--kind", action="append", default=[], help="only clips of this kind")
    parser.add_argument(
        "--limit", type=number(int, 0), default=0, help="at most so many clips; 0 for all"
    )
    options = parser.parse_args(arguments)
    # CTranslate2 raises a RuntimeError for a folder without a model.
    with told(parser, RuntimeError):
        rows = rows_of(options.manifest, options.kind, options.limit)
        print(table(judge(options.models, rows)))


if __name__ == "__main__":
    main()
