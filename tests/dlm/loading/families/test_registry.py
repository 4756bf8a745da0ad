from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlm.loading.families.registry import FAMILIES, recognise
from tests.dlm.tiny import config


def put(directory: Path, raw: Any) -> None:
    (directory / "config.json").write_text(json.dumps(raw), encoding="utf-8")


def test_every_family_has_its_own_type() -> None:
    kinds = {family.model_type for family in FAMILIES}
    assert kinds == {
        "quicksilver",
        "sdar",
        "a2d-qwen3",
        "Fast_dLLM_Qwen",
        "Dream",
        "llada",
        "llada2_moe",
    }
    assert len(kinds) == len(FAMILIES)


def test_an_unknown_family_is_told_the_known_ones(tmp_path: Path) -> None:
    put(tmp_path, {"model_type": "llama", "architectures": ["LlamaForCausalLM"]})
    told = r"model_type: got 'llama' \(architectures \['LlamaForCausalLM'\]\), expected one of .*"
    with pytest.raises(ValueError, match=told + "a2d-qwen3, llada, llada2_moe, quicksilver, sdar"):
        recognise(tmp_path)
    put(tmp_path, {})
    with pytest.raises(ValueError, match="model_type: got None"):
        recognise(tmp_path)


def test_kin_of_a_known_type_is_another_family(tmp_path: Path) -> None:
    put(tmp_path, {"model_type": "Dream", "architectures": ["DreamForCausalLM"]})
    with pytest.raises(ValueError, match=r"got 'Dream' \(architectures \['DreamForCausalLM'\]\)"):
        recognise(tmp_path)


def test_what_is_wrong_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        recognise(tmp_path)
    put(tmp_path, [])
    with pytest.raises(ValueError, match=r"config\.json: got list, expected an object"):
        recognise(tmp_path)
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json: Expecting"):
        recognise(tmp_path)
    put(tmp_path, {"model_type": "sdar"})
    with pytest.raises(ValueError, match=r"config\.json: num_attention_heads: got None"):
        recognise(tmp_path)


def test_our_own_config_is_found(tmp_path: Path) -> None:
    config().save(tmp_path)
    family, read = recognise(tmp_path)
    assert (family.model_type, read) == ("quicksilver", config())
