"""The agent files that ship: they load, name real tools, and have words for the recogniser."""

from __future__ import annotations

import re

import pytest

from tests.voice.tools.conftest import Call
from voice.config import AgentConfig, load_agent, load_team
from voice.dialogue.history import History
from voice.dialogue.lead import Lead
from voice.inputs import SessionOptions
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin import appointments
from voice.tools.builtin.coffee_menu import MENU
from voice.tools.registry import tools_in
from voice.types import Message, Role

UNUSED = {"send_digits"}
"""Tools for agents of other people: ours are called, and press no keys."""
CALLED_BY_PATTERNS = {
    "answer_question", "cancel_order", "coming_up", "list_done", "undo_last", "call_me",
    "swap_in_order", "change_fact", "forget_fact", "list_facts", "recall_fact", "remember_fact",
    "keep_drink",
}  # fmt: skip
UNTRAINED = {tool.spec.name for tool in tools_in(appointments)} | CALLED_BY_PATTERNS
"""Tools that the model has not seen in training."""


@pytest.fixture(params=["assistant", "coffee"])
def agent(request: pytest.FixtureRequest) -> AgentConfig:
    return load_agent(request.param)


def test_an_agent_names_real_tools(agent: AgentConfig, toolbox: Toolbox) -> None:
    assert [spec.name for spec in toolbox.specs(agent.tools)] == list(agent.tools)
    assert len(set(agent.tools)) == len(agent.tools)


def test_every_tool_belongs_to_an_agent(toolbox: Toolbox) -> None:
    agents = [load_agent("assistant"), load_agent("coffee"), *load_team("clinic")]
    used = {name for agent in agents for name in agent.tools}
    used |= {name for agent in agents for step in agent.steps.values() for name in step.tools}
    called = ((*agent.calls, agent.answers, *agent.kept.tools) for agent in agents)
    used |= {name for names in called for name in names if name}
    made = {
        need.tool
        for agent in agents
        for step in agent.steps.values()
        for need in step.needs.values()
        if need.kind
    }
    assert used - made == set(toolbox.names) - UNUSED


@pytest.mark.parametrize(
    ("name", "message", "tool"),
    [
        ("coffee", "Cancel the whole thing, I've changed my mind.", "cancel_order"),
        ("coffee", "scrap everything", "cancel_order"),
        ("coffee", "no, forget the order", "cancel_order"),
        ("coffee", "can we start over", "cancel_order"),
        ("coffee", "cancel the latte", ""),
        ("coffee", "forget everything about me", "forget_me"),
        ("coffee", "what did I order?", "read_order"),
        ("coffee", "is it ready yet?", "answer_question"),
        ("coffee", "That's the lot, thanks. It's for Ines.", "confirm_order"),
        ("coffee", "does the chai have nuts in it? I'm allergic", "answer_question"),
        ("coffee", "can I have a chai", ""),
        ("coffee", "and could she get a muffin", "answer_question"),
        ("coffee", "and a croissant", "answer_question"),
        ("coffee", "and a small one", ""),
        ("coffee", "when can I pick it up?", "answer_question"),
        ("coffee", "does soy cost more", "answer_question"),
        ("coffee", "I'm allergic to nuts, is the almond milk kept separate", "answer_question"),
        ("coffee", "and a lactose free latte", ""),
        ("coffee", "how about a chai?", ""),
        ("coffee", "what sizes does the tea come in and I'll have a small one", ""),
        ("coffee", "who are you?", ""),
        ("coffee", "are you there", ""),
        ("coffee", "never mind that", "undo_last"),
        ("assistant", "undo that", "undo_last"),
        ("assistant", "Don't set it after all.", "undo_last"),
        ("assistant", "don't set an alarm", ""),
        ("assistant", "never mind the milk", ""),
        ("assistant", "what's coming up?", "coming_up"),
        ("assistant", "Is there anything coming up this week?", "coming_up"),
        ("assistant", "take that back", "undo_last"),
        ("assistant", "no, put it back to what it was before", "undo_last"),
        ("assistant", "can you turn that back to how it was", "undo_last"),
        ("assistant", "put it back on the list", ""),
        ("coffee", "what have I got so far", "read_order"),
        ("coffee", "what's a macchiato", "answer_question"),
        ("assistant", "what have I got on tomorrow", "coming_up"),
        ("assistant", "what do I have on my shopping list", ""),
        ("assistant", "what is on tv", ""),
        ("coffee", "oh my train is here, cancel all of it", "cancel_order"),
        ("coffee", "do not cancel the whole order", ""),
        ("coffee", "go on then, order it", "confirm_order"),
        ("coffee", "No, I don't want anything else.", "confirm_order"),
        ("coffee", "order it with milk", ""),
        ("coffee", "did you get all of that?", "read_order"),
        ("coffee", "did you write down no foam?", "read_order"),
        ("coffee", "what's on it now", "read_order"),
        ("coffee", "what have I ended up with?", "read_order"),
        ("coffee", "what did I say I had so far", "read_order"),
        ("coffee", "did my order go through?", "read_order"),
        ("coffee", "and does the cappuccino have the oat?", "read_order"),
        ("coffee", "is the order right so far, can you check it", "read_order"),
        ("coffee", "does the chai have dairy in it?", ""),
        ("coffee", "The name's Ines and that concludes my order", ""),
        ("coffee", "do a cold brew", ""),
        ("coffee", "have a nice day!", ""),
        ("coffee", "what I'd really love is a decaf mocha", ""),
        ("coffee", "right, so what do I owe you", "answer_question"),
        ("coffee", "can I bring my dog", "answer_question"),
        ("assistant", "what reminders are left", "list_reminders"),
        ("assistant", "what notes do I have", "list_reminders"),
        ("assistant", "what other reminders do I have, and which alarms", ""),
        ("assistant", "and what's on birthday now", ""),
        ("assistant", "do I have anything else tomorrow", "coming_up"),
        ("assistant", "oh no, bring it back", "undo_last"),
        ("assistant", "nah, back to what it was", "undo_last"),
        ("assistant", "what time is it set for", "coming_up"),
        ("assistant", "did you get all that?", "list_done"),
        ("assistant", "is there any bread on there", "read_list"),
        ("assistant", "is there a bank on the corner", ""),
        ("assistant", "how long does the pasta still have", "list_timers"),
        ("assistant", "it's not a secret lol. remember that I'm allergic to nuts", "remember_fact"),
        ("assistant", "ok good. what do you know about me?", "list_facts"),
        ("assistant", "It's late. My train is gone. What reminders are left?", "list_reminders"),
        ("assistant", "Wake me at six. what do you know about me?", ""),
        ("coffee", "thats all. place the order", "confirm_order"),
        ("coffee", "okay, done", "confirm_order"),
        ("coffee", "that's all for the latte, and a tea", ""),
        ("coffee", "done with the latte", ""),
        ("coffee", "how much will that be, dear", "answer_question"),
        ("coffee", "and whats that cost", "answer_question"),
        ("coffee", "2 in total", ""),
        ("coffee", "5 bucks! swap the vanilla for caramel", "swap_in_order"),
        ("coffee", "no, with soy instead of the oat milk in the latte please", "swap_in_order"),
        ("coffee", "yes instead of the hot one", "swap_in_order"),
        ("coffee", "can you make it iced", "swap_in_order"),
        ("coffee", "make it an iced tea", ""),
        ("coffee", "swap the tea for a mocha", ""),
        ("coffee", "it's freezing, change it to a hot chocolate", ""),
        ("coffee", "a latte with sugar instead of honey", ""),
        ("coffee", "I drink tea instead of coffee", ""),
        ("coffee", "scrap the lot, my boss just said he's paying elsewhere", "cancel_order"),
        ("coffee", "cancel everything because we are late", "cancel_order"),
        ("coffee", "drop everything my sister has ordered", ""),
        ("coffee", "cancel the whole thing but the latte", ""),
        ("coffee", "so how many coffees have you got down for us?", "read_order"),
        ("coffee", "what did you write down so far", "read_order"),
        ("coffee", "do you have down jackets", "answer_question"),
        ("coffee", "hang on, what about my small tea?", "read_order"),
        ("coffee", "what about a small tea?", ""),
        ("coffee", "three large teas instead of the latte please", "order_drink"),
        ("coffee", "is there something to munch on?", "answer_question"),
        ("coffee", "and three croissants if you have any", "answer_question"),
        ("coffee", "and three teas if you have any", ""),
        ("coffee", "well what have you got that has no caffeine", "answer_question"),
        ("coffee", "a latte with no caffeine", ""),
        ("coffee", "hm how many calories are in it", "answer_question"),
        ("coffee", "I want a refund", "answer_question"),
        ("coffee", "the latte was horrible yesterday", "answer_question"),
        ("coffee", "the latte was for my wife", ""),
        ("coffee", "is this the flower shop?", "answer_question"),
        ("coffee", "yes a mocha would be fine", ""),
        ("coffee", "are you open on sundays?", "answer_question"),
        ("coffee", "is anyone there?", ""),
        ("coffee", "did you cancel the order?", ""),
        ("coffee", "oh my name's mocha, like the coffee", "confirm_order"),
        ("coffee", "my name is on the cup", ""),
        ("coffee", "ok just some warm milk then small", "order_drink"),
        ("coffee", "with erm what milks have you got", "answer_question"),
        ("coffee", "what's your biggest size", "answer_question"),
        ("coffee", "is there parking? I want a large latte", ""),
    ],
)
def test_what_is_done_without_the_model(
    toolbox: Toolbox, name: str, message: str, tool: str
) -> None:
    agent = load_agent(name)
    options = SessionOptions(agent_tools=agent.tools, calls=agent.calls, answers=agent.answers)
    specs = toolbox.specs(toolbox.names, SessionScope("x", shop=agent.shop))
    lead = Lead(None, {spec.name: spec for spec in specs}, False)
    found = lead.wanted(options, message, History())
    assert (found[0] if found else "") == tool


@pytest.mark.parametrize(
    ("before", "message", "tool"),
    [
        ("remove_drink", "no, keep it after all", "keep_drink"),
        ("remove_drink", "oh wait, leave it in but make it large", "keep_drink"),
        ("cancel_order", "can you put the same order in again?", "keep_drink"),
        ("remove_drink", "keep it warm", ""),
        ("remove_drink", "put it in a large cup", ""),
        ("order_drink", "no, keep it after all", ""),
    ],
)
def test_what_was_taken_off_is_put_back_only_behind_that(
    toolbox: Toolbox, before: str, message: str, tool: str
) -> None:
    agent = load_agent("coffee")
    options = SessionOptions(agent_tools=agent.tools, calls=agent.calls, answers=agent.answers)
    specs = toolbox.specs(toolbox.names, SessionScope("x", shop=agent.shop))
    dialogue = History()
    dialogue.add("u", Message(Role.USER, "without the tea"))
    dialogue.add("t", Message(Role.TOOL, "Done.", call_id="c", name=before))
    dialogue.add("v", Message(Role.USER, message))
    found = Lead(None, {spec.name: spec for spec in specs}, False).wanted(
        options, message, dialogue
    )
    assert (found[0] if found else "") == tool


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("the latte then, medium, instead of the mocha",
         {"drink": "latte", "size": "medium"}),
        ("two cappuccinos then instead of the flat whites",
         {"quantity": "two", "drink": "cappuccinos"}),
        ("I'd like a large tea rather than the espresso please",
         {"size": "large", "drink": "tea"}),
        ("oat milk instead of the latte", None),
        ("a tea with milk instead of the latte with soy", None),
    ],
)  # fmt: skip
def test_a_drink_in_the_place_of_another_is_ordered_as_it_is_said(
    toolbox: Toolbox, message: str, given: dict[str, str] | None
) -> None:
    agent = load_agent("coffee")
    options = SessionOptions(agent_tools=agent.tools, calls=agent.calls, answers=agent.answers)
    specs = toolbox.specs(toolbox.names, SessionScope("x", shop=agent.shop))
    lead = Lead(None, {spec.name: spec for spec in specs}, False)
    found = lead.wanted(options, message, History())
    assert (found[1] if found and found[0] == "order_drink" else None) == given


def test_phrases_are_words_as_spoken_and_slots_are_filled(agent: AgentConfig) -> None:
    slots: set[str] = set()
    for phrase in agent.phrases:
        slots |= set(re.findall(r"\{(\w+)\}", phrase))
        assert re.fullmatch(r"(?:\{\w+\}|[a-z']+)(?: (?:\{\w+\}|[a-z']+))*", phrase), phrase
    assert slots == set(agent.values)
    for values in agent.values.values():
        for value in values:
            assert re.fullmatch(r"[a-z']+(?: [a-z']+)*", value), value
        assert len(set(values)) == len(values)
    assert len(set(agent.phrases)) == len(agent.phrases)
    assert len(agent.phrases) >= 150


def test_the_model_is_trained_on_these_very_tools(toolbox: Toolbox) -> None:
    from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS, TOOLS

    shipped = {
        spec.name: {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        }
        for spec in toolbox.specs(
            [name for name in toolbox.names if name not in UNUSED | UNTRAINED]
        )
    }
    assert shipped == TOOLS
    for name, tools in AGENT_TOOLS.items():
        agent = load_agent(name)
        assert set(agent.tools) == set(tools)
        assert agent.instructions == INSTRUCTIONS[name]


def test_side_effects_are_marked(toolbox: Toolbox) -> None:
    read_only = {spec.name for spec in toolbox.specs(toolbox.names) if spec.read_only}
    assert UNTRAINED - read_only == {
        "book_appointment", "change_appointment", "cancel_appointment", "request_call_back",
        "cancel_order", "undo_last", "call_me", "change_fact", "forget_fact", "remember_fact",
        "swap_in_order", "keep_drink",
    }  # fmt: skip
    read_only -= UNTRAINED
    assert read_only == {
        "get_time", "get_date", "days_until", "list_timers", "list_alarms", "list_reminders",
        "read_list", "calculate", "convert_units", "convert_currency", "get_weather",
        "get_stock_price", "get_device", "search_documents", "read_order",
    }  # fmt: skip


async def test_what_is_on_the_menu_has_a_price_and_can_be_ordered(
    call: Call, scope: SessionScope
) -> None:
    agent = load_agent("coffee")
    scope.shop = agent.shop
    assert set(agent.shop.prices) <= set(MENU)
    for drink in agent.offers["Menu"]:
        assert await call("order_drink", drink=drink) == f"Added: {drink}."


async def test_devices_are_told_to_whoever_has_tools_for_them(toolbox: Toolbox) -> None:
    assert "kitchen light" in await toolbox.devices(load_agent("assistant").tools)
    assert await toolbox.devices(load_agent("coffee").tools) == ()
