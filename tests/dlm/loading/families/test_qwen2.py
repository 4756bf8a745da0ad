from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from dlm.loading.families.registry import recognise
from dlm.loading.weights import load_model
from tests.dlm.loading.families.checkpoints import (
    END,
    MASK,
    block_causal,
    penalty,
    reconfigure,
    shaken,
    shape,
    tokens,
)
from tests.dlm.loading.families.parity import cached, full


def written(directory: Path, kind: str, architecture: str, **changes: Any) -> Qwen2ForCausalLM:
    theirs = shaken(Qwen2ForCausalLM(Qwen2Config(**shape())))
    theirs.save_pretrained(directory)
    reconfigure(
        directory, model_type=kind, architectures=[architecture], eos_token_id=END, **changes
    )
    return theirs


def test_fast_dllm_is_stock_qwen2_under_the_block_mask(tmp_path: Path) -> None:
    changes = {"bd_size": 8, "mask_id": MASK}
    theirs = written(tmp_path, "Fast_dLLM_Qwen", "Fast_dLLM_QwenForCausalLM", **changes)
    ours = load_model(tmp_path)
    config = ours.config
    assert (config.block_size, config.mask_token_id) == (8, MASK)
    assert (config.commit, config.shift, config.qkv_bias) == ("block", True, True)
    ids, sees = tokens(29), block_causal(29, 8)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=penalty(sees)).logits[0]
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(cached(ours, ids, 8), expected, atol=1e-4, rtol=1e-4)


def test_dream_is_stock_qwen2_that_sees_everything(tmp_path: Path) -> None:
    theirs = written(tmp_path, "Dream", "DreamModel", mask_token_id=MASK)
    ours = load_model(tmp_path)
    assert (ours.config.commit, ours.config.shift) == ("full", True)
    ids, sees = tokens(29), torch.ones(29, 29, dtype=torch.bool)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=penalty(sees)).logits[0]
        torch.testing.assert_close(full(ours, ids, sees), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(cached(ours, ids, 29), expected, atol=1e-4, rtol=1e-4)


def test_released_sizes_without_ids_get_the_families_own(tmp_path: Path) -> None:
    written(tmp_path, "Fast_dLLM_Qwen", "Fast_dLLM_QwenForCausalLM")
    reconfigure(tmp_path, vocab_size=151_936, eos_token_id=None, mask_id=None)
    (tmp_path / "generation_config.json").unlink()
    config = recognise(tmp_path)[1]
    assert (config.mask_token_id, config.eos_token_id, config.block_size) == (151_665, 151_645, 32)
