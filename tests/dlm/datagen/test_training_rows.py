"""Readings, interruptions and examples among the dialogues to learn from."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.datagen.reasons import reasoned, with_trace
from dlm.datagen.tools.catalog import TOOLS
from dlm.datagen.training_rows import Row, interrupted, mixed, reading, reading_in, taught
from dlm.evaluate.cases import cases
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from dlm.train.data import encode_row
from dlm.train.objective import collate
from tests.dlm.datagen.test_dialogues import check_call
from tests.dlm.tiny import tokenizer


@pytest.mark.parametrize("split", ["train", "heldout"])
@pytest.mark.parametrize("with_corpora", [False, True])
def test_a_reading_is_a_request_behind_the_tool_that_serves_it(
    split: str, with_corpora: bool, corpora: Path
) -> None:
    source = Source.load(corpora if with_corpora else None, split)
    rng = Random(4)
    rows = [row for _ in range(400) if (row := reading(source, rng))]
    assert len(rows) > 150
    for row in rows:
        (tool,) = row["tools"]
        asked, answer = row["messages"]
        assert (row["system"], asked["role"]) == ("", "user")
        for call in answer["tool_calls"]:
            assert call["name"] == tool["name"]
            check_call(call, tool["parameters"], [asked["content"]])
    own = sum(row["tools"][0]["name"] in TOOLS for row in rows) / len(rows)
    assert 0.005 < own < 0.3


def test_readings_stand_among_dialogues_in_their_share() -> None:
    source = Source.load(None, "train")
    rows = list(islice(taught(source, 0.4, seed=3), 1500))
    assert sum("reading" in row for row in rows) / len(rows) == pytest.approx(0.4, abs=0.05)
    dialogues = [row for row in rows if "reading" not in row]
    chance = Random("3/interruptions")
    streamed = islice(stream(Random("3/train"), source, SHARES), len(dialogues))
    assert dialogues == [interrupted(row, chance) for row in streamed]
    assert rows == list(islice(taught(source, 0.4, seed=3), 1500))
    assert not any("reading" in row for row in islice(taught(source, 0.0, seed=3), 200))


def test_what_the_user_says_is_learned_with_a_weight_of_its_own_and_not_drafted() -> None:
    template = Template(tokenizer())
    source = Source.load(None, "train")
    rows = list(islice(taught(source, 0.5, seed=3), 200))
    for row in reasoned(rows, 1.0, seed=1):
        encoded = encode_row(template, row)
        said = sum(m["role"] == "assistant" and not m.get("cut") for m in row["messages"])
        if not row.get("reading"):
            assert len(encoded.answers) == said
            continue
        assert "reasoning" not in row["messages"][1]
        (start, end), *answers = encoded.answers
        assert encoded.ids[start - 1] == Mark.USER and encoded.ids[end - 1] == Mark.END
        words = template.decode(encoded.ids[start:end])
        assert words.split() == row["messages"][0]["content"].split()
        made = collate([encoded], 0.125, reading_weight=0.25)
        assert made.answers == [answers]
        assert made.weights[0, start:end].tolist() == [0.25] * (end - start)
        assert made.weights[0, start - 1] == 0.125
        assert made.weights[0, answers[0][0]] == 1.0


def tool(name: str) -> Row:
    return {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}


def asked(text: str) -> Row:
    return {"role": "user", "content": text}


def called(*names: str) -> Row:
    calls = [{"name": name, "arguments": {}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def example(number: int) -> Row:
    """A request that a tool serves."""
    tools = [tool("book_seats"), tool("free_seats")]
    messages = [asked(f"mine {number}"), called("book_seats"), {"role": "tool", "content": "Done."}]
    return {"system": "Be brief.", "tools": tools, "messages": messages, "line": number}


def own(readings: float = 0.0) -> Iterator[Row]:
    """Endless dialogues, with a share of readings."""
    rng = Random(5)
    for number in itertools.count():
        row = {"system": "", "tools": [tool("get_time"), tool("stop")]}
        row["messages"] = [asked(f"ours {number}"), called("stop")]
        if rng.random() < readings:
            row |= {"tools": [tool("stop")], "reading": True}
        yield row


def is_mine(row: Row) -> bool:
    return bool(row["messages"][0]["content"].startswith("mine"))


@pytest.mark.parametrize("replay", [0.0, 0.5, 0.9])
def test_our_own_dialogues_have_their_share(replay: float) -> None:
    examples = [example(i) for i in range(10)]
    rows = list(itertools.islice(mixed(examples, own(), replay, 1), 2000))
    mine = [row for row in rows if is_mine(row)]
    assert len(mine) / 2000 == pytest.approx(1 - replay, abs=0.04)
    # All are seen before one is seen again.
    assert sorted(row["line"] for row in mine[:10]) == list(range(10))
    again = list(itertools.islice(mixed(examples, own(), replay, 1), 50))
    assert again == rows[:50] != list(itertools.islice(mixed(examples, own(), replay, 2), 50))
    with_others = sum(len(row["tools"]) > 2 for row in mine) / len(mine)
    assert with_others == pytest.approx(0.5, abs=0.12)
    if replay:
        ours = [row for row in rows if not is_mine(row)]
        taught = sum(len(row["tools"]) > 2 for row in ours)
        assert taught / len(ours) == pytest.approx(0.5, abs=0.06)


def test_examples_with_the_same_beginning_stand_in_runs() -> None:
    examples = [example(i) | {"system": f"Agent {i % 3}."} for i in range(30)]
    rows = [row for row in islice(mixed(examples, own(), 0.4, 1), 400) if is_mine(row)]
    beginnings = [json.dumps([row["system"], row["tools"]]) for row in rows]
    lengths = [len(list(run)) for _, run in itertools.groupby(beginnings)]
    assert sum(lengths) / len(lengths) > 4
    assert len({row["system"] for row in rows[:30]}) == 3


def test_a_reading_is_the_first_request_behind_its_tool() -> None:
    assert reading_in(example(3)) == {
        "system": "",
        "tools": [tool("book_seats")],
        "messages": [asked("mine 3"), called("book_seats")],
        "reading": True,
    }


@pytest.mark.parametrize(
    "messages",
    [
        [asked("hi"), {"role": "assistant", "content": "Hello.", "tool_calls": []}],
        [asked("both"), called("book_seats", "free_seats")],
        [{"role": "assistant", "content": "Hello."}, asked("seats"), called("book_seats")],
        [asked("nobody answers")],
        [],
    ],
)
def test_other_beginnings_give_no_reading(messages: list[Row]) -> None:
    assert reading_in(example(1) | {"messages": messages}) is None


def test_an_answer_that_is_not_learned_makes_no_reading() -> None:
    asks, answer, result = example(3)["messages"]
    assert reading_in(example(3) | {"messages": [asks, answer | {"cut": True}, result]}) is None


CALL = {"role": "assistant", "content": None, "tool_calls": [{"name": "x", "arguments": {}}]}
RESULT = {"role": "tool", "name": "x", "content": "It is nine."}


def _row(*said: str | dict[str, Any]) -> dict[str, Any]:
    messages = []
    for one in said:
        role = "user" if not messages or messages[-1]["role"] == "assistant" else "assistant"
        messages.append({"role": role, "content": one} if isinstance(one, str) else one)
    return {"system": "", "tools": [], "messages": messages}


def _all(row: dict[str, Any], share: float = 1.0) -> list[dict[str, Any]]:
    return [interrupted(row, Random(seed), share) for seed in range(60)]


def test_what_is_left_of_a_reply_ends_with_one_of_its_words() -> None:
    row = _row("hello", "How can I help?", "bye", "Good bye, then.")
    found = {made["messages"][1]["content"] for made in _all(row)}
    assert found == {"How", "How can", "How can I"}
    for made in _all(row):
        first, _, *others = made["messages"]
        assert [first, *others] == [row["messages"][0], *row["messages"][2:]]
        assert made["messages"][1]["cut"] is True
    assert not any("cut" in message for message in row["messages"]), "the row itself stays whole"


def test_a_reply_behind_a_result_may_be_gone_as_a_whole() -> None:
    row = _row(
        "what time is it", CALL, RESULT, dict(role="assistant", content="It is nine."), "and now"
    )
    row["messages"].append({"role": "assistant", "content": "Nine."})
    left = [made["messages"][3] for made in _all(row)]
    assert {"user", "assistant"} == {message["role"] for message in left}
    assert {"It", "It is"} == {m["content"] for m in left if m["role"] == "assistant"}
    gone = next(made for made in _all(row) if made["messages"][3]["role"] == "user")
    assert gone["messages"] == [*row["messages"][:3], *row["messages"][4:]]


@pytest.mark.parametrize(
    "row",
    [
        _row("hello", "How can I help?"),
        _row("hello", "Hello.", "bye", "Good bye."),
        _row("who are you", "I am Quicksilver.", "say that again", "I am Quicksilver."),
        _row("hello", dict(role="assistant", content="", tool_calls=[]), "bye", "Bye."),
    ],
    ids=["nobody speaks after it", "a single word", "it is to be repeated", "nothing is said"],
)
def test_some_replies_are_never_interrupted(row: dict[str, Any]) -> None:
    assert all(made is row for made in _all(row))


def test_what_was_heard_of_a_reply_is_neither_learned_nor_thought_about_nor_asked_for() -> None:
    template = Template(tokenizer())
    rng = Random(2)
    seen = 0
    for row in islice(stream(Random(3), Source.load(None, "train"), SHARES), 150):
        made = interrupted(row, rng, 1.0)
        encoded = encode_row(template, made)
        told = [m for m in made["messages"] if m["role"] == "assistant"]
        whole = [m for m in told if not m.get("cut")]
        texts = [template.decode(encoded.ids[start : end - 1]) for start, end in encoded.answers]
        assert len(texts) == len(whole)
        for text, message in zip(texts, whole, strict=True):
            if message.get("content"):
                assert text.split() == message["content"].split()
        assert all(encoded.ids[start - 1] == Mark.AGENT for start, _ in encoded.answers)
        seen += len(told) > len(whole)
        thought = with_trace(made, rng)["messages"][-1]
        assert not (thought.get("reasoning") and thought.get("cut"))
        for case in cases([made]):
            assert case.wanted.content in [m.get("content") or "" for m in whole]
    assert seen > 50
