"""The stream of dialogues and its command."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dlm.datagen.dialogues import generate, main
from dlm.datagen.examples import row_of
from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS, TOOLS
from dlm.engine.json_call import NAME

Row = dict[str, Any]


def spoken(text: str) -> list[str]:
    # "Anna" may be taken of "Anna's", and a value of 'key="value"'.
    apart = re.sub(r"['’]s\b", " s", text.lower().replace("=", " "))
    return re.sub(r"[^\w\s]", "", apart).split()


def is_said(value: str, texts: list[str]) -> bool:
    wanted = spoken(value)
    return any(
        bool(wanted) and words[i : i + len(wanted)] == wanted
        for words in map(spoken, texts)
        for i in range(len(words))
    )


def check(row: Row) -> None:
    """Assert what holds for every row."""
    specs = {t["name"]: t["parameters"] for t in row["tools"]}
    assert len(specs) == len(row["tools"]) and 1 <= len(specs) <= len(AGENT_TOOLS["assistant"])
    said = [m["content"] for m in row["messages"] if m["role"] == "user"]
    assert 1 <= len(said) <= 18 and all(said)
    last = row["messages"][-1]
    assert last["role"] == "assistant" and (last["content"] or last["tool_calls"])
    waiting: list[str] = []
    for message in row["messages"]:
        if message["role"] == "tool":
            assert message["name"] == waiting.pop(0)
            continue
        assert not waiting
        for call in message.get("tool_calls", ()):
            assert message["content"] is None
            waiting.append(call["name"])
            check_call(call, specs[call["name"]], said)


def check_call(call: Row, schema: Row, said: list[str]) -> None:
    """Assert that a call fits its schema and copies what was said."""
    given = call["arguments"]
    assert list(given) == [k for k in schema["properties"] if k in given]
    assert set(schema["required"]) <= set(given)
    for key, value in given.items():
        kind = schema["properties"][key]
        if "enum" in kind:
            assert value in kind["enum"]
        elif kind["type"] == "string" and kind.get("format") not in ("date", "time", "date-time"):
            assert is_said(value, said), (key, value, said)


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_rows_of_the_grammars_hold(split: str) -> None:
    for row in islice(generate(3, None, split), 1500):
        check(row)


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_rows_with_corpora_hold(split: str, corpora: Path) -> None:
    for row in islice(generate(4, corpora, split), 1500):
        check(row)


def test_the_mixture_is_as_meant() -> None:
    rows = list(islice(generate(8), 2000))
    real = [r for r in rows if all(t["name"] in TOOLS for t in r["tools"])]
    assert 0.3 < len(real) / len(rows) < 0.7
    full = [r for r in real if len(r["tools"]) in map(len, AGENT_TOOLS.values())]
    assert 0.25 < len(full) / len(real) < 0.75
    greeted = sum(r["messages"][0]["role"] == "assistant" for r in rows)
    assert 0.2 < greeted / len(rows) < 0.5
    assert sum(r["system"] in INSTRUCTIONS.values() for r in rows) / len(rows) > 0.45
    used = Counter(c["name"] for r in real for m in r["messages"] for c in m.get("tool_calls", ()))
    assert set(used) == {*AGENT_TOOLS["assistant"], *AGENT_TOOLS["coffee"]}
    tools = [m for r in rows for m in r["messages"] if m["role"] == "tool"]
    errors = sum(m["content"].startswith("Error: ") for m in tools)
    assert 0.01 < errors / len(tools) < 0.12


def test_held_out_rows_are_not_in_training() -> None:
    def first_words(split: str) -> set[str]:
        return {
            t["name"]
            for r in islice(generate(1, None, split), 1500)
            for t in r["tools"]
            if t["name"] not in {*TOOLS, NAME}
        }

    assert not first_words("train") & first_words("heldout")


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'dev'"):
        next(generate(0, None, "dev"))


def test_main_prints_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--count", "3", "--seed", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all({"system", "tools", "messages"} == set(json.loads(line)) for line in lines)


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--count", "-1", "--count: got -1, expected at least 1"),
        ("--unasked", "3", "--unasked: got 3, expected 0 to 1"),
        ("--corpora", "nowhere", "nowhere/"),
    ],
)
def test_main_refuses_what_cannot_be(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([option, value])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err


def test_main_names_deeds_without_asking_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for share in ("0", "0.8"):
        main(["--count", "120", "--seed", "1", "--unasked", share])
        said.append(capsys.readouterr().out.count(", I won't"))
    assert said[0] == 0 and said[1] > 10


def test_lines_to_fine_tune_on_are_the_same_dialogues(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--count", "40", "--seed", "2"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    main(["--count", "40", "--seed", "2", "--chat"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert any(len(m.get("tool_calls", ())) > 1 for row in rows for m in row["messages"])
    for row, line in zip(rows, lines, strict=True):
        back = row_of(line)
        assert back["tools"] == row["tools"]
        assert list(map(told, back["messages"])) == list(map(told, row["messages"]))


def told(message: Row) -> tuple[Any, ...]:
    return message["role"], message["content"] or "", message.get("tool_calls") or []
