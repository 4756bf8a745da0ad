"""Small real parts that the tests of the engine share: a tokenizer, models with random weights."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from dlm.decoding.decoder import Decoder, Vocabulary
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Answer, Call, Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer
from dlm.train.objective import collate, joint_step, noisy_copies

LESSONS = 100
TEXTS = (
    " Set a timer for ten minutes please.",
    " What is the weather in Paris tomorrow?",
    " It is 3:42 PM, and 12 degrees.",
    " Add milk and eggs to the shopping list.",
    " set_timer duration label get_weather place day level",
)


@functools.cache
def tokenizer() -> Tokenizer:
    """A vocabulary of 330 entries: bytes, marks and some words of `TEXTS`."""
    return Tokenizer.train(list(TEXTS) * 3, 330)


@functools.cache
def template(declarations: int = 1) -> Template:
    return Template(tokenizer(), declarations)


def call_ids(call: Call) -> list[int]:
    """A call as the model would write it."""
    return template().spell(Answer("", (call,)))[:-1]


def config(**changes: Any) -> ModelConfig:
    sizes: dict[str, Any] = {
        "vocab_size": 352,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "block_size": 8,
    }
    return ModelConfig(**(sizes | changes))


def model(seed: int = 0, **changes: Any) -> Transformer:
    """Random weights, large enough that positions and context decide the logits."""
    made = Transformer(config(**changes))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.3 if parameter.dim() == 2 else 1 + 0.1 * noise)
    return made.eval().requires_grad_(False)


def vocabulary() -> Vocabulary:
    return Vocabulary.of(template(), config().vocab_size)


def decoder(made: Transformer, prompt: Sequence[int], capacity: int = 400) -> Decoder:
    return Decoder(KVCache(made.config, capacity), prompt, made.config.block_size, vocabulary())


def tool(name: str, required: Sequence[str] = (), **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, f"Does {name}.", schema)


WORDS = {"type": "string"}
TIMER = tool("set_timer", ["duration"], duration=WORDS, label=WORDS)
WEATHER = tool("get_weather", place=WORDS, day={"type": "string", "enum": ["today", "tomorrow"]})
LIGHT = tool("set_light", ["level"], level={"type": "integer"}, on={"type": "boolean"}, room=WORDS)


def dialogue(user: str, *turns: Turn) -> list[Turn]:
    return [Turn("user", user), *turns]


DIALOGUES = (
    dialogue("hello", Turn("assistant", "Hello! What can I do for you today, my dear friend?")),
    dialogue("sing", Turn("assistant", "café ☕ naïve 😀 done")),
    dialogue(
        "set a timer for ten minutes",
        Turn("assistant", "", (Call("set_timer", {"duration": "ten minutes"}),)),
        Turn("tool", "Timer set for 10 minutes."),
        Turn("assistant", "Your timer runs for 10 minutes from now on."),
    ),
    dialogue(
        "both please",
        Turn(
            "assistant",
            "Sure.",
            (Call("set_timer", {"duration": "both"}), Call("get_weather", {"day": "today"})),
        ),
    ),
)
TOOLS = (TIMER, WEATHER)


THOUGHTS = (
    (DIALOGUES[0], "hi. be kind. ask more. that is all."),
    (DIALOGUES[0], "hi. be kind. ask more."),
    (DIALOGUES[2], "ten minutes. a timer."),
)
"""What may go before the first answer of a dialogue."""


@functools.cache
def taught() -> Transformer:
    """A model that has learned `DIALOGUES` by heart, both to draft them and to verify them."""
    return _learned(DIALOGUES, LESSONS)


@functools.cache
def thoughtful() -> Transformer:
    """One that has learned to begin two of them, with and without `THOUGHTS` before that."""
    plain = (DIALOGUES[0], DIALOGUES[2][:2])
    thought = ([turns[0], replace(turns[1], reasoning=text)] for turns, text in THOUGHTS)
    return _learned([*plain, *thought], LESSONS, reasons=True)


def _learned(dialogues: Sequence[Sequence[Turn]], lessons: int, **changes: Any) -> Transformer:
    made = model(seed=1, hidden_size=48, intermediate_size=96, **changes)
    made.requires_grad_(True)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() == 2:
                parameter.mul_(0.3)
    rows = collate([template().dialogue(turns, TOOLS) for turns in dialogues], 0.0)
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-2, weight_decay=0.0)
    rng = np.random.default_rng(1)
    for step in range(lessons):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - step / lessons)
        losses = joint_step(made, rows, noisy_copies(rows, made.config.block_size, rng))
        (losses["causal"] + losses["denoising"]).backward()
        optimizer.step()
        optimizer.zero_grad()
    return made.requires_grad_(False)
