"""What generated tools tell of their parameters."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from random import Random
from typing import Any

import pytest

from dlm.datagen.dialogues import Source, stream
from dlm.datagen.tools.catalog import TOOLS
from dlm.datagen.tools.descriptions import described, opaque, synonyms
from dlm.datagen.unfamiliar.composed_tools import KINDS
from dlm.datagen.unfamiliar.written_tools import FUNCTIONS
from dlm.language.template import tools_of, turns_of
from tests.dlm.tiny import template

STRANGE = ("stranger", "written", "results", "invented", "coffee_renamed", "assistant_renamed")


def rows(kind: str, count: int = 150, split: str = "train") -> list[dict[str, Any]]:
    source = Source.load(None, split)
    return list(islice(stream(Random(3), source, {kind: 1.0}), count))


def parameters(found: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [p for row in found for t in row["tools"]
            for p in t["parameters"]["properties"].items()]  # fmt: skip


@pytest.mark.parametrize("kind", STRANGE)
def test_most_parameters_of_strangers_have_a_description_of_words(kind: str) -> None:
    found = parameters(rows(kind))
    texts = [schema["description"] for _, schema in found if "description" in schema]
    assert 0.6 < len(texts) / len(found) < 0.9
    assert not [text for text in texts if "{" in text or text != text.strip()]
    assert len(set(texts)) > len(texts) / 8


def test_the_agents_own_tools_have_none_and_read_alike_in_both_versions() -> None:
    assert not [s for t in TOOLS.values() for s in t["parameters"]["properties"].values()
                if "description" in s]  # fmt: skip
    (row,) = rows("assistant", 1)
    turns, tools = turns_of(row), tools_of(row["tools"])
    assert template(2).prompt(turns, tools) == template(1).prompt(turns, tools)


def test_each_kind_and_each_written_parameter_has_something_to_tell() -> None:
    assert not [name for name, kind in KINDS.items() if not kind.about and name != "ref"]
    assert not [f.name for f in FUNCTIONS for p in f.parameters.values() if len(p.told) < 4]


def test_what_is_told_of_a_tool_depends_on_the_tool_alone() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"enum": ["x", "y"]}}
    parameters = {"type": "object", "properties": properties, "required": ["a"]}
    spec = {"name": "f", "description": "F.", "parameters": parameters}
    about = {"a": ("city to look in", "where it is"), "b": ("number of days",), "c": ("scale",)}
    many = [described({**spec, "name": f"f{n}"}, about, lambda key, rng: 7) for n in range(400)]
    assert many[3] == described({**spec, "name": "f3"}, about, lambda key, rng: 7)
    told = Counter(one["parameters"]["properties"]["a"].get("description") for one in many)
    assert {"The city to look in", "city to look in.", "Where it is", None} <= told.keys()
    assert not [text for text in told if text and text.startswith("The where")]
    defaults = [one["parameters"]["properties"] for one in many]
    assert not any("default" in p["a"] for p in defaults)
    assert {p["b"]["default"] for p in defaults if "default" in p["b"]} == {7}
    assert any("either x or y" in p["c"].get("description", "") for p in defaults)


def test_names_that_say_nothing_are_no_synonyms() -> None:
    names = ("to", "recipient", "who", "send_to", "{noun}_id", "person")
    assert synonyms(names, "person") == ("recipient", "send to")


@pytest.mark.parametrize("kind", ["stranger", "written", "invented"])
def test_opaque_parameters_are_told_of_and_called_by_their_new_names(kind: str) -> None:
    changed = 0
    for row in rows(kind, 200):
        made = opaque(row, 1.0)
        assert [m["role"] for m in made["messages"]] == [m["role"] for m in row["messages"]]
        for old, new in zip(row["tools"], made["tools"], strict=True):
            properties = new["parameters"]["properties"]
            assert list(old["parameters"]["properties"].values()) == list(properties.values())
            assert set(new["parameters"]["required"]) <= properties.keys()
            if properties.keys() != old["parameters"]["properties"].keys():
                assert all(schema["description"] for schema in properties.values())
        tools, turns = tools_of(made["tools"]), turns_of(made)
        for turn, old in zip(turns, turns_of(row), strict=True):
            ids = template(2).spell(template(2).answer(_spelled(turn, tools), tools), tools)
            assert ids == _spelled(turn, tools)
            values = [list(call.arguments.values()) for call in turn.calls]
            assert values == [list(call.arguments.values()) for call in old.calls]
            changed += turn.calls != old.calls
    assert changed > 40


def _spelled(turn: Any, tools: Any) -> list[int]:
    from dlm.language.messages import Answer

    return template(2).spell(Answer(turn.content, turn.calls), tools)


def test_about_a_tenth_of_strange_tools_is_opaque_and_none_that_tells_nothing() -> None:
    before = [row for kind in STRANGE for row in rows(kind)]
    tools = [(old, new) for row in before
             for old, new in zip(row["tools"], opaque(row)["tools"], strict=True)
             if old["parameters"]["properties"]]  # fmt: skip
    changed = [old for old, new in tools if old != new]
    assert 0.06 < len(changed) / len(tools) < 0.13
    own = rows("assistant", 50)
    assert [opaque(row, 1.0) for row in own] == own
    assert json.dumps(list(map(opaque, before))) == json.dumps(list(map(opaque, before)))
