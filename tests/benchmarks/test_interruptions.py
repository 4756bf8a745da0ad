from __future__ import annotations

from benchmarks.voice.bystander import Outcome
from benchmarks.voice.interruptions import figures_of


def test_shares_and_delays_are_counted() -> None:
    figures = figures_of([Outcome(100, 500, 0), Outcome(120, None, 300), Outcome(None, None, 0)])
    assert figures["stopped"] == {"count": 1, "of": 3, "rate": 0.3333}
    assert figures["held"]["count"] == 2
    assert figures["silent_ms_where_it_went_on"]["p50"] == 300
