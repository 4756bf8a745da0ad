"""Dialogues about tools that no agent ships."""

from __future__ import annotations

from random import Random

from dlm.datagen.unfamiliar.unfamiliar_tools import Scene, write
from dlm.datagen.values.slots import Values


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
