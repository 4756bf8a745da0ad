from __future__ import annotations

import os

import pytest

from dlm.train.machine import prepare


def test_limits_that_are_set_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "5")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    prepare(0)
    assert os.environ["LRU_CACHE_CAPACITY"] == "5"
    assert int(os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]) < 1000
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY")
