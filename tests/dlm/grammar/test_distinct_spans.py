from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.decoding.verify import draft_under_grammar
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.distinct_spans import Spans
from dlm.grammar.matcher import Matcher
from dlm.language.tokenizer import Mark
from tests.dlm.answers import FACTORY, SIZE, allows, call, generate
from tests.dlm.tiny import WORDS, template, tool

DRINK = tool("order", ["drink"], drink=WORDS, shots=WORDS, sugar=WORDS)
KEYS = tuple(DRINK.properties)
FREE = tool("note", text=WORDS, mood={"enum": ["ten", "two"]}, count={"type": "integer"})
LATTE = ("A latte with a double shot, please!",)


def order(*values: str) -> list[int]:
    return call("order", **dict(zip(KEYS, values, strict=False)))


def rules(*said: str) -> AnswerRules:
    return AnswerRules((DRINK, FREE), "required", said)


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        (LATTE, ("latte", "a double shot"), True),
        (LATTE, ("a double shot", "a double shot"), False),
        (LATTE, ("latte", "a double shot", "shot"), False),
        (LATTE, ("latte", "shot, please", "double"), True),
        (LATTE, ("latte", "shot", "double shot"), False),
        (LATTE, ("with a double shot", "latte with"), False),
        # Said twice, whichever was meant first.
        (("a latte and a tea",), ("a", "a latte"), True),
        (("a latte and a tea",), ("a", "a tea"), True),
        (("a latte and a tea",), ("a", "a latte", "a tea"), False),
        (("a latte", "a latte"), ("a latte", "a latte"), True),
        (("a latte", "a latte"), ("a latte", "a", "latte"), True),
        (("a latte", "a latte"), ("a latte", "a", "a"), False),
        # Nothing is left: a call must come to an end.
        (("latte",), ("latte", "latte"), True),
        (("a latte.",), ("a latte", "latte", "a"), True),
        (("a latte, tea",), ("a latte", "latte"), False),
        # Each word has its ends: "t" of tea is no word.
        (("the tea",), ("the", "t"), False),
        (("7:30 30",), ("7:30", "30"), True),
        (("don't café",), ("don't", "café"), True),
        (("don't café",), ("café", "café"), False),
        (("Anna's tea",), ("Anna", "tea"), True),
        (("Anna's tea",), ("Anna's", "tea"), True),
        (("Anna's tea",), ("'s",), False),
        (("to jo.b@shop.net, now",), ("jo.b@shop.net", "now"), True),
        (("to jo.b@shop.net, now",), ("jo",), False),
        (("see https://a.org/b/2.", "it"), ("https://a.org/b/2", "it"), True),
        (("see https://a.org/b/2.",), ("https",), False),
    ],
)
def test_a_word_serves_one_value_of_a_call(
    said: tuple[str, ...], values: tuple[str, ...], expected: bool
) -> None:
    assert allows(rules(*said), order(*values)) is expected


POUR = tool("pour", ["much"], much={"type": "integer"}, of={"type": "integer"})


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        (("Two hundred and five, please",), ("205",), True),
        (("Two hundred and five, please",), ("20",), False),
        (("number four two seven",), ("427",), True),
        (("number four two seven",), ("42",), False),
        (("two of pet fifteen",), ("2", "15"), True),
        (("two of pet fifteen",), ("2", "2"), False),
        (("pet twelve, é", "delete it"), ("12",), True),
        (("pet twelve, é", "delete it"), ("3",), False),
        (("half a dozen of 7",), ("6",), True),
        (("half a dozen of 7",), ("5",), False),
        (("at 7:30, 10kg",), ("7", "30"), True),
        (("at 7:30, 10kg",), ("10",), True),
        (("at 7:30, 10kg",), ("15",), False),
        # What is not read may be any number, and where nothing is said so may all.
        (("two thirds of 7",), ("5",), True),
        (("two thirds of 7",), ("7", "5"), False),
        (("all of it",), ("31",), True),
        (("only two",), ("2", "31"), True),
    ],
)
def test_a_number_is_one_that_was_said(
    said: tuple[str, ...], values: tuple[str, ...], expected: bool
) -> None:
    made = call("pour", **dict(zip(POUR.properties, values, strict=False)))
    assert allows(AnswerRules((POUR,), "required", said), made) is expected


SUM = tool("add", ["a"], a={"type": "integer"}, b={"type": "integer"}, total={"type": "integer"})
NAMED = tool("book", ["title"], title=WORDS, old_title=WORDS, pages={"type": "integer"})


@pytest.mark.parametrize(
    ("said", "calls", "expected"),
    [
        # Each call may have any of the numbers that its name is given.
        ("a = 4, b = 5 and a = 6, b = 7", [{"a": "4", "b": "5"}, {"a": "6", "b": "7"}], True),
        ("a = 4, b = 5 and a = 6, b = 7", [{"a": "5"}], False),
        ("a is $4, b: 5", [{"a": "4", "b": "5"}], True),
        # A sum need not be said.
        ("a = 4, b = 5", [{"a": "4", "total": "5"}], True),
        ("4 and 5", [{"a": "9"}], False),
    ],
)
def test_a_number_is_the_one_that_its_name_is_given(
    said: str, calls: list[dict[str, str]], expected: bool
) -> None:
    made = [token for one in calls for token in call("add", **one)]
    assert allows(AnswerRules((SUM,), "required", (said,), user_texts=(said,)), made) is expected


def test_a_computed_number_need_not_be_said() -> None:
    rules = AnswerRules((SUM,), "required", ("two apples",))
    assert allows(rules, call("add", a="2"))
    only = AnswerRules((tool("sum_up", [], total={"type": "integer"}),), "required", ("4 and 5",))
    assert allows(only, call("sum_up", total="9"))
    assert allows(only, call("sum_up", total="4"))


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        ('title="Blue Hour", pages=12', {"title": "Blue Hour", "pages": "12"}, True),
        ('title="Blue Hour", pages=12', {"title": "Blue"}, False),
        ("title: 'Blue' for it, old title: 'Red'", {"title": "Blue", "old_title": "Red"}, True),
        ("title is 'Blue' and old_title is 'Red'", {"title": "Red"}, False),
        ("the title is Blue", {"title": "title"}, True),
    ],
)
def test_a_string_is_the_quoted_one_that_its_name_is_given(
    said: str, values: dict[str, str], expected: bool
) -> None:
    rules = AnswerRules((NAMED,), "required", (said,), user_texts=(said,))
    assert allows(rules, call("book", **values)) is expected


def test_each_call_starts_afresh() -> None:
    assert allows(rules(*LATTE), [*order("latte"), *order("latte", "shot"), *order("latte")])
    assert not allows(rules(*LATTE), [*order("latte"), *order("latte", "latte")])


@settings(max_examples=60)
@given(data=st.data())
def test_disjoint_spans_are_allowed_and_others_are_not(data: st.DataObject) -> None:
    # Each word once, so that spans overlap where they share one.
    words = [f"{letter}{i}" for i, letter in enumerate("abcdef")]
    first = data.draw(st.integers(1, 5))
    texts = (words[:first], words[first:])
    spans = [_span(texts, data) for _ in range(data.draw(st.integers(2, 3)))]
    taken: set[str] = set()
    expected = True
    for span in spans:
        if len(taken) < len(words):
            expected &= taken.isdisjoint(span)
            taken.update(span)
    told = rules(*(" ".join(text) for text in texts))
    assert allows(told, order(*(" ".join(span) for span in spans))) is expected


def _span(texts: Sequence[Sequence[str]], data: st.DataObject) -> Sequence[str]:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    return text[start : data.draw(st.integers(start + 1, len(text)))]


TEXTS = st.lists(
    st.text(st.sampled_from("ab é'.,3:-\n²"), max_size=14), min_size=1, max_size=3
).filter(lambda texts: any(any(c in "abé3" for c in text) for text in texts))


def one_call(said: Sequence[str]) -> Matcher:
    return FACTORY.matcher(AnswerRules((DRINK,), "required", tuple(said), parallel=False))


@settings(max_examples=40)
@given(said=TEXTS, seed=st.integers(0, 2**31))
def test_whatever_is_wanted_no_answer_runs_into_a_dead_end(said: list[str], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    # Raises where nothing may come next.
    ids = generate(one_call(said), lambda: torch.randn(SIZE, generator=generator), longest=200)
    for made in template().answer(ids, (DRINK,)).calls if ids else ():
        assert all(any(value in text for text in said) for value in made.arguments.values())


@settings(max_examples=20)
@given(said=TEXTS, seed=st.integers(0, 2**31))
def test_all_ways_of_asking_agree(said: list[str], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    matcher = one_call(said)
    for _ in range(40):
        row = torch.randn(SIZE, generator=generator)
        before = matcher.copy()
        flags = _flags(matcher.allowed(()))[0]
        assert flags == [matcher.takes(token) for token in range(SIZE)]
        token = matcher.best(row)
        assert token == max(np.flatnonzero(flags).tolist(), key=row.tolist().__getitem__)
        if token == Mark.END:
            return
        run = [token, *matcher.advance(token)]
        assert all(
            allowed[one] for allowed, one in zip(_flags(before.allowed(run)), run, strict=False)
        )
        assert draft_under_grammar(torch.tensor(run), None, before).tokens == run
        if run[-1] == Mark.END:
            return


def _flags(bits: np.ndarray) -> list[list[bool]]:
    flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :SIZE]
    rows: list[list[bool]] = flags.astype(bool).tolist()
    return rows


def test_the_shortest_spans_hold_a_word() -> None:
    spans = Spans(["a, (b)", "é"])
    assert list(spans.places(b"")) == [(0, 1), (3, 5), (4, 5), (7, 9)]
    assert list(spans.places(b"(b)")) == [(3, 6)]
    assert list(spans.places("é".encode())) == [(7, 9)]
    assert list(spans.places(b",")) == []
