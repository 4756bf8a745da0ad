"""Values with letters that the embedded model's vocabulary lacks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.llm.base import AnswerDone, Prompt
from voice.llm.plain_letters import as_said, in_plain_letters, plain
from voice.session.resources import Resources
from voice.types import Message, Role, ToolCall


@given(st.text(), st.data())
def test_what_is_copied_is_put_back(text: str, data: st.DataObject) -> None:
    assert len(plain(text)) == len(text)
    start = data.draw(st.integers(0, len(text)))
    value = plain(text[start:])
    (restored,) = as_said({"x": value}, [Message(Role.USER, text)]).values()
    assert plain(restored) == value


def test_the_first_text_counts_and_other_values_stay() -> None:
    said = [Message(Role.USER, text) for text in ("call Zoë", "call Zoé", "nothing")]
    given = {"who": "Zoe", "n": 3, "what": "nothing"}
    assert as_said(given, said) == {**given, "who": "Zoë"}
    earlier = Message(Role.AGENT, tool_calls=(ToolCall("c", "call", {"who": "Zoë", "n": 3}),))
    read = in_plain_letters(Prompt((*said, earlier), draft=said[0]))
    assert [one.content for one in read.messages] == ["call Zoe", "call Zoe", "nothing", ""]
    assert read.messages[-1].tool_calls[0].arguments == {"who": "Zoe", "n": 3}
    assert read.draft == Message(Role.USER, "call Zoe")


@pytest.mark.parametrize("place", ["São Paulo", "Zürich", "Málaga"])
async def test_the_shipped_model_copies_names_with_marks(
    place: str, embedded_parts: Resources
) -> None:
    tools = embedded_parts.toolbox.specs_for(embedded_parts.agent)
    system = Message(Role.SYSTEM, embedded_parts.agent.instructions)
    asked = Prompt((system, Message(Role.USER, f"what time is it in {place}")), tools)
    done = [event async for event in embedded_parts.model.answer(asked)][-1]
    assert isinstance(done, AnswerDone)
    assert [(call.name, call.arguments) for call in done.calls] == [("get_time", {"place": place})]
