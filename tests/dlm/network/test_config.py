from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlm.loading.families.registry import recognise
from tests.dlm.tiny import config


def test_round_trip(tmp_path: Path) -> None:
    made = config(rope_theta=123.0, block_size=4, mask_token_id=9)
    made.save(tmp_path)
    assert recognise(tmp_path)[1] == made


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"hidden_size": 0}, "hidden_size: got 0, expected > 0"),
        ({"rope_theta": -1.0}, "rope_theta: got -1.0"),
        ({"block_size": 0}, "block_size: got 0"),
        ({"num_key_value_heads": 3}, "num_attention_heads: got 4, expected a multiple of"),
        ({"head_dim": 7}, "head_dim: got 7, expected an even number"),
        ({"mask_token_id": 352}, "mask_token_id: got 352, expected < vocab_size = 352"),
        ({"eos_token_id": -1}, "eos_token_id: got -1"),
    ],
)
def test_impossible_shapes_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        config(**changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model_type": "llama"}, "model_type: got 'llama'"),
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": "wide"}, "hidden_size: got 'wide'"),
        ({"head_dim": 7}, "head_dim: got 7"),
    ],
)
def test_a_file_that_is_not_ours_is_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    config().save(tmp_path)
    file = tmp_path / "config.json"
    raw = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps({k: v for k, v in raw.items() if v is not None}), encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        recognise(tmp_path)
