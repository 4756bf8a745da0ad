from __future__ import annotations

import pytest
import torch

from dlm import placement
from dlm.config import ModelConfig
from dlm.experts import Experts
from dlm.model import Transformer
from tests.dlm.tiny import config

LARGE = ModelConfig(152_000, 1024, 3072, 28, 16, 8, 128)
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "changes", [{}, {"experts": Experts(4, 4, 24, shared=1), "tie_word_embeddings": False}]
)
def test_matrix_entries_are_those_of_the_model(changes: dict[str, object]) -> None:
    shape = config(**changes)
    made = Transformer(shape)
    head = 0 if shape.tie_word_embeddings else made.lm_head.weight.numel()
    counted = sum(p.numel() for name, p in made.named_parameters() if p.dim() > 1) - head
    routers = sum(p.numel() for name, p in made.named_parameters() if "router.weight" in name)
    assert placement.matrix_entries(shape) == counted - routers


@pytest.mark.parametrize(("fast", "dtype"), [(True, torch.int8), (False, torch.float32)])
def test_a_small_model_takes_8_bits_where_they_are_faster(
    monkeypatch: pytest.MonkeyPatch, fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: fast)
    assert placement.best_dtype(config(), CPU) is dtype


def test_a_mixture_is_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: True)
    shape = config(experts=Experts(4, 4, 24, shared=1))
    assert placement.best_dtype(shape, CPU) is torch.float32


@pytest.mark.parametrize(("fast", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_a_large_one_takes_what_the_cpu_multiplies_faster(
    monkeypatch: pytest.MonkeyPatch, fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: False)
    monkeypatch.setattr(placement, "bfloat16_is_fast", lambda: fast)
    assert placement.best_dtype(LARGE, CPU) is dtype


def test_cuda_takes_bfloat16() -> None:
    assert placement.best_dtype(config(), torch.device("cuda")) is torch.bfloat16


def test_the_device_is_one_that_there_is() -> None:
    assert placement.best_device().type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_products_are_measured_once() -> None:
    for measured in (placement.bfloat16_is_fast, placement.int8_is_fast):
        assert measured() is measured()
        assert measured.cache_info().misses <= 1


def test_a_short_step_takes_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert placement.best_threads(config()) == 1
    assert placement.best_threads(LARGE) == 4
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert placement.best_threads(LARGE) == 2
