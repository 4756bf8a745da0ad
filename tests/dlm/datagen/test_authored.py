from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from dlm.datagen import authored, examples
from dlm.datagen.authored import dialogues, main, read
from dlm.engine.json_call import json_call

ASSISTANTS = Path(authored.__file__).with_name("assistants")
ZOO = {
    "about": "a zoo",
    "instructions": "You are the zoo's assistant.",
    "tools": [
        {"name": "feed", "description": "Feed an animal.",
         "params": {"animal": "string", "kind": ["fish", "hay"], "kilos?": "number"}},
    ],
    "conversations": [
        [
            {"say": "hi there", "calls": [], "reply": "Hello!"},
            {"say": "fish for the seals and hay for the goats, two kilos",
             "calls": [{"name": "feed", "args": {"animal": "seals", "kind": "fish"}},
                       {"name": "feed", "args": {"animal": "goats", "kind": "hay", "kilos": 2}}],
             "results": ["done", "no hay left"],
             "reply": "The seals are fed, but there is no hay left for the goats."},
        ]
    ],
}  # fmt: skip


def test_a_conversation_becomes_messages_with_calls_and_their_results(tmp_path: Path) -> None:
    file = tmp_path / "zoo.jsonl.xz"
    with lzma.open(file, "wt", encoding="utf-8") as text:
        text.write(json.dumps(ZOO) + "\n")
    (dialogue,) = [line for one in read([file]) for line in dialogues(one)]
    row = examples.row_of(json.loads(json.dumps(dialogue)))
    assert row["system"] == "You are the zoo's assistant."
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "tool", "tool", "assistant"]
    (function,) = [tool["function"] for tool in dialogue["tools"]]
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "animal": {"type": "string"},
            "kind": {"type": "string", "enum": ["fish", "hay"]},
            "kilos": {"type": "number"},
        },
        "required": ["animal", "kind"],
    }
    calls = dialogue["messages"][4]["tool_calls"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [
        {"animal": "seals", "kind": "fish"}, {"animal": "goats", "kind": "hay", "kilos": 2},
    ]  # fmt: skip


def test_a_text_becomes_the_call_that_stands_for_its_json() -> None:
    text: dict[str, Any] = {
        "message": "Rolls, jam and tea for Ada Lim in Leeds. Not before nine.",
        "schema": {
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"type": "string"}},
                "who": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
                    "required": ["name"],
                },
                "paid": {"type": "boolean"},
                "van": {"type": "object", "properties": {"size": {"type": "string"}}},
            },
            "required": ["items", "who"],
        },
        "answer": {"items": ["rolls", "jam", "tea"], "who": {"name": "Ada Lim", "city": "Leeds"}},
    }
    (line,) = dialogues(text)
    examples.row_of(line)
    (tool,) = [one["function"] for one in line["tools"]]
    assert tool["parameters"]["required"] == ["items", "who.name"]
    (call,) = line["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {
        "items": "Rolls, jam and tea", "who.name": "Ada Lim", "who.city": "Leeds",
    }  # fmt: skip
    declared = json_call(text["schema"], (text["message"],), (), lambda _: lambda _: True)
    assert declared is not None and declared.tool.name == tool["name"]
    assert [*declared.paths] == [*tool["parameters"]["properties"]]


def test_a_list_that_the_text_does_not_enumerate_is_not_asked_for() -> None:
    words = {"type": "array", "items": {"type": "string"}}
    properties = {"couple": words, "sorts": words}
    text = {
        "message": "Beate here. I marry on Sunday, in May, and Carl bakes rye bread and a cake.",
        "schema": {"type": "object", "properties": properties, "required": ["couple"]},
        "answer": {"couple": ["Beate", "Carl"], "sorts": ["rye bread", "cake"]},
    }
    (line,) = dialogues(text)
    (tool,) = [one["function"] for one in line["tools"]]
    assert [*tool["parameters"]["properties"]] == ["sorts"]
    (call,) = line["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"sorts": "rye bread and a cake"}


def test_what_the_authors_wrote_can_be_learned() -> None:
    """Every dialogue is well formed, with values of the declared types."""
    files = [*ASSISTANTS.glob("*.jsonl.xz"), *ASSISTANTS.with_name("texts").glob("*.jsonl.xz")]
    lines = [line for one in read(files) for line in dialogues(one)]
    assert len(lines) >= 1000
    for line in lines:
        examples.row_of(line)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "No such file or directory"),
        ("plain", "plain: expected lines of JSON"),
        ("damaged.jsonl.xz", "damaged.jsonl.xz: expected lines of JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(
    name: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("plain", "damaged.jsonl.xz"):
        (tmp_path / file).write_text("# Words", encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / name), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
