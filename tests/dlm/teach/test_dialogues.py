"""The requests and dialogues that a list of tools is taught with."""

from __future__ import annotations

import itertools
from random import Random

from dlm.datagen.examples import line_of, row_of
from dlm.datagen.language.noise import Style
from dlm.datagen.values.slots import Values
from dlm.teach.dialogues import Writer, _spoken, skeletons
from dlm.teach.learnable import untold
from dlm.teach.requests import Asking, phrasing_of, skeleton
from tests.dlm.teach.test_lists import tool

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = (
    tool("find_pet", "Find a pet by its number.", petId=NUMBER),
    tool("delete_pet", "Delete a pet.", petId=NUMBER),
    tool(
        "set_headlights",
        "Sets the headlights.",
        mode={"type": "string", "enum": ["on", "off", "auto"]},
    ),
    tool("move_file", "Move a file.", source=TEXT, destination=TEXT),
    tool("gallon_to_liter", "Converts gallons to liters.", gallon={"type": "number"}),
)


def writer(split: str) -> Writer:
    return Writer.of([Asking.of(one) for one in TOOLS], "You help.", split, Values())


def test_dialogues_are_examples_that_can_be_learned() -> None:
    rows = list(itertools.islice(writer("train").dialogues(1), 200))
    called = set()
    silent = 0
    for row in rows:
        row_of(line_of(row))
        names = {call["name"] for m in row["messages"] for call in m.get("tool_calls") or ()}
        assert names <= {spec["name"] for spec in row["tools"]}
        called |= names
        silent += not names
    assert called == {one.name for one in TOOLS}
    assert 10 < silent < 80


def test_a_request_holds_what_its_call_needs() -> None:
    made = writer("train")
    for asking in made.askings:
        for seed in range(30):
            said, answer, *_ = made.plain(asking, Random(seed), Style(digits=True))
            (call,) = answer["tool_calls"]
            assert set(asking.listed.required) <= call["arguments"].keys()
            for key, value in call["arguments"].items():
                if asking.listed.properties[key] == TEXT:
                    assert value in said["content"]
                elif isinstance(value, int | float):
                    assert str(value) in said["content"]


def test_words_that_fit_two_tools_teach_neither() -> None:
    like = Asking.of(tool("drop_pet", "Delete a pet.", petId=NUMBER))
    pet = Asking.of(TOOLS[1])
    made = Writer.of((pet, like), "", "train", Values())
    assert skeletons(pet) & skeletons(like)
    for asking in (pet, like):
        phrasings = [asking.phrasing(Random(seed)) for seed in range(100)]
        kept = {skeleton(p, asking.listed) for p in phrasings if made.tells(asking, p)}
        assert not any(
            kept & some for name, some in made.known.items() if name != asking.listed.name
        )


def test_a_tool_that_nothing_tells_from_others_is_told_of() -> None:
    lists = [
        ("list_a", "List the tasks."),
        ("list_b", "List all tasks of today."),
        ("get_tasks", "Get tasks."),
    ]
    askings = [Asking.of(tool(name, about)) for name, about in lists]
    (told,) = untold(Writer.of(askings, "", "train", Values()))
    assert told.startswith("list_a: will not be learned")
    assert untold(writer("train")) == []


def test_held_out_phrasings_are_never_learned() -> None:
    split = {
        name: {
            row["messages"][0]["content"]
            for row in itertools.islice(writer(name).dialogues(1), 100)
        }
        for name in ("train", "heldout")
    }
    assert not split["train"] & split["heldout"]


def test_tools_of_which_no_phrasing_is_held_out_are_passed_over() -> None:
    doors = [tool(f"{verb}_door", f"{verb.title()} the door.") for verb in ("open", "close")]
    window = tool("open_window", "Open a window.")
    askings = [Asking.of(one) for one in (*doors, window)]
    made = Writer.of(askings, "You help.", "heldout", Values()).dialogues(1)
    rows = list(itertools.islice(made, 20))
    called = {call["name"] for row in rows for call in row["messages"][1]["tool_calls"]}
    assert len(rows) == 20
    assert called < {asking.listed.name for asking in askings}


def test_an_example_becomes_a_phrasing() -> None:
    said = "Call pet twelve Rex (please)"
    assert phrasing_of(said, {"petId": 12, "name": "rex"}) == "Call pet {petId} {name}  please "
    named = {"item": "milk", "list": "item"}
    assert phrasing_of("put milk on the item list", named) == "put {item} on the {list} list"
    assert phrasing_of("that one please", {"petId": 3}) is None
    assert phrasing_of("which are up for grabs", {"status": "available"}) is None
    assert phrasing_of("order it and finish that", {"complete": True}) is None
    assert phrasing_of("save 1500000 now", {"cents": 1500000}) == "save {cents} now"
    asking = Asking.of(TOOLS[0], ["who on earth is {petId}"])
    phrasings = [asking.phrasing(Random(seed)) for seed in range(40)]
    assert 5 < phrasings.count("who on earth is {petId}") < 35


def test_numbers_are_said_whatever_their_bounds_are() -> None:
    cold = tool("set_freezer", "Set the freezer.", degrees={"type": "number", "minimum": -40.5})
    made = Writer.of([Asking.of(cold)], "You help.", "train", Values())
    for row in itertools.islice(made.dialogues(1), 60):
        for call in (c for m in row["messages"] for c in m.get("tool_calls") or ()):
            assert call["arguments"]["degrees"] >= 0
    half = {"type": "number", "enum": [-0.5, 1, 1.5]}
    said = {_spoken(option, False) for option in half["enum"]}
    assert said == {"minus zero point five", "one", "one point five"}
    assert _spoken(2_000_000, False) == "two million"
    assert _spoken(0.00002, True) == "0.00002"
