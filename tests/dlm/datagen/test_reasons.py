"""Traces think in the words of the user and of the declarations."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest

from dlm.datagen.dialogues import generate
from dlm.datagen.reasons import kind_of, reasoned, trace, with_trace
from dlm.language.tokenizer import Mark
from dlm.train.data import encode_row
from tests.dlm.tiny import template, tokenizer

TIMER = {
    "name": "begin_countdown",
    "description": "Start a countdown timer.",
    "parameters": {
        "type": "object",
        "properties": {"length": {"type": "string"}, "label": {"type": "string"}},
        "required": ["length"],
    },
}


def called(**arguments: Any) -> dict[str, Any]:
    calls = [{"name": "begin_countdown", "arguments": arguments}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def told(text: str, **more: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def row(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"system": "", "tools": [TIMER], "messages": list(messages)}


def thought(*messages: dict[str, Any], at: int = -1, seed: int = 0) -> str:
    made = row(*messages)
    return " ".join(trace(made, at % len(messages), Random(seed)))


@pytest.mark.parametrize("seed", range(6))
def test_a_call_is_reasoned_from_the_words_to_the_tool_to_its_values(seed: int) -> None:
    text = thought(
        said("Um, could you time ten minutes please?"), called(length="ten minutes"), seed=seed
    )
    places = [
        text.index(part)
        for part in (
            "time ten minutes please",
            "start a countdown timer",
            "begin countdown",
            "length is ten minutes",
        )
    ]
    assert places == sorted(places)


def test_what_the_user_said_earlier_is_still_so() -> None:
    text = thought(
        said("ten minutes for the pasta"),
        called(length="ten minutes", label="pasta"),
        {"role": "tool", "name": "begin_countdown", "content": "OK"},
        told("Done."),
        said("no twelve minutes"),
        called(length="twelve minutes", label="pasta"),
    )
    assert "length is twelve minutes, label is still pasta." in text


@pytest.mark.parametrize("seed", range(6))
def test_what_is_missing_is_found_in_the_answer_to_the_question(seed: int) -> None:
    talk = (
        said("start a timer"),
        told("For how long?", kind="ask"),
        said("ten minutes"),
        called(length="ten minutes"),
    )
    text = thought(*talk, at=1, seed=seed)
    assert "begin countdown, but " in text
    assert text.count("length") == 2
    assert "ask" in text.rsplit(". ", 1)[1]
    assert "ten minutes" not in text
    unanswered = thought(*talk[:2], seed=seed)
    assert "something" in unanswered
    assert "begin countdown" not in unanswered


def test_a_request_without_a_tool_and_mere_talk_call_nothing() -> None:
    text = thought(said("book a flight"), told("I can't do that.", kind="decline"))
    assert "book a flight" in text
    assert "tool" in text
    assert "begin countdown" not in text
    text = thought(said("thanks"), told("You're welcome."))
    assert text.endswith("answer the thanks.")
    again = (told("It is three."), said("pardon"), told("It is three."))
    assert thought(*again).endswith("say the last reply again.")


def test_a_result_is_thought_of_as_far_as_the_reply_tells_it() -> None:
    weather = {"role": "tool", "name": "w", "content": "Today in Paris: rain, 12 degrees, high 14."}
    text = thought(said("weather"), called(), weather, told("Rain in Paris, 12 degrees."))
    assert "in Paris: rain, 12 degrees" in text
    assert "high" not in text
    failed = {"role": "tool", "name": "w", "content": "Error: There is no pasta timer."}
    text = thought(said("x"), called(), failed, told("There is no pasta timer."))
    assert "There is no pasta timer." in text
    assert "Error" not in text


def test_some_dialogues_end_in_a_thought_and_the_others_stay() -> None:
    rows = list(itertools.islice(generate(3), 400))
    before = json.dumps(rows)
    made = list(reasoned(rows, 0.4, 1))
    assert json.dumps(rows) == before
    changed = [(old, new) for old, new in zip(rows, made, strict=True) if new is not old]
    assert 130 < len(changed) < 230
    for old, new in changed:
        *earlier, last = new["messages"]
        assert earlier == old["messages"][: len(earlier)]
        assert last["reasoning"].endswith(".")
        assert last == {**old["messages"][len(earlier)], "reasoning": last["reasoning"]}
        assert not any("reasoning" in message for message in earlier)
    messages = sum(m["role"] == "assistant" for r in made for m in r["messages"])
    assert 0.06 < len(changed) / messages < 0.14
    assert made == list(reasoned(rows, 0.4, 1)) != list(reasoned(rows, 0.4, 2))
    assert list(reasoned(rows, 0.0, 1)) == rows


def test_every_kind_is_thought_about_and_cut_after_any_sentence() -> None:
    rows = list(itertools.islice(generate(5), 600))
    kinds, lengths = set(), set()
    for old in rows:
        new = with_trace(old, Random(str(old)))
        if new is old:
            continue
        at = len(new["messages"]) - 1
        kinds.add(kind_of(old["messages"], at))
        lengths.add(new["messages"][-1]["reasoning"].count(". ") + 1)
    assert kinds == {"call", "told", "ask", "decline", "talk"}
    assert {1, 2, 3, 4} <= lengths


def test_where_no_tool_helps_there_may_be_none() -> None:
    rows = [r for r in itertools.islice(generate(6), 900) if r["messages"][-1].get("kind")]
    made = [with_trace(old, Random(i)) for i, old in enumerate(rows)]
    bare = [row for row in made if not row["tools"]]
    assert 0 < len(bare) < len(made) / 3
    for row_ in bare:
        assert not any(message.get("tool_calls") for message in row_["messages"])
        assert "kind" not in row_["messages"][-1] or row_["messages"][-1]["kind"] == "decline"
    able = row(said("what can you do"), told("I can set timers and more."))
    assert all(with_trace(able, Random(seed))["tools"] for seed in range(40))


def test_a_trace_is_encoded_between_its_marks() -> None:
    made = with_trace(row(said("ten minutes"), called(length="ten minutes")), Random(1))
    encoded = encode_row(template(), made)
    ((start, end),) = encoded.answers
    assert encoded.ids[start - 2 : start] == [Mark.AGENT, Mark.THINK]
    cut = encoded.ids.index(Mark.ANSWER)
    reasoning = made["messages"][-1]["reasoning"]
    assert tokenizer().decode(encoded.ids[start:cut]) == f" {reasoning}"
    assert encoded.ids[cut + 1] == Mark.CALL
    assert end == len(encoded.ids)
