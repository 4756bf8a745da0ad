from __future__ import annotations

from typing import Any

import pytest

from voice.llm.openai_stream import AnswerText, without_surrogates


def _words(*contents: Any) -> str:
    text = AnswerText()
    words = "".join(text.push(content) for content in contents) + text.flush()
    assert text.any is bool(words)
    return words


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<think>Hm, <b>.</think>\n\nYes, 2 < 3.", "Yes, 2 < 3."),
        ("\n<think>\n\n</think>\n\nYes.", "Yes."),
        ("<think>Hm, I should", ""),
        (" Yes. ", "Yes. "),
        ("<thin", "<thin"),
        ("<b>Yes.</b>", "<b>Yes.</b>"),
        ("Say <think>this</think>.", "Say <think>this</think>."),
        ("\n", ""),
    ],
)
def test_a_thought_before_the_answer_is_not_said(content: str, words: str, size: int) -> None:
    assert _words(*(content[at : at + size] for at in range(0, len(content), size))) == words


def test_parts_are_joined_and_thoughts_among_them_are_not_said() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    assert _words([thought], [{"type": "text", "text": "Yes"}], None, "", ".") == "Yes."


def test_halves_of_a_character_are_joined_or_replaced() -> None:
    assert _words("a\ud83d", "\ude00b") == "a😀b"
    assert _words("a\ud83d", "b") == "a�b"
    assert _words("\ud83d") == "�"
    assert without_surrogates("a\ud83d\ude00b\udc00") == "a😀b�"
