"""Requests as people speak them: what fills a parameter stays one run of what was said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from dlm.datagen import catalog, free_text, turns, turns_at_ease
from dlm.datagen.catalog import AGENT_TOOLS
from dlm.datagen.holdout import held_out, members
from dlm.datagen.phrases import Piece
from dlm.datagen.script import Script
from dlm.datagen.spontaneous import (
    SPEECH,
    Speaker,
    at_ease,
    gapped,
    joined,
    parted,
    repaired,
    shortened,
    taken_back,
    varied,
)
from dlm.datagen.unfamiliar_tools import Scene, write
from dlm.datagen.values import Values

VALUES = Values(free=True)
TIMER = [Piece("set a timer for "), Piece("ten minutes", "duration"), Piece(" please")]


def speaker(seed: int, other: str = "fifteen minutes") -> Speaker:
    rng = Random(seed)
    return Speaker(rng, "train", lambda symbol: VALUES.text(symbol, rng), lambda *_: other)


def text(pieces: list[Piece]) -> str:
    return " ".join("".join(piece.text for piece in pieces).split())


def talk(seed: int, agent: str = "assistant") -> Script:
    script = Script(Random(seed), VALUES, "train", at_ease=True)
    script.offer(AGENT_TOOLS[agent])
    return script


def calls(script: Script) -> list[tuple[str, dict[str, str]]]:
    found = [m for m in script.messages if m.get("tool_calls")]
    return [(c["name"], c["arguments"]) for m in found for c in m["tool_calls"]]


def test_what_is_put_around_a_request_leaves_its_values_alone() -> None:
    said = Counter(text(at_ease(speaker(seed), TIMER, order=True)) for seed in range(300))
    assert len(said) > 150
    for seed in range(300):
        values = [p for p in at_ease(speaker(seed), TIMER, True) if p.slot == "duration"]
        assert values == [Piece("ten minutes", "duration")]


def test_a_repair_says_the_wrong_value_first() -> None:
    for seed in range(100):
        words = text(repaired(speaker(seed), TIMER))
        assert words.index("fifteen") < words.rindex("ten minutes")


def test_words_that_two_values_share_may_be_said_once() -> None:
    found = {shortened(Random(seed), "tomorrow at four", "tomorrow at three") for seed in range(40)}
    assert found == {"tomorrow at four", "four"}
    found = {shortened(Random(seed), "fifteen minutes", "ten minutes") for seed in range(40)}
    assert found == {"fifteen minutes", "fifteen"}
    assert shortened(Random(1), "an hour and a half", "an hour") != "and a half"


@pytest.mark.parametrize("value", ["half past seven", "seven percent of 80", "twenty five degrees"])
def test_a_varied_value_differs_in_a_number(value: str) -> None:
    for seed in range(20):
        found = varied(Random(seed), value)
        assert found != value and len(set(found.split()) & set(value.split())) >= 1
    assert varied(Random(1), "the kitchen") == ""


def test_a_gap_keeps_what_belongs_to_the_value() -> None:
    pieces = [
        Piece("remind me to "),
        Piece("call mum", "text"),
        Piece(" at "),
        Piece("nine", "when"),
    ]
    assert text(gapped(pieces)) == "to call mum at nine"


def test_values_of_requests_in_one_breath_are_told_apart() -> None:
    pieces = joined(Random(1), [TIMER, TIMER, TIMER], ["and"], ["then"])
    values = {p.slot: p.text for p in pieces if p.slot.startswith("duration")}
    assert text(pieces).count("set a timer") == 3
    assert parted(values, 3) == [{"duration": "ten minutes"}] * 3


def test_what_is_taken_back_has_no_values() -> None:
    assert {p.slot for p in taken_back(speaker(1), TIMER)} == {"(side)"}


@pytest.mark.parametrize("tool", ["set_timer", "set_reminder", "get_weather", "set_device"])
def test_several_things_are_as_many_calls_of_one_tool(tool: str) -> None:
    made = []
    for seed in range(12):
        script = talk(seed)
        if turns_at_ease.several(script, tool):
            made.append(len(calls(script)))
            assert {name for name, _ in calls(script)} == {tool}
    assert set(made) & {2, 3}


def test_what_is_withdrawn_told_or_wondered_calls_nothing() -> None:
    for seed in range(20):
        script = talk(seed, "coffee" if seed % 2 else "assistant")
        turns_at_ease.tell(script)
        turns_at_ease.wonder(script)
        turns_at_ease.withdraw(script, "order_drink" if seed % 2 else "set_alarm")
        assert not calls(script)


def test_a_contrast_calls_the_second_alone() -> None:
    for seed in range(20):
        script = talk(seed)
        if turns_at_ease.contrast(script, "set_alarm", "get_weather"):
            assert [name for name, _ in calls(script)] == ["get_weather"]


def test_who_gets_stuck_is_asked_for_what_is_missing() -> None:
    kinds: Counter[int] = Counter()
    for seed in range(60):
        script = talk(seed)
        if turns_at_ease.trail_off(script, "set_timer"):
            assert script.messages[1].get("kind") == "ask"
            kinds[len(calls(script))] += 1
    assert kinds[0] and kinds[1] and set(kinds) == {0, 1}


def test_what_was_said_is_undone_and_asked_for() -> None:
    script = talk(3)
    turns.request(script, "add_to_list")
    added = calls(script)[0][1]
    assert turns_at_ease.ask_back(script)
    assert turns.request(script, "set_alarm")
    assert turns_at_ease.take_back(script)
    assert [name for name, _ in calls(script)] == [
        *("add_to_list", "read_list", "set_alarm", "cancel_alarm")
    ]
    kept = {key: value for key, value in added.items() if key == "list"}
    assert calls(script)[1][1] == kept


def test_drinks_share_what_is_said_of_both() -> None:
    for seed in range(60):
        script = talk(seed, "coffee")
        values = script.speak(script.worded("order_drink", "a {drink} and a {drink2} both {size0}"))
        turns.answer_all(script, [("order_drink", values)])
        (_, first), (_, second) = calls(script)
        assert first["size"] == second["size"]


def test_unfamiliar_tools_are_spoken_to_at_ease() -> None:
    counts: Counter[int] = Counter()
    for seed in range(150):
        written = write(Scene(Random(seed), VALUES, "train", {}, at_ease=True))
        for message in written[1] if written else ():
            if message.get("tool_calls"):
                counts[len(message["tool_calls"])] += 1
    assert counts[2] > 20 and counts[3] > 3


def test_a_speaker_keeps_to_the_split() -> None:
    spoken = {speaker(seed).words(SPEECH.openers) for seed in range(400)}
    assert not spoken & set(members(SPEECH.openers, "heldout"))


def test_the_grammar_has_no_circles_and_no_unknown_kinds() -> None:
    rng = Random(4)
    for symbol in free_text.GRAMMAR:
        assert all(VALUES.text(symbol, rng).strip() for _ in range(30))


def test_what_corpora_give_is_in_training_alone(corpora: Path) -> None:
    found = free_text.read(corpora)
    assert not any(held_out(text) for texts in found.values() for text in texts)


def test_every_tool_that_asks_back_is_one_of_ours() -> None:
    for script in map(talk, range(5)):
        for tool in ("set_timer", "set_reminder", "set_device"):
            turns.request(script, tool)
            if turns_at_ease.ask_back(script):
                assert calls(script)[-1][0] in catalog.SPECS
