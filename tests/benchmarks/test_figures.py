from __future__ import annotations

import numpy as np

from benchmarks.voice.corpus import NO_TOOL, Utterance
from benchmarks.voice.drafts import added, fate, read
from benchmarks.voice.figures import Said, figures
from voice.config import MetricsConfig
from voice.demo.turn_report import ToolUse, Turn
from voice.events import DraftsUsed
from voice.metrics import Metrics


def said(kind="command", text="turn it on", tool="set_device", used=(), pause_ms=0, **changes):
    slots, snr_db = changes.pop("slots", {}), changes.pop("snr_db", None)
    told = {
        "transcript": "turn it on",
        "tools": tuple(used),
        "reply": "Done.",
        "status": "completed",
        "marks_ms": {"end_of_turn": 200.0},
        "voice_to_voice_ms": 400.0,
        "after_commit_ms": 90.0,
        "commits": 1,
        "early_commits": 0,
    }
    utterance = Utterance(
        "u", kind, "assistant", np.zeros(1, np.int16), 1, text, tool, slots, pause_ms, None, snr_db
    )
    return Said(utterance, Turn(**{**told, **changes}))


ON = ToolUse("set_device", {"device": "light", "state": "on"}, "On.")
WEATHER = ToolUse("get_weather", {}, "Error.")


def test_figures_of_a_few_turns():
    told = figures(
        [
            said(used=[ON]),
            said(transcript="turn on", voice_to_voice_ms=600.0, early_commits=1),
            said(used=[WEATHER], voice_to_voice_ms=2500.0),
            said(tool=NO_TOOL, used=[ON], status="none", voice_to_voice_ms=None),
            said(tool=NO_TOOL, text=None, transcript="", voice_to_voice_ms=700.0),
            said(kind="demo", voice_to_voice_ms=500.0),
            said(kind="read", tool=NO_TOOL, voice_to_voice_ms=9000.0),
            said(pause_ms=300, early_commits=1),
            said(snr_db=5, transcript="burn it", early_commits=1),
            said(snr_db=20),
        ]
    )
    commands = told["kinds"]["command"]
    assert told["all"]["voice_to_voice_ms"] == {"n": 3, "p50": 500, "p95": 590, "max": 600}
    assert told["people"]["voice_to_voice_ms"]["n"] == 2
    assert told["not_understood"]["voice_to_voice_ms"]["max"] == 700
    assert commands["voice_to_voice_ms"]["n"] == 2
    assert commands["intended_called"] == {"count": 1, "of": 3, "rate": 0.3333}
    assert commands["called_unasked"] == {"count": 1, "of": 2, "rate": 0.5}
    assert commands["word_error_rate"] == {"count": 1, "of": 12, "rate": 0.0833}
    assert told["false_cutoffs"]["continuous"]["count"] == 1
    assert told["false_cutoffs"]["pause of 300 ms"] == {"count": 1, "of": 1, "rate": 1.0}
    assert told["all"]["stages_ms_after_speech"]["end_of_turn"]["p50"] == 200
    assert told["false_cutoffs"]["any pause"]["count"] == 1
    assert len(told["turns"]) == 10
    assert list(told["noise"]) == ["20 dB", "5 dB"]
    assert told["noise"]["5 dB"]["word_error_rate"] == {"count": 2, "of": 3, "rate": 0.6667}
    assert told["noise"]["5 dB"]["false_cutoffs"]["count"] == 1
    assert told["turns"][0]["end_of_turn_to_voice_ms"] == 90
    assert told["turns"][3]["voice_to_voice_ms"] is None
    assert "order_slots" not in told


def test_order_slots_are_looked_up_in_all_calls():
    slots = {"coffeeDrink": "iced mocha", "milkAmount": "a bit of  cream", "size": "large"}
    call = ToolUse("order_drink", {"drink": "iced mocha", "extras": "cream"}, "Added.")
    told = figures([said(kind="order", text=None, used=[call], slots=slots)])["order_slots"]
    assert told["drink_right"]["count"] == 1
    assert told["slots_right"] == {"count": 2, "of": 3, "rate": 0.6667}
    assert told["orders_all_right"]["count"] == 0


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
