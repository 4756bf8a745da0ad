from __future__ import annotations

from voice.llm.base import Prompt, new_call_id
from voice.types import Message, Role


def test_call_ids_are_never_the_same() -> None:
    assert len({new_call_id() for _ in range(100)}) == 100


def test_a_draft_and_a_priority_make_no_other_question() -> None:
    messages = (Message(Role.USER, "hello"),)
    assert Prompt(messages) == Prompt(messages, draft=Message(Role.AGENT, "Hi."), priority=-1)
    assert Prompt(messages) != Prompt(messages, effort="high")
