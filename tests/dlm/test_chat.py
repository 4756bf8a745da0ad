from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
import torch

from dlm.chat import HELP, Chat, cost, main, talk
from dlm.effort import Effort
from dlm.engine.engine import Engine
from dlm.engine.request import Finished, Usage
from dlm.language.answer_text import MASKED
from dlm.language.messages import Answer, Turn
from tests.dlm.tiny import model, tokenizer


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """The programs choose their own number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine(model(1), tokenizer())
    yield made
    made.close()


def test_an_answer_is_watched_and_remembered(engine: Engine) -> None:
    chat = Chat(engine, Effort.HIGH, max_tokens=20)
    seen: list[str] = []
    finished = chat.say("hello", seen.append)
    assert any(MASKED in text for text in seen)
    assert seen[-1] == finished.answer.content or MASKED in seen[-1]
    assert chat.turns == [Turn("user", "hello"), Turn("assistant", finished.answer.content)]
    chat.say("and then?", seen.append)
    assert [turn.role for turn in chat.turns] == ["user", "assistant"] * 2


def test_a_thought_stands_above_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    made = Engine(model(3, reasons=True), tokenizer())
    try:
        chat = Chat(made, Effort.MEDIUM, max_tokens=60)
        seen: list[tuple[str, str]] = []
        finished = chat.say("hello", lambda text: seen.append((chat.thought, text)))
        assert chat.thought == finished.answer.reasoning != ""
        assert seen[0] == (chat.thought, "")
        assert chat.turns[-1] == Turn("assistant", finished.answer.content)
        talk(chat, iter(["hello"]))
        shown = " ".join(capsys.readouterr().out.split())
        assert f"{finished.usage.reasoning_tokens} of them thought" in shown
        assert chat.thought.split()[0] in shown
        chat.effort = Effort.LOW
        chat.say("hello", lambda text: None)
        assert chat.thought == ""
    finally:
        made.close()


def test_a_message_that_is_too_long_is_left_out(engine: Engine) -> None:
    chat = Chat(engine, Effort.INSTANT, max_tokens=10**6)
    with pytest.raises(ValueError, match="positions"):
        chat.say("hello", lambda text: None)
    assert chat.turns == []


def test_commands(engine: Engine) -> None:
    chat = Chat(engine, Effort.LOW, max_tokens=4)
    assert chat.command("/help") == HELP
    chat.command("/effort high")
    assert chat.effort is Effort.HIGH
    chat.command("/system Be kind.")
    assert chat.turns == [Turn("system", "Be kind.")]
    chat.command("/new")
    assert chat.turns == []
    with pytest.raises(EOFError):
        chat.command("/quit")
    for wrong in ("/efort low", "/effort huge", "/"):
        with pytest.raises(ValueError, match=r"effort|huge"):
            chat.command(wrong)


def test_the_cost_in_words() -> None:
    finished = Finished(Answer("x", ()), "length", Usage(3, 0, 12, 5))
    assert cost(finished, 0.25) == "12 tokens in 5 forwards (2.4 each), 250 ms, cut for its length"


def test_lines_are_answered_until_they_end(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = Chat(engine, Effort.INSTANT, max_tokens=6)
    talk(chat, iter(["hello", "", "/nothing", "/quit", "never"]))
    shown = capsys.readouterr().out
    assert "forwards" in shown
    assert "/nothing" in shown
    assert len(chat.turns) == 2


def test_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("/effort instant\nhello\n"))
    assert main(["--max-tokens", "8"]) == 0
    assert "forwards" in capsys.readouterr().out
    assert main(["nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    with pytest.raises(SystemExit):
        main(["--max-tokens", "0"])
    assert "--max-tokens: got 0, expected at least 1" in capsys.readouterr().err
