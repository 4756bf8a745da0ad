from pathlib import Path
from random import Random

from dlm.datagen.corpora import load
from dlm.datagen.scene import Scene
from dlm.datagen.strangers import named, write
from dlm.datagen.unasked import GROUPS
from dlm.datagen.values import Values


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
    rows = [row for _ in range(400) if (row := named(Scene(rng, values, "train", {})))]
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
