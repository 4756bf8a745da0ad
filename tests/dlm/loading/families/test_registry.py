from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlm.loading.families.family import QWEN, Part
from dlm.loading.families.llada2 import LLADA2
from dlm.loading.families.quicksilver import QUICKSILVER
from dlm.loading.families.registry import FAMILIES, recognise
from dlm.network.moe import Experts
from dlm.network.rope import RopeScaling
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
        "llada21_moe",
        "llama",
    }
    assert len(kinds) == len(FAMILIES)


def test_an_unknown_family_is_told_the_known_ones(tmp_path: Path) -> None:
    put(tmp_path, {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]})
    told = r"model_type: got 'gpt2' \(architectures \['GPT2LMHeadModel'\]\), expected one of .*"
    with pytest.raises(
        ValueError,
        match=told + "a2d-qwen3, llada, llada21_moe, llada2_moe, llama, quicksilver, sdar",
    ):
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


def test_fused_matrices_are_parts_in_rows() -> None:
    shape = config()
    assert QWEN.parts(shape, "layers.1.self_attn.qkv_proj.weight", (64, 32)) == [
        Part("model.layers.1.self_attn.q_proj.weight", (32, 32)),
        Part("model.layers.1.self_attn.k_proj.weight", (16, 32)),
        Part("model.layers.1.self_attn.v_proj.weight", (16, 32)),
    ]
    assert QWEN.parts(shape, "layers.0.self_attn.qkv_proj.bias", (64,))[1] == Part(
        "model.layers.0.self_attn.k_proj.bias", (16,)
    )
    assert QWEN.parts(shape, "norm.weight", (32,)) == [Part("model.norm.weight", (32,))]


def test_experts_are_parts_one_after_the_other() -> None:
    shape = config(experts=Experts(2, 1, 5))
    parts = LLADA2.names.parts(shape, "layers.2.mlp.gate_up_proj", (2, 10, 32))
    assert [part.name.removeprefix("model.layers.2.mlp.experts.") for part in parts] == [
        "0.gate_proj.weight",
        "0.up_proj.weight",
        "1.gate_proj.weight",
        "1.up_proj.weight",
    ]
    assert {part.shape for part in parts} == {(5, 32)}


def test_a_stretched_context_is_written_and_read() -> None:
    scaling = RopeScaling("yarn", factor=4.0, original=1024)
    made = config(rope_scaling=scaling, max_position_embeddings=4096)
    raw = {name: getattr(made, name) for name in made.__slots__}
    assert QUICKSILVER.read(raw | {"rope_scaling": scaling.written()}) == made
