from __future__ import annotations

import os
import time

import pytest
import torch

from dlm.train.machine import fast_bfloat16, prepare


def test_limits_that_are_set_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "5")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    prepare(0)
    assert os.environ["LRU_CACHE_CAPACITY"] == "5"
    assert int(os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]) < 1000
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY")


def test_a_machine_is_fast_at_one_of_two_types(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(kind: torch.dtype) -> None:
        def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            time.sleep(0.01 if left.dtype is kind else 0)
            return torch.zeros(len(left), right.shape[1])

        monkeypatch.setattr(torch.Tensor, "__matmul__", product)
        fast_bfloat16.cache_clear()

    slow(torch.float32)
    assert fast_bfloat16("cpu")
    slow(torch.bfloat16)
    assert not fast_bfloat16("cpu")
    fast_bfloat16.cache_clear()
