from __future__ import annotations

import pytest

from dlm.loading.families.family import QWEN, Part, demand, first, needed
from dlm.loading.families.llada2 import LLADA2
from dlm.network.moe import Experts
from tests.dlm.tiny import config


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


def test_demands_pass_over_what_is_not_said() -> None:
    demand({"a": 1, "b": None}, {"a": 1, "b": 2, "c": 3})
    with pytest.raises(ValueError, match="a: got 1, expected 2"):
        demand({"a": 1}, {"a": 2})


def test_numbers_must_be_numbers() -> None:
    assert (needed({"n": 3}, "n"), first([4, 5]), first(6)) == (3, 4, 6)
    for wrong in ("3", 0, None, True):
        with pytest.raises(ValueError, match="n: got"):
            needed({"n": wrong}, "n")
