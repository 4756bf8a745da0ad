"""Llama's layout, as in SmolLM2: causal next-token models, which ours are made from.

Source: Llama (arXiv 2302.13971), SmolLM2 (arXiv 2502.02737).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.loading.families.family import QWEN, Family, demand, dense, needed
from dlm.network.config import ModelConfig


def _read(raw: Mapping[str, Any]) -> ModelConfig:
    demand(raw, {"attention_bias": False, "mlp_bias": False})
    # Llama has no mask by itself, and an ordinary token used as mask could not be generated.
    needed(raw, "mask_token_id")
    return dense(raw, qk_norm=False, commit="causal")


LLAMA = Family("llama", ("LlamaForCausalLM",), _read, QWEN)
