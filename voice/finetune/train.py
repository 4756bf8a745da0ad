"""Teaches Whisper to do with a context as long as the utterance; a run resumes exactly.

``python -m voice.finetune.train --clips DIR --run DIR --minutes 60`` trains, or goes on with what
lies in the run's folder; ``--export DIR`` then writes the weights for CTranslate2. Ctrl-C stops
after the step and saves.

A step draws clips of about one length, degrades them, and pads them to that length and a little
more. The copy's encoder states are held to those that the packaged weights have of the clean clip
at 30 s, its next tokens to theirs and to the words. Of some clips only noise is left: there the
transcript is empty. What a step draws depends on the seed and its number alone. What is exported
is the moving average of the weights.
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

from dlm.loading.placement import bfloat16_is_fast
from dlm.train.machine import prepare
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
"""What the config.json of the exported weights says: how short a context they need, and that a
transcript begins with no blank, but may end at once where nobody speaks."""
_FRAMES_PER_S = 100
_IGNORED = -100
_LONGEST_PAUSE_S = 0.7
_CONFUSED = 5
"""A token is misread as one of so many that are likeliest in its place."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How to train.

    Attributes:
        batch: Clips of a step.
        learning_rate: After ``warmup`` steps.
        average: Share of the moving average that a step keeps.
        quiet: Share of clips of which only noise is left.
        clean: Share of the others that are not degraded.
        joined: Share of steps whose clips are two utterances with a pause between them.
        misheard: Share of the tokens read that are likely ones instead of those said.
        end_weight: Of the end of the text among the words, each of which counts 1.
        step_s: The context is a multiple of this.
        spare_s: Up to so much silence follows the longest clip.
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
        states: (B, S, D) float32, of the packaged weights at 30 s.
        heard: (B, S) bool: where ``states`` are to be learned.
        tokens: (B, L) int64 before each place.
        wanted: (B, L) int64 at each place; -100 where there is none.
        likely: (B, L, 16) int64, the packaged weights' choice.
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
        """What a step learns from: the same for the same configuration, step and clips."""
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
    """A run: weights, their moving average and the optimizer, at a step.

    Attributes:
        step: Steps made.
        counts: (step, clips): from which step on there were how many clips to draw from.
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
        """Make a step; return the losses of its parts.

        Raises:
            ValueError: The loss is no number.
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
        """Write everything that `load` needs, at once or not at all."""
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
        """Take up what `save` wrote.

        Raises:
            ValueError: It was made with another configuration.
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

    ``states``: squared error as a share of the states' variance. ``likely``: cross-entropy to the
    packaged weights' likely tokens, less its least. ``words``: cross-entropy to the words.
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
    """Two clips one after the other; the encoder's states are known of the first alone."""
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
    """The clip with what the decoder reads: its tokens, and likely ones in place of some.

    So it learns to go on from mistakes of its own by what it hears.
    """
    read = clip["tokens"][:-1].copy()
    other = clip["likely"][np.arange(len(read)), rng.integers(_CONFUSED, size=len(read))]
    chosen = rng.random(len(read)) < share
    chosen[:2] = False  # before the words
    read[chosen] = np.roll(other, 1)[chosen]
    return clip | {"read": read}


def _stacked(mel: Tensor, kept: Sequence[dict[str, Any] | None]) -> Batch:
    """Put the clips' arrays together; None for a clip of which only noise is left."""
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
            # No speech is known at the start, and also where a transcript is asked for.
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


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--clips", type=Path, required=True, help="what voice.finetune.data wrote")
    parser.add_argument("--run", type=Path, required=True, help="folder of the run")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--export", type=Path, help="write the weights for CTranslate2 here")
    options = parser.parse_args()
    prepare(options.threads)
    options.run.mkdir(parents=True, exist_ok=True)
    run = Run(TrainConfig())
    if (options.run / "run.pt").exists():
        run.load(options.run / "run.pt")
    if options.minutes > 0:
        train(run, Clips(options.clips), options.run, options.minutes, print)
    if options.export:
        export(packaged_folder(), run.averaged(), options.export, SETTINGS)


if __name__ == "__main__":
    main()
