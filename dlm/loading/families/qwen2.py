"""Diffusion models made from Qwen2.5: Fast-dLLM v2 and Dream.

Both keep the shifted head of their origin: the logits of a position predict the next position's
token, even if that is masked. Fast-dLLM v2 commits blocks whose positions saw all of their block;
in Dream, every position sees all others.

Source: Fast-dLLM v2 (arXiv 2509.26328); Dream 7B (arXiv 2508.15487).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.loading.families.family import QWEN, Family, dense
from dlm.network.config import ModelConfig


def _fast_dllm(raw: Mapping[str, Any]) -> ModelConfig:
    named = dict(raw)
    for ours, theirs in (("block_size", "bd_size"), ("mask_token_id", "mask_id")):
        if named.get(ours) is None:
            named[ours] = raw.get(theirs)
    own: dict[str, Any] = {"block_size": 32, "mask_token_id": 151_665, "eos_token_id": 151_645}
    return dense(named, qk_norm=False, qkv_bias=True, shift=True, commit="block", **own)


def _dream(raw: Mapping[str, Any]) -> ModelConfig:
    own: dict[str, Any] = {"block_size": 32, "mask_token_id": 151_666, "eos_token_id": 151_643}
    return dense(raw, qk_norm=False, qkv_bias=True, shift=True, commit="full", **own)


FAST_DLLM = Family("Fast_dLLM_Qwen", ("Fast_dLLM_QwenForCausalLM",), _fast_dllm, QWEN)
DREAM = Family("Dream", ("DreamModel",), _dream, QWEN)
