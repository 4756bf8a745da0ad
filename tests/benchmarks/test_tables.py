from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality_tables import NAMES, UNASKED, failures
from benchmarks.report import RESULTS
from benchmarks.tables import (
    DOCUMENTS,
    TABLES,
    cluster,
    ears,
    filled,
    first_minutes,
    latency,
    ordering,
    proving,
    render,
    soak,
    teach,
    ten_thousand_calls,
    unproved,
)
from benchmarks.training_tables import shares
from benchmarks.voice.soak import Reading, Soak, figures
from dlm.datagen.dialogues import SHARES
from dlm.evaluate.sets import SETS
from voice.demo.server import ServerProcess
from voice.prove.figures import FIGURES


def test_the_documents_tables_are_those_of_the_latest_results(repo_root: Path) -> None:
    for name in DOCUMENTS:
        text = (repo_root / name).read_text(encoding="utf-8")
        assert filled(text) == text, f"{name}: run python -m benchmarks.tables"


def test_every_table_stands_in_a_document(repo_root: Path) -> None:
    texts = [(repo_root / name).read_text(encoding="utf-8") for name in DOCUMENTS]
    unshown = [name for name in TABLES if not any(f"<!-- results: {name} -->" in t for t in texts)]
    assert not unshown


@pytest.mark.parametrize(
    "name", [name for name in TABLES if (RESULTS / f"{TABLES[name][0]}.json").is_file()]
)
def test_a_table_says_where_its_figures_come_from(name: str, repo_root: Path) -> None:
    file = repo_root / "benchmarks" / "results" / f"{TABLES[name][0]}.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    table = render(name)
    assert told["command"] in table
    assert told["commit"] in table
    assert len({line.count("|") for line in table.splitlines() if line.startswith("|")}) == 1


def test_text_around_a_table_is_left_alone(tmp_path: Path) -> None:
    told = {
        "command": "python -m x",
        "commit": "abc",
        "date": "2026-01-31T00:00:00+00:00",
        "machine": {"cores": 2, "cpu": "a processor"},
        "figures": {"start_s": {"p50": 3.5}, "idle_mib": 400.2, "one_call_adds_mib": 1.0},
    }
    (tmp_path / "footprint.json").write_text(json.dumps(told), encoding="utf-8")
    text = "Before.\n<!-- results: footprint -->\nold\n<!-- end -->\nAfter.\n"
    new = filled(text, tmp_path)
    assert new.startswith("Before.\n<!-- results: footprint -->\n| ")
    assert "400 MiB" in new
    assert "old" not in new
    assert new.endswith("<!-- end -->\nAfter.\n")
    assert filled(new, tmp_path) == new


def test_a_scorecard_is_told_by_agent_with_what_failed() -> None:
    nothing = [None, None, None]
    measured = {figure.name: nothing for figure in FIGURES} | {"task success": [97.4, 92, 100]}
    agents = {
        "assistant": {"conversations": 9, "figures": measured, "failed": {"a#1": ["late", "x|y"]}},
        "coffee": {
            "conversations": 2,
            "figures": measured | {"voice to voice, p50": [469.2, None, None]},
            "failed": {},
        },
    }
    told = {"figures": {"agents": agents}}
    assert proving(told) == [
        ["", "assistant, 9 callers", "coffee, 2 callers"],
        ["task success", "97% (92 to 100)", "97% (92 to 100)"],
        ["voice to voice, p50", "", "469 ms"],
    ]
    assert unproved(told)[1:] == [["`a#1`", "late; x/y"]]


def test_taught_lists_are_told_before_and_after() -> None:
    shares = {"exact": [0.5, 52], "tool": [0.75, 52], "quiet": [1.0, 8]}
    before = {"own": {"call": 0.9, "call_cases": 120}, "talk": {"decision": 1, "decision_cases": 7}}
    after = {"own": {"call": 0.875}, "talk": {"decision": 0.5}}
    lists = {"giphy": {"before": shares, "after": shares, "shipped": after}}
    assert teach({"figures": {"lists": lists, "shipped": before}}) == [
        ["", "giphy, before", "giphy, after"],
        ["exact calls", "50% of 52", "50% of 52"],
        ["the right tool", "75% of 52", "75% of 52"],
        ["no call where none is asked for", "100% of 8", "100% of 8"],
        [f"what the model could do: {NAMES['own']}, 120 cases", "90.0%", "87.5%"],
        ["what the model could do: small talk, 7 cases", "100.0%", "50.0%"],
    ]


def test_setting_up_is_told_of_each_commit_side_by_side() -> None:
    run = {"page_answers_s": 30.4, "first_answer_heard_s": 33, "installed_mb": 900}
    run |= {"downloaded_mb": 120.2, "from_this_machine_mb": 200}
    found = {"empty_cache": run, "with_cache": run}
    head, *rows = first_minutes({"figures": {"abc": found, "def": found}})
    assert head[1:4] == ["abc, pip's cache empty", "abc, the second time", "def, pip's cache empty"]
    assert rows[0] == ["until the page answers", *["30 s"] * 4]
    assert rows[-1] == ["packages fetched", *["320 MB"] * 4]


def test_recordings_are_told_by_half_kind_and_condition() -> None:
    def some(done: float, wrong: float) -> dict[str, object]:
        shares = {"done": done, "word_errors": wrong}
        return {key: {"count": 1, "of": 2, "rate": rate} for key, rate in shares.items()}

    figures = {
        "tuning": {"10 dB": {"close by": some(0.5, 0.1)}},
        "held out": {"as recorded": {"read": some(0.0, 0.03)}},
        "noise alone": {},
    }
    assert ears({"figures": figures}) == [
        ["recordings", "10 dB", "as recorded"],
        ["tuning: said close by, done", "50.0% (1 of 2)", ""],
        ["held out: read, words wrong", "", "3.0% (1 of 2)"],
    ]


def test_callers_who_order_are_told_by_their_number() -> None:
    held = {
        "turns": 9, "replied": 8, "false_cutoffs": {"count": 1, "of": 8, "rate": 0.125},
        "voice_to_voice_ms": {"n": 8, "p50": 300.0, "p95": 800.0},
    }  # fmt: skip
    told = {"figures": {"drafting": {"on": {"ordering": {"4": held}}}}}
    assert ordering(told)[1:] == [["4", "9", "8", "12.5% (1 of 8)", "300 ms, 800 ms"]]


def test_every_answer_counts_in_the_first_row_of_the_latencies() -> None:
    told = json.loads((RESULTS / "turns.json").read_text(encoding="utf-8"))
    row = {"kind": "command", "pause_ms": 0, "snr_db": None, "heard": "", "voice_to_voice_ms": 200}
    others = {"kind": "read"}, {"pause_ms": 300}, {"snr_db": 5}, {"voice_to_voice_ms": None}
    told["figures"]["turns"] = [row, *(row | other for other in others)]
    assert latency(told)[1] == ["voice to voice, every answer", "1", "200 ms", "200 ms"]


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


def test_shares_of_every_kind_of_dialogue_have_a_name() -> None:
    rows = shares({"figures": {"shares": SHARES, "reasons": 0.15, "readings": 0.45}})
    assert len({row[0] for row in rows}) == len(SHARES) + 3
    assert rows[1] == ["the assistant with its own tools", f"{SHARES['assistant']:.0%}"]
    assert [row[1] for row in rows[-2:]] == ["15%", "45%"]


def test_a_cluster_is_told_by_shape_and_by_part() -> None:
    waits = {"n": 8, "p50": 300.0, "p95": 500.0}
    one = {
        "voice_to_voice_ms": waits,
        "cores_of_a_call": {"all": 0.3, "ingress": 0.1, "rest": 0.2},
        "resident_mib": {"ingress": 244, "rest": 500},
        "turns_per_s": 1.5,
        "processor_s_per_turn": {"all": 0.9},
    }
    told = {"figures": {"shapes": {"one of each": one}}}
    assert cluster(told)[1:] == [["one of each", "1.5", "0.90 s", "300 ms, 500 ms"]]
    assert ten_thousand_calls(told)[1:] == [
        ["all", "0.300", "3000", ""],
        ["ingress", "0.100", "1000", "244 MiB"],
        ["rest", "0.200", "2000", "500 MiB"],
    ]


def test_hours_of_calls_are_told() -> None:
    read = [Reading(n, 700 + n / 512, 40.0, 20, 30, 9) for n in range(0, 80, 8)]
    found = figures(Soak(ServerProcess("", 0, 0, 0.0), "", read=read), read[0])
    rows = dict(soak({"figures": found})[1:])
    assert rows["growth of the resident set a call"] == "2.0 ± 0.0 KiB"
    assert rows["faults"] == "none"
