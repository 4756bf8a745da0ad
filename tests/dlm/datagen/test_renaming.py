"""Tools get other names, and nothing else changes."""

from __future__ import annotations

from random import Random
from typing import Any

from dlm.datagen.holdout import held_out
from dlm.datagen.tools.catalog import TOOLS
from dlm.datagen.tools.renaming import rename

ROW: dict[str, Any] = {
    "system": "Be brief.",
    "tools": [TOOLS["set_timer"], TOOLS["order_drink"], TOOLS["get_time"]],
    "messages": [
        {"role": "user", "content": "a large latte and ten minutes for tea"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"name": "order_drink", "arguments": {"drink": "latte", "size": "large"}},
                {"name": "set_timer", "arguments": {"duration": "ten minutes", "name": "tea"}},
            ],
        },
        {"role": "tool", "name": "order_drink", "content": "Added: large latte."},
        {"role": "tool", "name": "set_timer", "content": "Tea timer set for 10 minutes."},
        {"role": "assistant", "content": "Done."},
    ],
}


def test_calls_follow_the_new_schemas() -> None:
    rng = Random(2)
    names = set()
    for _ in range(200):
        row = rename(ROW, rng, "train")
        specs = {t["name"]: t["parameters"] for t in row["tools"]}
        calls = row["messages"][1]["tool_calls"]
        assert [m["name"] for m in row["messages"][2:4]] == [c["name"] for c in calls]
        for call in calls:
            schema = specs[call["name"]]
            order = [k for k in schema["properties"] if k in call["arguments"]]
            assert list(call["arguments"]) == order
            assert set(schema["required"]) <= set(order)
            for key, value in call["arguments"].items():
                assert value in schema["properties"][key].get("enum", [value])
        assert {v for c in calls for v in c["arguments"].values()} == {
            "latte", "large", "ten minutes", "tea",
        }  # fmt: skip
        names |= set(specs)
    assert len(names) > 60
    assert ROW["tools"][0]["name"] == "set_timer"


def test_held_out_names_appear_in_their_split_alone() -> None:
    rng = Random(3)
    for split in ("train", "heldout"):
        for _ in range(20):
            for tool in rename(ROW, rng, split)["tools"]:
                snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in tool["name"])
                assert held_out(snake.strip("_")) == (split == "heldout"), tool["name"]
