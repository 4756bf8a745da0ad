"""Each turn is written down as user, call, result and reply."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest

from dlm.datagen import holdout
from dlm.datagen.corpora import orders
from dlm.datagen.corpora.collection import Corpora
from dlm.datagen.dialogues import Source, stream
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.own_tools.script import Script, calls_of
from dlm.datagen.tools import catalog
from dlm.datagen.turns import basic
from dlm.datagen.turns.drink_groups import said_again
from dlm.datagen.values.slots import Values

VALUES = Values()


def script(seed: int = 1, corpora: Corpora | None = None) -> Script:
    return Script(Random(seed), VALUES, "train", corpora)


@pytest.mark.parametrize("tool", sorted(catalog.LACKING))
def test_what_is_missing_is_asked_for(tool: str) -> None:
    talk = script(4)
    basic.bare_request(talk, tool)
    roles = [m["role"] for m in talk.messages[:4]]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert talk.messages[1]["content"].endswith("?")
    assert talk.messages[3]["tool_calls"]


def test_a_follow_up_keeps_what_was_not_said_again() -> None:
    for seed in range(30):
        talk = script(seed)
        talk.answer([("get_weather", {"place": "rome", "day": "friday"})])
        if not basic.follow_up(talk):
            continue
        assert talk.last is not None
        after = talk.last[1]
        assert list(after) == ["place", "day"]
        assert (after["place"], after["day"]) != ("rome", "friday")


def test_each_thing_of_an_enumeration_has_a_call() -> None:
    talk = script(2)
    talk.answer([("read_list", {"list": "camping"})])
    given = talk.ask("add_to_list", ("put {items} on it",), {"list": "camping"})
    calls = [arguments["item"] for _, arguments in calls_of("add_to_list", given)]
    assert 2 <= len(calls) <= 4
    said = talk.messages[-1]["content"]
    assert not any(" and " in item for item in calls) and all(item in said for item in calls)


def test_a_correction_changes_what_was_done() -> None:
    talk = script(3)
    talk.world.timers.clear()
    talk.answer([("set_timer", {"duration": "ten minutes"})])
    assert basic.correction(talk)
    (call,) = talk.messages[-3]["tool_calls"]
    assert call["name"] == "change_timer" and "name" not in call["arguments"]
    assert len(talk.world.timers) == 1
    talk.answer([("set_timer", {"duration": "ten minutes"})])
    assert basic.correction(talk)
    (call,) = talk.messages[-3]["tool_calls"]
    # Of two timers the one that was just set is meant.
    assert call["arguments"]["name"] == "ten minutes"


def test_what_cannot_be_changed_is_undone_and_done_again() -> None:
    talk = script(3)
    talk.answer([("add_to_list", {"item": "milk"})])
    assert basic.correction(talk)
    names = [c["name"] for c in talk.messages[-4]["tool_calls"]]
    assert names == ["remove_from_list", "add_to_list"]


def test_a_correction_calls_no_tool_that_was_declined() -> None:
    talk = script(3)
    talk.forbidden.add("change_alarm")
    talk.answer([("set_alarm", {"when": "seven"})])
    before = len(talk.messages)
    assert not basic.correction(talk)
    assert len(talk.messages) == before


def test_the_user_says_which_one_is_meant() -> None:
    talk = script(2)
    assert not basic.choose(talk)
    talk.world.alarms += [("seven", "7:00 AM tomorrow"), ("eight", "8:00 AM tomorrow")]
    talk.answer([("cancel_alarm", {})])
    assert "Which one: 7:00 AM tomorrow or 8:00 AM tomorrow?" in talk.last_reply
    assert basic.choose(talk)
    (call,) = talk.messages[-3]["tool_calls"]
    assert call["name"] == "cancel_alarm" and call["arguments"]["when"] in ("seven", "eight")
    assert len(talk.world.alarms) == 1


def test_a_tool_for_the_same_thing_is_offered_beside_a_declined_one() -> None:
    talk = script(4)
    assert basic.decline(talk, "cancel_alarm")
    assert talk.used & {"set_alarm", "list_alarms", "change_alarm"}


def test_a_declined_tool_is_never_offered_or_used() -> None:
    talk = script()
    assert basic.decline(talk, "play_music")
    assert talk.forbidden == {"play_music"}
    basic.request(talk, "get_time")
    assert not basic.decline(talk, "get_time")


def test_names_and_abilities_are_told_as_they_are() -> None:
    talk = script(6)
    assert basic.abilities(talk, ("get_time", "set_timer", "calculate"))
    assert talk.used == {"get_time", "set_timer", "calculate"}
    assert not basic.abilities(script(), ("get_time",))
    # "tell the time" comes before "set timers", as their tools do.
    told = talk.messages[-1]["content"]
    known = [catalog.CAN[name] for name in ("get_time", "set_timer", "calculate")]
    places = [told.find(what) for what in known if what in told]
    assert len(places) > 1 and places == sorted(places)
    for seed in range(20):
        talk = script(seed)
        assert basic.acquaintance(talk)


LATTE = {"drink": "latte", "milk": "oat milk", "sweetener": "a bit of honey"}


def ordering(seed: int = 1) -> Script:
    """A dialogue in which a latte has just been ordered."""
    for attempt in range(seed, seed + 50):
        talk = Script(Random(attempt), VALUES, "train")
        talk.answer([("order_drink", dict(LATTE))])
        if talk.world.order:
            return talk
    raise AssertionError("the latte was refused 50 times")


def test_what_is_left_out_is_gone_and_the_rest_stays() -> None:
    talk = ordering()
    assert basic.leave_out(talk)
    (call,) = talk.messages[-3]["tool_calls"]
    (key,) = call["arguments"].keys() - {"drink"}
    assert call["name"] == "change_drink" and key in ("milk", "sweetener")
    (ordered,) = talk.world.order
    assert ordered == {k: v for k, v in LATTE.items() if k != key}


def test_a_split_that_is_never_drawn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdout, "held_out", lambda source: False)
    with pytest.raises(NothingHeldOutError, match="heldout"):
        orders.compose_order(Random(1), "heldout")


def talks(kind: str, count: int = 150) -> list[list[dict[str, Any]]]:
    source = Source(VALUES, None, "train")
    return [row["messages"] for row in islice(stream(Random(kind), source, {kind: 1.0}), count)]


@pytest.mark.parametrize("kind", ["drinks", "errands"])
def test_what_is_asked_at_once_is_called_in_the_words_of_the_last_messages(kind: str) -> None:
    counts = set()
    for messages in talks(kind):
        heard: list[str] = []
        before: list[str] = []
        for message in messages:
            if message["role"] == "user":
                heard.append(message["content"].lower())
            for call in message.get("tool_calls", ()):
                assert set(call["arguments"]) <= set(catalog.PARAMETERS[call["name"]])
                # Of an order that is taken back, what was ordered first may be long ago.
                late = heard if call["name"] == "remove_drink" else heard[-3:]
                for value in call["arguments"].values():
                    assert any(value.lower() in text for text in (*late, *before))
            if calls := message.get("tool_calls"):
                before = [v.lower() for call in calls for v in call["arguments"].values()]
                counts.add(len(calls))
    assert counts == {1, 2, 3, 4, 5}


def test_a_detail_stays_with_the_drink_that_it_was_said_of() -> None:
    talk = ordering()
    source = "two {drinks} one with {milk} and one {size2} AGAIN1 {quantity3=three} {drink3} plain"
    pieces = said_again(talk.worded("order_drink", source))
    first, second, third = calls_of("order_drink", talk.speak(pieces))
    assert first[1].keys() == {"drink", "milk"} and second[1].keys() == {"drink", "size"}
    assert third[1].keys() == {"drink", "quantity"} and third[1]["quantity"] == "three"
    assert first[1]["drink"] == second[1]["drink"]
    assert talk.messages[-1]["content"].lower().count(first[1]["drink"].lower()) >= 2


def test_one_of_several_is_changed_and_the_others_stay() -> None:
    talk = ordering()
    talk.call([("order_drink", {"drink": "lattes", "quantity": "three"})])
    talk.call([("change_drink", {"drink": "one of the lattes", "roast": "decaf"})])
    left = {"drink": "lattes", "quantity": "2"}
    assert talk.world.order[-2:] == [left, {"drink": "lattes", "roast": "decaf"}]
