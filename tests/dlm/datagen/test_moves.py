from random import Random

import pytest

from dlm.datagen import catalog, moves
from dlm.datagen.corpora import Corpora
from dlm.datagen.grammar import Piece
from dlm.datagen.script import Script
from dlm.datagen.values import Values

VALUES = Values()


def script(seed: int = 1, corpora: Corpora | None = None) -> Script:
    return Script(Random(seed), VALUES, "train", corpora)


@pytest.mark.parametrize("tool", sorted(catalog.SAY))
def test_every_tool_can_be_asked_for(tool: str) -> None:
    for seed in range(15):
        talk = script(seed)
        assert moves.request(talk, tool)
        assert tool in talk.used
        for message in talk.messages:
            for call in message.get("tool_calls", ()):
                required = catalog.SPECS[call["name"]]["parameters"]["required"]
                assert set(required) <= set(call["arguments"])


@pytest.mark.parametrize("tool", sorted(catalog.BARE))
def test_what_is_missing_is_asked_for(tool: str) -> None:
    talk = script(4)
    moves.bare_request(talk, tool)
    roles = [m["role"] for m in talk.messages[:4]]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert talk.messages[1]["content"].endswith("?")
    assert talk.messages[3]["tool_calls"]


def test_a_follow_up_keeps_what_was_not_said_again() -> None:
    for seed in range(30):
        talk = script(seed)
        talk.answer([("get_weather", {"place": "rome", "day": "friday"})])
        if not moves.follow_up(talk):
            continue
        assert talk.last is not None
        after = talk.last[1]
        assert list(after) == ["place", "day"]
        assert (after["place"], after["day"]) != ("rome", "friday")


def test_a_correction_undoes_what_was_done() -> None:
    talk = script(3)
    talk.world.timers.clear()
    talk.answer([("set_timer", {"duration": "ten minutes"})])
    assert moves.correction(talk)
    names = [c["name"] for c in talk.messages[-4]["tool_calls"]]
    assert names == ["cancel_timer", "set_timer"]
    assert len(talk.world.timers) == 1


def test_nothing_follows_on_nothing() -> None:
    assert not moves.follow_up(script())
    assert not moves.correction(script())
    assert not moves.repeat(script())
    assert not moves.chat(script())
    assert not moves.unfit(script())


def test_a_repeat_says_the_same_again() -> None:
    talk = script()
    talk.say("It is noon.")
    assert moves.repeat(talk)
    assert talk.messages[-1]["content"] == "It is noon."


def test_a_declined_tool_is_never_offered_or_used() -> None:
    talk = script()
    assert moves.decline(talk, "play_music")
    assert talk.forbidden == {"play_music"}
    moves.request(talk, "get_time")
    assert not moves.decline(talk, "get_time")


def test_two_tools_in_one_breath() -> None:
    for seed in range(20):
        talk = script(seed)
        if moves.compound(talk, "set_alarm", "add_to_list"):
            calls = talk.messages[1]["tool_calls"]
            assert {c["name"] for c in calls} == {"set_alarm", "add_to_list"}
            return
    raise AssertionError("no compound in 20 tries")


def test_names_and_abilities_are_told_as_they_are() -> None:
    talk = script(6)
    assert moves.abilities(talk, ("get_time", "set_timer", "calculate"))
    assert talk.used == {"get_time", "set_timer", "calculate"}
    assert not moves.abilities(script(), ("get_time",))
    # "tell the time" comes before "set timers", as their tools do.
    told = talk.messages[-1]["content"]
    known = [catalog.CAN[name] for name in ("get_time", "set_timer", "calculate")]
    places = [told.find(what) for what in known if what in told]
    assert len(places) > 1 and places == sorted(places)
    for seed in range(20):
        talk = script(seed)
        assert moves.acquaintance(talk)


def test_corpus_rows_word_requests_and_talk() -> None:
    rows = Corpora(
        requests={"get_time": [[Piece("which time in"), Piece("Bonn", "place")]]},
        talk={"thanks": ["ta"]},
        unfit=["juggle for me"],
        chat=[("sing?", "I hum.")],
    )
    heard = {self_said(script(seed, rows)) for seed in range(40)}
    assert any("bonn" in text.lower() for text in heard)
    talk = script(1, rows)
    assert moves.chat(talk) and talk.messages[-1]["content"] == "I hum."
    assert moves.unfit(talk) and "juggle" in talk.messages[-2]["content"].lower()


def self_said(talk: Script) -> str:
    moves.request(talk, "get_time")
    return str(talk.messages[0]["content"])


def test_goodbye_ends_the_dialogue() -> None:
    talk = script()
    assert moves.goodbye(talk)
    assert talk.ended and talk.used == {"end_conversation"}


def test_what_a_tool_does_may_be_named_without_being_asked_for() -> None:
    found: dict[str, str | None] = {}
    for seed in range(300):
        talk = script(seed)
        if moves.unasked(talk, "set_timer"):
            assert "set_timer" in talk.used
            found[talk.messages[0]["content"].lower()] = talk.messages[1]["content"]
            assert talk.last is None or talk.messages[1]["content"] is None
    refused = [said for said, answer in found.items() if "don't" in said and answer]
    assert len(refused) > 10
    called = [said for said, answer in found.items() if answer is None]
    assert len(called) > 10 and any("you" in said for said in called)
    assert not moves.unasked(script(), "end_conversation")
