from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.report import RESULTS
from benchmarks.tables import (
    DOCUMENTS,
    TABLES,
    dead_air,
    drafting,
    filled,
    memory,
    noise,
    render,
    talked_over,
)


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


def test_drafts_are_set_beside_their_absence() -> None:
    rate = {"count": 1, "of": 2, "rate": 0.5}
    times = {"n": 2, "p50": 400.0, "p95": 600.0, "max": 600.0}
    names = ("committed_as_it_stood", "revised", "thrown_away", "forwards_discarded")
    way = {
        "voice_to_voice_ms": times,
        "end_of_turn_to_voice_ms": {**times, "n": 0},
        "false_cutoffs": rate,
        "drafts": dict.fromkeys(names, rate),
        "calls": {"4": {"voice_to_voice_ms": times}},
    }
    rows = drafting({"figures": {"drafting": {"on": way, "off": {**way, "calls": {}}}}})
    assert rows[0] == ["", "drafting on", "drafting off"]
    assert rows[1][1:] == ["400 ms, 600 ms"] * 2
    assert ["voice to voice, 4 calls at once", "400 ms, 600 ms", ""] in rows
    assert rows[-1] == ["drafts: forwards discarded", *["50.0% (1 of 2)"] * 2]
    assert drafting({"figures": {}}) == [[""]]


def test_noise_and_sounds_over_the_agent_have_tables() -> None:
    rate = {"count": 1, "of": 2, "rate": 0.5}
    times = {"n": 2, "p50": 100.0, "p95": 150.0, "max": 150.0}
    shares = ("word_error_rate", "intended_called", "false_cutoffs")
    quiet = {"utterances": 2, "replied": 1, **dict.fromkeys(shares, rate)}
    assert noise({"figures": {"noise": {"5 dB": quiet}}})[1:] == [
        ["5 dB", "2", *["50.0% (1 of 2)"] * 4]
    ]
    group = {"attempts": 3, "stopped": rate, "silence_ms": times, "kept_to_the_word": rate}
    gone = {"attempts": 4, "nothing_kept": rate, "silence_ms": times}
    figures = {"barge_in": group, "while_the_agent_speaks": {"hum": group}, "reopened": gone}
    rows = talked_over({"figures": figures})
    assert [row[0] for row in rows[1:]] == [
        "interruption of a reply", "hum", "the user goes on within 700 ms",
    ]  # fmt: skip
    assert rows[0][1:3] == ["attempts", "counted"]
    assert rows[2][1:] == ["3", "2", "50.0% (1 of 2)", "100 ms, 150 ms", "50.0% (1 of 2)"]
    assert rows[3][1:3] == ["4", "2"]
    assert rows[3][-1] == "nothing kept: 50.0% (1 of 2)"


def test_memory_says_whether_it_is_flat() -> None:
    line = {"slope_kib_per_turn": 3.4, "standard_error_kib_per_turn": 2.0, "scatter_mib": 1.0}
    figures = {
        "idle_mib": 400.4,
        "resident_mib": {"20": 450.0, "200": 500.0},
        "prompt_cache_mib": {"20": 30.0, "200": 64.0},
        "second_half_from_turn": 100,
        "second_half": line,
        "flat": True,
    }
    rows = memory({"figures": figures})
    assert rows[2] == ["after 20 turns", "450 MiB", "30 MiB"]
    assert rows[-1] == ["growth per turn from turn 100 on: flat", "3 ± 2 KiB", ""]
    assert len(memory({"figures": {**figures, "second_half": None}})) == len(rows) - 1


def test_dead_air_over_all_recordings_stands_beside_the_held_out_half() -> None:
    point = {"mean_ms": 500, "p50_ms": 300}
    half = {"least_dead_air_within_false_cutoffs": {"silence": {"5%": point, "3%": None}}}
    known = {"ratio": 0.5, "low": 0.44, "high": None, "at_most_half": 0.5}
    unknown = {"ratio": None, "low": None, "high": None, "at_most_half": 0.0}
    over_all = {**half, "ratio": {"5%": known, "3%": unknown}}
    rows = dead_air({"figures": {**half, "cross_fitted": over_all}})
    assert rows[0][2:] == ["at most 5% cut off", "at most 3% cut off"]
    assert rows[1:] == [
        ["silence", "held out", "500 ms (300 ms)", ""],
        ["silence", "all, cross-fitted", "500 ms (300 ms)", ""],
        ["ratio of the two (95% interval)", "all, cross-fitted", "0.50 (0.44 to …)", ""],
    ]
    assert dead_air({"figures": half}) == rows[:2]
