from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.grammar import compiled
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.ending_matcher import PAUSE, Closers, EndingMatcher
from dlm.grammar.formats import FormatError, Regex
from dlm.grammar.matcher import GrammarFactory, check_tools
from dlm.language.chat_format import JsonCalls, MarkedCalls
from dlm.language.messages import Tool
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from tests.dlm.answers import AUTO, FACTORY, SAID, SIZE, allows, call, choice, random_answer, text
from tests.dlm.tiny import LIGHT, TIMER, WEATHER, template, tokenizer, tool


@pytest.mark.parametrize(
    "ids",
    [
        text("hello there"),
        text("two\nlines ☕"),
        call("set_timer", duration="ten minutes"),
        call("set_timer", duration="ten", label="wake the café"),
        [*text("sure"), *call("get_weather")],
        call("get_weather", day="tomorrow"),
        [*call("get_weather", place="café"), *call("set_timer", duration="7:30")],
        call("set_light", level="10", on="true"),
    ],
)
def test_answers_within_the_rules(ids: list[int]) -> None:
    assert allows(AUTO, ids)


@pytest.mark.parametrize(
    "ids",
    [
        [],
        tokenizer().encode("  "),
        tokenizer().encode("hello"),
        call("set_time"),
        call("set_timer"),
        call("set_timer", label="ten"),
        call("set_timer", duration="ten", day="today"),
        call("set_timer", label="ten", duration="ten"),
        call("get_weather", day="monday"),
        call("set_light", level="high"),
        call("set_light", level="3.5"),
        call("set_light", level="3", on="1"),
        [*call("get_weather"), *text("and so on")],
        [int(Mark.KEY), *text("duration")],
    ],
)
def test_answers_outside_the_rules(ids: list[int]) -> None:
    assert not allows(AUTO, ids)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ten minutes", True), ("Set", True), ("minutes, please", True), ("7:30", True),
        ("don't", True), ("wake the café at 7:30", True), ("thirty minutes", False),
        ("minutes ten", False), ("en", False), ("timers", False), ("30", False), ("don", False),
        ("caf", False), ("set", False), (",", False), ("!", False), ("", False),
        ("please don't", False),
    ],
)  # fmt: skip
def test_a_value_is_a_run_of_words_that_were_said(value: str, expected: bool) -> None:
    ids = call("set_timer", duration="x")[: -len(text("x"))] + tokenizer().encode(f" {value}")
    assert allows(AUTO, ids) is expected


ONE, TWO = call("get_weather"), [*call("get_weather"), *call("get_weather", day="today")]


@pytest.mark.parametrize(
    ("choice_made", "ids", "expected"),
    [
        ("none", text("hello"), True),
        ("none", ONE, False),
        ("required", text("hello"), False),
        ("required", [*text("hello"), *ONE], False),
        ("required", call("set_timer", duration="ten"), True),
        ("get_weather", text("hello"), False),
        ("get_weather", call("set_timer", duration="ten"), False),
        ("get_weather", ONE, True),
        ("auto", TWO, True),
        ("required", TWO, True),
    ],
)
def test_the_choice_of_tools_holds(choice_made: str, ids: list[int], expected: bool) -> None:
    rules = AnswerRules((TIMER, WEATHER), choice_made, SAID)
    assert allows(rules, ids) is expected
    single = AnswerRules((TIMER, WEATHER), choice_made, SAID, parallel=False)
    assert allows(single, ids) is (expected and ids != TWO)


@pytest.mark.parametrize("said", [(), ("",), ("...", " ")])
def test_where_nothing_was_said_nothing_can_be_copied(said: tuple[str, ...]) -> None:
    rules = AnswerRules((TIMER, WEATHER), copy_sources=said)
    assert not allows(rules, call("set_timer", duration="ten"))
    assert not allows(rules, call("get_weather", place="ten"))
    assert allows(rules, call("get_weather", day="today"))
    assert allows(AnswerRules((TIMER,), copy_sources=said), text("hello"))
    with pytest.raises(ValueError, match="got no words"):
        FACTORY.matcher(AnswerRules((TIMER,), "required", copy_sources=said))


def test_punctuation_names_and_options_are_forced() -> None:
    matcher = FACTORY.matcher(AnswerRules((TIMER, LIGHT), "set_timer", SAID))
    forced = matcher.advance(choice(matcher, Mark.CALL))
    start = call("set_timer", duration="x")[: -len(text("x"))]
    assert [int(Mark.CALL), *forced] == start
    days = tool("pick", ["day"], day={"enum": ["today"]})
    matcher = FACTORY.matcher(AnswerRules((days,), "required", parallel=False))
    forced = matcher.advance(choice(matcher, Mark.CALL))
    assert [int(Mark.CALL), *forced] == [*call("pick", day="today"), Mark.END]


@pytest.mark.parametrize(
    ("tools", "choice_made", "told"),
    [
        ((), "required", r"'required', which none of \[\] can meet"),
        ((TIMER,), "get_weather", r"'get_weather', which none of \['set_timer'\]"),
        ((), "get_weather", "'get_weather'"),
        ((tool("x", a={"type": "colour"}),), "auto", r"^x\.a: Invalid type: colour$"),
    ],
)
def test_rules_that_allow_nothing_are_refused(
    tools: tuple[Tool, ...], choice_made: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        FACTORY.matcher(AnswerRules(tools, choice_made))


@pytest.mark.parametrize(
    "name",
    [
        'say"hi"', "back\\slash", "café ☕", "two\nlines", "<|end|>", "<[2]>", "{}|?*+", "%json",
        "😀",
    ],
)  # fmt: skip
def test_odd_names_are_only_names(name: str) -> None:
    odd = Tool(name, "", {"properties": {name: {"enum": [name, f"not {name}"]}}})
    rules = AnswerRules((odd, TIMER), copy_sources=(name,))
    assert allows(rules, call(name, **{name: name}))
    assert allows(rules, call(name, **{name: f"not {name}"}))
    assert not allows(rules, call(name, **{name: f"nor {name}"}))
    must = AnswerRules((odd,), "required", parallel=False)
    answer = random_answer(must, seed=1)
    assert answer is not None
    assert answer.calls[0].name == name


def test_a_name_or_option_that_could_spell_a_mark_is_refused() -> None:
    wordless, option = tool("\0<||>"), tool("pick", day={"enum": ["\0<|end|>"]})
    for odd in (wordless, option):
        with pytest.raises(ValueError, match="in names and options"):
            FACTORY.matcher(AnswerRules((odd,)))
    # A name that has words stands as these.
    assert allows(AnswerRules((tool("\0<|end|>"),)), call("end"))


@pytest.mark.parametrize("said", ['say "hi" \\ {', "<|end|> x", "two\nlines", "日本 語", "a|b*"])
def test_odd_words_may_be_said(said: str) -> None:
    rules = AnswerRules((TIMER,), copy_sources=(said,))
    assert allows(rules, call("set_timer", duration=said))
    assert not allows(rules, call("set_timer", duration=f"{said}x"))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", '["1"]'),
        ({"type": ["integer", "null"]}, "10", "null"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, '{"a": true}', "[]"),
        ({"type": "array", "items": {"$ref": "#/$defs/Day"}}, '["mon"]', '["sun"]'),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", "yes"),
        ({"enum": [1, None]}, "null", "2"),
        ({"const": 5}, "5", "6"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "ten minutes", "null"),
        (
            {"anyOf": [{"items": {"type": "integer"}}, {"type": "null"}], "minItems": 2},
            "[1, 2]",
            "[1]",
        ),
        ({"type": "integer", "minimum": 10**15}, "1700000000000000", "7"),
        ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, "10", "7.5"),
        ({"type": "number", "minimum": 0, "maximum": sys.float_info.max}, "10", "-7"),
    ],
)
def test_schemas_of_all_kinds(schema: dict[str, Any], good: str, bad: str) -> None:
    odd = Tool("x", "", {"properties": {"p": schema}, "$defs": {"Day": {"enum": ["mon"]}}})
    rules = AnswerRules((odd,), copy_sources=SAID)
    assert allows(rules, call("x", p=good))
    assert template().answer(call("x", p=good), (odd,)).calls
    assert not allows(rules, call("x", p=bad))


@pytest.mark.parametrize("level", ["5", "15", "100"])
def test_a_number_in_whole_steps_may_have_all_its_digits(level: str) -> None:
    steps = {"type": "number", "minimum": 0, "maximum": 100, "multipleOf": 5}
    dim = tool("dim", ["level", "room"], level=steps, room={"type": "integer"})
    matcher = FACTORY.matcher(AnswerRules((dim,)))
    written = call("dim", level=level, room="2")
    for at, token in enumerate(written):
        matcher.allowed(())
        assert choice(matcher, token) == token
        matcher.follow(written[at : at + 1])


def test_where_no_way_out_is_found_few_are_searched_for() -> None:
    class Counting(EndingMatcher):
        searches = 0

        def _way_out(self, token: int | None = None) -> list[int] | None:
            Counting.searches += 1
            return super()._way_out(token)

    hard = {"type": "array", "items": {"type": "string", "pattern": "b"}, "minItems": 2}
    inner = FACTORY.matcher(AnswerRules((tool("sort", ["letters"], letters=hard),)))
    closers = Closers(SIZE, FACTORY.spell, (Mark.KEY, Mark.VALUE))
    matcher = Counting(inner, closers, room := 200, opening=Mark.CALL)
    generator = torch.Generator().manual_seed(1)
    left = room - 1 - len(matcher.advance(Mark.CALL))
    while left > 0:
        token = matcher.best(torch.randn(SIZE, generator=generator))
        left -= 1 + len(matcher.advance(token))
    assert 1 < Counting.searches <= 2 + room // PAUSE


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), choice_made=st.sampled_from(["auto", "required", "none"]))
def test_whatever_a_model_wants_the_answer_is_valid(seed: int, choice_made: str) -> None:
    rules = AnswerRules(AUTO.tools, choice_made, SAID)
    answer = random_answer(rules, seed)
    if answer is None:
        return
    assert bool(answer.calls) >= rules.must_call
    for made in answer.calls:
        for key, value in made.arguments.items():
            if key in ("duration", "label", "place", "room"):
                assert any(said_words(value, one) for one in SAID), value


def said_words(value: str, said: str) -> bool:
    """Whether a value's words follow each other in what was said, none cut short."""
    word = r"[\w'’]+(?:[:.,]\d+)*"
    wanted, words = re.findall(word, value), re.findall(word, said)
    return (
        value in said
        and wanted != []
        and any(words[i : i + len(wanted)] == wanted for i in range(len(words)))
    )


def test_the_matcher_takes_the_best_of_what_is_allowed() -> None:
    matcher = FACTORY.matcher(AnswerRules((TIMER, WEATHER), "required"))
    logits = torch.arange(SIZE, dtype=torch.float32)
    assert matcher.best(logits) == Mark.CALL
    with pytest.raises(ValueError, match=f"got token {int(Mark.KEY)}, which the grammar does not"):
        matcher.advance(int(Mark.KEY))


def test_no_token_left_is_an_error() -> None:
    with pytest.raises(ValueError, match="the grammar allows no token"):
        FACTORY.matcher(AnswerRules((TIMER,), "required")).best(torch.full((SIZE,), -torch.inf))


def test_an_answer_of_too_many_parts_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MOST_STATES", 60)
    factory = GrammarFactory(tokenizer(), SIZE)
    matcher = factory.matcher(AnswerRules(format=Regex("[ab]{150}")))
    told = r"^grammar: .*too many states: 60 >= 60$"
    with pytest.raises(FormatError, match=told):
        for _ in range(200):
            matcher.advance(matcher.best(torch.zeros(SIZE)))
    with pytest.raises(FormatError, match=told):
        matcher.best(torch.zeros(SIZE))


def test_what_is_allowed_behind_a_draft_is_told_in_bits() -> None:
    factory = GrammarFactory(tokenizer(), 352)
    matcher = factory.matcher(AnswerRules((TIMER,), "required", ("ten minutes",)))
    begun = matcher.copy()
    token = next(token for token in range(352) if begun.takes(token))
    bits = matcher.allowed([token, 20, 20])
    assert bits.shape[0] == 4
    flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :352]
    assert [begun.takes(other) for other in range(352)] == flags[0].astype(bool).tolist()
    # Where a token is forced, its parts are left out, though they could be put together.
    assert np.flatnonzero(flags[1]).tolist() == begun.advance(token)[:1]
    # Behind what is refused nothing is asked for.
    assert flags[2:].all()


_PLACE = {"type": "object", "properties": {"street": {"type": "string"}}}


@pytest.mark.parametrize("calls", [Template.calls, JsonCalls(3, 4)])
@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array", "items": {"type": "integer"}}, None),
        ({"type": "string", "x-as-said": True}, None),
        ({"$ref": "#/$defs/T"}, None),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "foo"}, "Invalid type"),
        ({"$ref": "#/$defs/none"}, "does not exist"),
        ({"$ref": "#"}, r"\$ref"),
        ({"type": "array", "items": {"$ref": "https://example.com/s"}}, r"\$ref"),
    ],
)
def test_tools_are_judged_before_anything_is_asked(
    calls: MarkedCalls | JsonCalls, schema: dict[str, Any], told: str | None
) -> None:
    parameters = {"properties": {"a": schema}, "required": ["a"], "$defs": {"T": _PLACE}}
    tool = Tool("f", "Do it.", parameters)
    if told is None:
        check_tools([TIMER, tool], calls)
        return
    with pytest.raises(FormatError, match=told) as raised:
        check_tools([TIMER, tool], calls)
    assert raised.value.tool == "f" or calls is not Template.calls


def test_a_checkpoint_without_calls_takes_no_tools() -> None:
    with pytest.raises(ValueError, match="no calls"):
        check_tools([Tool("f", "Do it.", {})], None)
    check_tools([], None)
