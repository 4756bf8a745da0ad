import re
from pathlib import Path
from random import Random
from typing import Any

from dlm.train.corpora import load
from dlm.train.intent_tools import Purpose
from dlm.train.strangers import named, write
from dlm.train.values import Values


def test_every_row_calls_what_it_offers() -> None:
    rng, values = Random(1), Values()
    calls = asked = 0
    for _ in range(800):
        written = write(rng, values, "train", {})
        if written is None:
            continue
        tools, messages = written
        schemas = {t["name"]: t["parameters"] for t in tools}
        assert len({n.lower() for n in schemas}) == len(tools)
        assert messages[0]["role"] == "user" and messages[-1]["role"] == "assistant"
        asked += messages[1].get("content") is not None
        for call in [c for m in messages for c in m.get("tool_calls", ())]:
            calls += 1
            given, schema = call["arguments"], schemas[call["name"]]
            assert set(schema["required"]) <= set(given) <= set(schema["properties"])
            assert list(given) == [k for k in schema["properties"] if k in given]
    assert calls > 800 and asked > 40


def _said(count: int) -> list[list[dict[str, Any]]]:
    rng, values = Random(4), Values()
    written = (write(rng, values, "train", {}) for _ in range(count))
    return [messages for row in written if row for messages in (row[1],)]


def test_questions_ask_for_something_that_can_be_named() -> None:
    dialogues = _said(2500)
    asked = [m["content"] for row in dialogues for m in row if m.get("kind") == "ask"]
    assert len(asked) > 60
    for text in asked:
        assert not re.search(r"\b(the|which|what) (when|at|to|due|send to)\b(?! l)", text, re.I)


def test_what_cannot_be_done_is_told_with_a_verb() -> None:
    said = [m["content"] for row in _said(2500) for m in row if m.get("kind") == "decline"]
    assert len(said) > 300
    for text in said:
        assert not re.search(r"\b(about|info|status|openings|search|listen|notify) \w+s\b", text)


def test_a_call_is_made_again_with_something_new() -> None:
    for row in _said(1500):
        calls = [m["tool_calls"][0] for m in row if m.get("tool_calls")]
        texts = [m["content"].lower() for m in row if m["role"] == "user"]
        for before, call, text in zip(calls, calls[1:], texts[1:], strict=False):
            if text.startswith(("actually ", "make that ", "again but ", "do the same ")):
                assert before != call


def test_intents_are_offered_beside_composed_tools(corpora: Path) -> None:
    purposes = load(corpora, "heldout").purposes
    assert len(purposes) > 10
    rng, values = Random(2), Values(corpora)
    rows = [w for _ in range(100) if (w := write(rng, values, "heldout", purposes))]
    assert len(rows) > 80


def test_intents_whose_sentences_have_arguments_are_offered_more_often() -> None:
    values = Values()
    purposes = {
        name: Purpose(name, ("do",), (name,), [(f"do {name} now", slots)] * 10, marked=bool(slots))
        for name, slots in [("song", {"track": (1, 2)}), *((f"thing{i}", {}) for i in range(9))]
    }

    def offered(split: str) -> int:
        drawn = (write(Random(seed), values, split, purposes) for seed in range(150))
        names = [t["name"].lower() for row in drawn if row for t in row[0]]
        return sum("song" in name for name in names) * 1000 // len(names)

    assert offered("train") > 2 * offered("heldout") > 0


def test_what_tools_do_may_be_named_without_being_asked_for() -> None:
    rng, values = Random(8), Values()
    rows = [row for _ in range(400) if (row := named(rng, values, "train", {}))]
    last = [messages[1] for _, messages in rows]
    talk = [m["content"] for m in last if not m.get("tool_calls")]
    called = [m["tool_calls"] for m in last if m.get("tool_calls")]
    assert len(talk) > 2 * len(called) > 40
    assert {"Okay, I won't.", "I don't know, sorry.", "Good to know."} <= set(talk)
    for tools, messages in rows:
        assert messages[0]["role"] == "user"
        assert {c["name"] for c in messages[1].get("tool_calls", ())} <= {t["name"] for t in tools}
    plain = [m for _ in range(300) for _, m in [write(rng, values, "train", {}) or ((), ())]]
    assert not any("Okay, I won't." in str(messages) for messages in plain)
    often = [write(rng, values, "train", {}, 0.5) or ((), ()) for _ in range(100)]
    assert sum("won't" in str(messages) for _, messages in often) > 15
