import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dlm.datagen.dialogues import generate
from dlm.evaluate.cases import CALLS, Case, Kind
from dlm.evaluate.run import OPENERS
from dlm.evaluate.sets import SEED, SETS, Stock, chosen
from dlm.evaluate.talk import openers

CORPORA = Path(__file__).parents[3].parent / "shared" / "data" / "text"
WITHOUT_CORPORA = (
    *("own", "renamed", "unseen", "noise", "parallel", "going_on", "interrupting", "asking"),
    *("unasked", "unasked_unseen", "talk"),
)


@pytest.fixture(scope="module")
def stock() -> Stock:
    return Stock.load(None)


@pytest.fixture(scope="module")
def full() -> Iterator[Stock]:
    if not (CORPORA / "slot_values.jsonl.xz").exists():
        pytest.skip(f"no text corpora in {CORPORA}")
    yield Stock.load(CORPORA)


@pytest.mark.parametrize("name", WITHOUT_CORPORA)
def test_a_set_is_the_same_each_time_and_as_large_as_asked(name: str, stock: Stock) -> None:
    first, again = chosen(name, stock, 0.1), chosen(name, stock, 0.1)
    assert first == again
    assert len(first) == round(SETS[name][1] * 0.1)


def test_sets_without_corpora_are_empty(stock: Stock) -> None:
    assert {name for name in SETS if not chosen(name, stock, 0.02)} == set(SETS) - set(
        WITHOUT_CORPORA
    )


def test_sets_hold_what_they_are_named_for(stock: Stock) -> None:
    assert all(c.kind is Kind.PARALLEL for c in chosen("parallel", stock, 0.2))
    assert all(c.kind in CALLS for c in chosen("noise", stock, 0.1))
    assert {c.kind for c in chosen("asking", stock, 0.2)} == {Kind.ASK, Kind.ANSWERED}
    for name in ("going_on", "interrupting"):
        assert all(any(t.calls for t in c.turns) for c in chosen(name, stock, 0.1))
    whole = [case.turns[3] for case in chosen("going_on", stock, 0.3)]
    assert all(turn.role == "tool" for turn in whole)
    heard = [case.turns[4] for case in chosen("interrupting", stock, 0.3)]
    assert {turn.role for turn in heard} == {"user", "assistant"}
    told = [turn.content for turn in heard if turn.role == "assistant"]
    assert sum(not text.endswith(("?", ".")) for text in told) > len(told) / 2


@pytest.mark.parametrize("name", ["unasked", "unasked_unseen"])
def test_deeds_are_named_with_and_without_being_asked_for(name: str, stock: Stock) -> None:
    found = chosen(name, stock, 1)
    assert all(case.turns[-1].role == "user" for case in found)
    called = [case for case in found if case.kind in CALLS]
    assert 0.1 < len(called) / len(found) < 0.5
    assert all(
        case.wanted.content and not case.wanted.calls for case in found if case not in called
    )


def test_small_talk_knows_what_fits(stock: Stock) -> None:
    found = chosen("talk", stock, 1)
    assert all(case.wanted.content in case.fitting for case in found)
    assert all(1 < len(case.fitting) < 12 for case in found)
    assert len({case.fitting for case in found}) > 10


def test_other_peoples_sentences_ask_for_many_tools(full: Stock) -> None:
    found = chosen("others", full, 0.3)
    assert len({c.wanted.calls[0].name for c in found}) > 10
    assert all(len(c.tools) == 20 for c in found)
    orders = chosen("coffee", full, 0.3)
    assert {c.wanted.calls[0].name for c in orders} == {"order_drink"}
    assert all(c.kind is Kind.DECLINE for c in chosen("out_of_scope", full, 0.1))


def test_small_talk_has_five_hundred_openers(full: Stock) -> None:
    assert full.heldout is not None
    assert len(dict(openers(full.heldout, CORPORA, OPENERS, SEED))) == OPENERS == 500


def test_an_unknown_set_is_refused(stock: Stock) -> None:
    with pytest.raises(ValueError, match="got 'mine'"):
        chosen("mine", stock, 1.0)


def test_training_never_says_what_is_asked_here(stock: Stock) -> None:
    names = ("own", "renamed", "unseen", "noise")
    users = {name: {_said(c) for c in chosen(name, stock, 0.3)} for name in names}
    trained = {
        _words(message["content"])
        for row in islice(generate(70001), 1500)
        for message in row["messages"]
        if message["role"] == "user"
    }
    assert len(trained) > 2000
    for name, said in users.items():
        long = {words for words in said if len(words) > 4}
        assert len(long) > 20 and not long & trained, name


def _said(case: Case) -> tuple[str, ...]:
    return _words(next(t.content for t in reversed(case.turns) if t.role == "user"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[\w']+", text.lower()))
