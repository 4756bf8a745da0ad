"""Fits the end-of-turn network: ``python -m benchmarks.voice.fit_endings``.

A new checkpoint thinks otherwise of the same words. All that follows from that, in ten minutes:

    python -m benchmarks.voice.fit_endings && python -m benchmarks.voice.endpointing --plot

What the ears meet in the recordings, and what the model thinks of messages, is kept for as long as
the checkpoint stays the same; --fresh hears all anew, for ears that have changed.

Fitted to the pauses of the tuning half of benchmarks/voice/endpointing.py, and to messages of
held-out training dialogues, whole and broken off behind each word. Every pause counts as it is,
without the model's opinion, without the voice and without both, so that the network knows what to
do before they come. First each recording is judged by a network that has seen neither it nor itself
with other pauses: what the profiles are worth so is printed, and is what their bars, and the
constants below, were chosen by. ``--voice`` instead prints what prosody is worth, by pauses inside
and ends of short sentences read by adults, native and not (speechocean762, kathleen, vctk;
../shared/data/speech).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import lzma
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

from benchmarks.report import ROOT
from benchmarks.voice.dead_air import (
    BARS,
    BUDGETS,
    Point,
    cheapest,
    domain,
    is_held_out,
    kept,
    point_of,
    traces,
    within,
)
from benchmarks.voice.pauses import Traced, dead_air_ms, heard_pauses
from voice.hearing.end_of_turn import PROFILES, Cues, Limits, silence_within
from voice.hearing.end_of_turn_network import INPUTS, RISING, WEIGHTS_FILE, inputs_of, score
from voice.hearing.prosody import Prosody
from voice.types import Samples

SPEECH = ROOT.parent / "shared" / "data" / "speech"
CORPORA = {"speechocean762": 500, "kathleen": 250, "vctk": 40}
"""Corpus → recordings. LibriSpeech is cut wherever its readers paused: its ends are no ends."""
YOUNGEST = 16
MESSAGES = 400
SEED = 5
FOLDS = 7
UNITS = 8
DECAY = 0.001
STEPS = 300
TEXTS_SHARE = 1.0
"""Weight of all messages, beside one for all pauses. With less the recordings' pauses are ended a
little sooner, but they are mostly of long orders: two words would hardly ever be taken for all."""
HIDDEN_SHARE = 0.5
"""Weight of a pause with something of it hidden, beside one for the pause as it is."""

Matrix = NDArray[np.float64]
Message = tuple[list[tuple[str, float]], int]
Examples = tuple[Matrix, Matrix, Matrix]
Odds = Mapping[tuple[str, Cues], float]
"""Name of a recording, and what was known at a pause → log odds that the turn is over."""


def messages(count: int, seed: int = SEED) -> Iterator[Message]:
    """Beginnings of a message with the model's probability of each being all; where it does end."""
    from dlm.datagen.dialogues import generate
    from dlm.engine.engine import Engine
    from dlm.language.messages import Turn
    from dlm.language.template import tools_of, turn_of

    engine, rng = Engine.load(), Random(seed)
    for row, _ in zip(generate(seed, split="heldout"), range(count), strict=False):
        said = row["messages"]
        at = rng.choice([i for i, message in enumerate(said) if message["role"] == "user"])
        turns = [Turn("system", row["system"])] if row.get("system") else []
        turns += [turn_of(message) for message in said[:at]]
        tools = tools_of(row["tools"])
        words = said[at]["content"].split()
        begun = [" ".join(words[: n + 1]) for n in range(len(words))]
        ends = [engine.end_of_message([*turns, Turn("user", text)], tools) for text in begun]
        yield list(zip(begun, ends, strict=True)), len(words) - 1
    engine.close()


def of_pauses(heard: Sequence[Traced]) -> Examples:
    """Inputs (N, F), ends (N,) and weights (N,), which add up to one, of pauses with words."""
    inputs, ends, weights = [], [], []
    for pause in (pause for traced in heard for pause in traced.pauses if pause.cues.text):
        for hidden in (
            {},
            {"opinion": None},
            {"prosody": None},
            {"opinion": None, "prosody": None},
        ):
            inputs.append(_inputs(replace(pause.cues, **hidden)))
            ends.append(float(pause.gap_ms is None))
            weights.append(HIDDEN_SHARE if hidden else 1.0)
    return np.array(inputs), np.array(ends), np.array(weights) / sum(weights)


def of_messages(known: Sequence[Message]) -> Examples:
    """The same of messages, heard without a doubt and without a voice."""
    inputs, ends, weights = [], [], []
    for beginnings, last in known:
        for n, (text, opinion) in enumerate(beginnings if last else ()):
            for thought in (opinion, None):
                inputs.append(inputs_of(text, 1.0, thought))
                ends.append(float(n == last))
                # An end and its beginnings weigh alike, however long the message.
                weights.append(1.0 if n == last else 1.0 / last)
    return np.array(inputs), np.array(ends), np.array(weights) / sum(weights)


def _inputs(cues: Cues) -> Matrix:
    return np.asarray(inputs_of(cues.text, cues.sure, cues.opinion, cues.prosody))


def fit(pauses: Examples, texts: Examples) -> dict[str, Matrix]:
    """The network's weights, by gradient descent on the log loss with weight decay."""
    import torch
    from torch.nn import functional

    torch.manual_seed(SEED)
    inputs, ends = (
        torch.tensor(np.concatenate([pauses[i], texts[i]]), dtype=torch.float32) for i in (0, 1)
    )
    shares = np.concatenate([pauses[2], TEXTS_SHARE * texts[2]])
    weights = torch.tensor(shares, dtype=torch.float32)
    free = {
        "into": 0.3 * torch.randn(INPUTS, UNITS),
        "bias": torch.zeros(UNITS),
        "out": 0.1 * torch.randn(UNITS) - 0.5,
        "past": torch.zeros(INPUTS),
        "at": torch.zeros(()),
    }
    free["into"][:RISING], free["past"][:RISING] = -1.5, -1.0
    for value in free.values():
        value.requires_grad_()

    def found() -> dict[str, torch.Tensor]:
        rising = {
            name: torch.cat([functional.softplus(free[name][:RISING]), free[name][RISING:]])
            for name in ("into", "past")
        }
        return {**free, **rising, "out": functional.softplus(free["out"])}

    optimiser = torch.optim.Adam(free.values(), lr=0.03)
    for _ in range(STEPS):
        w = found()
        odds = torch.tanh(inputs @ w["into"] + w["bias"]) @ w["out"] + inputs @ w["past"] + w["at"]
        loss = functional.binary_cross_entropy_with_logits(odds, ends, weights, reduction="sum")
        size = sum(w[name].square().sum() for name in ("into", "out", "past"))
        optimiser.zero_grad()
        (loss + DECAY * size).backward()
        optimiser.step()
    return {name: value.detach().numpy() for name, value in found().items()}


def unseen(
    heard: Sequence[Traced], texts: Examples, seed: int = SEED
) -> dict[str, Mapping[str, Matrix]]:
    """Name of a recording → the network fitted without it; the seed deals the folds."""
    names = sorted({traced.name for traced in heard})
    order = np.random.default_rng(seed).permutation(len(names))
    folds = {names[at]: n % FOLDS for n, at in enumerate(order)}
    found = [
        fit(of_pauses([t for t in heard if folds[t.name] != fold]), texts) for fold in range(FOLDS)
    ]
    return {name: found[fold] for name, fold in folds.items()}


def odds_by(heard: Sequence[Traced], networks: Mapping[str, Mapping[str, Matrix]]) -> Odds:
    """Log odds that each pause with words is the end, by its own recording's network."""
    return {
        (traced.name, pause.cues): float(score(_inputs(pause.cues), networks[traced.name]))
        for traced in heard
        for pause in traced.pauses
        if pause.cues.text
    }


def judged_each(heard: Sequence[Traced], limits: Limits, odds: Odds) -> list[float | None]:
    """Dead air of each recording under limits, in milliseconds; None where it was cut off."""

    def wait(name: str, cues: Cues) -> float:
        return silence_within(cues, limits, odds[name, cues] if cues.text else 0.0)

    return [dead_air_ms(traced, partial(wait, traced.name)) for traced in heard]


def judged(heard: Sequence[Traced], limits: Limits, odds: Odds) -> Point:
    """False cutoffs and dead air of recordings under limits."""
    return point_of(judged_each(heard, limits, odds), limits.bar)


def message_examples(fresh: bool) -> Examples:
    """`of_messages` of what the network is fitted to, from a file if it is there."""
    return of_messages(kept("messages", lambda: list(messages(MESSAGES)), fresh))


def fit_network(fresh: bool, out: Path) -> None:
    """Judge by cross-validation, fit to all of the tuning half, and write the weights."""
    import torch

    # Matrices this small only wait for a second thread.
    torch.set_num_threads(1)
    tuning = [t for t in traces(fresh) if not is_held_out(t.name)]
    heard, texts = domain(tuning), message_examples(fresh)
    odds = odds_by(heard, unseen(tuning, texts))
    for profile, limits in PROFILES.items():
        print(profile, judged(heard, limits, odds))
    tried = [judged(heard, within(bar), odds) for bar in BARS]
    for budget in BUDGETS:
        print(f"at most {budget:.0%} cut off:", cheapest(tried, budget))
    np.savez_compressed(out, **fit(of_pauses(tuning), texts))  # type: ignore[arg-type]
    print(out)


def voice_rows() -> tuple[list[str], Matrix, Matrix]:
    """Speakers, prosody (N, 6) and whether speech ended, of pauses of at least 160 ms."""
    with lzma.open(SPEECH / "manifest.jsonl.xz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    rng = np.random.default_rng(SEED)
    who, sounds, ends = [], [], []
    for corpus, count in CORPORA.items():
        known = [r for r in rows if r["corpus"] == corpus and _grown(r)]
        chosen = [known[i] for i in rng.permutation(len(known))[:count]]
        for row, (samples, rate_hz) in zip(chosen, _recordings(corpus, chosen), strict=True):
            for prosody, ended in heard_pauses(samples, rate_hz):
                who.append(row["speaker"] if corpus != "kathleen" else row["audio"])
                sounds.append(prosody.vector())
                ends.append(float(ended))
    return who, np.array(sounds), np.array(ends)


def _recordings(corpus: str, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[Samples, int]]:
    with tarfile.open(SPEECH / f"{corpus}.tar") as tar:
        for row in rows:
            stored = tar.extractfile(row["audio"])
            assert stored is not None
            samples, rate_hz = soundfile.read(io.BytesIO(stored.read()), dtype="int16")
            yield np.asarray(samples), rate_hz


def _grown(row: dict[str, Any]) -> bool:
    return int(row.get("speaker_age") or YOUNGEST) >= YOUNGEST


def logistic(features: Matrix, ends: Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """Intercept and coefficients of a ridge logistic regression, by Newton's method.

    Args:
        features: (N, F).
        ends: (N,) of 0 and 1.
        weights: (N,).
    """
    mean, spread = features.mean(0), features.std(0) + 1e-9
    inputs = np.column_stack([np.ones(len(ends)), (features - mean) / spread])
    ridge = np.diag([0.0, *np.ones(features.shape[1])])
    found = np.zeros(inputs.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (p - ends)) + ridge @ found
        curve = (inputs * (weights * p * (1 - p))[:, None]).T @ inputs + ridge
        found -= np.linalg.solve(curve, slope)
    each = found[1:] / spread
    return float(found[0] - mean @ each), each


def ranking(scores: Matrix, ends: Matrix) -> float:
    """How often an end scores above a pause: the area under the ROC curve; ties count half."""
    high, low = scores[ends == 1], scores[ends == 0]
    above = (high[:, None] > low).mean() + 0.5 * (high[:, None] == low).mean()
    return round(float(above), 3)


def fit_voice() -> None:
    """Print what prosody is worth, and how well it tells ends on other speakers."""
    who, sounds, ends = voice_rows()
    balance = np.where(ends == 1, 0.5 / ends.mean(), 0.5 / (1 - ends.mean()))
    fold = np.array([hashlib.sha256(name.encode()).digest()[0] % FOLDS for name in who])
    scores = np.zeros(len(ends))
    for held in range(FOLDS):
        rest = fold != held
        scores[~rest] = sounds[~rest] @ logistic(sounds[rest], ends[rest], balance[rest])[1]
    at, each = logistic(sounds, ends, balance)
    names = ", ".join(field.name for field in fields(Prosody))
    print(f"prosody ({names}): {np.round(each, 4)} at {np.round(sounds.mean(0), 1)}")
    print(f"left over at the mean: {at + sounds.mean(0) @ each:.2f}")
    print(
        f"{len(ends)} pauses, {int(ends.sum())} of them ends, told apart: {ranking(scores, ends)}"
    )


def main() -> None:
    """Fit and write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--fresh", action="store_true", help="hear and judge all anew")
    parser.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    parser.add_argument("--voice", action="store_true", help="print what prosody is worth instead")
    options = parser.parse_args()
    if options.voice:
        fit_voice()
    else:
        fit_network(options.fresh, options.out)


if __name__ == "__main__":
    main()
