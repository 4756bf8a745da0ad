"""Settings of a training run, from TOML."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from dlm.language.template import VERSIONS
from dlm.language.tokenizer import Mark
from dlm.network.config import ModelConfig

_SIZES = (
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "block_size",
)  # fmt: skip
_KINDS: dict[object, tuple[str, tuple[type, ...]]] = {
    "int": ("a whole number", (int,)),
    "float": ("a number", (int, float)),
    "bool": ("true or false", (bool,)),
    "str": ("a text", (str,)),
}
_BOUNDS: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("0 to 1", lambda value: 0 <= value <= 1,
     "ar_share cooldown_share embedding_rate initial_share replay reasons readings"),
    ("> 0", lambda value: value > 0, "total_minutes tokens_per_step max_length pad_to"),
    (">= 0", lambda value: value >= 0,
     "seed threads total_steps prompt_weight reading_weight opening_weight denoising_weight"
     " uncertainty_weight rank"),
    ("0, 1 or 2", lambda value: value in (0, *VERSIONS), "declarations"),
)  # fmt: skip
"""What is expected, the check for it, and the names of the fields that it applies to."""
_LISTED = {"autocast": ("off", "bfloat16", "auto")}


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """The settings of a training run.

    Attributes:
        total_minutes: Training time over all invocations; the schedule follows the share that has
            passed.
        total_steps: Limit on optimiser steps; the schedule follows whichever limit is nearer. A
            recipe's effect depends on its number of steps, and a fast machine takes more of them in
            the same time. 0 for no limit.
        ar_share: Share of the run spent on next-token prediction alone, before the joint phase.
        cooldown_share: Share at the end over which the learning rate falls to a hundredth.
        warmup_steps: Steps over which the learning rate rises from zero.
        learning_rate: Peak learning rate, for Muon and AdamW alike.
        weight_decay: Decay of the matrices inside the layers; low-rank products have none.
        tokens_per_step: Most clean tokens in a batch, padding included where there is any.
        embedding_rate: Factor on the learning rate of the embedding. Below 1, rare words keep more
            of a pretrained model's vectors, which AdamW would move as far as those of frequent
            words.
        max_length: Dialogues of more tokens than this are left out.
        prompt_weight: Weight of next-token loss on tokens that are not the agent's. Users' words
            are hard to predict, and at full weight they would be most of the loss.
        reading_weight: Weight of next-token loss on the user's words in readings.
        opening_weight: Weight of next-token loss on the first token of an answer, which decides
            whether anything is called; the answer's other tokens weigh 1.
        denoising_weight: Weight of the denoising loss; the causal loss weighs 1.
        uncertainty_weight: Weight of the entropy of correct predictions in the joint phase, which
            makes them sharper; for distillation.
        initial_share: Share of the run's initial weights in the checkpoint that is written, so that
            it forgets less. The weights in training are not mixed.
        rank: Rank of the products that are trained beside the frozen matrices of the layers (LoRA,
            `dlm.train.low_rank`); 0 trains the matrices themselves.
        autocast: Whether matrix products are in bfloat16; ``auto`` tries whether the machine is
            fast at it.
        compiled: Whether torch.compile makes kernels for the layers. On a CPU this needs a C++
            compiler, and half a minute at the start of every invocation.
        joined: Whether the dialogues of a batch are laid end to end in one row (sequence packing),
            with instructions and tools that several share stored once. Saves most of the time where
            these are long.
        pad_to: Batch lengths are multiples of this, so that few shapes are compiled. In joined
            batches the length includes all copies, since oneDNN generates code per shape too.
        peak_tflops: The machine's peak, from which utilisation is reported; 0 reports none.
        threads: torch threads; 0 leaves torch's choice.
        share_alike: Whether corpora under share-alike licences may be used.
        checkpoint_minutes: Time between two saves.
        evaluate_minutes: Time between two evaluations on held-out dialogues; 0 for none.
        evaluate_dialogues: Number of held-out dialogues.
        replay: Share of our own dialogues when the run learns from examples.
        reasons: Share of dialogues that end in a message with reasoning before it. If it is not 0,
            the checkpoint's config.json says that the model reasons.
        readings: Share of readings (`dlm.datagen.training_rows`) among our own rows. If it is not
            0, the checkpoint's config.json says that the model reads.
        declarations: Version of tool declarations (`dlm.language.template`), which also goes into
            config.json; 0 keeps the version of the initial checkpoint, or means 1 for a new model.
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
    total_steps: int = 0
    ar_share: float = 0.6
    cooldown_share: float = 0.25
    warmup_steps: int = 100
    learning_rate: float = 2e-3
    embedding_rate: float = 1.0
    weight_decay: float = 0.05
    tokens_per_step: int = 8192
    max_length: int = 768
    prompt_weight: float = 0.05
    reading_weight: float = 0.5
    opening_weight: float = 1.0
    denoising_weight: float = 1.0
    uncertainty_weight: float = 0.0
    initial_share: float = 0.0
    rank: int = 0
    autocast: Literal["off", "bfloat16", "auto"] = "off"
    compiled: bool = False
    joined: bool = False
    pad_to: int = 1
    peak_tflops: float = 0.0
    device: str = "cpu"
    threads: int = 0
    seed: int = 1
    share_alike: bool = False
    checkpoint_minutes: float = 5.0
    evaluate_minutes: float = 0.0
    evaluate_dialogues: int = 128
    replay: float = 0.7
    reasons: float = 0.45
    readings: float = 0.45
    declarations: int = 0
    tokenizer_dialogues: int = 30_000

    def __post_init__(self) -> None:
        """Reject settings that no run can have.

        Raises:
            ValueError: A value has the wrong type, or is outside its range.
        """
        for field in fields(self):
            if field.type in _KINDS:
                _check_kind(field.name, getattr(self, field.name), str(field.type))
        for expected, fits, names in _BOUNDS:
            for name in names.split():
                if not fits(getattr(self, name)):
                    raise ValueError(f"{name}: got {getattr(self, name)}, expected {expected}")
        if self.readings == 1:
            raise ValueError("readings: got 1, expected less")
        # A misspelling would train in float32 unnoticed.
        for name, known in _LISTED.items():
            if getattr(self, name) not in known:
                expected = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
                raise ValueError(f"{name}: got {getattr(self, name)!r}, expected {expected}")

    @classmethod
    def load(cls, file: Path, changes: Sequence[str] = ()) -> TrainConfig:
        """Read a TOML file of these fields.

        Args:
            changes: Lines of TOML that override the file's, such as ``total_minutes = 3``.

        Raises:
            ValueError: The text is not TOML, a key is unknown, or a value has the wrong type or is
                outside its range.
        """
        raw: dict[str, Any] = {}
        known = [field.name for field in fields(cls)]
        texts = [(str(file), file.read_text(encoding="utf-8"))]
        for source, text in texts + [(f"--set {change!r}", change) for change in changes]:
            raw |= _parsed(text, source)
            for key in raw.keys() - set(known):
                near = difflib.get_close_matches(key, known, n=1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{source}: unknown key {key!r}{hint}")
        return cls(**raw)

    def model(self) -> ModelConfig:
        """Dimensions of the model to train."""
        return ModelConfig(
            **{name: getattr(self, name) for name in _SIZES},
            mask_token_id=int(Mark.MASK),
            eos_token_id=int(Mark.END),
            reasons=self.reasons > 0,
            reads=self.readings > 0,
            declarations=self.declarations or 1,
        )

    def shaped(self, model: ModelConfig) -> TrainConfig:
        """The same run with a model's dimensions and its version of tool declarations."""
        sizes = {name: getattr(model, name) for name in (*_SIZES, "declarations")}
        return replace(self, **sizes)

    def share(self, elapsed_s: float, step: int) -> float:
        """Share of the run that is done, by time or by steps, whichever is larger; at most 1."""
        steps = step / self.total_steps if self.total_steps else 0.0
        return min(1.0, max(elapsed_s / (60 * self.total_minutes), steps))

    def rate_at(self, step: int, share: float) -> float:
        """Learning rate at a step and a share of the run: warm up, hold, fall linearly."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = (1.0 - share) / max(self.cooldown_share, 1e-9)
        return self.learning_rate * warm * max(0.01, min(1.0, left))


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{where}: {error}") from error


def _check_kind(name: str, value: object, kind: str) -> None:
    expected, kinds = _KINDS[kind]
    # In Python a bool is an int, too.
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind != "bool"):
        raise ValueError(f"{name}: got {value!r}, expected {expected}")
