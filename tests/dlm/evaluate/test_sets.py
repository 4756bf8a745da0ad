"""Cases, the sets of them, and small talk."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dlm.datagen.corpora.collection import Corpora
from dlm.datagen.dialogues import generate
from dlm.datagen.tools.catalog import AGENT_TOOLS
from dlm.engine.engine import Engine, Finished, Request
from dlm.evaluate.cases import CALLS, Case, Kind, cases
from dlm.evaluate.run import OPENERS
from dlm.evaluate.sets import SEED, SETS, Material, chosen
from dlm.evaluate.talk import PEOPLE, alike, openers, perplexity, small_talk
from dlm.language.messages import Answer
from tests.dlm.evaluate.rows import RIGHT, ROW, finished, row_of


def call(*names: str) -> dict[str, Any]:
    made = [{"name": name, "arguments": {}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": made}


USER = {"role": "user", "content": "something"}
RESULT = {"role": "tool", "name": "set_timer", "content": "Done."}


def test_the_model_sees_what_comes_before_and_only_the_users_words_as_spans() -> None:
    first, second = cases([ROW])
    assert [turn.role for turn in first.turns] == ["system", "assistant", "user"]
    assert [turn.role for turn in second.turns] == [
        "system", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip
    assert first.request().copy_sources == ("Set a timer for ten minutes.",)
    assert first.request(spans=False).copy_sources is None
    assert [first.kind, second.kind] == [Kind.REQUEST, Kind.REPLY]


@pytest.mark.parametrize(
    ("messages", "kinds"),
    [
        ([USER, call("set_timer", "set_timer")], [Kind.PARALLEL]),
        (
            [USER, call("set_timer"), RESULT, USER, call("set_timer")],
            [Kind.REQUEST, Kind.FOLLOW_UP],
        ),
        (
            [USER, {"role": "assistant", "content": "How long?", "kind": "ask"}, USER, call("a")],
            [Kind.ASK, Kind.ANSWERED],
        ),
        ([USER, {"role": "assistant", "content": "I can't.", "kind": "decline"}], [Kind.DECLINE]),
        ([USER, {"role": "assistant", "content": "Hello."}], [Kind.TALK]),
    ],
)
def test_kinds_are_told_apart(messages: list[dict[str, Any]], kinds: list[Kind]) -> None:
    assert [case.kind for case in cases([row_of(*messages)])] == kinds


CORPORA = Path(__file__).parents[3].parent / "shared" / "data" / "text"
WITHOUT_CORPORA = (
    *("own", "renamed", "unseen", "noise", "parallel", "going_on", "interrupting", "asking"),
    *("spontaneous", "at_length", "unasked", "unasked_unseen", "talk", "opaque", "results"),
    "extraction",
)


@pytest.fixture(scope="module")
def material() -> Material:
    return Material.load(None)


@pytest.fixture(scope="module")
def full() -> Iterator[Material]:
    if not (CORPORA / "slot_values.jsonl.xz").exists():
        pytest.skip(f"no text corpora in {CORPORA}")
    yield Material.load(CORPORA)


@pytest.mark.parametrize("name", WITHOUT_CORPORA)
def test_a_set_is_the_same_each_time_and_as_large_as_asked(name: str, material: Material) -> None:
    first, again = chosen(name, material, 0.1), chosen(name, material, 0.1)
    assert first == again
    assert len(first) == round(SETS[name][1] * 0.1)


def test_sets_without_corpora_are_empty(material: Material) -> None:
    assert {name for name in SETS if not chosen(name, material, 0.02)} == set(SETS) - set(
        WITHOUT_CORPORA
    )


def test_sets_hold_what_they_are_named_for(material: Material) -> None:
    assert all(c.kind is Kind.PARALLEL for c in chosen("parallel", material, 0.2))
    called = [call for c in chosen("opaque", material, 0.2) for call in c.wanted.calls]
    assert all(re.fullmatch(r"[a-z]|[a-z]+_?[a-z0-9]", key) for c in called for key in c.arguments)
    assert all(c.kind in CALLS for c in chosen("noise", material, 0.1))
    assert {c.kind for c in chosen("asking", material, 0.2)} == {Kind.ASK, Kind.ANSWERED}
    for name in ("going_on", "interrupting"):
        assert all(any(t.calls for t in c.turns) for c in chosen(name, material, 0.1))
    whole = [case.turns[3] for case in chosen("going_on", material, 0.3)]
    assert all(turn.role == "tool" for turn in whole)
    heard = [case.turns[4] for case in chosen("interrupting", material, 0.3)]
    assert {turn.role for turn in heard} == {"user", "assistant"}
    told = [turn.content for turn in heard if turn.role == "assistant"]
    assert sum(not text.endswith(("?", ".")) for text in told) > len(told) / 2


@pytest.mark.parametrize("name", ["unasked", "unasked_unseen"])
def test_deeds_are_named_with_and_without_being_asked_for(name: str, material: Material) -> None:
    found = chosen(name, material, 1)
    assert all(case.turns[-1].role == "user" for case in found)
    called = [case for case in found if case.kind in CALLS]
    assert 0.1 < len(called) / len(found) < 0.5
    assert all(
        case.wanted.content and not case.wanted.calls for case in found if case not in called
    )


def test_small_talk_knows_what_fits(material: Material) -> None:
    found = chosen("talk", material, 1)
    assert all(case.wanted.content in case.fitting for case in found)
    assert all(1 < len(case.fitting) < 12 for case in found)
    assert len({case.fitting for case in found}) > 10


def test_other_peoples_sentences_ask_for_many_tools(full: Material) -> None:
    found = chosen("others", full, 0.3)
    assert len({c.wanted.calls[0].name for c in found}) > 10
    assert all(len(c.tools) == len(AGENT_TOOLS["assistant"]) for c in found)
    orders = chosen("coffee", full, 0.3)
    assert {c.wanted.calls[0].name for c in orders} == {"order_drink"}
    assert all(c.kind is Kind.DECLINE for c in chosen("out_of_scope", full, 0.1))


def test_small_talk_has_five_hundred_openers(full: Material) -> None:
    assert full.heldout is not None
    assert len(dict(openers(full.heldout, CORPORA, OPENERS, SEED))) == OPENERS == 500


def test_training_never_says_what_is_asked_here(material: Material) -> None:
    names = ("own", "renamed", "unseen", "noise")
    users = {name: {_said(c) for c in chosen(name, material, 0.3)} for name in names}
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


PAIRS = [("hello there", "hi"), ("how are you", "fine thanks"), ("tell me more", "no")]


def test_openers_are_drawn_once_each_and_peoples_fill_up(tmp_path: Path) -> None:
    corpora = Corpora(chat=[*PAIRS, ("hello there", "good day")])
    said = [("have you seen jaws", "yes"), ("hello there", "you"), ("oh", "short")]
    said += [(f"did you see film {number}", "no") for number in range(9)]
    with lzma.open(tmp_path / PEOPLE, "wt", encoding="utf-8") as out:
        for pair in said:
            out.write(json.dumps({"messages": [{"content": text} for text in pair]}) + "\n")
    found = openers(corpora, tmp_path, 9, 1)
    assert {o for o, _ in found[:3]} == {o for o, _ in PAIRS}
    assert len(dict(found)) == 9
    assert "oh" not in dict(found)
    assert openers(corpora, tmp_path, 9, 1) == found
    # Where small talk suffices nobody else's dialogues are read.
    assert len(openers(corpora, tmp_path / "nowhere", 2, 1)) == 2


def test_replies_are_alike_where_they_answer_the_same() -> None:
    chat = [("it is over", "A pity."), ("it is over", "Aw nuts."), ("goodbye", "Aw nuts.")]
    found = alike(Corpora(chat=chat))
    assert found["A pity."] == {"A pity.", "Aw nuts."}
    assert found["Happy birthday!"] == {"Happy birthday!", "Happy birthday to you!"}
    # Two topics share a reply: it goes with the others of both, they do not go with one another.
    assert {"Okay.", "Sure."} < found["Alright."]
    assert "A pity." not in alike(None)


def test_what_is_wrong_with_replies_is_counted() -> None:
    answers = iter([Answer("I am I am I am I am I am.", ()), Answer("", ()), RIGHT])

    def ask(request: Request) -> Finished:
        return finished(next(answers))

    told = small_talk(PAIRS, ask)
    assert told["openers"] == 3
    for name in ("loops", "empty", "called"):
        assert told[name] == 0.3333, name


def test_calls_are_no_replies() -> None:
    texts = ["One thing.", "One thing.", "Another thing that is longer.", "A third."]
    answers = iter([RIGHT] * 4 + [Answer(text, ()) for text in texts])
    pairs = [(str(number), "") for number in range(8)]
    told = small_talk(pairs, lambda _: finished(next(answers)))
    assert (told["called"], told["empty"]) == (0.5, 0.0)
    assert (told["commonest_reply"], told["words_p50"]) == (0.5, 2.0)


def test_perplexity_is_that_of_the_engine(engine: Engine) -> None:
    known = perplexity(PAIRS, engine)
    assert known > 1.0
