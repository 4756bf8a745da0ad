"""Values that a reader must be able to read: spans that it reads, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.readable_spans import readable, refers_back
from dlm.language.messages import Reader, Tool
from tests.dlm.answers import FACTORY, SIZE, allows, call, generate
from tests.dlm.tiny import WORDS, template, tool

ORDER = tool("order", ["drink"], drink=WORDS, size=WORDS, note=WORDS, count=WORDS)
DRINKS, SIZES = ("latte", "flat white", "mocha"), ("small", "large", "extra large")


def one_of(*known: str, anywhere: bool = False) -> Reader:
    return Reader(lambda said: said if said in known else None, anywhere=anywhere)


READERS = {"drink": one_of(*DRINKS), "size": one_of(*SIZES), "count": one_of("two", "three")}
TYPED = replace(ORDER, readers=READERS)


def rules(*said: str, made: Tool = TYPED) -> AnswerRules:
    return AnswerRules((made,), "required", said, user_texts=said)


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        ("a large latte", {"drink": "latte", "size": "large"}, True),
        ("a large latte", {"drink": "latte"}, True),
        ("a large latte", {"drink": "large latte"}, False),
        ("a large latte", {"drink": "latte", "size": "a large"}, False),
        ("an extra large latte", {"drink": "latte", "size": "extra large"}, True),
        # What has no reader is any span of unused words.
        ("a large latte for my sister", {"drink": "latte", "note": "for my sister"}, True),
        ("a large latte for my sister", {"drink": "latte", "note": "latte for"}, False),
        # Nothing can be read as a size or a count, so neither is begun.
        ("a latte for five", {"drink": "latte", "size": "five"}, False),
        ("a latte for five", {"drink": "latte", "note": "for", "count": "five"}, False),
        ("a latte for two", {"drink": "latte", "note": "for", "count": "two"}, True),
        # A required value that nothing can be read as is left to the model.
        ("two scones", {"drink": "scones", "count": "two"}, True),
    ],
)
def test_values_are_what_their_readers_read(
    said: str, values: dict[str, str], expected: bool
) -> None:
    assert allows(rules(said), call("order", **values)) is expected


def test_a_call_may_have_each_readable_span_once() -> None:
    both = replace(ORDER, readers={**READERS, "size": one_of("two"), "count": one_of("two")})
    twice = {"drink": "latte", "size": "two", "count": "two"}
    assert allows(rules("two lattes no two latte", made=both), call("order", **twice))
    assert not allows(rules("two latte", made=both), call("order", **twice))


@pytest.mark.parametrize(
    ("newest", "anywhere", "expected"),
    [
        ("the same with oat milk", False, False),
        ("make it a large", True, True),
        ("the wee one is large", False, False),
        ("a cheese toastie", True, False),
    ],
)
def test_what_was_named_before_counts_where_the_newest_message_refers_to_it(
    newest: str, anywhere: bool, expected: bool
) -> None:
    made = replace(ORDER, readers={"drink": one_of(*DRINKS, anywhere=anywhere)})
    told = rules("a mocha please", newest, made=made)
    assert allows(told, call("order", drink="mocha"))
    assert allows(told, call("order", drink=newest.split()[1])) is not expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("turn it off", True), ("the other one", True), ("a scone", False), ("fit items", False)],
)
def test_words_that_refer_back(text: str, expected: bool) -> None:
    assert refers_back(text) is expected


def minutes(said: str) -> int | None:
    """A length of time, as far as a test needs it."""
    read = {"ten": 10, "ten minutes": 10, "ten minutes and a half": 11, "a half": 1, "at five": 5}
    return read.get(said)


@pytest.mark.parametrize(
    ("text", "whole", "expected"),
    [
        ("for ten minutes", True, ["ten", "ten minutes"]),
        ("ten minutes and a half", True, ["ten minutes and a half"]),
        ("ten or at five", True, ["ten", "at five"]),
        ("ten minutes and a half", False,
         ["ten", "ten minutes", "ten minutes and a half", "a half"]),
    ],
)  # fmt: skip
def test_a_part_of_what_means_something_else_is_no_value(
    text: str, whole: bool, expected: list[str]
) -> None:
    assert readable([text], Reader(minutes, whole=whole)) == expected


def test_what_hardly_reads_counts_where_nothing_else_does() -> None:
    reader = Reader(lambda said: said if said == "five" else None, hardly=minutes)
    assert readable(["ten or five"], reader) == ["five"]
    assert readable(["ten or six"], reader) == ["ten"]


def test_long_spans_are_not_read() -> None:
    read: list[str] = []
    assert not readable(["word " * 40], Reader(read.append))
    assert max(len(one.split()) for one in read) == 12


SAID = (
    st.lists(
        st.sampled_from(["latte", "large", "two", "a", "sister", "three", "white", ",", "flat"]),
        min_size=1,
        max_size=9,
    )
    .map(" ".join)
    .filter(lambda text: text.strip(" ,") != "")
)


@settings(max_examples=30)
@given(said=SAID, seed=st.integers(0, 2**31))
def test_whatever_is_wanted_no_answer_runs_into_a_dead_end(said: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    matcher = FACTORY.matcher(replace(rules(said), parallel=False))
    # Raises where nothing may come next.
    ids = generate(matcher, lambda: torch.randn(SIZE, generator=generator), longest=200)
    for made in template().answer(ids, (TYPED,)).calls if ids else ():
        for name, value in made.arguments.items():
            reader = READERS.get(name)
            if reader is not None and readable([said], reader):
                assert reader.read(value) or _used(said, made.arguments, name)


def _used(said: str, arguments: Mapping[str, str], name: str) -> bool:
    """Whether other values have used what could be read."""
    others = [value for key, value in arguments.items() if key != name]
    return any(one in other for other in others for one in readable([said], READERS[name]))


def test_a_message_that_names_a_thing_means_no_other() -> None:
    made = replace(ORDER, readers={"drink": one_of(*DRINKS, anywhere=True)})
    told = rules("a mocha please", "scrap the latte", made=made)
    assert allows(told, call("order", drink="latte"))
    assert not allows(told, call("order", drink="mocha"))
