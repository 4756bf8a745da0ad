from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest

from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.datagen.interruptions import SHARE, interrupted
from dlm.datagen.readings import taught
from dlm.datagen.reasons import with_trace
from dlm.evaluate.cases import cases
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from dlm.train.data import encode_row
from tests.dlm.tiny import tokenizer

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


def test_a_repeated_reply_is_interrupted_where_a_result_tells_it() -> None:
    said = dict(role="assistant", content="It is nine.")
    row = _row("what time is it", CALL, RESULT, said, "say that again", "It is nine.")
    assert all(made["messages"][-1] == said for made in _all(row))
    assert all(made is not row for made in _all(row))


def test_a_share_of_the_dialogues_is_interrupted() -> None:
    row = _row("hello", "How can I help?", "bye", "Good bye, then.")
    rng = Random(1)
    count = sum(interrupted(row, rng, 0.25) is not row for _ in range(4000))
    assert count / 4000 == pytest.approx(0.25, abs=0.03)


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


def test_the_share_of_training_is_one_that_can_be_learned_from() -> None:
    rows = list(islice(taught(Source.load(None, "train"), 0.0, seed=3), 600))
    cut = sum(any(m.get("cut") for m in row["messages"]) for row in rows) / len(rows)
    assert SHARE / 3 < cut < SHARE
