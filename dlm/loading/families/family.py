"""What defines a family of checkpoints: how config.json is read, and the names of weights.

Names of weights are given for the model's own parameters (`dlm.network.model`). If the model has
one matrix where the checkpoint has several, the rows of these follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlm.network.config import ModelConfig
from dlm.network.rope import RopeScaling

EXPERT = "{expert}"


@dataclass(frozen=True, slots=True)
class Part:
    """A weight on disk: all of a parameter, or some of its rows."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Names of weights on disk.

    Attributes:
        outer: Names of the parameters outside layers.
        layer: Prefix of the names of a layer's weights; ``{}`` stands for its number.
        inner: For each parameter of a layer, the names of the weights that hold it. If a name has
            ``{expert}``, the tuple is repeated for each expert of a mixture.
    """

    outer: Mapping[str, str]
    layer: str
    inner: Mapping[str, tuple[str, ...]]

    def parts(self, config: ModelConfig, name: str, shape: Sequence[int]) -> list[Part]:
        """The weights that a parameter is made of, in order.

        Args:
            config: The model's shape.
            name: The parameter's name.
            shape: The parameter's shape.
        """
        if name in self.outer:
            return [Part(self.outer[name], tuple(shape))]
        _, number, inner = name.split(".", 2)
        names = self.inner[inner]
        if EXPERT in names[0]:
            assert config.experts is not None
            count = config.experts.count
            names = tuple(n.replace(EXPERT, str(e)) for e in range(count) for n in names)
            shape = (shape[0] * shape[1], *shape[2:])
        sizes = [shape[0] // len(names)] * len(names)
        if len(names) == 3 and inner.startswith("self_attn.qkv_proj"):
            key = config.num_key_value_heads * config.head_dim
            sizes = [shape[0] - 2 * key, key, key]
        begin = self.layer.format(number)
        return [Part(begin + n, (size, *shape[1:])) for n, size in zip(names, sizes, strict=True)]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of checkpoints.

    Attributes:
        model_type: The ``model_type`` in config.json.
        architectures: If config.json names architectures, one of them must be among these; if this
            is empty, any will do.
        read: Turns config.json into a model's shape; raises a ValueError if the family does not fit
            after all.
        names: Names of the weights.
    """

    model_type: str
    architectures: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], ModelConfig]
    names: Names


QWEN = Names(
    outer={
        "embed_tokens.weight": "model.embed_tokens.weight",
        "norm.weight": "model.norm.weight",
        "lm_head.weight": "lm_head.weight",
    },
    layer="model.layers.{}.",
    inner={
        "input_layernorm.weight": ("input_layernorm.weight",),
        "post_attention_layernorm.weight": ("post_attention_layernorm.weight",),
        "self_attn.qkv_proj.weight": tuple(f"self_attn.{x}_proj.weight" for x in "qkv"),
        "self_attn.qkv_proj.bias": tuple(f"self_attn.{x}_proj.bias" for x in "qkv"),
        "self_attn.q_norm.weight": ("self_attn.q_norm.weight",),
        "self_attn.k_norm.weight": ("self_attn.k_norm.weight",),
        "self_attn.o_proj.weight": ("self_attn.o_proj.weight",),
        "mlp.gate_up_proj.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
        "mlp.down_proj.weight": ("mlp.down_proj.weight",),
    },
)
"""Names of weights in Qwen2, Qwen3 and related families."""


def demand(raw: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse a config whose values differ from what the model supports; missing keys pass.

    Raises:
        ValueError: A value differs; the text names the key, what was got and what is expected.
    """
    for key, value in expected.items():
        if raw.get(key) not in (None, value):
            raise ValueError(f"{key}: got {raw[key]!r}, expected {value!r}")


def first(value: Any) -> Any:
    """The first id, if config.json holds several."""
    return value[0] if isinstance(value, list) and value else value


def dense(raw: Mapping[str, Any], **own: Any) -> ModelConfig:
    """The shape of a dense Transformer whose config is written with Qwen's keys.

    Args:
        raw: The content of config.json.
        own: What the family determines, and defaults for ids and sizes that the config lacks.

    Raises:
        ValueError: A dimension is missing or impossible, or the config asks for something that the
            model does not support; the text names it.
    """
    demand(raw, {"hidden_act": "silu", "use_sliding_window": False})
    heads = needed(raw, "num_attention_heads")
    hidden = needed(raw, "hidden_size")
    positions = needed(raw, "max_position_embeddings")
    rope = raw.get("rope_parameters") or {}
    values: dict[str, Any] = {
        "vocab_size": needed(raw, "vocab_size"),
        "hidden_size": hidden,
        "intermediate_size": needed(raw, "intermediate_size"),
        "num_hidden_layers": needed(raw, "num_hidden_layers"),
        "num_attention_heads": heads,
        "num_key_value_heads": raw.get("num_key_value_heads") or heads,
        "head_dim": raw.get("head_dim") or hidden // heads,
        "max_position_embeddings": positions,
        "rope_theta": float(rope.get("rope_theta") or raw.get("rope_theta") or 10_000.0),
        "rope_scaling": RopeScaling.read(rope or raw.get("rope_scaling"), positions),
        "rms_norm_eps": raw.get("rms_norm_eps") or 1e-6,
        "tie_word_embeddings": bool(raw.get("tie_word_embeddings", False)),
    }
    for key in ("block_size", "mask_token_id", "eos_token_id"):
        if raw.get(key) is not None:
            values[key] = first(raw[key])
    return ModelConfig(**(own | values))


def needed(raw: Mapping[str, Any], key: str) -> int:
    """A number above 0 that a config must have.

    Raises:
        ValueError: It does not have it.
    """
    value = raw.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{key}: got {value!r}, expected a number above 0")
    return value
