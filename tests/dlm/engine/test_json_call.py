"""JSON answers of a checkpoint that was taught calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dlm.effort import Effort
from dlm.engine.engine import Engine, Request
from dlm.engine.json_call import JsonCall, json_call
from dlm.grammar.formats import JsonSchema
from dlm.language.messages import Answer, Call, Tool, Turn
from tests.dlm.tiny import TOOLS

WORDS = {"type": "string"}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "address": {"$ref": "#/$defs/Address"},
        "hobbies": {"type": "array", "items": WORDS},
    },
    "required": ["name", "age", "address", "hobbies"],
    "additionalProperties": False,
    "$defs": {
        "Address": {
            "type": "object",
            "properties": {"street": WORDS, "since": {"type": "string", "format": "date"}},
            "required": ["street"],
        }
    },
}
TEXT = "Anna is 34, lives at 12 Hill Road since 2020-05-01 and likes chess, tea and rain."


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    made = Engine.load()
    yield made
    made.close()


def anything(schema: Any) -> Any:
    return lambda value: True


def call_of(schema: dict[str, Any], *texts: str) -> JsonCall:
    found = json_call(schema, texts, [], anything)
    assert found is not None
    return found


def test_properties_of_objects_inside_are_parameters() -> None:
    made = call_of(PERSON, TEXT)
    names = ["name", "age", "address.street", "address.since", "hobbies"]
    assert list(made.tool.properties) == names
    assert made.tool.required == {"name", "address.street", "hobbies"}
    given = {
        "name": "Anna",
        "age": None,
        "address.street": "Hill Road",
        "hobbies": "chess, tea and",
    }
    text = made.read(Answer("", (Call("extract", given),))).content
    assert json.loads(text) == {
        "name": "Anna",
        "age": None,
        "address": {"street": "Hill Road"},
        "hobbies": ["chess", "tea"],
    }
    assert made.answer(text).calls[0].arguments.keys() == given.keys() - {"age"}
    for other in ("no JSON", r'{"name": "\ud800"}'):
        assert made.answer(other) == Answer(other, ())


def test_names_that_are_listed_are_parameters() -> None:
    listed = {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "required": ["a"]}
    tool = call_of({"type": "object", "properties": {"n": listed}, "required": ["n"]}, TEXT).tool
    assert (list(tool.properties), list(tool.required)) == (["n.a", "n.b"], ["n.a"])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": WORDS},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"😀": WORDS}},
        {"type": "object", "properties": {"a": WORDS, " a": WORDS}},
        {"type": "object", "properties": {"a": {"enum": ["\0", "b"]}}},
        {"type": "object", "properties": {"a": WORDS}, "anyOf": [{"required": ["a"]}]},
        {"$ref": "#/$defs/Gone"},
    ],
)
def test_what_is_not_properties_alone_is_no_call(schema: dict[str, Any]) -> None:
    assert json_call(schema, ("a",), [], anything) is None


def test_properties_that_stand_for_too_many_are_not_looked_at() -> None:
    looked_at: list[object] = []

    class Properties(dict[str, Any]):
        def items(self) -> Any:
            looked_at.append(self)
            return super().items()

    node = {"$ref": "#/$defs/Node"}
    inside = {"type": "object", "properties": Properties(dict.fromkeys("abcd", node))}
    schema = {**node, "$defs": {"Node": {**inside, "required": list("abcd")}}}
    assert json_call(schema, ("a",), [], anything) is None
    assert len(looked_at) < 100


def test_a_tool_of_the_same_name_keeps_it() -> None:
    made = json_call({"properties": {"a": WORDS}}, (), ["extract"], anything)
    assert made is not None
    assert made.tool.name == "extract_2"


@pytest.mark.parametrize("effort", [Effort.INSTANT, Effort.MEDIUM])
def test_values_are_taken_from_the_text(shipped: Engine, effort: Effort) -> None:
    schema = {"type": "object", "properties": {"name": WORDS, "age": {"type": "integer"}}}
    wanted = JsonSchema({**schema, "required": ["name", "age"]})
    asked = Request((Turn("user", "Anna is 34"),), format=wanted, effort=effort)
    last = shipped.answer(asked)
    assert json.loads(last.answer.content) == {"name": "Anna", "age": 34}
    assert last.reason == "stop"


def test_numbers_of_a_call_are_different_ones(shipped: Engine) -> None:
    number = {"type": "integer"}
    wanted = {"type": "object", "properties": dict.fromkeys("abc", number), "required": list("abc")}
    turns = (Turn("user", "a=2, b=6, c=5"),)
    last = shipped.answer(Request(turns, format=JsonSchema(wanted)))
    assert json.loads(last.answer.content) == {"a": 2, "b": 6, "c": 5}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("date", {"2024-03-12"}),
        ("time", {"04:30:00Z", "16:30:00Z"}),
        ("date-time", {"2024-03-12T04:30:00Z", "2024-03-12T16:30:00Z"}),
        ("email", {"jo.brown@mail.org"}),
    ],
)
def test_a_format_has_what_the_text_says(shipped: Engine, shape: str, expected: set[str]) -> None:
    text = "Come on 12 March 2024 at half past four, " + 30 * "very " + "please: jo.brown@mail.org."
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": shape}}}
    asked = Request((Turn("user", text),), format=JsonSchema({**schema, "required": ["a"]}))
    assert json.loads(shipped.answer(asked).answer.content)["a"] in expected


def extracted(engine: Engine, text: str, **properties: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    turns = (Turn("system", "Extract the data from the user's text."), Turn("user", text))
    return json.loads(engine.answer(Request(turns, format=JsonSchema(schema))).answer.content)


DAY = {"type": "string", "format": "date"}
NUMBER = {"type": "number"}
PERHAPS = {"anyOf": [WORDS, {"type": "null"}]}


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        (
            "From 5 May 2027 to 12 May",
            {"start": DAY, "end": DAY},
            {"start": "2027-05-05", "end": "2027-05-12"},
        ),
        (
            "Present: Ellen Ward, Marco Rossi and Li Wei.",
            {"attendees": {"type": "array", "items": WORDS}},
            {"attendees": ["Ellen Ward", "Marco Rossi", "Li Wei"]},
        ),
        (
            "There were no complaints today.",
            {"complaints": {"type": "array", "items": WORDS}},
            {"complaints": []},
        ),
        (
            "The winning numbers are 4, 8, 15, 16, 23 and 42.",
            {"numbers": {"type": "array", "items": NUMBER}},
            {"numbers": [4, 8, 15, 16, 23, 42]},
        ),
        (
            "Norway has 5.5 million people.",
            {"population_millions": NUMBER},
            {"population_millions": 5.5},
        ),
        (
            "Nora is 52 and lives in Ghent.",
            {"name": WORDS, "age": NUMBER, "city": PERHAPS},
            {"name": "Nora", "age": 52, "city": "Ghent"},
        ),
        (
            "Nora is 52.",
            {"name": WORDS, "age": NUMBER, "city": PERHAPS},
            {"name": "Nora", "age": 52, "city": None},
        ),
        ("Her name is Ida.", {"name": WORDS, "job": PERHAPS}, {"name": "Ida", "job": None}),
        (
            "The kettle costs 39 euros.",
            {"price": NUMBER, "warranty_years": {"type": ["number", "null"]}},
            {"price": 39, "warranty_years": None},
        ),
    ],
)
def test_what_a_text_tells(
    shipped: Engine, text: str, properties: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert extracted(shipped, text, **properties) == expected


def test_tools_that_need_not_be_called_get_said_dates_and_rows(shipped: Engine) -> None:
    days = {"type": "object", "properties": {"start": DAY, "end": DAY}}
    tool = Tool("request_leave", "Request leave", {**days, "required": ["start", "end"]})
    said = Turn("user", "I am off from 3 June 2027 to 9 June 2027")
    (call,) = shipped.answer(Request((said,), (tool,))).answer.calls
    assert call.arguments == {"start": "2027-06-03", "end": "2027-06-09"}
    row = {"type": "object", "properties": {"product": WORDS, "quantity": {"type": "integer"}}}
    lines = {"type": "array", "items": {**row, "required": ["product", "quantity"]}}
    schema = {"type": "object", "properties": {"lines": lines}, "required": ["lines"]}
    order = Tool("place_order", "Place an order", schema)
    (call,) = shipped.answer(
        Request((Turn("user", "Order 2 lamps and 3 chairs"),), (order,))
    ).answer.calls
    assert call.arguments["lines"] == [
        {"product": "lamps", "quantity": 2},
        {"product": "chairs", "quantity": 3},
    ]


@pytest.mark.parametrize("longest", [30, 60, 200])
@pytest.mark.parametrize(
    "schema",
    [
        PERSON,
        {"type": "array", "items": PERSON["properties"]["name"]},
        {"type": "object"},
        {"type": "object", "propertyNames": WORDS, "additionalProperties": {"type": "number"}},
        {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}},
    ],
)
def test_json_ends_within_its_tokens(shipped: Engine, schema: dict[str, Any], longest: int) -> None:
    if schema is PERSON and longest == 30:
        longest = 45
    asked = Request((Turn("user", TEXT),), format=JsonSchema(schema), max_tokens=longest)
    last = shipped.answer(asked)
    Draft202012Validator(schema).validate(json.loads(last.answer.content))
    assert last.reason == "stop"
    assert last.usage.answer_tokens <= longest


def test_a_value_may_be_nothing_but_null(shipped: Engine) -> None:
    properties = {"who": WORDS, "never": {"type": "null"}, "gone": {"const": None}}
    schema = {"type": "object", "properties": properties}
    asked = Request((Turn("user", "Send 20 euros to Bob."),), format=JsonSchema(schema))
    Draft202012Validator(schema).validate(json.loads(shipped.answer(asked).answer.content))


def test_tools_beside_a_format(shipped: Engine) -> None:
    wanted = JsonSchema({"type": "object", "properties": {"name": WORDS}, "required": ["name"]})
    for text in ("set a timer for ten minutes", "my name is Anna"):
        last = shipped.answer(Request((Turn("user", text),), TOOLS, format=wanted))
        assert bool(last.answer.calls) is not bool(last.answer.content)
        assert all(call.name in {tool.name for tool in TOOLS} for call in last.answer.calls)


@pytest.mark.parametrize(
    ("kind", "text", "draft"),
    [
        (WORDS, "Anna is 34", '{"name": "Anna"}'),
        ({"type": "string", "format": "date"}, "on 2024-03-12", '{"name": "2024-03-12"}'),
    ],
)
def test_a_prediction_is_read_as_a_call(
    shipped: Engine, kind: dict[str, Any], text: str, draft: str
) -> None:
    wanted = JsonSchema({"type": "object", "properties": {"name": kind}, "required": ["name"]})
    asked = Request((Turn("user", text),), format=wanted, draft=draft)
    assert shipped.answer(asked).usage.kept > 3


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "string", "format": "email"},
        {"type": "string", "format": "uri"},
        {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
        {"type": "string", "minLength": 60},
    ],
)
def test_values_that_letters_alone_never_end_are_ended(
    shipped: Engine, kind: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": {"a": kind}, "required": ["a"]}
    asked = Request((Turn("user", "The printer burns"),), format=JsonSchema(schema), max_tokens=48)
    last = shipped.answer(asked)
    assert last.reason == "stop"
    Draft202012Validator(schema).validate(json.loads(last.answer.content))


@pytest.mark.parametrize("choice", ["register", "required"])
def test_a_call_that_has_to_be_made_has_values_of_the_text(shipped: Engine, choice: str) -> None:
    tool = Tool("register", "Registers somebody.", PERSON)
    turns = (Turn("user", TEXT),)
    last = shipped.answer(Request(turns, (tool,), tool_choice=choice, max_tokens=128))
    (call,) = last.answer.calls
    assert call.name == "register"
    Draft202012Validator(PERSON).validate(call.arguments)
    assert call.arguments["name"] in TEXT
    assert call.arguments["address"]["street"] in TEXT


def test_a_tool_among_others_ends_too(shipped: Engine) -> None:
    rows = {"type": "array", "items": {"type": "object"}}
    table = {"type": "object", "properties": {"rows": rows}, "required": ["rows"]}
    tools = (Tool("write_table", "Writes a table.", table), *TOOLS)
    turns = (Turn("user", "write a table of everything"),)
    last = shipped.answer(Request(turns, tools, tool_choice="required", max_tokens=60))
    assert last.reason == "stop"
    assert last.answer.calls


LEAVE = """Employees may take up to twenty five days of paid leave in each year. Leave has to be \
requested in writing at least two weeks before it begins, and the manager answers within three \
working days. Unused leave of up to five days may be carried over into the next year, but must be \
taken before the end of March. Sick days do not count as leave. Whoever falls ill while on leave \
should tell the office on the first day. Parents may ask for further unpaid leave of up to four \
weeks a year."""


def test_a_tool_that_has_answered_is_not_called_again(shipped: Engine) -> None:
    words = {"type": "object", "properties": {"query": WORDS}, "required": ["query"]}
    search = Tool("search_handbook", "Search the staff handbook", words)
    turns = (
        Turn("user", "How many days of leave do I get?"),
        Turn("assistant", calls=(Call(search.name, {"query": "days of leave"}),)),
        Turn("tool", LEAVE),
    )
    told = shipped.answer(Request(turns, (search,))).answer
    assert told.content
    assert not told.calls
    done = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    final = Tool("final_result", "The answer, which ends this conversation", done)
    told = shipped.answer(Request(turns, (search, final), tool_choice="required")).answer
    assert {call.name for call in told.calls} == {final.name}
