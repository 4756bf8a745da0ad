"""Rotary embedding: rotation frequencies, plain or scaled to longer contexts.

It knows positions and config values, but nothing of the model.

Source: Su et al. 2021, in the half-split layout of Llama and Qwen; scaling as in Hugging Face
configurations (``rope_scaling`` or ``rope_parameters``): linear, Llama 3.1, and YaRN
(arXiv 2309.00071).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor

KINDS = ("linear", "llama3", "yarn")
_ALIASES = {"original_max_position_embeddings": "original"}


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How frequencies are scaled.

    Attributes:
        kind: One of `KINDS`.
        factor: How many times longer the context becomes.
        original: Context length in training, before scaling; linear scaling does not use it.
        low_freq_factor: llama3: wavelengths above ``original`` divided by this are fully scaled.
        high_freq_factor: llama3: wavelengths below ``original`` divided by this are not scaled.
        beta_fast: yarn: pairs that rotate more often than this over ``original`` are not scaled.
        beta_slow: yarn: pairs that rotate less often than this are fully scaled.
        attention_factor: yarn: scale of cosines and sines; None derives it.
        mscale: yarn: weight for the numerator of the derived scale; 0 if the config has none.
        mscale_all_dim: yarn: weight for its denominator; 0 if the config has none.
        truncate: yarn: whether the bounds between pairs are rounded outwards.
    """

    kind: str
    factor: float = 1.0
    original: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    mscale: float = 0.0
    mscale_all_dim: float = 0.0
    truncate: bool = True

    @classmethod
    def read(cls, raw: Mapping[str, Any] | None, positions: int) -> RopeScaling | None:
        """Read a config's ``rope_scaling`` or ``rope_parameters``; None if nothing is scaled.

        Args:
            raw: The group, if the config has it.
            positions: The config's ``max_position_embeddings``, used if the group does not name the
                original context length.

        Raises:
            ValueError: The kind is unknown, or a value is impossible.
        """
        group = raw or {}
        kind = group.get("rope_type", group.get("type", "default"))
        if kind == "default":
            return None
        if kind not in KINDS:
            raise ValueError(f"rope_type: got {kind!r}, expected 'default' or one of {KINDS}")
        known = {field.name for field in fields(cls)}
        values = {_ALIASES.get(name, name): value for name, value in group.items()}
        given = {k: v for k, v in values.items() if k in known - {"kind"} and v is not None}
        scaling = cls(kind, **({"original": positions} | given))
        if scaling.factor < 1 or scaling.original <= 0:
            raise ValueError(
                f"rope scaling: got factor {scaling.factor} and original {scaling.original}, "
                "expected at least 1 and above 0"
            )
        return scaling

    def written(self) -> dict[str, Any]:
        """The group in the form that `read` takes."""
        names = {name: alias for alias, name in _ALIASES.items()} | {"kind": "rope_type"}
        given = {names.get(name, name): value for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value is not None}

    def scaled(self, frequencies: Tensor, theta: float) -> Tensor:
        """Scaled frequencies, (R / 2,)."""
        if self.kind == "linear":
            return frequencies / self.factor
        # Multiplied in the same order as in transformers, so that every bit is the same.
        if self.kind == "llama3":
            keep = self._llama3(frequencies)
            return (1 - keep) * frequencies / self.factor + keep * frequencies
        keep = self._yarn(frequencies, theta)
        return frequencies / self.factor * (1 - keep) + frequencies * keep

    @property
    def scale(self) -> float:
        """What cosines and sines are multiplied by."""
        if self.kind != "yarn":
            return 1.0
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale and self.mscale_all_dim:
            return self._magnitude(self.mscale) / self._magnitude(self.mscale_all_dim)
        return self._magnitude(1.0)

    def _magnitude(self, weight: float) -> float:
        return 0.1 * weight * math.log(self.factor) + 1.0

    def _llama3(self, frequencies: Tensor) -> Tensor:
        """The share of each frequency that is kept: 1, 0, or in between from bound to bound."""
        turns = self.original / (2 * math.pi / frequencies)
        span = self.high_freq_factor - self.low_freq_factor
        return ((turns - self.low_freq_factor) / span).clamp(0, 1)

    def _yarn(self, frequencies: Tensor, theta: float) -> Tensor:
        half = len(frequencies)

        def pair(turns: float) -> float:
            """The fractional index of the pair that rotates ``turns`` times over ``original``."""
            return half * math.log(self.original / (turns * 2 * math.pi)) / math.log(theta)

        low, high = pair(self.beta_fast), pair(self.beta_slow)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, 2 * half - 1)
        ramp = torch.arange(half, dtype=torch.float32, device=frequencies.device) - low
        return 1 - (ramp / max(high - low, 1e-3)).clamp(0, 1)


def frequencies(size: int, theta: float, scaling: RopeScaling | None) -> Tensor:
    """Radians per position of each pair, (size / 2,) float32 on the CPU; ``size`` is R, even."""
    # Rounded as in transformers: at large positions, a different last bit is an angle of 0.001.
    plain = 1.0 / theta ** (torch.arange(0, size, 2, dtype=torch.float32) / size)
    return plain if scaling is None else scaling.scaled(plain, theta)


class RopeTable:
    """A table of cosines and sines by position, computed once for each device and length.

    That is less work than computing them in each forward, and a position gets the same bits in any
    batch.
    """

    FIRST = 1024

    def __init__(self, size: int, theta: float, scaling: RopeScaling | None) -> None:
        self._size, self._theta, self._scaling = size, theta, scaling
        self._scale = 1.0 if scaling is None else scaling.scale
        self._tables: dict[torch.device, Tensor] = {}

    def at(self, positions: Tensor, end: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines, each (..., R) float32; the first half of the sines is negated.

        ``positions`` are (...) int64. ``end`` must be larger than all of them; it is given because
        reading them would wait for the device.
        """
        table = self._tables.get(positions.device)
        if table is None or table.shape[1] < end:
            table = self._made(max(self.FIRST, 1 << (end - 1).bit_length()), positions.device)
            self._tables[positions.device] = table
        cos, sin = table[:, positions]
        return cos, sin

    def _made(self, length: int, device: torch.device) -> Tensor:
        # A table made in inference mode could not be used in training later.
        with torch.inference_mode(False), torch.no_grad():
            speeds = frequencies(self._size, self._theta, self._scaling)
            angles = torch.arange(length, dtype=torch.float32)[:, None] * speeds
            cos = torch.cat((angles.cos(), angles.cos()), dim=-1)
            sin = torch.cat((-angles.sin(), angles.sin()), dim=-1)
            return (torch.stack((cos, sin)) * self._scale).to(device)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the first R numbers of (..., N) by cosines and sines, (..., R); keep the rest."""
    size = cos.shape[-1]
    rotated, rest = x[..., :size], x[..., size:]
    # Rolling by half the length swaps the halves; the signs are in the sines.
    rotated = (rotated * cos).add_(rotated.roll(size // 2, dims=-1) * sin)
    return rotated if size == x.shape[-1] else torch.cat((rotated, rest), dim=-1)
