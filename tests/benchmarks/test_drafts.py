from __future__ import annotations

from benchmarks.voice.drafts import added, fate, read
from voice.config import MetricsConfig
from voice.events import DraftsUsed
from voice.metrics import Metrics


def test_the_servers_own_series_say_what_drafts_cost() -> None:
    metrics = Metrics(MetricsConfig())
    metrics.drafts(DraftsUsed(1, "stood", made=3, skipped=1, forwards=9, discarded=6))
    metrics.drafts(DraftsUsed(2, "revised", 1, 0, forwards=3, discarded=3, unlikely=5, revised=1))
    metrics.drafts(DraftsUsed(3, "needless", made=0, skipped=0, forwards=0, discarded=0))
    counts = read(metrics.render().decode())
    told = fate(added([counts, counts]))
    assert told["turns"] == 6
    assert told["needless"]["count"] == 2
    assert told["not_made_since_unlikely_to_stand"] == 10
    assert told["made_from_the_one_before"] == {"count": 2, "of": 8, "rate": 0.25}
    assert (told["made"], told["not_made_for_want_of_time"]) == (8, 2)
    assert told["committed_as_it_stood"] == {"count": 2, "of": 4, "rate": 0.5}
    assert told["revised"]["count"] == 2
    assert told["thrown_away"]["count"] == 0
    assert told["forwards"] == 24
    assert told["forwards_per_turn"] == 4.0
    assert told["forwards_discarded"] == {"count": 18, "of": 24, "rate": 0.75}
