"""Diffusion models made from Qwen3: SDAR, and those of dLLM's A2D recipe.

Both read a masked position's own logits (unshifted) and commit blocks that saw all of themselves.

Source: SDAR (arXiv 2510.06303); A2D of the dLLM project, whose ``bd3lm`` checkpoints go block by
block. Its ``mdlm`` ones have the same config and see everything: their block is the whole answer.
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
