"""Teaches Whisper to make do with a context as long as the utterance; a run resumes exactly.

``python -m voice.finetune.train --clips DIR --run DIR --minutes 60`` trains, or goes on with the
run in that folder; ``--export DIR`` then writes the weights for CTranslate2. Ctrl-C stops after the
current step and saves.

A step draws clips of about one length, degrades them, and pads them to a little more than the
longest. The copy learns the encoder states that the packaged weights have for the clean clip at
30 s, their next tokens, and the words. Some clips are replaced by noise, for which the transcript
is empty. What a step draws depends only on the configuration, its number and the clips. The moving
average of the weights is exported.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.command_line import number, told
from dlm.loading.placement import bfloat16_is_fast
from dlm.train.machine import prepare
from voice.errors import VoiceError
from voice.finetune.augment import Audio, degraded, without_speech
from voice.finetune.data import (
    END,
    LIKELY,
    NO_SPEECH,
    NO_TIMESTAMPS,
    SHORTEST_S,
    START,
)
from voice.finetune.likelihood import log_probabilities
from voice.finetune.weights import (
    EMBEDDINGS,
    decoder_states,
    encode,
    export,
    packaged_folder,
    tensors,
    trainable,
)
from voice.hearing.asr.model_file import read
from voice.hearing.asr.packaged import read_file
from voice.types import SAMPLE_RATE_HZ

SETTINGS = {"window_s": SHORTEST_S, "suppress_ids_begin": [220]}
"""Added to the config.json of the exported weights: how short a context they can do with, and that
a transcript must not begin with a space but may end at once if nobody speaks."""
_FRAMES_PER_S = 100
_IGNORED = -100
_LONGEST_PAUSE_S = 0.7
_CONFUSED = 5
"""A misread token is replaced by one of this many that are likeliest in its place."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How to train.

    Attributes:
        batch: Clips in a step.
        learning_rate: Rate after ``warmup`` steps.
        average: Share of the moving average that a step keeps.
        quiet: Share of clips that are replaced by noise.
        clean: Share of the others that are not degraded.
        misheard: Share of the decoder's input tokens that are replaced by other likely ones.
        joined: Share of steps whose clips are two utterances with a pause between them.
        end_weight: Weight of the end of the text in the loss; each word counts 1.
        step_s: The context is a multiple of this.
        spare_s: Most silence after the longest clip, before rounding up to ``step_s``.
    """

    batch: int = 16
    learning_rate: float = 1e-4
    warmup: int = 100
    average: float = 0.998
    quiet: float = 0.12
    clean: float = 0.2
    misheard: float = 0.1
    joined: float = 0.35
    end_weight: float = 2.0
    step_s: float = 0.5
    spare_s: float = 1.5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """A step's clips.

    Attributes:
        mel: (B, 80, T) float32.
        states: (B, S, D) float32, those of the packaged weights at 30 s.
        heard: (B, S) bool, where ``states`` are to be learned.
        tokens: (B, L) int64, the decoder's input.
        wanted: (B, L) int64, the next token; -100 where there is none.
        likely: (B, L, 16) int64, the packaged weights' likeliest tokens.
        probability: (B, L, 16) float32, of ``likely``; 0 where they are not to be learned.
    """

    mel: Tensor
    states: Tensor
    heard: Tensor
    tokens: Tensor
    wanted: Tensor
    likely: Tensor
    probability: Tensor


class Clips:
    """The prepared clips of a folder."""

    def __init__(self, folder: Path) -> None:
        from faster_whisper.feature_extractor import FeatureExtractor

        paths = sorted(path for path in folder.glob("*.npz") if path.stat().st_size)
        if len(paths) < 2:
            raise ValueError(f"expected clips in {folder}, got {len(paths)}")
        self.count = len(paths)
        self._clips = sorted(map(_load, paths), key=lambda clip: len(clip["audio"]))
        self._mel = FeatureExtractor()

    def batch(self, config: TrainConfig, step: int) -> Batch:
        """The clips of a step, the same for the same configuration, step and folder of clips."""
        rng = np.random.default_rng([config.seed, step])
        near = 4 * config.batch
        middle = int(rng.integers(self.count))
        low = max(0, min(middle - near // 2, self.count - near))
        chosen = low + rng.choice(min(near, self.count), config.batch, replace=self.count < near)
        found = [self._clips[index] for index in chosen]
        if rng.random() < config.joined:
            found = [_joined(clip, other, rng) for clip, other in pairwise([*found, found[0]])]
        seconds = max(len(clip["audio"]) for clip in found) / SAMPLE_RATE_HZ
        seconds += rng.uniform(0, config.spare_s)
        samples = round(np.ceil(seconds / config.step_s) * config.step_s * SAMPLE_RATE_HZ)
        pairs = [self._drawn(clip, samples, config, rng) for clip in found]
        mel = np.stack([self._features(audio) for audio, _ in pairs])
        kept = [clip and _misread(clip, config.misheard, rng) for _, clip in pairs]
        return _stacked(torch.from_numpy(mel), kept)

    def _drawn(
        self, clip: dict[str, Any], samples: int, config: TrainConfig, rng: np.random.Generator
    ) -> tuple[Audio, dict[str, Any] | None]:
        others = [_floats(self._clips[int(i)]["audio"]) for i in rng.integers(self.count, size=6)]
        if rng.random() < config.quiet:
            return without_speech(samples, others, rng), None
        audio = np.pad(_floats(clip["audio"]), (0, samples - len(clip["audio"])))
        return (audio if rng.random() < config.clean else degraded(audio, others, rng)), clip

    def _features(self, audio: Audio) -> NDArray[np.float32]:
        mel: NDArray[np.float32] = self._mel(audio)
        return mel[:, : len(audio) * _FRAMES_PER_S // SAMPLE_RATE_HZ // 2 * 2]


class Run:
    """A run: weights, their moving average and the optimiser, at a step.

    Attributes:
        step: Number of steps made.
        counts: (step, clips) pairs: from that step on there were so many clips to draw from.
    """

    def __init__(self, config: TrainConfig) -> None:
        frozen = tensors(read(read_file("tiny.en", "model.bin")))
        self.config = config
        self.step = 0
        self.counts: list[tuple[int, int]] = []
        self._weights = {
            name: value.requires_grad_() if trainable(name) else value
            for name, value in frozen.items()
        }
        self._learned = {name: value for name, value in self._weights.items() if trainable(name)}
        self._average = {name: value.detach().clone() for name, value in self._learned.items()}
        self._embeddings = frozen[EMBEDDINGS].to(
            torch.bfloat16 if bfloat16_is_fast() else torch.float32
        )
        self._optimizer = torch.optim.AdamW(
            list(self._learned.values()), lr=config.learning_rate, weight_decay=0.0, fused=True
        )

    def averaged(self) -> dict[str, Tensor]:
        """All weights, the learned ones averaged over the last steps."""
        return self._weights | self._average

    def learn(self, batch: Batch) -> dict[str, float]:
        """Make a step, and return the parts of its loss.

        Raises:
            ValueError: The loss is not finite.
        """
        rate = self.config.learning_rate * min(1.0, (self.step + 1) / self.config.warmup)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16_is_fast()):
            parts = losses(self._weights, self._embeddings, batch, self.config.end_weight)
            total = torch.stack(list(parts.values())).sum()
        if not torch.isfinite(total):
            raise ValueError(f"expected a loss that is a number at step {self.step}, got {total}")
        self._optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._learned.values(), 1.0)
        self._optimizer.step()
        self.step += 1
        kept = min(self.config.average, self.step / (self.step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self._average.values()), list(self._learned.values()), 1 - kept
            )
        return {name: float(value.detach()) for name, value in parts.items()}

    def save(self, path: Path) -> None:
        """Write everything that `load` needs; the file is replaced atomically."""
        state = {
            "config": dataclasses.asdict(self.config),
            "step": self.step,
            "counts": self.counts,
            "weights": {name: value.detach() for name, value in self._learned.items()},
            "average": self._average,
            "optimizer": self._optimizer.state_dict(),
        }
        partial = path.with_suffix(".part")
        torch.save(state, partial)
        os.replace(partial, path)

    def load(self, path: Path) -> None:
        """Restore what `save` wrote.

        Raises:
            ValueError: The run had another configuration.
        """
        state = torch.load(path, weights_only=True)
        if state["config"] != dataclasses.asdict(self.config):
            raise ValueError(f"expected a run with {self.config}, got {state['config']} in {path}")
        self.step = state["step"]
        self.counts = [tuple(pair) for pair in state["counts"]]
        with torch.no_grad():
            for name, value in self._learned.items():
                value.copy_(state["weights"][name])
                self._average[name].copy_(state["average"][name])
        self._optimizer.load_state_dict(state["optimizer"])


def losses(
    weights: Mapping[str, Tensor], embeddings: Tensor, batch: Batch, end_weight: float
) -> dict[str, Tensor]:
    """The parts of the loss.

    ``states``: squared error relative to the states' variance. ``likely``: cross entropy with the
    packaged weights' likely tokens, less their entropy. ``words``: half the weighted mean cross
    entropy with the words.
    """
    states = encode(weights, batch.mel)
    places = batch.wanted != _IGNORED
    probability, words = batch.probability[places], batch.wanted[places][:, None]
    found = log_probabilities(
        decoder_states(weights, batch.tokens, states)[places],
        embeddings,
        torch.cat((words, batch.likely[places]), 1),
    )
    of_word, of_likely = found[:, 0], found[:, 1:]
    entropy = (probability * (probability.clamp_min(1e-9).log() - of_likely)).sum()
    weight = torch.where(words[:, 0] == END, end_weight, 1.0)
    return {
        "states": _states_loss(batch.states[batch.heard], states.float()[batch.heard]),
        "likely": entropy / (probability.sum(-1) > 0).sum().clamp_min(1),
        "words": -0.5 * (weight * of_word).sum() / weight.sum(),
    }


def _states_loss(wanted: Tensor, given: Tensor) -> Tensor:
    if not len(wanted):
        return given.sum()
    return (given - wanted).square().mean() / wanted.var().clamp_min(1e-6)


def train(
    run: Run, clips: Clips, folder: Path, minutes: float, report: Callable[[str], None]
) -> None:
    """Train until the time is over or a signal says so; save every five minutes and at the end."""
    started = saved = time.monotonic()
    if not run.counts or run.counts[-1][1] != clips.count:
        run.counts.append((run.step, clips.count))
    stopped: list[int] = []
    before = {
        number: signal.signal(number, lambda got, _: stopped.append(got))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    recent: list[dict[str, float]] = []
    try:
        while not stopped and time.monotonic() - started < minutes * 60:
            recent.append(run.learn(clips.batch(run.config, run.step)))
            if run.step % 20 == 0:
                left = max(0.0, minutes - (time.monotonic() - started) / 60)
                report(_line(run, recent, left))
                with (folder / "losses.jsonl").open("a") as file:
                    file.write(json.dumps({"step": run.step} | _means(recent)) + "\n")
                recent = []
            if time.monotonic() - saved > 300:
                run.save(folder / "run.pt")
                saved = time.monotonic()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    run.save(folder / "run.pt")


def _line(run: Run, recent: Sequence[dict[str, float]], left: float) -> str:
    parts = ", ".join(f"{name} {value:.3f}" for name, value in _means(recent).items())
    return f"step {run.step}, {run.step * run.config.batch} clips: {parts}; {left:.0f} min left"


def _means(recent: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(parts[name] for parts in recent) / len(recent) for name in recent[0]}


def _load(path: Path) -> dict[str, Any]:
    with np.load(path) as arrays:
        return dict(arrays)


def _floats(audio: NDArray[np.int16]) -> Audio:
    return np.asarray(audio, np.float32) / np.float32(32768)


def _joined(
    clip: dict[str, Any], other: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    """Two clips one after the other; only the first one's encoder states are known."""
    pause = np.zeros(round(rng.uniform(0, _LONGEST_PAUSE_S) * SAMPLE_RATE_HZ), np.int16)
    makes: dict[str, Any] = {
        "audio": np.concatenate((clip["audio"], pause, other["audio"])),
        "states": clip["states"],
        "tokens": np.concatenate((clip["tokens"][:-1], other["tokens"][2:])),
        "agrees": clip["agrees"] & other["agrees"],
    }
    for name in ("likely", "log_probability"):
        makes[name] = np.concatenate((clip[name][:-1], other[name][1:]))
    return makes


def _misread(clip: dict[str, Any], share: float, rng: np.random.Generator) -> dict[str, Any]:
    """The clip with the decoder's input: its tokens, some replaced by other likely ones.

    So it learns to recover from its own mistakes by what it hears.
    """
    read = clip["tokens"][:-1].copy()
    other = clip["likely"][np.arange(len(read)), rng.integers(_CONFUSED, size=len(read))]
    chosen = rng.random(len(read)) < share
    chosen[:2] = False  # before the words
    read[chosen] = np.roll(other, 1)[chosen]
    return clip | {"read": read}


def _stacked(mel: Tensor, kept: Sequence[dict[str, Any] | None]) -> Batch:
    """Stack the clips' arrays to a batch; a clip that is None is noise."""
    quiet = np.array([START, NO_SPEECH, END])
    long = max(len(quiet), *(len(clip["tokens"]) for clip in kept if clip is not None), 0) - 1
    size, width = len(kept), next((c["states"].shape[1] for c in kept if c is not None), 1)
    states = torch.zeros(size, mel.shape[2] // 2, width)
    heard = torch.zeros(states.shape[:2], dtype=torch.bool)
    tokens = torch.full((size, long), END)
    wanted = torch.full((size, long), _IGNORED)
    likely = torch.zeros(size, long, LIKELY, dtype=torch.long)
    probability = torch.zeros(size, long, LIKELY)
    for row, clip in enumerate(kept):
        if clip is None:
            # The first place predicts that nobody speaks; a transcript that is asked for is empty.
            tokens[row, :2] = torch.tensor([START, NO_TIMESTAMPS])
            wanted[row, :2] = torch.tensor([NO_SPEECH, END])
            continue
        length, places = len(clip["states"]), len(clip["tokens"]) - 1
        states[row, :length] = torch.from_numpy(clip["states"]).float()
        heard[row, :length] = True
        tokens[row, :places] = torch.from_numpy(clip["read"]).long()
        wanted[row, :places] = torch.from_numpy(clip["tokens"][1:]).long()
        if clip["agrees"]:
            likely[row, :places] = torch.from_numpy(clip["likely"]).long()
            probability[row, :places] = torch.from_numpy(clip["log_probability"]).float().exp()
    return Batch(mel, states, heard, tokens, wanted, likely, probability)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and train.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser(
        "python -m voice.finetune.train", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("--clips", type=Path, required=True, help="what voice.finetune.data wrote")
    parser.add_argument("--run", type=Path, required=True, help="folder of the run")
    parser.add_argument("--minutes", type=number(float, 0), default=60)
    parser.add_argument("--threads", type=number(int), default=1)
    parser.add_argument("--export", type=Path, help="write the weights for CTranslate2 here")
    options = parser.parse_args(arguments)
    prepare(options.threads)
    with told(parser, VoiceError):
        clips = Clips(options.clips) if options.minutes else None
        options.run.mkdir(parents=True, exist_ok=True)
        run = Run(TrainConfig())
        if (options.run / "run.pt").exists():
            run.load(options.run / "run.pt")
        if clips:
            train(run, clips, options.run, options.minutes, print)
        if options.export:
            export(packaged_folder(), run.averaged(), options.export, SETTINGS)


if __name__ == "__main__":
    main()
