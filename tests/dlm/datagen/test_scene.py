import re
from random import Random
from typing import Any

from dlm.datagen.intent_tools import Purpose
from dlm.datagen.scene import Scene
from dlm.datagen.strangers import write
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
        if scene.named(scene.tools[0]) and scene.messages[1]["content"]:
            answered += 1
            assert [m["role"] for m in scene.messages] == ["user", "assistant"]
            assert "tool_calls" not in scene.messages[1]
    assert answered > 20
