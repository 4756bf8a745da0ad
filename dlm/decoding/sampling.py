"""Randomness that belongs to a request and a position: the same alone and in any batch.

A sampled token is the argmax of logits / temperature plus Gumbel noise. So every argmax is
a sample, also under a grammar that bans tokens, and also in self-verification, where a draft
agrees when the causal forward chooses the same token with the same noise.

Shapes: n positions, V vocabulary.

Source: the Gumbel-max trick; the mixing function is Wellons' "lowbias32".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Far below any logit, far above -inf: such a token is taken only where nothing else is allowed.
_OUTSIDE = 1e4


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn.

    Attributes:
        temperature: Above 0.
        top_p: The likeliest tokens of this mass are drawn from; in (0, 1].
        seed: Of the noise.
    """

    temperature: float
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        """Reject what is no distribution.

        Raises:
            ValueError: A number is out of its range.
        """
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"temperature: got {self.temperature}, expected a number above 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: got {self.top_p}, expected a number in (0, 1]")

    def perturb(self, logits: Tensor, first: int) -> Tensor:
        """Logits whose argmax is the sample, (n, V) new, of logits (n, V) float32.

        ``first`` is the position in the answer that the first row predicts.
        """
        scaled = logits / self.temperature
        if self.top_p < 1:
            scaled = torch.where(nucleus(scaled, self.top_p), scaled, scaled - _OUTSIDE)
        noise = gumbel(self.seed, range(first, first + len(logits)), logits.shape[-1])
        return scaled + torch.from_numpy(noise).to(logits.device)


def nucleus(logits: Tensor, mass: float) -> Tensor:
    """Which tokens make up the likeliest ``mass`` of each row: (n, V) bool, at least one a row.

    Source:
        Holtzman et al., "The curious case of neural text degeneration" (arXiv 1904.09751).
    """
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < mass)


def row_seeds(seed: int, positions: range) -> NDArray[np.uint32]:
    """What the noise at each position is made from, beside the ids."""
    words = np.array([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF], dtype=np.uint32)
    key = _mix(_mix(words[1:] + np.uint32(0x9E3779B9)) + words[:1])
    # Mixed once more, or a seed's next position would be the next seed's.
    return _mix(key + np.array(positions, dtype=np.uint32))


def gumbel(seed: int, positions: range, size: int) -> NDArray[np.float32]:
    """Gumbel noise of a seed: (positions, size) float32, each row of its position alone.

    `kernels.ops.unmask` makes the same of the same row seeds.
    """
    ids = np.arange(size, dtype=np.uint32)
    mixed = _mix(row_seeds(seed, positions)[:, None] + _mix(ids))
    # Off by half a step, so that neither logarithm sees 0; of 24 bits, the last would round to 1.
    uniform = ((mixed >> 9).astype(np.float32) + np.float32(0.5)) * np.float32(2**-23)
    return np.asarray(-np.log(-np.log(uniform)), dtype=np.float32)


def _mix(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))
