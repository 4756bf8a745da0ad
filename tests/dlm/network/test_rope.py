from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import Qwen3Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

from dlm.network.rope import RopeScaling, RopeTable, frequencies, rotate

THETA, SIZE, POSITIONS = 1_000_000.0, 64, 4096
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 256,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
GROUPS: list[dict[str, Any]] = [
    {"rope_type": "linear", "factor": 4.0},
    LLAMA3,
    YARN,
    YARN | {"beta_fast": 64.0, "beta_slow": 2.0, "attention_factor": 1.5},
    YARN | {"mscale": 0.7, "mscale_all_dim": 1.1},
    YARN | {"truncate": False},
    YARN | {"factor": 1.0},
]


def read(group: dict[str, Any]) -> RopeScaling:
    scaling = RopeScaling.read(group, POSITIONS)
    assert scaling is not None
    return scaling


def stock(group: dict[str, Any]) -> Qwen3Config:
    return Qwen3Config(
        hidden_size=256,
        num_attention_heads=4,
        head_dim=SIZE,
        max_position_embeddings=POSITIONS,
        rope_parameters=group | {"rope_theta": THETA},
    )


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_frequencies_are_those_of_transformers(group: dict[str, Any]) -> None:
    expected, scale = ROPE_INIT_FUNCTIONS[group["rope_type"]](stock(group), torch.device("cpu"))
    scaling = read(group)
    torch.testing.assert_close(frequencies(SIZE, THETA, scaling), expected)
    assert scaling.scale == pytest.approx(scale)


@pytest.mark.parametrize("group", [{"rope_type": "default"}, *GROUPS], ids=str)
def test_the_last_of_128k_positions_is_turned_as_transformers_turns_it(
    group: dict[str, Any],
) -> None:
    places = torch.tensor([0, 1, 4095, 4096, 40_000, 131_071])
    expected = Qwen3RotaryEmbedding(stock(group))(torch.zeros(1), places[None])
    cos, sin = RopeTable(SIZE, THETA, RopeScaling.read(group, POSITIONS)).at(places, 131_072)
    torch.testing.assert_close(cos, expected[0][0])
    torch.testing.assert_close(sin.abs(), expected[1][0].abs())


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_a_group_is_written_as_it_is_read(group: dict[str, Any]) -> None:
    assert read(read(group).written()) == read(group)


def test_the_older_spelling_of_the_kind_is_read() -> None:
    assert read({"type": "linear", "factor": 2.0}) == read({"rope_type": "linear", "factor": 2.0})


@pytest.mark.parametrize("group", [None, {}, {"rope_type": "default", "rope_theta": 5.0}])
def test_nothing_may_be_stretched(group: dict[str, Any] | None) -> None:
    assert RopeScaling.read(group, POSITIONS) is None


@pytest.mark.parametrize(
    ("group", "told"),
    [
        ({"rope_type": "dynamic", "factor": 2.0}, "rope_type: got 'dynamic'"),
        ({"type": "longrope"}, "rope_type: got 'longrope'"),
        ({"rope_type": "linear", "factor": 0.5}, "got factor 0.5"),
        (YARN | {"original_max_position_embeddings": 0}, "original 0"),
    ],
)
def test_what_is_not_known_is_refused(group: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        RopeScaling.read(group, POSITIONS)


def test_a_table_turns_each_pair_by_its_own_speed() -> None:
    cos, sin = RopeTable(4, 100.0, None).at(torch.tensor([0, 2]), 3)
    angles = torch.tensor([[0.0, 0, 0, 0], [2.0, 0.2, 2.0, 0.2]])
    torch.testing.assert_close(cos, angles.cos())
    torch.testing.assert_close(sin, angles.sin() * torch.tensor([-1.0, -1.0, 1.0, 1.0]))


def test_a_table_grows_and_keeps_what_it_was() -> None:
    table = RopeTable(8, THETA, read(YARN))
    before = table.at(torch.tensor([3]), 4)
    far = torch.tensor([3, RopeTable.FIRST + 5])
    cos, sin = table.at(far, RopeTable.FIRST + 6)
    assert torch.equal(cos[:1], before[0]) and torch.equal(sin[:1], before[1])
    speeds = frequencies(8, THETA, read(YARN)).repeat(2)
    torch.testing.assert_close(cos[1], (far[1] * speeds).cos() * read(YARN).scale)


def test_a_table_made_in_inference_mode_serves_training_later() -> None:
    table, x = RopeTable(4, 100.0, None), nn.Parameter(torch.ones(3, 4))
    with torch.inference_mode():
        table.at(torch.arange(3), 3)
    rotate(x, *table.at(torch.arange(3), 3)).sum().backward()
    assert x.grad is not None


def test_only_the_first_numbers_of_a_head_may_be_turned() -> None:
    x = torch.randn(2, 6)
    cos, sin = RopeTable(4, 100.0, None).at(torch.tensor([1, 5]), 6)
    turned = rotate(x, cos, sin)
    assert torch.equal(turned[:, 4:], x[:, 4:])
    torch.testing.assert_close(turned[:, :4], rotate(x[:, :4], cos, sin))
    torch.testing.assert_close(turned.norm(dim=1), x.norm(dim=1))
