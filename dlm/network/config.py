"""The shape of a block-diffusion Transformer; `dlm.loading.families` reads it from checkpoints.

Shape letters used in this package: B rows, T new positions, S positions attended to, D width, H
query heads, K key-value heads, N head size, V vocabulary, L block size.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dlm.network.moe import Experts
from dlm.network.rope import RopeScaling

MODEL_TYPE = "quicksilver"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Dimensions, named as in Qwen3's configuration.

    Attributes:
        block_size: L, positions denoised together.
        mask_token_id: The id that stands for "not decided yet".
        eos_token_id: The id that ends a message.
        qk_norm: Whether queries and keys are normalised per head (Qwen3).
        qkv_bias: Whether the projection to queries, keys and values has a bias (Qwen2).
        output_bias: Whether the output projection of attention has a bias (LLaDA2).
        tie_word_embeddings: Whether the embedding also serves as the head.
        partial_rotary_factor: Share of each head that rotates; in (0, 1].
        rope_scaling: How rotary frequencies are scaled; None if they are not.
        shift: Whether the logits of a position predict the next position's token even if that is
            masked, as in models made from autoregressive ones. If not, a masked position predicts
            its own token.
        commit: What final positions see when they are forwarded: ``causal``, what stands before
            them; ``block``, also all of their block; ``full``, everything, so that no cache is
            exact.
        reasons: Whether the model was trained to reason before it answers, in its dialect's marks.
        reads: Whether the model was trained to read a request after a single tool
            (`dlm.decoding.tool_likelihood`).
        declarations: Version of the tool declarations that the model was trained with
            (`dlm.language.template`).
        experts: The mixture that layers have instead of an MLP; None if they have none.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int = 4096
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6
    block_size: int = 16
    mask_token_id: int = 1
    eos_token_id: int = 2
    qk_norm: bool = True
    qkv_bias: bool = False
    output_bias: bool = False
    tie_word_embeddings: bool = True
    partial_rotary_factor: float = 1.0
    rope_scaling: RopeScaling | None = None
    shift: bool = False
    commit: Literal["causal", "block", "full"] = "causal"
    reasons: bool = False
    reads: bool = False
    declarations: int = 1
    experts: Experts | None = None

    def __post_init__(self) -> None:
        """Reject shapes that no Transformer can have.

        Raises:
            ValueError: A size is not positive, heads do not divide evenly, a head's size is odd, or
                an id is outside the vocabulary.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type not in ("int", "float"):
                continue
            if not isinstance(value, int if field.type == "int" else int | float):
                raise ValueError(f"{field.name}: got {value!r}, expected a number")
            if value < (0 if field.name.endswith("_id") else 1e-12):
                raise ValueError(f"{field.name}: got {value}, expected > 0")
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError(
                f"num_attention_heads: got {self.num_attention_heads}, expected a multiple of "
                f"num_key_value_heads = {self.num_key_value_heads}"
            )
        if self.head_dim % 2:
            raise ValueError(f"head_dim: got {self.head_dim}, expected an even number")
        for name in ("mask_token_id", "eos_token_id"):
            if getattr(self, name) >= self.vocab_size:
                raise ValueError(
                    f"{name}: got {getattr(self, name)}, expected < vocab_size = {self.vocab_size}"
                )

    @property
    def rotary_size(self) -> int:
        """R: how many dimensions of a head rotate."""
        return int(self.head_dim * self.partial_rotary_factor)

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> ModelConfig:
        """Read the shape from a config.json of this project's own family.

        Raises:
            ValueError: A dimension is missing or impossible.
        """
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in raw.items() if name in known}
        scaling = RopeScaling.read(raw.get("rope_scaling"), raw.get("max_position_embeddings", 0))
        try:
            return cls(**(given | {"rope_scaling": scaling}))
        except TypeError as error:
            raise ValueError(str(error)) from error

    def save(self, directory: Path) -> None:
        """Write config.json in the Hugging Face layout."""
        raw: dict[str, Any] = {
            "architectures": ["QuicksilverForBlockDiffusion"],
            "model_type": MODEL_TYPE,
            **asdict(self),
            "rope_scaling": None if self.rope_scaling is None else self.rope_scaling.written(),
            "hidden_act": "silu",
            "attention_bias": False,
        }
        del raw["experts"]
        (directory / "config.json").write_text(json.dumps(raw, indent=2) + "\n", encoding="utf-8")
