from __future__ import annotations

import pytest

from benchmarks.dlm import revision
from benchmarks.dlm.revision import interim, measure
from dlm.engine.engine import Engine
from dlm.language.messages import Turn
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, tokenizer

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_last_message_comes_word_by_word() -> None:
    turns = [Turn("user", "hello"), Turn("assistant", "hi"), Turn("user", "set a timer")]
    asked = list(interim(turns, TOOLS))
    assert [request.turns[-1].content for request, _ in asked] == ["set", "set a", "set a timer"]
    assert [last for _, last in asked] == [False, False, True]
    assert all(request.turns[:-1] == tuple(turns[:-1]) for request, _ in asked)
    assert asked[1][0].copy_sources == ("hello", "set a")


def test_a_revision_is_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [([turns[0]], TOOLS) for turns in DIALOGUES]
    monkeypatch.setattr(revision, "cases", lambda corpora, count: iter(asked))
    engine = Engine(taught(), tokenizer())
    try:
        told = measure(engine, None, len(asked))
    finally:
        engine.close()
    for name in ("interim", "final"):
        assert told[name]["same_as_fresh"]["rate"] == 1.0
        assert told[name]["answers"] > 0
    assert (
        told["final"]["answers"]
        == told["final_words"]["answers"] + (told["final_calls"]["answers"])
    )
