"""What a caller asks to be remembered, over two conversations, without the model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from tests.support.virtual_parts import Call, Model, VirtualParts, calling, parts
from tests.support.virtual_time import virtual
from voice.callers import Caller, CallerKind
from voice.config import MemoryConfig, load_agent
from voice.events import ReplyEnded
from voice.tools.builtin.memory import note, to_you
from voice.tools.store import Fact, Store
from voice.types import Message, Role

ADA, BOB = (Caller(CallerKind.USER, name) for name in ("ada", "bob"))
UNKNOWN = "I do not know. You have not asked me to remember anything about that."


def loaded() -> VirtualParts:
    """The assistant, with a model that has only one thing to say."""
    made = parts(Model(lambda _: "Fine."), None, None, "drafting.enabled=false")
    shipped = load_agent("assistant")
    tools = made.toolbox.names
    agent = shipped.model_copy(update={"tools": tuple(t for t in shipped.tools if t in tools)})
    return replace(made, agent=agent)


@asynccontextmanager
async def talking(made: VirtualParts, caller: Caller | None) -> AsyncGenerator[Call, None]:
    async with calling(made, caller) as line:
        yield line


async def answer(line: Call, said: str) -> str:
    line.session.add_item(f"item {len(line.events)}", Message(Role.USER, said), None)
    line.session.create_response()
    return (await line.next(ReplyEnded)).text


@virtual
async def test_a_fact_is_kept_told_corrected_and_forgotten_over_conversations() -> None:
    made = loaded()
    async with talking(made, ADA) as line:
        for said, told in (
            ("what do you know about me", "You have not asked me to remember anything."),
            ("when is my sister's birthday", UNKNOWN),
            ("Remember that my sister's birthday is on the third of May.",
             "I will remember that your sister's birthday is on the third of May."),
            ("That's wrong, it's the fourth.",
             "Corrected: your sister's birthday is on the fourth of May."),
            ("remember my car is on level two and set a timer for ten minutes",
             "I will remember that your car is on level two. Fine."),
            ("set a timer for five minutes and also remember that I like tea",
             "Fine. I will remember that you like tea."),
            ("call me anna", "I will call you Anna."),
            ("My brother's birthday is in June.", "Fine."),
        ):  # fmt: skip
            assert await answer(line, said) == told
    async with talking(made, BOB) as line:
        assert await line.session._remembered.greeting("Hello, hi.") == "Hello, hi."
        assert await answer(line, "when is my sister's birthday") == UNKNOWN
        assert await answer(line, "forget my sister's birthday") == "Fine."
    async with talking(made, ADA) as line:
        for greeting, by_name in (
            ("Hello, hi.", "Hello Anna, hi."),
            ("Welcome back. So far so good.", "Welcome back, Anna. So far so good."),
            ("Welcome to the inn.", "Hello Anna. Welcome to the inn."),
        ):
            assert await line.session._remembered.greeting(greeting) == by_name
        assert "my car is on level two" in line.session.options.remembered
        for said, told in (
            ("When's my sister's birthday?", "Your sister's birthday is on the fourth of May."),
            ("no, it's the tenth of June",
             "Corrected: your sister's birthday is on the tenth of June."),
            ("do you remember when my brother's birthday is", UNKNOWN),
            ("where is my car", "Your car is on level two."),
            ("what's my name?", "Your name is Anna."),
            ("forget where my car is", "Forgotten: your car is on level two."),
            ("where is my car", "Fine."),
            ("what do you know about me",
             "Your sister's birthday is on the tenth of June. You like tea. Your name is Anna."),
        ):  # fmt: skip
            assert await answer(line, said) == told
        assert "level two" not in line.session.options.remembered


@virtual
async def test_a_correction_is_of_the_memory_only_behind_what_it_told() -> None:
    made = loaded()
    async with talking(made, ADA) as line:
        await answer(line, "remember that my sister's birthday is on the third of May")
        assert await answer(line, "how are you") == "Fine."
        assert await answer(line, "that's wrong, it's the fourth") == "Fine."


@virtual
async def test_what_was_kept_corrected_or_forgotten_last_is_taken_back() -> None:
    async with talking(loaded(), ADA) as line:
        for said, told in (
            ("remember that my car is red", "I will remember that your car is red."),
            ("forget it", "I took that back: I will remember that your car is red."),
            ("where did my car go", "Fine."),
            ("remember that my car is red", "I will remember that your car is red."),
            ("no, it's blue", "Corrected: your car is blue."),
            ("undo that", "I took that back: Corrected: your car is blue."),
            ("remember that my key is under the blue pot and that my cat is six",
             "I will remember that your key is under the blue pot and that your cat is six."),
            ("how old is my cat", "Your cat is six."),
            ("where is my key", "Your key is under the blue pot."),
            ("no that's wrong it's the green pot now",
             "Corrected: your key is under the green pot."),
            ("forget my car", "Forgotten: your car is red."),
            ("undo that", "I took that back: Forgotten: your car is red."),
            ("what colour is my car", "Your car is red."),
        ):  # fmt: skip
            assert await answer(line, said) == told


@virtual
async def test_nothing_is_kept_of_strangers_nor_where_it_is_switched_off() -> None:
    made = loaded()
    async with talking(made, None) as line:
        told = await answer(line, "remember that my car is red")
        assert told == "Until this conversation ends I will remember that your car is red."
        assert await answer(line, "what colour is my car") == "Your car is red."
        owner = line.session.scope.owner
    await made.toolbox.drain()
    assert Store(made.toolbox.database, owner).facts() == []
    off = loaded()
    off.toolbox._provided[MemoryConfig] = MemoryConfig(keep=False)
    async with talking(off, ADA) as line:
        told = await answer(line, "call me Anna")
        assert told == "I am not set up to remember things."
        assert Store(off.toolbox.database, line.session.scope.owner).facts() == []


@pytest.mark.parametrize(
    "said",
    ["remember to buy milk", "remember that I have to call mom", "call me back", "call me at five",
     "what is on my list", "when is my alarm", "no thanks", "my name is Anna", "delete my alarm",
     "what time is it", "what is the time", "what day is it", "what is on tv",
     "is there a bank on the corner", "I don't remember", "I can't remember that",
     "I want to keep it", "how long can I keep it", "who is it, remember that?"],
)  # fmt: skip
@virtual
async def test_what_is_for_the_model_stays_the_models(said: str) -> None:
    async with talking(loaded(), ADA) as line:
        await answer(line, "remember that my list is long and that my alarm is loud")
        for kept in (
            "dinner time is seven", "my best day is Friday", "my tv remote is on the shelf",
            "we meet at the bank on the corner", "I want to be called Anna",
        ):  # fmt: skip
            await answer(line, f"remember that {kept}")
        assert await answer(line, said) == "Fine."


@virtual
async def test_facts_of_others_and_what_is_said_before_the_wish_are_kept() -> None:
    async with talking(loaded(), ADA) as line:
        for said, told in (
            ("My shoe size is forty-two, keep that in mind.",
             "I will remember that your shoe size is forty-two."),
            ("Lena takes her coffee black, please remember that.",
             "I will remember that Lena takes her coffee black."),
            ("remember that the dentist is on Thursday",
             "I will remember that the dentist is on Thursday."),
            ("how does Lena take her coffee?", "Lena takes her coffee black."),
            ("on which day is the dentist", "The dentist is on Thursday."),
        ):  # fmt: skip
            assert await answer(line, said) == told


@virtual
async def test_a_full_memory_says_so() -> None:
    made = loaded()
    made.toolbox._provided[MemoryConfig] = MemoryConfig(most_facts=1)
    async with talking(made, ADA) as line:
        await answer(line, "remember that my car is red")
        assert "I remember as much as I may." in await answer(line, "remember that I like tea")
        assert "too long" in await answer(line, f"remember that {'tea ' * 76}")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm allergic to nuts", "you're allergic to nuts"),
        ("I was born in our house", "you were born in your house"),
        ("you are my friend", "I am your friend"), ("this is mine", "this is yours"),
        ("the mill is mighty", "the mill is mighty"),
    ],
)  # fmt: skip
def test_what_is_the_users_is_told_as_theirs(said: str, told: str) -> None:
    assert to_you(said) == told


def test_the_model_is_told_the_newest_facts_that_fit() -> None:
    facts = [Fact(at, "", f"fact {at} {'x' * 300}") for at in range(9)]
    told = note([*facts, Fact(9, "name", "Anna")])
    assert "my name is Anna; fact 8" in told
    assert len(told) < 1100
    assert note([]) == ""
