"""Settings of a training run, from TOML."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dlm.config import ModelConfig
from dlm.tokenizer import Mark


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """A run.

    Attributes:
        total_minutes: Training time over all invocations; the schedule is a function of its share.
        ar_share: Share of the time spent on next-token prediction alone, before the joint phase.
        cooldown_share: Share at the end over which the learning rate falls to a hundredth.
        tokens_per_step: Clean tokens in a batch, padding included.
        max_length: Longer dialogues are left out, tokens.
        prompt_weight: Of next-token loss on tokens that are not answers.
        denoising_weight: Of the denoising loss beside the causal one.
        autocast: Matrix products in bfloat16; only where the machine is fast at it.
        threads: torch threads; 0 leaves torch's choice.
        share_alike: Whether corpora under share-alike licences may be used.
        checkpoint_minutes: Time between two saves.
        tokenizer_dialogues: Dialogues that the vocabulary is learned from.
    """

    vocab_size: int = 4096
    hidden_size: int = 256
    intermediate_size: int = 768
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    block_size: int = 16
    total_minutes: float = 60.0
    ar_share: float = 0.6
    cooldown_share: float = 0.25
    warmup_steps: int = 100
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    tokens_per_step: int = 8192
    max_length: int = 768
    prompt_weight: float = 0.3
    denoising_weight: float = 1.0
    autocast: Literal["off", "bfloat16"] = "off"
    device: str = "cpu"
    threads: int = 0
    seed: int = 1
    share_alike: bool = False
    checkpoint_minutes: float = 5.0
    tokenizer_dialogues: int = 30_000

    def __post_init__(self) -> None:
        """Reject what no run can be made of.

        Raises:
            ValueError: A value is outside its range.
        """
        for name in ("ar_share", "cooldown_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: got {getattr(self, name)}, expected 0 to 1")
        if self.total_minutes <= 0:
            raise ValueError(f"total_minutes: got {self.total_minutes}, expected > 0")
        # A misspelling would train in float32 and tell nobody.
        if self.autocast not in ("off", "bfloat16"):
            raise ValueError(f"autocast: got {self.autocast!r}, expected 'off' or 'bfloat16'")

    @classmethod
    def load(cls, file: Path) -> TrainConfig:
        """Read a TOML file of these fields.

        Raises:
            ValueError: A key is unknown, or a value outside its range.
        """
        raw: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        known = [field.name for field in fields(cls)]
        for key in raw.keys() - set(known):
            near = difflib.get_close_matches(key, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{file}: unknown key {key!r}{hint}")
        return cls(**raw)

    def model(self) -> ModelConfig:
        """Dimensions of the model to train."""
        return ModelConfig(
            vocab_size=self.vocab_size,
            hidden_size=self.hidden_size,
            intermediate_size=self.intermediate_size,
            num_hidden_layers=self.num_hidden_layers,
            num_attention_heads=self.num_attention_heads,
            num_key_value_heads=self.num_key_value_heads,
            head_dim=self.head_dim,
            block_size=self.block_size,
            mask_token_id=int(Mark.MASK),
            eos_token_id=int(Mark.END),
        )

    def rate_at(self, step: int, share: float) -> float:
        """Learning rate at a step and a share of the total time: warm up, hold, fall linearly."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = (1.0 - share) / max(self.cooldown_share, 1e-9)
        return self.learning_rate * warm * max(0.01, min(1.0, left))
