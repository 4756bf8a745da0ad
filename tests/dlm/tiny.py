"""Small real parts that the tests of the engine share: a tokenizer, models with random weights."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from dlm.cache import KVCache
from dlm.config import ModelConfig
from dlm.decode import Decoder
from dlm.model import Transformer
from dlm.template import Template, Tool
from dlm.tokenizer import Tokenizer

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
def template() -> Template:
    return Template(tokenizer())


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


def decoder(made: Transformer, prompt: Sequence[int], capacity: int = 400) -> Decoder:
    return Decoder(made, KVCache(made.config, capacity), prompt)


def tool(name: str, required: Sequence[str] = (), **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, f"Does {name}.", schema)


WORDS = {"type": "string"}
TIMER = tool("set_timer", ["duration"], duration=WORDS, label=WORDS)
WEATHER = tool("get_weather", place=WORDS, day={"type": "string", "enum": ["today", "tomorrow"]})
LIGHT = tool("set_light", ["level"], level={"type": "integer"}, on={"type": "boolean"}, room=WORDS)
