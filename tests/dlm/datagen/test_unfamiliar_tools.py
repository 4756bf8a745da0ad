"""Dialogues about tools that no agent ships."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen.corpora import load
from dlm.datagen.intent_tools import Purpose
from dlm.datagen.mentions import GROUPS
from dlm.datagen.unfamiliar_tools import Scene, mention, write
from dlm.datagen.values import Values


def _said(count: int) -> list[list[dict[str, Any]]]:
    rng, values = Random(4), Values()
    written = (write(Scene(rng, values, "train", {})) for _ in range(count))
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


def test_intents_whose_sentences_have_arguments_are_offered_more_often() -> None:
    values = Values()
    purposes = {
        name: Purpose(name, ("do",), (name,), [(f"do {name} now", slots)] * 10, marked=bool(slots))
        for name, slots in [("song", {"track": (1, 2)}), *((f"thing{i}", {}) for i in range(9))]
    }

    def offered(split: str) -> int:
        drawn = (write(Scene(Random(seed), values, split, purposes)) for seed in range(150))
        names = [t["name"].lower() for row in drawn if row for t in row[0]]
        return sum("song" in name for name in names) * 1000 // len(names)

    assert offered("train") > 2 * offered("heldout") > 0


def test_a_scene_offers_its_tools_before_anybody_speaks() -> None:
    for seed in range(60):
        scene = Scene(Random(seed), Values(), "train", {})
        scene.offer()
        offered = [tool.name for tool in scene.tools]
        assert offered and not scene.messages
        for tool in scene.absent:
            assert tool.name not in offered
        if scene.request(scene.tools[0]):
            assert [c["name"] for c in scene.messages[1]["tool_calls"]] == offered[:1]
            assert [m["role"] for m in scene.messages] == ["user", "assistant", "tool", "assistant"]


def test_a_tool_that_is_merely_named_is_not_called() -> None:
    answered = 0
    for seed in range(120):
        scene = Scene(Random(seed), Values(), "train", {})
        scene.offer()
        if scene.mention(scene.tools[0]) and scene.messages[1]["content"]:
            answered += 1
            assert [m["role"] for m in scene.messages] == ["user", "assistant"]
            assert "tool_calls" not in scene.messages[1]
    assert answered > 20


def test_every_row_calls_what_it_offers() -> None:
    rng, values = Random(1), Values()
    calls = asked = 0
    for _ in range(800):
        written = write(Scene(rng, values, "train", {}))
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


def test_intents_are_offered_beside_composed_tools(corpora: Path) -> None:
    purposes = load(corpora, "heldout").purposes
    assert len(purposes) > 10
    rng, values = Random(2), Values(corpora)
    rows = [w for _ in range(100) if (w := write(Scene(rng, values, "heldout", purposes)))]
    assert len(rows) > 80


def test_what_tools_do_may_be_named_without_being_asked_for() -> None:
    rng, values = Random(8), Values()
    rows = [row for _ in range(400) if (row := mention(Scene(rng, values, "train", {})))]
    last = [messages[1] for _, messages in rows]
    talk = [m["content"] for m in last if not m.get("tool_calls")]
    called = [m["tool_calls"] for m in last if m.get("tool_calls")]
    assert len(talk) > len(called) > 40
    assert {group for group in GROUPS if set(talk) & set(group.answers)} == set(GROUPS[:-1])
    for tools, messages in rows:
        assert messages[0]["role"] == "user"
        assert {c["name"] for c in messages[1].get("tool_calls", ())} <= {t["name"] for t in tools}
    plain = [m for _ in range(300) for _, m in [write(Scene(rng, values, "train", {})) or ((), ())]]
    assert not any("Okay, I won't." in str(messages) for messages in plain)
    often = [write(Scene(rng, values, "train", {}), 0.5) or ((), ()) for _ in range(100)]
    assert sum("won't" in str(messages) for _, messages in often) > 15
