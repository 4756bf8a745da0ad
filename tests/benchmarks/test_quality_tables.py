from __future__ import annotations

import pytest

from benchmarks.quality_tables import NAMES, UNASKED, draws, efforts, failures, quality
from dlm.evaluate.sets import SETS


def _figures() -> dict[str, object]:
    calls = {"tool": 0.99, "call": 0.98, "call_cases": 190}
    return {
        "sets": {
            "own": calls,
            "coffee": calls | {"slots": 0.97},
            "asking": {"ask": 0.95, "ask_cases": 40},
            "out_of_scope": {"decision": 0.92, "decision_cases": 150},
            "unasked": calls | {"talk": 0.82, "talk_cases": 95},
            "talk": {"talk": 0.955, "talk_cases": 200, "fits": 0.46, "fits_cases": 200},
        },
        "replies": {"grounded": 0.995, "cases": 431, "words": 7.6, "loops": 0.0},
        "tokens_per_forward": {"calls": 5.45, "replies": 3.12},
        "out_of_scope": {"recall": 0.92, "precision": 1.0, "false_refusals": 0.01},
        "spans": {"cases": 150, "call": 0.99, "call_free": 0.97},
        "talk": {"openers": 500, "empty": 0.01, "loops": 0.02, "perplexity": 2.56},
    }


def test_shares_that_are_not_of_calls_stand_below_those_that_are() -> None:
    rows = quality({"figures": _figures()})
    assert rows[1] == ["own tools, held-out phrasings", "190", "99.0%", "98.0%"]
    found = {row[0]: row[-1] for row in rows}
    assert found["slots of other people's coffee orders"] == "97.0%"
    assert found["in scope, wrongly declined"] == "1.0%"
    assert found["small talk: empty or looping replies"] == "3.0%"
    assert found["small talk: a reply that fits"] == "46.0%"
    assert found["small talk: no call"] == "95.5%"
    assert found["own tools, requested in words that seem to refuse"] == "98.0%"
    assert found["own tools, named but not requested: no call"] == "82.0%"
    assert found["own calls, arguments restricted to spans of the user's words"] == "99.0%"
    assert found["the same calls, arguments unrestricted"] == "97.0%"
    assert found["perplexity of held-out chat's next turns"] == "2.56"
    assert found["words in a reply with a result, mean"] == "7.6"
    assert {len(row) for row in rows} == {4}


def test_draws_are_told_with_their_scatter() -> None:
    found = {"mean": 0.85, "least": 0.83, "most": 0.87, "call": [0.83, 0.85, 0.87]}
    rows = draws({"figures": {"draws": {"unseen": found}}})
    assert rows[1:] == [
        ["unseen tools, for things that training never named", "3", "85.0%", "83.0%", "87.0%"]
    ]


def test_efforts_stand_beside_what_they_cost() -> None:
    pace = {
        "tokens_per_forward_calls": 4.76,
        "tokens_per_forward_replies": 3.75,
        "ms_calls": 21.4,
        "ms_replies": 19.8,
        "ms_24_tokens_replies": 32.0,
    }
    figures = {"speed": {"instant": pace, "high": pace}, "efforts": {"instant": {"call": 0.99}}}
    rows = efforts({"figures": figures})
    assert rows[1] == ["instant", "99.0%", "4.76", "3.75", "21 ms", "20 ms", "32 ms"]
    assert rows[2][1] == ""
    assert {len(row) for row in rows} == {7}


def test_failures_are_told_as_one_reads_them() -> None:
    said = ["user: hello", "assistant: Hi.", "user: ten | twenty"]
    wanted = [["set_timer", {"duration": "ten", "name": "a|b"}], ["list_timers", {}]]
    some = [
        {"set": "own", "said": said, "wanted": wanted, "got": "Which one?"},
        {"set": "asking", "said": [], "wanted": "How long?", "got": None},
        {"set": "unasked", "said": [], "wanted": "Okay.", "got": [["list_timers", {}]]},
        {"set": "unasked", "said": [], "wanted": [["list_timers", {}]], "got": "Okay."},
    ]
    rows = failures({"figures": {"failures": some}})
    assert rows[1:] == [
        [
            "own tools, held-out phrasings",
            "ten \\| twenty",
            "`set_timer(duration: ten, name: a\\|b); list_timers()`",
            "“Which one?”",
        ],
        ["missing information", "", "“How long?”", "something malformed"],
        [UNASKED["unasked"], "", "“Okay.”", "`list_timers()`"],
        [NAMES["unasked"], "", "`list_timers()`", "“Okay.”"],
    ]


@pytest.mark.parametrize("name", SETS)
def test_a_failure_of_any_set_has_a_label(name: str) -> None:
    some = {"set": name, "said": [], "wanted": "Hello.", "got": None}
    assert failures({"figures": {"failures": [some]}})[1][0]
