"""The shape of a block-diffusion Transformer, as read from a checkpoint's config.json.

Shape letters used in this package: B rows, T new positions, S positions attended to, D width, H
query heads, K key-value heads, N head size, V vocabulary, L block size.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

MODEL_TYPE = "quicksilver"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Dimensions, named as in Qwen3's configuration.

    Attributes:
        block_size: L, positions denoised together.
        mask_token_id: The id that stands for "not decided yet".
        eos_token_id: The id that ends a message.
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

    def __post_init__(self) -> None:
        """Reject shapes that no Transformer can have.

        Raises:
            ValueError: A size is not positive, heads do not divide, or an id is outside the
            vocabulary.
        """
        for field in fields(self):
            if getattr(self, field.name) < (0 if field.name.endswith("_id") else 1e-12):
                raise ValueError(f"{field.name}: got {getattr(self, field.name)}, expected > 0")
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

    @classmethod
    def load(cls, directory: Path) -> ModelConfig:
        """Read config.json of a checkpoint directory.

        Raises:
            FileNotFoundError: There is no config.json.
            ValueError: It is of another model family, its head is not tied to the embedding, or a
                dimension is missing or impossible.
        """
        raw = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        if raw.get("model_type") != MODEL_TYPE:
            raise ValueError(
                f"{directory}: model_type: got {raw.get('model_type')!r}, expected {MODEL_TYPE!r}"
            )
        if not raw.get("tie_word_embeddings", True):
            raise ValueError(f"{directory}: tie_word_embeddings: got false, expected true")
        known = {field.name for field in fields(cls)}
        try:
            return cls(**{name: value for name, value in raw.items() if name in known})
        except TypeError as error:
            raise ValueError(f"{directory}/config.json: {error}") from error

    def save(self, directory: Path) -> None:
        """Write config.json in the Hugging Face layout."""
        raw: dict[str, Any] = {
            "architectures": ["QuicksilverForBlockDiffusion"],
            "model_type": MODEL_TYPE,
            **asdict(self),
            "hidden_act": "silu",
            "attention_bias": False,
            "tie_word_embeddings": True,
        }
        (directory / "config.json").write_text(json.dumps(raw, indent=2) + "\n", encoding="utf-8")
