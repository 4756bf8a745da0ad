from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from dlm.loading.families.registry import recognise
from dlm.loading.weights import load_model
from tests.dlm.loading.families.checkpoints import (
    END,
    HEADS,
    HIDDEN,
    LAYERS,
    MASK,
    VOCABULARY,
    WIDTH,
    penalty,
    reconfigure,
    rename,
    shaken,
    shape,
    tokens,
)
from tests.dlm.loading.families.parity import cached, full

# LLaDA's names of what Llama has, the most specific first.
NAMES = {
    "lm_head.": "model.transformer.ff_out.",
    "model.embed_tokens.": "model.transformer.wte.",
    "model.norm.": "model.transformer.ln_f.",
    "model.layers.": "model.transformer.blocks.",
    "self_attn.o_proj": "attn_out",
    "self_attn.": "",
    "mlp.gate_proj": "ff_proj",
    "mlp.up_proj": "up_proj",
    "mlp.down_proj": "ff_out",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ff_norm",
}
CONFIG: dict[str, Any] = {
    "model_type": "llada",
    "architectures": ["LLaDAModelLM"],
    "activation_type": "silu",
    "alibi": False,
    "attention_layer_norm": False,
    "bias_for_layer_norm": False,
    "block_group_size": 1,
    "block_type": "llama",
    "d_model": HIDDEN,
    "embedding_size": VOCABULARY,
    "eos_token_id": END,
    "include_bias": False,
    "include_qkv_bias": False,
    "input_emb_norm": False,
    "layer_norm_type": "rms",
    "mask_token_id": MASK,
    "max_sequence_length": 512,
    "mlp_hidden_size": WIDTH,
    "n_heads": HEADS,
    "n_kv_heads": HEADS,
    "n_layers": LAYERS,
    "rms_norm_eps": 1e-5,
    "rope": True,
    "rope_theta": 20_000.0,
    "scale_logits": False,
    "vocab_size": VOCABULARY,
    "weight_tying": False,
}


def written(directory: Path) -> LlamaForCausalLM:
    theirs = shaken(LlamaForCausalLM(LlamaConfig(**shape(num_key_value_heads=HEADS))))
    theirs.save_pretrained(directory)
    names = set(rename(directory, NAMES))
    assert "model.transformer.blocks.0.ff_out.weight" in names
    assert "model.transformer.ff_out.weight" in names
    (directory / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (directory / "generation_config.json").unlink()
    return theirs


def test_it_is_stock_llama_that_sees_everything(tmp_path: Path) -> None:
    theirs = written(tmp_path)
    ours = load_model(tmp_path)
    config = ours.config
    assert (config.commit, config.shift, config.tie_word_embeddings) == ("full", False, False)
    assert (config.mask_token_id, config.eos_token_id) == (MASK, END)
    ids, sees = tokens(33), torch.ones(33, 33, dtype=torch.bool)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=penalty(sees)).logits[0]
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(cached(ours, ids, 33), expected, atol=1e-4, rtol=1e-4)


def test_the_released_config_gives_the_released_shape(tmp_path: Path) -> None:
    released = CONFIG | {
        "d_model": 4096,
        "n_heads": 32,
        "n_kv_heads": 32,
        "n_layers": 32,
        "mlp_hidden_size": 12_288,
        "embedding_size": 126_464,
        "vocab_size": 126_464,
        "eos_token_id": 126_081,
        "mask_token_id": 126_336,
        "max_sequence_length": 4096,
        "rope_theta": 500_000.0,
    }
    (tmp_path / "config.json").write_text(json.dumps(released), encoding="utf-8")
    config = recognise(tmp_path)[1]
    assert (config.head_dim, config.num_key_value_heads, config.vocab_size) == (128, 32, 126_464)
    assert (config.rope_theta, config.max_position_embeddings) == (500_000.0, 4096)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"block_type": "sequential"}, "block_type: got 'sequential', expected 'llama'"),
        ({"include_qkv_bias": True}, "include_qkv_bias: got True"),
        ({"alibi": True}, "alibi: got True"),
        ({"d_model": None}, "d_model: got None"),
        ({"architectures": ["LLaDAMoEModelLM"]}, r"architectures \['LLaDAMoEModelLM'\]"),
    ],
)
def test_kin_that_the_model_cannot_be_is_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    reconfigure(tmp_path, **changes)
    with pytest.raises(ValueError, match=told):
        recognise(tmp_path)
