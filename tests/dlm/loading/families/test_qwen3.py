from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from dlm.loading.families.registry import recognise
from dlm.loading.weights import load_model
from tests.dlm.loading.families.checkpoints import (
    END,
    MASK,
    SIZE,
    block_causal,
    penalty,
    reconfigure,
    shaken,
    shape,
    tokens,
)
from tests.dlm.loading.families.parity import cached, full

SDAR: dict[str, Any] = {"model_type": "sdar", "architectures": ["SDARForCausalLM"]}
A2D: dict[str, Any] = {"model_type": "a2d-qwen3", "architectures": ["A2DQwen3LMHeadModel"]}
IDS: dict[str, Any] = {"mask_token_id": MASK, "eos_token_id": END}


def written(directory: Path, kind: dict[str, Any], **changes: Any) -> Qwen3ForCausalLM:
    theirs = shaken(Qwen3ForCausalLM(Qwen3Config(**shape(head_dim=SIZE, **changes))))
    theirs.save_pretrained(directory)
    reconfigure(directory, **kind, **IDS)
    return theirs


@pytest.mark.parametrize("kind", [SDAR, A2D], ids=["sdar", "a2d"])
@pytest.mark.parametrize("tied", [True, False])
def test_logits_are_those_of_stock_qwen3_under_the_block_mask(
    tmp_path: Path, kind: dict[str, Any], tied: bool
) -> None:
    theirs = written(tmp_path, kind, tie_word_embeddings=tied)
    ours = load_model(tmp_path)
    block = ours.config.block_size
    assert (block, ours.config.commit, ours.config.shift) == (
        (4 if kind is SDAR else 32),
        "block",
        False,
    )
    length = 2 * block + 3
    ids, sees = tokens(length), block_causal(length, block)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=penalty(sees)).logits[0]
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(cached(ours, ids, block), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "linear", "rope_theta": 20_000.0, "factor": 4.0},
        {
            "rope_type": "yarn",
            "rope_theta": 20_000.0,
            "factor": 4.0,
            "original_max_position_embeddings": 64,
        },
        {
            "rope_type": "llama3",
            "rope_theta": 20_000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ],
    ids=lambda rope: rope["rope_type"],
)
def test_logits_are_those_of_stock_qwen3_with_stretched_positions(
    tmp_path: Path, rope: dict[str, Any]
) -> None:
    theirs = written(tmp_path, SDAR, rope_parameters=rope)
    ours = load_model(tmp_path)
    ids, sees = tokens(200), block_causal(200, 4)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=penalty(sees)).logits[0]
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=2e-4, rtol=2e-4)


def test_the_config_names_block_and_mask(tmp_path: Path) -> None:
    written(tmp_path, SDAR)
    reconfigure(tmp_path, block_size=8, mask_token_id=7)
    config = recognise(tmp_path)[1]
    assert (config.block_size, config.mask_token_id, config.eos_token_id) == (8, 7, END)


def test_ids_come_from_the_generation_config_where_the_config_has_none(tmp_path: Path) -> None:
    written(tmp_path, SDAR)
    reconfigure(tmp_path, mask_token_id=None, eos_token_id=None)
    file = tmp_path / "generation_config.json"
    file.write_text('{"mask_token_id": 5, "eos_token_id": [4, 3]}', encoding="utf-8")
    config = recognise(tmp_path)[1]
    assert (config.mask_token_id, config.eos_token_id) == (5, 4)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"attention_bias": True}, "attention_bias: got True, expected False"),
        ({"hidden_act": "gelu"}, "hidden_act: got 'gelu', expected 'silu'"),
        ({"use_sliding_window": True}, "use_sliding_window: got True"),
        ({"num_hidden_layers": None}, "num_hidden_layers: got None"),
        ({"num_attention_heads": "4"}, "num_attention_heads: got '4'"),
        ({"mask_token_id": 120}, "mask_token_id: got 120, expected < vocab_size = 120"),
        (
            {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}},
            "rope_type: got 'dynamic'",
        ),
    ],
)
def test_what_the_model_cannot_do_is_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    written(tmp_path, SDAR)
    reconfigure(tmp_path, **changes)
    with pytest.raises(ValueError, match=told):
        recognise(tmp_path)
