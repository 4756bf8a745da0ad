from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from dlm.loading.families.registry import recognise
from dlm.loading.weights import load_model
from tests.dlm.loading.families import llada2_reference as reference
from tests.dlm.loading.families.checkpoints import END, MASK, block_causal, reconfigure, tokens
from tests.dlm.loading.families.parity import cached, full

CONFIG: dict[str, Any] = {
    "model_type": "llada2_moe",
    "architectures": ["LLaDA2MoeModelLM"],
    "first_k_dense_replace": 1,
    "head_dim": 16,
    "hidden_act": "silu",
    "hidden_size": 32,
    "intermediate_size": 48,
    "max_position_embeddings": 512,
    "moe_intermediate_size": 24,
    "moe_router_enable_expert_bias": True,
    "n_group": 4,
    "norm_topk_prob": True,
    "num_attention_heads": 4,
    "num_experts": 12,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "num_shared_experts": 2,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-6,
    "rope_scaling": None,
    "rope_theta": 600_000,
    "routed_scaling_factor": 2.5,
    "score_function": "sigmoid",
    "tie_word_embeddings": False,
    "topk_group": 2,
    "use_bias": False,
    "use_qk_norm": True,
    "use_qkv_bias": False,
    "vocab_size": 120,
    "mask_token_id": MASK,
    "eos_token_id": END,
}


def written(directory: Path, config: dict[str, Any]) -> reference.Weights:
    weights = reference.make(config)
    save_file(weights, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return weights


@pytest.mark.parametrize("changes", [{}, {"use_bias": True, "model_type": "llada21_moe"}])
def test_logits_are_those_of_the_plain_reference(tmp_path: Path, changes: dict[str, Any]) -> None:
    weights = written(tmp_path, {**CONFIG, **changes})
    ours = load_model(tmp_path)
    config = ours.config
    assert (config.block_size, config.commit, config.rotary_size) == (32, "block", 8)
    ids, sees = tokens(21), block_causal(21, 8)
    with torch.no_grad():
        expected = reference.logits(CONFIG, weights, ids[0].tolist(), sees)
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(cached(ours, ids, 8), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"score_function": "softmax"}, "score_function: got 'softmax', expected 'sigmoid'"),
        ({"use_qkv_bias": True}, "use_qkv_bias: got True"),
        ({"norm_topk_prob": False}, "norm_topk_prob: got False"),
        ({"n_group": 5}, "experts: got 12, expected a multiple of 5"),
        ({"topk_group": 5}, "groups per token: got 5, expected 1 to 4"),
        ({"num_experts_per_tok": 7}, "experts per token: got 7, expected 1 to 6"),
    ],
)
def test_what_the_mixture_cannot_be_is_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    reconfigure(tmp_path, **changes)
    with pytest.raises(ValueError, match=told):
        recognise(tmp_path)
