"""Options that a message says."""

from __future__ import annotations

import json

import pytest

from dlm.engine.engine import Engine, Request
from dlm.grammar.distinct_spans import Spans
from dlm.grammar.formats import JsonSchema
from dlm.grammar.said_options import said_options
from dlm.language.messages import Tool, Turn

BIKES = ["city", "mountain", "electric", "tandem", "child"]
COLOURS = ["light", "light blue", "very_dark", "on", "off"]


@pytest.mark.parametrize(
    ("options", "message", "said"),
    [
        (BIKES, "two Mountain bikes", {"mountain"}),
        (BIKES, "two tandems, no city bike", {"tandem", "city"}),
        (BIKES, "a bike for the citizens", set()),
        (COLOURS, "the light blue one", {"light blue"}),
        (COLOURS, "light, or light blue", {"light", "light blue"}),
        (COLOURS, "something very dark", {"very_dark"}),
        (COLOURS, "is it on", set()),
        ([1, 2], "number 1", set()),
        (BIKES, "tandem " + "and so on " * 7, set()),
    ],
)
def test_options_are_found_by_their_words(
    options: list[object], message: str, said: set[str]
) -> None:
    schema = {"type": "object", "properties": {"kind": {"enum": options}, "name": {}}}
    found = said_options(Tool("book", "Book.", schema), message)
    values = found["kind"].find(Spans([message])) if found else {}
    assert {value.decode() for value in values} == said
    assert all(values.values())


@pytest.mark.parametrize("options", [BIKES, BIKES[::-1]])
def test_the_option_that_is_said_is_what_a_json_answer_has(options: list[str]) -> None:
    words = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"bike": {"enum": options, **words}, "day": words, "name": words},
        "required": ["bike", "day", "name"],
    }
    engine = Engine.load()
    try:
        turn = Turn("user", "A tandem for Peter tomorrow at half past nine please")
        answer = engine.answer(Request((turn,), format=JsonSchema(schema))).answer.content
    finally:
        engine.close()
    assert json.loads(answer) == {"bike": "tandem", "day": "tomorrow", "name": "Peter"}
