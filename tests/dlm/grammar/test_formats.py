from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from jsonschema import Draft202012Validator, FormatChecker

from dlm.effort import Effort
from dlm.engine.engine import Engine, Finished, Request
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.formats import AnswerFormat, FormatError, JsonSchema, Lark, Regex
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.schemas import closed
from dlm.language.messages import Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from tests.dlm.loading.families.test_answers import written
from tests.dlm.schemas import DEFINITIONS, Schema, documents, values
from tests.dlm.tiny import model, tokenizer

SIZE = 352
FACTORY = GrammarFactory(tokenizer(), SIZE)
TICKET: Schema = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 12},
        "urgency": {"enum": ["low", "höch"]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "maxItems": 2},
        "owner": {"anyOf": [{"type": "string", "maxLength": 8}, {"type": "null"}]},
        "score": {"type": "number", "minimum": 0, "maximum": 10},
        "größe": {"type": "integer", "minimum": -3, "maximum": 40},
    },
    "required": ["title", "urgency", "tags", "owner", "score", "größe"],
    "additionalProperties": False,
    "$defs": {"Tag": {"type": "string", "pattern": "^[a-z]{1,4}$"}},
}
ENDLESS: Schema = {"type": "array", "items": {"type": "string"}, "minItems": 40}
FUZZED = settings(max_examples=150)


def validate(value: Any, schema: Schema) -> None:
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(value)


def babble(matcher: Matcher, text: str, longest: int = 200) -> list[int]:
    """Tokens of a model of random logits, which depend on a text."""
    generator = torch.Generator().manual_seed(zlib.crc32(text.encode()))
    out: list[int] = []
    while len(out) < longest:
        token = matcher.best(torch.randn(SIZE, generator=generator) * 2)
        out += [token] if token == Mark.END else [token, *matcher.advance(token)]
        if out[-1] == Mark.END:
            break
    return out


def goes_on(wanted: AnswerFormat, text: str) -> bool:
    """Whether a text is the beginning of one of the format."""
    matcher = FACTORY.matcher(AnswerRules(format=wanted))
    try:
        matcher.follow(tokenizer().encode(f" {text}"))
    except ValueError:
        return False
    return True


@FUZZED
@given(documents())
def test_whatever_the_model_answers_is_of_the_schema(schema: Schema) -> None:
    matcher = FACTORY.matcher(AnswerRules(format=JsonSchema(schema)))
    ids = babble(matcher, json.dumps(schema))
    if ids[-1] == Mark.END:
        text = tokenizer().decode(ids)
        assert text.startswith(" ")
        validate(json.loads(text), schema)


@FUZZED
@given(values(), values())
def test_whatever_the_model_calls_is_of_the_schema(first: Schema, second: Schema) -> None:
    parameters = {
        "type": "object",
        "properties": {"größe": first, "b": second},
        "required": ["größe"],
        "$defs": DEFINITIONS,
    }
    tool = Tool("do", "Does it.", parameters)
    matcher = FACTORY.matcher(AnswerRules((tool,), "required", parallel=False))
    ids = babble(matcher, json.dumps(parameters))
    if ids[-1] == Mark.END:
        (call,) = Template(tokenizer()).answer(ids, [tool]).calls
        validate(dict(call.arguments), parameters)


@pytest.fixture(scope="module")
def babbler() -> Iterator[Engine]:
    made = Engine(model(3), tokenizer())
    yield made
    made.close()


def ask(engine: Engine, wanted: AnswerFormat, effort: Effort, **options: Any) -> Finished:
    turns = (Turn("user", "The printer on floor 3 burns, please help at once!"),)
    fields = {"max_tokens": 150, **options}
    return engine.answer(Request(turns, format=wanted, effort=effort, **fields))


def is_of(last: Finished, schema: Schema) -> None:
    if last.reason == "stop":
        validate(json.loads(last.answer.content), schema)
    else:
        assert last.reason == "length"
        assert goes_on(JsonSchema(schema), last.answer.content)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("schema", [TICKET, DEFINITIONS["Tree"] | {"$defs": DEFINITIONS}])
@pytest.mark.parametrize("seed", [None, 1])
def test_at_every_effort(babbler: Engine, schema: Schema, effort: Effort, seed: int | None) -> None:
    sampled = {} if seed is None else {"temperature": 1.0, "seed": seed}
    is_of(ask(babbler, JsonSchema(schema), effort, **sampled), schema)


@pytest.fixture(scope="module", params=["sdar", "llada"])
def undrafted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Checkpoints by chance whose tokens are committed as they are denoised, in any order."""
    directory = tmp_path_factory.mktemp("families") / request.param
    made = Engine.load(written(directory, request.param), torch.float32, "cpu")
    yield made
    made.close()


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("sampled", [{}, {"temperature": 1.0, "seed": 1}])
def test_a_token_is_committed_only_where_an_answer_remains(
    undrafted: Engine, effort: Effort, sampled: dict[str, Any]
) -> None:
    is_of(ask(undrafted, JsonSchema(TICKET), effort, max_tokens=120, **sampled), TICKET)


def test_space_before_a_text_is_part_of_it(undrafted: Engine) -> None:
    last = ask(undrafted, Regex(" ab"), Effort.INSTANT)
    assert (last.answer.content, last.reason) == (" ab", "stop")


@pytest.mark.parametrize("longest", [1, 5, 40])
def test_what_is_cut_is_the_beginning_of_an_answer(babbler: Engine, longest: int) -> None:
    last = ask(babbler, JsonSchema(ENDLESS), Effort.INSTANT, max_tokens=longest)
    assert last.reason == "length"
    assert last.usage.answer_tokens == longest
    assert goes_on(JsonSchema(ENDLESS), last.answer.content)
    assert not goes_on(JsonSchema(ENDLESS), "{")


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("pattern", ["a{3}/b[0-9]{2} ", r"\d{2}\/\d\s", "(?:ja|nein)!", r" x\\y"])
def test_an_answer_matches_its_pattern(babbler: Engine, pattern: str, effort: Effort) -> None:
    last = ask(babbler, Regex(pattern), effort)
    assert last.reason == "stop"
    assert re.fullmatch(pattern, last.answer.content)


@pytest.mark.parametrize("effort", [Effort.INSTANT, Effort.HIGH])
def test_a_pattern_that_is_too_complex_is_the_formats_fault(
    babbler: Engine, effort: Effort
) -> None:
    with pytest.raises(FormatError, match="too many expressions"):
        ask(babbler, Regex("(((a{100}){100}){100})"), effort)


def test_an_answer_is_derived_from_its_grammar(babbler: Engine) -> None:
    grammar = 'start: "go " WAY ("," " " WAY)~1..2\nWAY: "left" | "right"\n%ignore "#"'
    last = ask(babbler, Lark(grammar), Effort.INSTANT)
    assert re.fullmatch(r"#*go #*(left|right)(#*,#* #*(left|right)){1,2}#*", last.answer.content)


# What Zod 4 and Pydantic up to 2.13 write.
EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9\-]+\.)+[A-Za-z]{2,}$"
DURATION = r"^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)$"
LIMITED = r"(?:\d{0,3}|(?=[\d.]{1,6}0*$)\d{0,3}\.\d{0,2}0*$)"
LONG = r"(?:\d{0,5}|(?=[\d.]{1,6}0*$)\d*\.\d*0*$)"


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"format": "email", "pattern": EMAIL}, "a.b@c.de", "a..b@c.de"),
        ({"format": "duration", "pattern": DURATION}, "P1DT2H", "P1234567D"),
        ({"format": "time", "pattern": r"^\d\d:\d\d$"}, "12:30", "12:30:00Z"),
        ({"format": "date", "pattern": "^2027"}, "2027-01-02", "2026-01-02"),
        *(
            ({"pattern": rf"^(?!^[-+.]*$)[+-]?0*{digits}"}, taken, refused)
            for digits, taken, refused in (
                (r"\d*\.?\d*$", "-12.5", "-."),
                (r"\d*\.?\d{0,2}0*$", "1234.56", "1.234"),
                (LONG, "123.45", "1234.567"),
                (LIMITED, "123.45", "1234.5"),
                (LIMITED.replace("3", "0").replace("0,2", "0,5"), "0.12345", "1.2"),
            )
        ),
    ],
)
def test_patterns_of_client_libraries(schema: Schema, taken: str, refused: str) -> None:
    wanted = JsonSchema({"anyOf": [{"type": "string", **schema}, {"type": "null"}]})
    assert re.search(schema["pattern"], taken)
    assert goes_on(wanted, f'"{taken}"')
    assert not goes_on(wanted, f'"{refused}"')
    # So is what was said.
    fits = FACTORY.accepts({"type": "string", **schema})
    assert fits(taken)
    assert not fits(refused) or schema.get("format") == "duration"


RULES = "".join(f"r{i}: r{i + 1}\n" for i in range(5000))
CHAIN = {f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}]} for i in range(1600)} | {"D1600": {}}


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (JsonSchema({"type": "array", "uniqueItems": True}), "uniqueItems"),
        (JsonSchema({"not": {"type": "string"}}), "not"),
        (JsonSchema({"$ref": "#/$defs/Gone"}), "Gone"),
        (JsonSchema({"type": "integer", "minimum": 3, "maximum": 1}), "minimum"),
        (JsonSchema({"properties": {"a": {"$ref": "#/properties/a"}}}), "properties/a.*leads back"),
        (JsonSchema({"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}}), "leads back"),
        (JsonSchema({"oneOf": [{"type": "number"}, {"type": "integer"}]}), "oneOf"),
        (Regex("(?=a)b"), "look-around"),
        (Lark("start: nothing"), "nothing"),
        (Lark("start: <[2]>"), "special tokens"),
        (Lark('start: /a\n"/ <[2]> "b/"'), "special tokens"),
        (Lark('start: "a\\"" <[2]> "b"'), "special tokens"),
        (Lark('start: "a" // "\n <[2]> // "'), "special tokens"),
        (Lark(f"start: r0\n{RULES}r5000: /a/"), "rules and brackets"),
        (JsonSchema({"items": {"$ref": "#/$defs/D0"}, "$defs": CHAIN}), "levels"),
        *(
            (JsonSchema({"properties": {"a": {}}, "required": required}), "required")
            for required in (None, 5, [["a"]], [{"x": 1}])
        ),
    ],
)
def test_what_no_grammar_can_be_made_of_is_named(wanted: AnswerFormat, told: str) -> None:
    with pytest.raises(FormatError, match=told) as raised:
        FACTORY.matcher(AnswerRules(format=wanted))
    assert raised.value.tool is None
    assert "%json" not in str(raised.value)


@pytest.mark.parametrize("grammar", [r'start: "<[" /<[a|]|<\|/ "\"<[1]>"', "start: /a<[b]\n/"])
def test_literals_of_a_grammar_may_hold_anything(grammar: str) -> None:
    FACTORY.matcher(AnswerRules(format=Lark(grammar)))


def test_a_parameter_at_fault_is_named() -> None:
    tools = (
        Tool("fine", "Fine.", {"properties": {"a": {"type": "integer"}}}),
        Tool("bad", "Bad.", {"properties": {"a": {}, "b": {"type": "array", "contains": {}}}}),
    )
    with pytest.raises(FormatError, match=r"^bad\.b: .*contains") as raised:
        FACTORY.matcher(AnswerRules(tools))
    assert (raised.value.tool, raised.value.parameter) == ("bad", "b")


def test_behind_a_tool_without_words_to_copy_the_right_one_is_named() -> None:
    wordless = Tool("note", "", {"properties": {"text": {"type": "string"}}, "required": ["text"]})
    fine = Tool("fine", "", {"properties": {"a": {"type": "integer"}}})
    bad = Tool("bad", "", {"properties": {"a": {"type": "array", "contains": {}}}})
    with pytest.raises(FormatError, match=r"^bad\.a: .*contains"):
        FACTORY.matcher(AnswerRules((wordless, fine, bad), copy_sources=()))


def test_no_tool_is_at_fault_for_a_line_of_the_formats_grammar() -> None:
    tool = Tool("fine", "", {"properties": {"a": {"type": "integer"}}})
    for blank in range(6):
        wanted = Lark("start: x\n" + "\n" * blank + "x: nothing")
        with pytest.raises(FormatError, match=r"^format: .*nothing") as raised:
            FACTORY.matcher(AnswerRules((tool,), format=wanted))
        assert raised.value.tool is None


def test_a_format_beside_tools() -> None:
    tool = Tool("look", "Looks.", {})
    rules = AnswerRules((tool,), format=Regex("yes|no"))
    for seed in range(20):
        ids = babble(FACTORY.matcher(rules), str(seed))
        answer = Template(tokenizer()).answer(ids, [tool])
        assert bool(answer.calls) is not bool(answer.content)
        assert answer.content in ("", "yes", "no")


def test_properties_that_nobody_named_are_left_out_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"rooms": {"type": "array", "items": inner}}}
    made = closed(schema)
    assert made["additionalProperties"] is False
    assert made["properties"]["rooms"]["items"] == {**inner, "additionalProperties": False}
    assert "additionalProperties" not in schema


def test_properties_may_be_named_as_keywords_are() -> None:
    names = ("properties", "required", "enum", "default", "not", "allOf", "$ref", "anyOf")
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    named = dict.fromkeys(names, inner)
    schema = {"type": "object", "properties": named, "$defs": named, "required": list(names)}
    shut = {**inner, "additionalProperties": False}
    made = closed(schema)
    assert made["properties"] == made["$defs"] == dict.fromkeys(names, shut)
    assert made["additionalProperties"] is False
    # They are what an answer has, and all that it has.
    ids = babble(FACTORY.matcher(AnswerRules(format=JsonSchema(schema))), "names", 2000)
    told = json.loads(tokenizer().decode(ids))
    assert list(told) == list(names)
    assert all(list(value) == ["a"] for value in told.values())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "null"}},
        {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}]},
    ],
)
def test_schemas_that_want_more_or_are_made_of_parts_stay_open(schema: dict[str, Any]) -> None:
    assert closed(schema) == schema
