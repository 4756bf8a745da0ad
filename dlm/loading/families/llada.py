"""LLaDA: a dense Transformer in which every position sees all others, with its own weight names.

Source: Large Language Diffusion Models (arXiv 2502.09992).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.loading.families.family import Family, Names, demand, first, needed
from dlm.network.config import ModelConfig

# Options that LLaDA's model class has but that these checkpoints do not use.
_FIXED = {
    "activation_type": "silu",
    "block_type": "llama",
    "layer_norm_type": "rms",
    "rope": True,
    "alibi": False,
    "attention_layer_norm": False,
    "bias_for_layer_norm": False,
    "include_bias": False,
    "include_qkv_bias": False,
    "input_emb_norm": False,
    "scale_logits": False,
    "block_group_size": 1,
}


def _read(raw: Mapping[str, Any]) -> ModelConfig:
    demand(raw, _FIXED)
    hidden, heads = needed(raw, "d_model"), needed(raw, "n_heads")
    return ModelConfig(
        vocab_size=raw.get("embedding_size") or needed(raw, "vocab_size"),
        hidden_size=hidden,
        intermediate_size=needed(raw, "mlp_hidden_size"),
        num_hidden_layers=needed(raw, "n_layers"),
        num_attention_heads=heads,
        num_key_value_heads=raw.get("n_kv_heads") or heads,
        head_dim=hidden // heads,
        max_position_embeddings=needed(raw, "max_sequence_length"),
        rope_theta=float(raw.get("rope_theta") or 10_000.0),
        rms_norm_eps=raw.get("rms_norm_eps") or 1e-5,
        block_size=32,
        mask_token_id=first(raw.get("mask_token_id")) or 126_336,
        eos_token_id=first(raw.get("eos_token_id")) or 126_081,
        qk_norm=False,
        tie_word_embeddings=bool(raw.get("weight_tying", False)),
        commit="full",
    )


LLADA = Family(
    "llada",
    ("LLaDAModelLM",),
    _read,
    Names(
        outer={
            "embed_tokens.weight": "model.transformer.wte.weight",
            "norm.weight": "model.transformer.ln_f.weight",
            "lm_head.weight": "model.transformer.ff_out.weight",
        },
        layer="model.transformer.blocks.{}.",
        inner={
            "input_layernorm.weight": ("attn_norm.weight",),
            "post_attention_layernorm.weight": ("ff_norm.weight",),
            "self_attn.qkv_proj.weight": ("q_proj.weight", "k_proj.weight", "v_proj.weight"),
            "self_attn.o_proj.weight": ("attn_out.weight",),
            "mlp.gate_up_proj.weight": ("ff_proj.weight", "up_proj.weight"),
            "mlp.down_proj.weight": ("ff_out.weight",),
        },
    ),
)
