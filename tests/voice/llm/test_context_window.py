from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from dlm.engine.engine import SHIPPED
from dlm.language.messages import Call, Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer
from voice.errors import ModelError
from voice.llm.base import Prompt
from voice.llm.context_window import CHARS_PER_TOKEN, ContextWindow, fitted
from voice.types import Message, Role, ToolCall, ToolSpec

POSITIONS = 800
TEMPLATE = Template(Tokenizer.load(SHIPPED))
SYSTEM = Message(Role.SYSTEM, "Be brief.")
SEARCH = ToolSpec(
    "search", "Search the web.", {"type": "object", "properties": {"query": {"type": "string"}}}
)
CONSTANT = {"type": "object", "properties": {"query": {"const": "word " * 100_000}}}


def _room(prompt: Prompt) -> int:
    roles = {Role.AGENT: "assistant"}
    turns = [
        Turn(
            roles.get(message.role, message.role.value),
            message.content,
            tuple(Call(call.name, call.arguments) for call in message.tool_calls),
        )
        for message in prompt.messages
    ]
    tools = [Tool(tool.name, tool.description, tool.parameters) for tool in prompt.tools]
    return POSITIONS - len(TEMPLATE.prompt(turns, tools))


WINDOW = ContextWindow(_room, TEMPLATE.text, TEMPLATE.decode, POSITIONS)


def _user(text: str) -> Message:
    return Message(Role.USER, text)


def _agent(text: str) -> Message:
    return Message(Role.AGENT, text)


def _called(number: int, result: str, query: str = "penguins") -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", "search", {"query": query})
    made = Message(Role.AGENT, tool_calls=(call,))
    return made, Message(Role.TOOL, result, call_id=call.call_id, name="search")


def _penguins(count: int) -> str:
    return ", ".join(f"Penguin {number} is at home" for number in range(count))


def _prompt(*messages: Message, max_tokens: int = 96) -> Prompt:
    return Prompt((SYSTEM, *messages), (SEARCH,), max_tokens=max_tokens)


def test_what_fits_stays_as_it_is() -> None:
    prompt = _prompt(_user("hello"), _agent("Hi."), _user("search"), *_called(1, "Penguins swim."))
    assert fitted(prompt, WINDOW) == prompt


@pytest.mark.parametrize("wanted", [POSITIONS, 50_000])
def test_an_answer_is_as_long_as_there_is_room_for(wanted: int) -> None:
    prompt = _prompt(_user("hello"), max_tokens=wanted)
    made = fitted(prompt, WINDOW)
    assert made == replace(prompt, max_tokens=_room(prompt))


def test_the_oldest_messages_go_first() -> None:
    talk = [
        message
        for number in range(12)
        for message in (_user(f"question {number}"), _agent(f"{number} {_penguins(12)}."))
    ]
    prompt = _prompt(*talk, _user("and now"))
    made = fitted(prompt, WINDOW)
    assert _room(made) >= 96
    kept = made.messages[1:]
    assert kept == prompt.messages[-len(kept) :]
    assert len(kept) > 1
    assert kept[0].role is Role.USER
    dropped = prompt.messages[-len(kept) - 2 :]
    assert _room(replace(prompt, messages=(SYSTEM, *dropped))) < 96


def test_a_long_result_is_cut_for_all_to_see_and_what_was_said_before_stays() -> None:
    asked = (_user("my name is Ada"), _agent("Hello, Ada."), _user("search for penguins"))
    prompt = _prompt(*asked, *_called(1, _penguins(300)))
    made = fitted(prompt, WINDOW)
    assert made.messages[:-1] == prompt.messages[:-1]
    result = made.messages[-1]
    assert result.content.endswith("…")
    assert _penguins(300).startswith(result.content[:-1])
    assert (result.call_id, result.name) == ("c1", "search")
    assert _room(made) >= 96


def test_results_share_the_room_there_is() -> None:
    results = [message for number in range(4) for message in _called(number, _penguins(90))]
    made = fitted(_prompt(_user("search"), *results), WINDOW)
    assert len(made.messages) == 2 + len(results)
    assert all(len(message.content) > 200 for message in made.messages[3::2])
    assert _room(made) >= 96


def test_of_a_long_message_both_ends_are_seen() -> None:
    made = fitted(_prompt(_agent("Hi."), _user(f"Sum this up: {_penguins(400)}. Thanks!")), WINDOW)
    [_, message] = made.messages
    assert message.content.startswith("Sum this up: Penguin 0 is")
    assert message.content.endswith("is at home. Thanks!")
    assert "… " in message.content
    assert 96 <= _room(made) < 160


def test_what_never_fits_is_not_counted() -> None:
    def ids(text: str) -> list[int]:
        counted.append(len(text))
        return TEMPLATE.text(text)

    def room(prompt: Prompt) -> int:
        counted.extend(len(message.content) for message in prompt.messages)
        counted.extend(len(str(c.arguments)) for m in prompt.messages for c in m.tool_calls)
        return _room(prompt)

    counted: list[int] = []
    long = "word " * 100_000
    called, result = _called(1, long, query=long)
    for messages in (
        (_user("hello"), _agent(long), _user(f"{long} bye")),
        (_user("hello"), *_called(2, long), called, result),
        (_user("hello"), called, result, _user("bye")),
        (*_called(3, long), *_called(4, long)),
    ):
        made = fitted(_prompt(*messages), replace(WINDOW, ids=ids, room=room))
        assert _room(made) >= 96
        assert made.messages[-1].content[-3:] in ("bye", "rd…", "llo")
    assert max(counted) <= CHARS_PER_TOKEN * POSITIONS + 2


@pytest.mark.parametrize(
    "change",
    [
        lambda prompt: replace(prompt, messages=(replace(SYSTEM, content="word " * 100_000),)),
        lambda prompt: replace(
            prompt, messages=(replace(SYSTEM, content="word " * 1000), *prompt.messages[1:])
        ),
        lambda prompt: replace(prompt, tools=(replace(SEARCH, description="word " * 1000),)),
        lambda prompt: replace(prompt, tools=(replace(SEARCH, description="word " * 100_000),)),
        lambda prompt: replace(prompt, tools=(replace(SEARCH, parameters=CONSTANT),)),
    ],
)
def test_instructions_and_tools_are_never_cut(change: Callable[[Prompt], Prompt]) -> None:
    with pytest.raises(ModelError, match="instructions and tools: got"):
        fitted(change(_prompt(_user("hello"))), WINDOW)


@pytest.mark.parametrize("seed", range(8))
def test_any_dialogue_fits(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(8):
        messages: list[Message] = []
        for number in range(chance.randrange(1, 16)):
            text = "wörd€ " * int(10 ** chance.uniform(0, 3.5))
            one = chance.choice(("user", "agent", "called"))
            if one == "called":
                messages += _called(number, text, chance.choice(("penguins", text)))
            else:
                messages.append(_user(text) if one == "user" else _agent(text))
        prompt = _prompt(*messages, max_tokens=chance.choice((1, 96, 4096)))
        made = fitted(prompt, WINDOW)
        assert _room(made) >= made.max_tokens >= min(prompt.max_tokens, POSITIONS // 4)
        users = [sum(m.role is Role.USER for m in p.messages) for p in (prompt, made)]
        assert bool(users[0]) == bool(users[1])
