from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from benchmarks.dlm import costs
from benchmarks.dlm.costs import Heard, draw, forward_ms, measure
from tests.dlm.tiny import config, template

SMALL = config(max_position_embeddings=1024)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(costs, "BATCHES", (1, 3))
    monkeypatch.setattr(costs, "BLOCKS", (4, 8))
    monkeypatch.setattr(costs, "MOST_REPEATS", 1)
    monkeypatch.setattr(costs, "BATCH_PROMPT", 64)
    yield
    torch.set_num_threads(before)


def test_every_cost_is_measured_and_drawn(tmp_path: Path) -> None:
    told = measure(template(), SMALL, (64, 200))
    assert json.loads(json.dumps(told)) == told
    for points in told["first_token_ms"].values():
        assert [point["n"] for point in points.values()] == [2, 2]
        assert all(point["p50"] > 0 for point in points.values())
    for over, sizes in (("prompt", ["64", "200"]), ("batch", ["1", "3"])):
        assert list(told["forward_ms"][over]) == ["4", "8"]
        for points in told["forward_ms"][over].values():
            assert list(points) == sizes
            assert all(point["n"] and point["p50"] > 0 for point in points.values())
    draw(told, tmp_path / "costs.svg")
    drawn = (tmp_path / "costs.svg").read_text(encoding="utf-8")
    assert drawn.count('<g id="axes_') == 3


def test_forwards_are_timed_while_all_decode() -> None:
    early = Heard(0.0, drafts=[(1.0, 1), (2.0, 2), (4.0, 4), (9.0, 5)])
    late = Heard(0.0, drafts=[(1.5, 2), (3.5, 3), (5.5, 4)])
    assert forward_ms([early]) == [1000.0, 1000.0, 5000.0]
    assert forward_ms([early, late]) == [1000.0, 2000.0, 2000.0]
    assert forward_ms([early, Heard(0.0)]) == []
