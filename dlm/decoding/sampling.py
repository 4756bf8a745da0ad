"""Randomness that depends on a request's seed and a position alone, not on the rest of the batch.

A sampled token is the argmax of logits / temperature plus Gumbel noise. So code that takes an
argmax samples without a change: under a grammar that bans tokens, and in self-verification, where a
draft is right if the causal forward chooses the same token with the same noise.

Shapes: n positions, V vocabulary.

Source: the Gumbel-max trick; the mixing function is Wellons' "lowbias32".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Subtracted from logits outside the nucleus. Not -inf, so that such a token can still be taken if
# nothing else is allowed.
_OUTSIDE = 1e4


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn.

    Attributes:
        temperature: Above 0.
        top_p: Tokens are drawn from the likeliest ones of this total mass; in (0, 1].
        seed: Seed of the noise.
    """

    temperature: float
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        """Reject settings that give no distribution.

        Raises:
            ValueError: A number is out of its range.
        """
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"temperature: got {self.temperature}, expected a number above 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: got {self.top_p}, expected a number in (0, 1]")

    def perturb(self, logits: Tensor, first: int) -> Tensor:
        """New logits, (n, V), whose argmax is a sample from logits, (n, V) float32.

        ``first`` is the position in the answer that the first row predicts.
        """
        scaled = logits / self.temperature
        if self.top_p < 1:
            scaled = torch.where(nucleus(scaled, self.top_p), scaled, scaled - _OUTSIDE)
        noise = gumbel(self.seed, range(first, first + len(logits)), logits.shape[-1])
        return scaled + torch.from_numpy(noise).to(logits.device)


def nucleus(logits: Tensor, mass: float) -> Tensor:
    """Which tokens make up the likeliest ``mass`` of each row: (n, V) bool, at least one per row.

    Source:
        Holtzman et al., "The curious case of neural text degeneration" (arXiv 1904.09751).
    """
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(dim=-1)
    # In float64, because a mass below 1e-45 is 0 in float32, which leaves no token.
    before = probabilities.cumsum(dim=-1, dtype=torch.float64) - probabilities
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < mass)


def row_seeds(seed: int, positions: range) -> NDArray[np.uint32]:
    """A number for each position, from which its noise is made together with the token ids."""
    words = np.array([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF], dtype=np.uint32)
    key = _mix(_mix(words[1:] + np.uint32(0x9E3779B9)) + words[:1])
    # Mixed before and after the position is added; otherwise a seed's noise at the next position
    # would be the next seed's at this one.
    return _mix(key + np.array(positions, dtype=np.uint32))


def gumbel(seed: int, positions: range, size: int) -> NDArray[np.float32]:
    """Gumbel noise for a seed, (positions, size) float32; each row depends on its position alone.

    `kernels.ops.unmask` makes the same noise from the same row seeds.
    """
    ids = np.arange(size, dtype=np.uint32)
    mixed = _mix(row_seeds(seed, positions)[:, None] + _mix(ids))
    # Half a step is added so that neither logarithm gets 0. 23 bits, because with 24 the largest
    # value would round to 1.
    uniform = ((mixed >> 9).astype(np.float32) + np.float32(0.5)) * np.float32(2**-23)
    return np.asarray(-np.log(-np.log(uniform)), dtype=np.float32)


def _mix(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))
