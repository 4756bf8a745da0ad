"""LLaDA2 and 2.1: a mixture of experts that decodes block by block.

Source: LLaDA2.0 (arXiv 2512.15745); the architecture is that of Ling 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dlm.loading.families.family import EXPERT, Family, Names, demand, dense, needed
from dlm.network.config import ModelConfig
from dlm.network.moe import Experts

_FIXED = {
    "use_qk_norm": True,
    "use_qkv_bias": False,
    "norm_head": False,
    "norm_topk_prob": True,
    "score_function": "sigmoid",
    "moe_router_enable_expert_bias": True,
}


def _read(raw: Mapping[str, Any]) -> ModelConfig:
    demand(raw, _FIXED)
    experts = Experts(
        count=needed(raw, "num_experts"),
        per_token=needed(raw, "num_experts_per_tok"),
        width=needed(raw, "moe_intermediate_size"),
        shared=raw.get("num_shared_experts") or 0,
        groups=raw.get("n_group") or 1,
        groups_per_token=raw.get("topk_group") or 1,
        scale=float(raw.get("routed_scaling_factor") or 1.0),
        dense_layers=raw.get("first_k_dense_replace") or 0,
    )
    return dense(
        raw,
        qk_norm=True,
        output_bias=bool(raw.get("use_bias")),
        commit="block",
        block_size=32,
        mask_token_id=156_895,
        eos_token_id=156_892,
        partial_rotary_factor=float(raw.get("partial_rotary_factor") or 1.0),
        experts=experts,
    )


LLADA2 = Family(
    "llada2_moe",
    ("LLaDA2MoeModelLM",),
    _read,
    Names(
        outer={
            "embed_tokens.weight": "model.word_embeddings.weight",
            "norm.weight": "model.norm.weight",
            "lm_head.weight": "lm_head.weight",
        },
        layer="model.layers.{}.",
        inner={
            "input_layernorm.weight": ("input_layernorm.weight",),
            "post_attention_layernorm.weight": ("post_attention_layernorm.weight",),
            "self_attn.qkv_proj.weight": ("attention.query_key_value.weight",),
            "self_attn.q_norm.weight": ("attention.query_layernorm.weight",),
            "self_attn.k_norm.weight": ("attention.key_layernorm.weight",),
            "self_attn.o_proj.weight": ("attention.dense.weight",),
            "self_attn.o_proj.bias": ("attention.dense.bias",),
            "mlp.gate_up_proj.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
            "mlp.down_proj.weight": ("mlp.down_proj.weight",),
            "mlp.router.weight": ("mlp.gate.weight",),
            "mlp.router.bias": ("mlp.gate.expert_bias",),
            "mlp.gate_up_proj": (
                f"mlp.experts.{EXPERT}.gate_proj.weight",
                f"mlp.experts.{EXPERT}.up_proj.weight",
            ),
            "mlp.down_proj": (f"mlp.experts.{EXPERT}.down_proj.weight",),
            "mlp.shared_gate_up_proj.weight": (
                "mlp.shared_experts.gate_proj.weight",
                "mlp.shared_experts.up_proj.weight",
            ),
            "mlp.shared_down_proj.weight": ("mlp.shared_experts.down_proj.weight",),
        },
    ),
)
LLADA21 = replace(LLADA2, model_type="llada21_moe")
