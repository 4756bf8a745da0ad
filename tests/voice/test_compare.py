"""Variants side by side: who gets which, what may differ, and what the table says."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until
from tests.voice.realtime.test_over_sockets import say
from voice import compare
from voice.callers import LOCAL, Caller, CallerKind
from voice.config import Config, load_config, variant_configs
from voice.errors import ConfigError
from voice.session.resources import Resources
from voice.session.variants import Variants

TWO = (
    "compare.variants.a.share=3",
    'compare.variants.b.set=["llm.reasoning_effort=low", "endpointing.profile=eager"]',
)


def config(*overrides: str) -> Config:
    return load_config(None, ["metrics.json_lines=measured.jsonl", *overrides])


def test_a_caller_keeps_a_variant_and_shares_are_kept(embedded_parts: Resources) -> None:
    variants = Variants({"a": embedded_parts, "b": embedded_parts}, {"a": 3.0, "b": 1.0})
    callers = [Caller(CallerKind.PHONE, f"+49151{number}") for number in range(2000)]
    first = [variants.assign(caller) for caller in callers]
    assert first == [variants.assign(caller) for caller in callers]
    assert 1400 < Counter(one.variant for one in first)["a"] < 1600
    # Whoever holds the server's key, or is at this machine, may be anybody.
    assert len({variants.assign(LOCAL).variant for _ in range(60)}) == 2
    others = Variants({"a": embedded_parts, "c": embedded_parts}, {"a": 3.0, "c": 1.0})
    again = [others.assign(caller).bucket for caller in callers]
    assert again != [one.bucket for one in first]


def test_options_of_variants_are_those_of_the_configuration_with_changes() -> None:
    found = variant_configs(config(*TWO))
    assert [*found] == ["a", "b"]
    assert found["a"] == config(*TWO)
    assert found["b"].llm.reasoning_effort == "low"
    assert variant_configs(config()) == {}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (['compare.variants.b.set=["server.port=1"]'], "server.port cannot differ by session"),
        (['compare.variants.b.set=["llm.threads=1"]'], "llm.threads cannot differ by session"),
        (['compare.variants.b.set=["metrics.json_lines=x"]'], "cannot differ by session"),
        (['compare.variants.b.set=["llm.reasoning_efort=low"]'], "did you mean"),
        (['compare.variants.b.set=["asr.whisper.beam_size=0"]'], r"compare\.variants\.b\.set.*≥|1"),
        (["metrics.json_lines="], "needs a file"),
    ],
)
def test_what_cannot_differ_by_session_is_refused(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        variant_configs(config(*TWO, *overrides))


def test_one_variant_is_none() -> None:
    with pytest.raises(ConfigError, match="expected two or more"):
        variant_configs(config("compare.variants.a.share=1"))


def write(file: Path, medians_ms: dict[str, float], callers: int) -> None:
    draw = random.Random(3)
    lines = []
    for variant, median_ms in medians_ms.items():
        for bucket in range(callers):
            named = {"time": 1.0, "session": f"s{bucket}", "variant": variant, "bucket": bucket}
            slow = draw.gauss(0, 40)
            for turn in range(3):
                marks = {"first_audio": median_ms + slow + draw.gauss(0, 20), "end_of_turn": 250.0}
                lines.append(named | {"turn_id": turn, "marks_ms": marks})
            outcome = {"reason": "closed", "seconds": 30 + draw.random(), "turns": 3, "replies": 3}
            lines.append(named | {"outcome": outcome})
    lines.append({"time": 1.0, "session": "other", "turn_id": 1, "marks_ms": {"first_audio": 9e9}})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def row(text: str, name: str) -> str:
    (found,) = (line for line in text.splitlines() if line.startswith(f"| {name}"))
    return found


@pytest.mark.parametrize(
    ("slower_ms", "callers", "says"),
    [(0, 40, "noise"), (200, 40, "higher"), (-200, 40, "lower"), (200, 5, "too few callers")],
)
def test_a_difference_is_told_from_noise(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    slower_ms: float,
    callers: int,
    says: str,
) -> None:
    file = tmp_path / "measured.jsonl"
    write(file, {"a": 400, "b": 400 + slower_ms}, callers)
    assert compare.main([str(file)]) == 0
    told = capsys.readouterr().out
    assert f"a (sessions: {callers}, callers: {callers}, turns: {3 * callers})" in told
    assert f"b: {says} (" in row(told, "voice to voice, p50")
    assert "noise" in row(told, "end of turn") or callers < 10
    assert "– (– to –)" in row(told, "tool calls that failed")


@pytest.mark.parametrize("text", ["no json\n", "[1]\n", '{"variant": "a", "bucket": 1}\n', ""])
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "measured.jsonl"
    file.write_text(text, encoding="utf-8")
    assert compare.main([str(file)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    file.unlink()
    assert compare.main([str(file)]) == 1
    assert "measured.jsonl: no such file; the server makes it" in capsys.readouterr().err


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def outcomes(file: Path) -> list[dict[str, Any]]:
    return [line for line in read(file) if "outcome" in line] if file.exists() else []


@pytest.mark.e2e
async def test_a_server_gives_its_sessions_variants(
    repo_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "measured.jsonl"
    options = [f"metrics.json_lines={file}", *TWO, "compare.variants.a.share=1"]
    given = [text for option in options for text in ("--set", option)]
    async with program(*given, cwd=repo_root) as (_, told, address):
        assert (
            "variant b, 50% of sessions: llm.reasoning_effort=low, endpointing.profile=eager; "
            "no other weights"
        ) in told
        while len({one["variant"] for one in outcomes(file)}) < 2:
            before = len(outcomes(file))
            async with connect(f"ws://{address}/v1/realtime") as socket:
                await say(socket, "assistant-6-time")
                await receive_until(socket, "response.done")
            async with asyncio.timeout(PATIENCE_S):
                while len(outcomes(file)) == before:
                    await asyncio.sleep(0.01)
            assert before < 30
    lines = read(file)
    turns = [line for line in lines if "marks_ms" in line]
    assert {line["variant"] for line in turns} == {"a", "b"}
    outcome = outcomes(file)[-1]["outcome"]
    assert (outcome["turns"], outcome["failures"]) == (1, 0)
    assert outcome["reason"] == "client disconnected"
    assert all("user" not in line for line in lines)
    assert compare.main([str(file)]) == 0
    assert "too few callers" in capsys.readouterr().out
