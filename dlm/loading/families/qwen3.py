"""Diffusion models made from Qwen3: SDAR, and those of dLLM's A2D recipe.

Both use a masked position's own logits (unshifted), and commit blocks whose positions saw all of
their block.

Source: SDAR (arXiv 2510.06303); A2D of the dLLM project, whose ``bd3lm`` checkpoints decode block
by block. Its ``mdlm`` checkpoints have the same config, but there every position sees all others:
their block is the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.loading.families.family import QWEN, Family, demand, dense
from dlm.network.config import ModelConfig


def _read(raw: Mapping[str, Any], block_size: int) -> ModelConfig:
    demand(raw, {"attention_bias": False})
    ids = {"mask_token_id": 151_669, "eos_token_id": 151_645}
    return dense(raw, qk_norm=True, commit="block", block_size=block_size, **ids)


SDAR = Family("sdar", ("SDARForCausalLM",), lambda raw: _read(raw, 4), QWEN)
A2D = Family("a2d-qwen3", (), lambda raw: _read(raw, 32), QWEN)
