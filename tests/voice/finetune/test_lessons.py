from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from dlm.datagen.examples import read
from voice.finetune.lessons import Held, conversations, hold_all, lines, write


def call(name: str, /, **args: str) -> dict[str, Any]:
    return {"name": name, "args": args}


def talk(agent: str, *turns: tuple[str, Any]) -> dict[str, Any]:
    says = (
        {"say": say, "reply": then} if isinstance(then, str) else {"say": say, "calls": then}
        for say, then in turns
    )
    return {"id": agent, "agent": agent, "turns": [*says]}


EGGS = "can you do me a timer, seven minutes, for the eggs"
BOTH = "add milk to the list, and turn off the kitchen light"
BOTH_LATTES = "two lattes, one of them with oat milk"
HOUSE = talk(
    "assistant",
    (EGGS, [call("set_timer", duration="seven minutes", name="eggs")]),
    (
        BOTH,
        [
            call("add_to_list", item="milk"),
            call("set_device", device="kitchen light", state="off"),
        ],
    ),
    ("my brother is such a pain", "That sounds tiring."),
    ("switch the sauna on", [call("set_device", device="sauna", state="on")]),
)
SHOP = talk(
    "coffee",
    (
        BOTH_LATTES,
        [
            # "oat" and "oat milk" are the same; what is learned has the noun.
            call("order_drink", drink="lattes", quantity="one", milk="oat"),
            call("order_drink", drink="lattes", quantity="one"),
        ],
    ),
    ("what do you charge for a cup of tea", "It is {price}."),
)


async def hold(*talks: dict[str, Any]) -> list[Held]:
    return await hold_all(talks)


def answers(held: Held) -> list[list[dict[str, Any]]]:
    """What is learned in each line: calls as written, or words."""
    return [
        [
            [json.loads(c["function"]["arguments"]) for c in m.get("tool_calls", ())]
            or m["content"]
            for m in line["messages"]
            if m.get("weight")
        ]
        for line in lines(held.lessons)
    ]


async def test_what_the_model_is_asked_is_learned_once_and_nothing_else(tmp_path: Path) -> None:
    house, shop = await hold(HOUSE, SHOP)
    eggs = [{"duration": "seven minutes", "name": "eggs"}]
    milk, light = {"item": "milk"}, {"device": "kitchen light", "state": "off"}
    sauna = [{"device": "sauna", "state": "on"}]
    assert sorted(map(str, chain(*answers(house)))) == sorted(
        # The message in two parts, and whole.
        map(str, [eggs, [milk, light], [milk], [light], "That sounds tiring.", sauna])
    )
    oat, plain = ({"drink": "latte", "quantity": "one", **m} for m in ({"milk": "oat milk"}, {}))
    both = [{**oat, "drink": "lattes"}, {**plain, "drink": "lattes"}]
    assert sorted(map(str, chain(*answers(shop)))) == sorted(map(str, [both, [oat], [plain]]))
    assert BOTH_LATTES not in [one["say"] for one in shop.spoiled]
    # Lines are what training reads; what the tools answered stands in them.
    file = tmp_path / "lessons.jsonl"
    made = [*lines(house.lessons), *lines(shop.lessons)]
    assert write(file, made) == len(made) == len(read(file))
    assert "Eggs timer set for 7 minutes." in file.read_text(encoding="utf-8")


async def test_a_message_of_which_something_else_was_made_is_told() -> None:
    (house,) = await hold(HOUSE)
    assert house.messages == 4
    assert [(one["say"], one["made"]) for one in house.spoiled] == [("switch the sauna on", [])]
    assert house.spoiled[0]["asked"] == ["switch the sauna on"]
    assert house.spoiled[0]["reply"] == "Sorry, which device do you mean?"


@pytest.mark.parametrize("name", ["talks.jsonl", "talks.jsonl.xz"])
def test_files_may_be_compressed(name: str, tmp_path: Path) -> None:
    import lzma

    text = json.dumps(SHOP) + "\n"
    packed = lzma.compress(text.encode()) if name.endswith("xz") else text.encode()
    (tmp_path / name).write_bytes(packed)
    assert [*conversations([tmp_path / name])] == [SHOP]
