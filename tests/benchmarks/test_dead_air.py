from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks.voice import dead_air
from benchmarks.voice.corpus import PUT_ASIDE, people
from benchmarks.voice.dead_air import cheapest, domain, in_halves, kept, point_of, row
from benchmarks.voice.pauses import Met, Traced
from voice.hearing.end_of_turn import Cues


def test_what_was_found_is_kept_until_it_is_to_be_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_air, "KEPT", tmp_path / "new")
    counted = iter(range(9))
    assert kept("count", lambda: next(counted), fresh=False) == 0
    assert kept("count", lambda: next(counted), fresh=False) == 0
    assert kept("count", lambda: next(counted), fresh=True) == 1
    monkeypatch.setattr(dead_air, "shipped_checkpoint", lambda: {"small": "another"})
    assert kept("count", lambda: next(counted), fresh=False) == 2


def test_nobody_speaks_in_both_halves() -> None:
    by_one_voice = ("speech-to-phrase-", "voice2json-", "python-docs-samples-", "tts-")
    aside = {Path(name).stem for name in json.loads(PUT_ASIDE.read_text(encoding="utf-8"))}
    names = [traced.name for traced in in_halves([Traced(n, "read", ()) for n in sorted(aside)])[0]]
    assert names == sorted(aside)
    for source in by_one_voice:
        own = {said.name for said in people() if said.name.startswith(source)}
        assert not own & aside or own <= aside


def test_a_point_leaves_out_what_was_cut_off() -> None:
    assert point_of([100.0, None, 300.0, 200.0], 7.0) == dead_air.Point(7.0, 0.25, 200, 200, 290)
    lost = point_of([None, None])
    assert (lost.cut, lost.mean_ms) == (1.0, math.inf)
    assert cheapest([lost], 0.5) is None
    assert row(None) is None


def test_only_what_is_said_to_the_agents_is_in_their_domains() -> None:
    met = (Met(None, 0.0, Cues("yes")),)
    kinds = ("demo", "order, pause", "read", "noisy command", "command")
    heard = [Traced(kind, kind, met) for kind in kinds] + [Traced("unheard", "demo", ())]
    assert [traced.name for traced in domain(heard)] == ["demo", "command", "order, pause"]
