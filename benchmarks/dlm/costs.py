"""How a request's cost grows with its size: ``python -m benchmarks.dlm.costs --plot``.

Measures, through the engine, on a small model of random weights with room for 32k positions: the
time to the first token of a new prompt and of a dialogue's next turn, and the time per forward,
over the prompt's length, the number of requests at once and the block size. Results:
benchmarks/results/costs.json; the plot: docs/costs.svg.
"""

from __future__ import annotations

import itertools
import queue
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import torch

from benchmarks.report import ROOT, Program, drawn, percentiles
from dlm.engine.engine import SHIPPED, Engine, Event, Failed, Finished, Request, Snapshot
from dlm.language.messages import Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer
from dlm.loading.placement import best_dtype, best_threads
from dlm.network.config import ModelConfig
from dlm.network.int8 import round_weights
from dlm.network.model import Transformer

PLOT = ROOT / "docs" / "costs.svg"
LENGTHS = tuple(128 * 2**power for power in range(9))
BATCHES = (1, 2, 4, 8, 16)
BLOCKS = (8, 16, 32)
BATCH_PROMPT = 256
# Too short for the engine to detect a loop, which random weights soon fall into.
ANSWER_TOKENS = 24
NEW_WORDS = 16
MOST_REPEATS = 5
CONFIG = ModelConfig(
    vocab_size=4096,
    hidden_size=256,
    intermediate_size=768,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=64,
    max_position_embeddings=LENGTHS[-1] + 512,
)


@dataclass(slots=True)
class Heard:
    """The events that a request's listener received; times in seconds of one clock.

    Attributes:
        began: When the request was submitted.
        first: When the first text or draft came.
        drafts: When each draft came, and how many forwards had been made by then.
        answer: The last event, once it has come.
    """

    began: float
    first: float = 0.0
    drafts: list[tuple[float, int]] = field(default_factory=list)
    answer: Finished | None = None

    def take(self, event: Event, now: float) -> None:
        """Note an event."""
        self.first = self.first or now
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Snapshot):
            self.drafts.append((now, event.forwards))
        elif isinstance(event, Finished):
            self.answer = event

    @property
    def first_ms(self) -> float:
        """Milliseconds from the request to its first token."""
        return (self.first - self.began) * 1000


def built(config: ModelConfig) -> Transformer:
    """A model of random weights, in 8 bits where this CPU is faster with them."""
    torch.manual_seed(0)
    model = Transformer(config).eval().requires_grad_(False)
    if best_dtype(config, torch.device("cpu")) == torch.int8:
        round_weights(model)
    return model


class Prompts:
    """Makes dialogues of a wanted length from random words, so that no two share a prefix."""

    def __init__(self, dialect: Template) -> None:
        self._dialect = dialect
        self._random = Random(0)
        texts = (dialect.decode([token]).strip() for token in range(dialect.size))
        words = sorted({text for text in texts if re.fullmatch("[a-z]{3,}", text)})
        self._words = [word for word in words if len(dialect.text(word)) == 1]
        self._marks = len(dialect.prompt(self.said(1))) - 1

    def said(self, words: int) -> tuple[Turn, ...]:
        """A user's message of so many words, each of one token."""
        return (Turn("user", " ".join(self._random.choices(self._words, k=words))),)

    def of(self, tokens: int) -> tuple[Turn, ...]:
        """A dialogue whose prompt has so many tokens."""
        return self.said(tokens - self._marks)


def ask(engine: Engine, asked: Sequence[tuple[Turn, ...]]) -> list[Heard]:
    """Submit dialogues together, and collect the events of all until each has its answer."""
    told: queue.SimpleQueue[tuple[int, Event, float]] = queue.SimpleQueue()
    heard = []

    def listener(index: int) -> Callable[[Event], None]:
        return lambda event: told.put((index, event, time.perf_counter()))

    for index, turns in enumerate(asked):
        heard.append(Heard(time.perf_counter()))
        engine.submit(Request(turns, max_tokens=ANSWER_TOKENS), listener(index))
    while any(one.answer is None for one in heard):
        index, event, now = told.get()
        heard[index].take(event, now)
    return heard


def forward_ms(heard: Sequence[Heard]) -> list[float]:
    """Milliseconds per forward of each request, while all of them were decoding."""
    if not all(one.drafts for one in heard):
        return []
    start = max(one.drafts[0][0] for one in heard)
    end = min(one.drafts[-1][0] for one in heard)
    return [
        (when - before) * 1000 / (count - counted)
        for one in heard
        for (before, counted), (when, count) in itertools.pairwise(one.drafts)
        if start <= before and when <= end
    ]


@dataclass(slots=True)
class Times:
    """Milliseconds, by prompt length, and by block size and prompt length or batch."""

    new_prompt: dict[int, list[float]] = field(default_factory=dict)
    next_turn: dict[int, list[float]] = field(default_factory=dict)
    by_length: dict[int, dict[int, list[float]]] = field(default_factory=dict)
    by_batch: dict[int, dict[int, list[float]]] = field(default_factory=dict)


def over_lengths(engine: Engine, lengths: Sequence[int], times: Times) -> None:
    """Time one request after the other, each followed by its dialogue's next turn."""
    assert isinstance(engine.dialect, Template)
    prompts = Prompts(engine.dialect)
    steps = times.by_length.setdefault(engine.model.config.block_size, {})
    for length in lengths:
        for _ in range(max(1, min(MOST_REPEATS, 8192 // length))):
            turns = prompts.of(length)
            (one,) = ask(engine, [turns])
            assert one.answer is not None
            answer = Turn("assistant", one.answer.answer.content)
            (second,) = ask(engine, [(*turns, answer, *prompts.said(NEW_WORDS))])
            times.new_prompt.setdefault(length, []).append(one.first_ms)
            times.next_turn.setdefault(length, []).append(second.first_ms)
            steps.setdefault(length, []).extend(forward_ms([one]) + forward_ms([second]))


def over_batches(engine: Engine, batches: Sequence[int], times: Times) -> None:
    """Time the forwards of several requests at once."""
    assert isinstance(engine.dialect, Template)
    prompts = Prompts(engine.dialect)
    steps = times.by_batch.setdefault(engine.model.config.block_size, {})
    for batch in batches:
        for _ in range(MOST_REPEATS):
            spent_ms: list[float] = []
            while not spent_ms:
                # On a busy machine one may have its answer before another has begun.
                heard = ask(engine, [prompts.of(BATCH_PROMPT) for _ in range(batch)])
                spent_ms = forward_ms(heard)
            steps.setdefault(batch, []).extend(spent_ms)


def measure(dialect: Template, config: ModelConfig, lengths: Sequence[int]) -> dict[str, Any]:
    """Measure all block sizes: percentiles of `Times`, and the model's shape."""
    times = Times()
    for block in BLOCKS:
        engine = Engine(built(replace(config, block_size=block)), dialect)
        try:
            # The first requests of a process are slow.
            ask(engine, [Prompts(dialect).of(lengths[0])])
            over_lengths(engine, lengths, times)
            over_batches(engine, BATCHES, times)
        finally:
            engine.close()
    steps = {"prompt": times.by_length, "batch": times.by_batch}
    return {
        "threads": torch.get_num_threads(),
        "parameters": sum(p.numel() for p in Transformer(config).parameters()),
        "layers": config.num_hidden_layers,
        "batch_prompt_tokens": BATCH_PROMPT,
        "next_turn_words": NEW_WORDS,
        "first_token_ms": {
            "new prompt": _told(times.new_prompt),
            "next turn": _told(times.next_turn),
        },
        "forward_ms": {
            over: {str(block): _told(found) for block, found in by_block.items()}
            for over, by_block in steps.items()
        },
    }


def _told(spent: dict[int, list[float]]) -> dict[str, Any]:
    return {str(size): percentiles(times, 2) for size, times in spent.items()}


def draw(figures: dict[str, Any], file: Path) -> None:
    """Three panels: first token over the prompt; a forward over the prompt; over the batch."""
    with drawn(file, 11, 3.4, panels=3) as panels:
        first, prompt, batch = panels
        _lines(first, figures["first_token_ms"], "{}")
        _lines(prompt, figures["forward_ms"]["prompt"], "blocks of {}")
        _lines(batch, figures["forward_ms"]["batch"], "blocks of {}")
        first.set(title="time to the first token", xlabel="prompt, tokens", ylabel="ms")
        prompt.set(title="one forward, one request", xlabel="prompt, tokens")
        batch.set(title="one forward, several requests", xlabel="requests at once")
        for axes, sizes in ((first, LENGTHS[::2]), (prompt, LENGTHS[::2]), (batch, BATCHES)):
            axes.set_xscale("log", base=2)
            axes.set_ylim(bottom=None if axes is first else 0)
            axes.set_xticks(sizes, [f"{n // 1024}k" if n >= 1024 else str(n) for n in sizes])
        first.set_yscale("log")


def _lines(axes: Any, curves: dict[str, dict[str, Any]], label: str) -> None:
    for name, points in curves.items():
        medians = [point["p50"] for point in points.values()]
        axes.plot([int(x) for x in points], medians, marker=".", label=label.format(name))


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.costs", __doc__)
    program.add_argument("--longest", type=int, default=LENGTHS[-1], help="tokens of a prompt")
    program.add_argument("--threads", type=int, default=0)
    program.add_argument("--plot", action="store_true", help=f"draw {PLOT.name}")
    options = program.parse_args()
    torch.set_num_threads(options.threads or best_threads(CONFIG))
    lengths = [length for length in LENGTHS if length <= options.longest]
    figures = measure(Template(Tokenizer.load(SHIPPED)), CONFIG, lengths)
    figures["took_s"] = program.took_s
    for name, points in figures["first_token_ms"].items():
        print("first token,", name, {size: point["p50"] for size, point in points.items()})
    for over, blocks in figures["forward_ms"].items():
        for block, points in blocks.items():
            medians = {size: point["p50"] for size, point in points.items()}
            print(f"forward, blocks of {block}, by {over}", medians)
    print(f"took {figures['took_s']} s")
    if options.plot:
        draw(figures, PLOT)
    program.write(figures)


if __name__ == "__main__":
    main()
