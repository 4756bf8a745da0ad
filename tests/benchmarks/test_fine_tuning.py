from __future__ import annotations

from benchmarks.dlm.fine_tuning import measure
from dlm.datagen.examples import row_of
from dlm.engine.engine import Engine
from examples.fine_tuning.watering import PLANTS, lines
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, tokenizer


def test_lines_can_be_learned_and_are_the_same_every_time() -> None:
    made = list(lines(240, "train"))
    assert made == list(lines(240, "train"))
    rows = [row_of(line) for line in made]
    names = [
        call["name"] for row in rows for m in row["messages"] for call in m.get("tool_calls", ())
    ]
    assert {"water_garden", "set_reminder"} == set(names)
    assert sum(name == "water_garden" for name in names) > 100
    # Now and then the tool's words call nothing.
    silent = [r for r in rows if not any(m.get("tool_calls") for m in r["messages"])]
    assert len(silent) > 40


def test_held_out_lines_share_no_request_with_the_others() -> None:
    said = [
        {
            m["content"]
            for line in lines(240, split)
            for m in line["messages"]
            if m["role"] == "user"
        }
        for split in ("train", "heldout")
    ]
    assert not said[0] & said[1]
    assert not set(PLANTS["train"]) & set(PLANTS["heldout"])


def test_calls_and_replies_are_counted() -> None:
    engine = Engine(taught(), tokenizer())
    tools = [
        {"name": t.name, "description": t.description, "parameters": t.parameters} for t in TOOLS
    ]
    rows = []
    for turns in (DIALOGUES[0], DIALOGUES[2]):
        messages = [
            {
                "role": t.role,
                "content": t.content,
                "tool_calls": [{"name": c.name, "arguments": c.arguments} for c in t.calls],
            }
            for t in turns
        ]
        rows.append({"system": "", "tools": tools, "messages": messages})
    try:
        told = measure(engine, rows)
    finally:
        engine.close()
    assert (told["calls"]["count"], told["calls"]["of"]) == (1, 1)
    assert (told["talk"]["count"], told["talk"]["of"]) == (1, 1)
    assert (told["replies"]["count"], told["replies"]["of"]) == (1, 1)
