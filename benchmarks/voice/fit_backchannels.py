"""Fits `voice.hearing.backchannel`: ``python -m benchmarks.voice.fit_backchannels``.

It is fitted to the words of half of the speakers of `benchmarks.voice.short_words`, to pieces of
sentences, to synthetic voices, and to half of the synthetic hummers of `benchmarks.voice.humming`,
each changed several times in speed, level of noise and where it is cut. The same figures are given
for both halves, at the bar below which 5% of the words that mean go on fall: how many words that
mean stop, or something else, are above it, and how many hums are below it. Results:
benchmarks/results/backchannels.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Program
from benchmarks.voice.corpus import needed
from benchmarks.voice.humming import WORDS, hums
from benchmarks.voice.short_words import (
    AGREEING,
    OTHER,
    SPEECH,
    STOPPING,
    pieces,
    recorded,
    spoken,
    spoken_by_flite,
)
from voice.audio import Framer
from voice.config import EndpointingConfig, VadConfig
from voice.demo.virtual_audio import room_tone, speech_span
from voice.hearing.backchannel import (
    AFTER_MS,
    BANDS,
    BEFORE_MS,
    LAYERS,
    SHORTEST_MS,
    STRIDES,
    WEIGHTS_FILE,
    Array,
    is_short,
    log_odds,
    spectrum,
)
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad import Vad, make_vad
from voice.types import SAMPLE_RATE_HZ, Pause, Samples, SpeechStarted, samples_of_ms

if TYPE_CHECKING:
    from torch import Tensor, nn

SEED = 6
LEAD_S, TAIL_S = 0.5, 0.4
COPIES = 10
HUMMED_EACH = 2
PIECES = 700
EPOCHS = 14
BATCH = 64
CHANNELS = 48
KERNEL = 5
MASKED_BANDS = 3
CLASSES = (
    "stop", "no", "yes", "right", "off", "down", "go", "left", "on", "up",
    "hum", "agreeing", "stopping", "other",
)  # fmt: skip
AGREES = ("yes", "right", "hum", "agreeing")
STOPS = ("stop", "no")

Ids = NDArray[np.int64]


def class_of(word: str) -> int:
    """The class of a word, a phrase, or a piece of a sentence."""
    if word in CLASSES:
        return CLASSES.index(word)
    if word in WORDS:
        return CLASSES.index("hum")
    kind = "agreeing" if word in AGREEING else "stopping" if word in STOPPING else "other"
    return CLASSES.index(kind)


def heard_before_pauses(samples: Samples, vad: Vad) -> list[Samples]:
    """What the network is given of a recording: its speech before each pause, if short enough.

    Pauses inside a word count, since a session cannot know yet that the word goes on.
    """
    lead, tail = room_tone(LEAD_S, SAMPLE_RATE_HZ), room_tone(TAIL_S, SAMPLE_RATE_HZ)
    audio = np.concatenate([lead, samples, tail])
    vad.reset()
    endpointer, start, found = Endpointer(EndpointingConfig()), 0, []
    for frame in Framer().push(audio):
        for event in endpointer.accept(frame, vad.probability(frame), Cues()):
            if isinstance(event, SpeechStarted):
                start = event.start_sample
            elif isinstance(event, Pause) and is_short(event.end_sample - start):
                end = event.end_sample + samples_of_ms(AFTER_MS)
                found.append(audio[start - samples_of_ms(BEFORE_MS) : end])
    return found


def span(samples: Samples) -> Samples:
    """The speech in a recording without noise, found by its level."""
    first, last = speech_span(samples, SAMPLE_RATE_HZ)
    after = samples_of_ms(AFTER_MS)
    return np.pad(samples, (0, after))[max(0, first - samples_of_ms(BEFORE_MS)) : last + after]


def changed(heard: Samples, rng: np.random.Generator) -> Samples:
    """A word as if from another speaker and place: other pace and pitch, noise and edges."""
    first = samples_of_ms(rng.uniform(0, BEFORE_MS))
    last = max(first + samples_of_ms(SHORTEST_MS), len(heard) - samples_of_ms(rng.uniform(0, 100)))
    wide = heard[first:last].astype(np.float64)
    at = np.arange(0, len(wide) - 1, rng.uniform(0.87, 1.14))
    wide = np.interp(at, np.arange(len(wide)), wide)
    level = np.sqrt(np.mean(wide**2)) * 10 ** (-rng.uniform(15, 50) / 20)
    noisy = (wide + rng.normal(0, level + 1, len(wide))) * rng.uniform(0.3, 1.2)
    return np.clip(noisy, -32768, 32767).astype(np.int16)


def examples(
    heard: Iterable[tuple[str, Samples]], copies: int, rng: np.random.Generator
) -> Iterator[tuple[Array, int]]:
    """Spectra of changed copies of words, and the class of each."""
    for word, samples in heard:
        for _ in range(copies):
            yield spectrum(changed(samples, rng)), class_of(word)


def fit(inputs: Array, classes: Ids, epochs: int) -> dict[str, Array]:
    """Train the network.

    Args:
        inputs: (B, FRAMES, BANDS).
        classes: (B,).
        epochs: Passes over all of them.

    Returns:
        What `voice.hearing.backchannel.load` reads.
    """
    import torch
    from torch.nn import functional

    torch.manual_seed(SEED)
    layers = _layers()
    weights = [p for layer in layers.values() for p in layer.parameters()]
    steps = epochs * -(-len(inputs) // BATCH)
    optimiser = torch.optim.AdamW(weights, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    agrees = torch.tensor([name in AGREES for name in CLASSES])
    for epoch in range(epochs):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            heard = _blurred(torch.from_numpy(inputs[rows.numpy()]).transpose(1, 2))
            scores, wanted = _scores(layers, heard), torch.from_numpy(classes[rows.numpy()])
            odds = scores[:, agrees].logsumexp(dim=1) - scores[:, ~agrees].logsumexp(dim=1)
            loss = functional.cross_entropy(scores, wanted, label_smoothing=0.03)
            loss = loss + functional.binary_cross_entropy_with_logits(odds, agrees[wanted].float())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {epochs}: loss {loss.item():.3f}", flush=True)
    found = {
        f"{name}.{kind}": getattr(layer, kind).detach().numpy()
        for name, layer in layers.items()
        for kind in ("weight", "bias")
    }
    return found | {"agrees": np.array([name in AGREES for name in CLASSES], np.float32)}


def _blurred(heard: Tensor) -> Tensor:
    """(B, BANDS, FRAMES) shifted in time; half of them lose some neighbouring bands."""
    import torch

    bands = (torch.randint(BANDS, (len(heard), 1)) + torch.arange(MASKED_BANDS)) % BANDS
    kept = (torch.rand(len(heard), 1) < 0.5).float().expand(bands.shape)
    mask = torch.ones(len(heard), BANDS).scatter(1, bands, kept)
    return torch.roll(heard * mask[:, :, None], int(torch.randint(-6, 7, ())), dims=2)


def _layers() -> nn.ModuleDict:
    from torch import nn

    sizes = (BANDS, CHANNELS, CHANNELS)
    strides = zip(LAYERS, sizes, STRIDES, strict=True)
    convolutions = {name: nn.Conv1d(size, CHANNELS, KERNEL, step) for name, size, step in strides}
    return nn.ModuleDict({**convolutions, "out": nn.Linear(2 * CHANNELS, len(CLASSES))})


def _scores(layers: nn.ModuleDict, heard: Tensor) -> Tensor:
    """(B, K) scores of (B, BANDS, FRAMES), computed as in `voice.hearing.backchannel.network`."""
    import torch
    from torch.nn import functional

    for name in LAYERS:
        heard = functional.relu(layers[name](heard))
    pooled = torch.cat([heard.mean(dim=2), heard.amax(dim=2)], dim=1)
    scores: Tensor = layers["out"](functional.dropout(pooled, 0.3))
    return scores


def told_apart(
    heard: Iterable[tuple[str, Samples]], weights: Mapping[str, Array]
) -> dict[str, Any]:
    """How many words are on the wrong side of the bar below which 5% of "go on" words fall."""
    odds: dict[str, list[float]] = {}
    for word, samples in heard:
        odds.setdefault(word, []).append(log_odds(spectrum(samples), weights))
    agreeing = np.concatenate([odds[word] for word in AGREES if word in odds])
    stopping = np.concatenate([odds[word] for word in STOPS if word in odds])
    others = np.concatenate([odds[w] for w in odds if w not in (*STOPS, *AGREES, *AGREEING)])
    hummed = np.concatenate([odds[word] for word in WORDS if word in odds] or [agreeing[:0]])
    bar = float(np.quantile(agreeing, 0.05))
    counts = {"go on": agreeing, "hums": hummed, "stop": stopping, "others": others}
    return {
        "words": {name: len(counted) for name, counted in counts.items()},
        "bar": round(bar, 2),
        "stop_taken_for_go_on": round(float((stopping > bar).mean()), 4),
        "others_taken_for_go_on": round(float((others > bar).mean()), 4),
        "hums_not_taken_for_it": round(float((hummed <= bar).sum()) / max(1, len(hummed)), 4),
    }


def main() -> None:
    """Fit, write the weights, and write how well they work."""
    program = Program("benchmarks.voice.fit_backchannels", __doc__)
    program.add_argument("--epochs", type=int, default=EPOCHS)
    program.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    options = program.parse_args()
    needed(program, SPEECH)
    rng, vad = np.random.default_rng(SEED), make_vad(VadConfig())
    phrases = [*AGREEING, *STOPPING, *OTHER]
    single = [word for word in recorded() if word.samples.any()]
    words, hummed = (
        [
            (word.held_out, (word.word, samples))
            for word in some
            for samples in heard_before_pauses(word.samples, vad)
        ]
        for some in (single, hums(WORDS, HUMMED_EACH))
    )
    clean = [*single, *spoken(phrases, rng), *spoken_by_flite(phrases)]
    rows = [
        *examples((heard for held_out, heard in words if not held_out), COPIES, rng),
        *examples((heard for held_out, heard in hummed if not held_out), COPIES // 2, rng),
        *examples(((w.word, span(w.samples)) for w in clean if not w.held_out), COPIES // 2, rng),
        *examples(((piece.word, piece.samples) for piece in pieces(PIECES, rng)), 1, rng),
    ]
    print(f"{len(rows)} examples", flush=True)
    inputs = np.stack([row for row, _ in rows])
    weights = fit(inputs, np.array([wanted for _, wanted in rows]), options.epochs)
    np.savez_compressed(options.out, **{k: w.astype(np.float16) for k, w in weights.items()})
    figures = {
        half: told_apart(
            (heard for h, heard in [*words, *hummed] if h == (half == "held out")), weights
        )
        for half in ("tuning", "held out")
    }
    print(figures)
    program.write(figures, "backchannels")


if __name__ == "__main__":
    main()
