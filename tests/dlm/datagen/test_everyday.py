"""Everyday messages: each is called with the words that were said, or not at all."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.language.phrases import parameter_of, template
from dlm.datagen.language.spoken_values import when
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.own_tools.script import Script
from dlm.datagen.tools.catalog import AGENT_TOOLS, ALIASES, PARAMETERS, SPECS
from dlm.datagen.turns import everyday
from dlm.datagen.turns.basic import request
from dlm.datagen.values.loose_values import loose_clock, loose_moment
from dlm.datagen.values.slots import Values
from tests.dlm.datagen.worlds import NOW, world

VALUES = Values(free=True)
TABLE = everyday._TABLE


def talk(seed: int) -> Script:
    script = Script(Random(seed), VALUES, "train", unasked=0.2, at_ease=True)
    script.offer(AGENT_TOOLS["assistant"])
    return script


def calls(script: Script) -> list[tuple[str, dict[str, str]]]:
    found = [m for m in script.messages if m.get("tool_calls")]
    return [(c["name"], c["arguments"]) for m in found for c in m["tool_calls"]]


def said(script: Script) -> str:
    return " ".join(m["content"].lower() for m in script.messages if m["role"] == "user")


def required(tool: str, source: str) -> set[str]:
    """What a phrasing lacks of what its tool needs."""
    slots = {parameter_of(name)[0] for name in template(source).slots}
    given = {ALIASES.get(name, name) for name in slots} | {
        name for name in PARAMETERS[tool] if f"{{{name}=" in source
    }
    assert given <= {*PARAMETERS[tool]}, source
    return set(SPECS[tool]["parameters"]["required"]) - given


def test_what_is_asked_for_in_a_breath_has_all_that_its_tools_need() -> None:
    for group in TABLE.together:
        for source in group.say:
            parts = source.split(" + ")
            assert len(parts) == len(group.tools), source
            lacking = [required(t, part) for t, part in zip(group.tools, parts, strict=True)]
            assert not any(lacking), source
    for group in TABLE.hints:
        assert not any(required(group.tools[0], source) for source in group.give)
        assert all(answer.endswith("?") or "remind" in answer or "Tell me" in answer
                   for answer in group.answers)  # fmt: skip


def test_no_phrasing_stands_twice() -> None:
    groups = [*TABLE.together, *TABLE.unasked, *TABLE.hints]
    lists = [group.say for group in groups] + [
        *(TABLE.stories, TABLE.story_asks, TABLE.scrap, TABLE.move, TABLE.refused),
        *read("spontaneous", Lists).values(),
    ]
    for phrasings in lists:
        assert phrasings and all(source == source.strip() for source in phrasings)
    unasked = [source for group in TABLE.unasked for source in group.say]
    assert len(unasked) == len(set(unasked))
    assert all("REQUEST" in frame for frame in (*TABLE.stories, *TABLE.story_asks))


def test_what_is_only_spoken_of_calls_nothing() -> None:
    for seed in range(200):
        script = talk(seed)
        assert everyday.unasked(script)
        assert not calls(script) and script.used
        assert script.last is None
    silent = talk(1)
    silent.unasked = 0.0
    assert not everyday.unasked(silent)


@pytest.mark.parametrize(
    "turn", ["story", "scrap", "by_place", "move", "amend", "together", "hint"]
)
def test_arguments_are_words_of_the_user(turn: str) -> None:
    taken = 0
    for seed in range(120):
        script = talk(seed)
        act = getattr(everyday, turn)
        args = ("add_to_list",) if turn in ("story", "scrap") else ()
        if not act(script, *args):
            continue
        taken += bool(calls(script))
        for name, arguments in calls(script):
            assert set(SPECS[name]["parameters"]["required"]) <= set(arguments)
            for value in arguments.values():
                words = "".join(c for c in value.lower() if c.isalnum())
                assert words in "".join(c for c in said(script) if c.isalnum())
    assert taken > 40


def test_one_of_several_is_dropped_by_its_place() -> None:
    found = set()
    for seed in range(300):
        script = talk(seed)
        if not everyday.by_place(script):
            continue
        *made, (undo, chosen) = calls(script)
        words = [m["content"].lower() for m in script.messages if m["role"] == "user"][-1]
        for at, place in enumerate(("first", "second", "third")):
            if undo == "cancel_alarm" and f"the {place} one" in words:
                assert chosen["when"] == made[at][1]["when"]
                found.add(place)
    assert found >= {"first", "second"}


def test_what_was_set_is_moved_from_where_it_was() -> None:
    here = world()
    here.call("set_alarm", {"when": "seven am"})
    later = here.call("change_alarm", {"to": "half an hour later"})
    assert later.text == "Alarm moved from 7:00 AM tomorrow to 7:30 AM tomorrow."
    here.alarms[:] = [("seven am", "7:00 AM tomorrow")]
    moved = here.call("change_alarm", {"to": "monday"}).text
    assert moved.endswith("to 7:00 AM on Monday, November 23.")
    here.call("set_reminder", {"text": "call mom", "when": "at five pm"})
    earlier = here.call("change_reminder", {"text": "call mom", "when": "ten minutes earlier"})
    assert earlier.text == "Reminder moved to 4:50 PM today: call mom."
    part = here.call("set_reminder", {"text": "rest", "when": "tomorrow evening"})
    assert part.text == "Reminder set for 7:00 PM tomorrow: rest."


def test_a_timer_without_a_name_is_known_by_its_length_and_counts_minutes() -> None:
    here = world()
    assert here.call("set_timer", {"duration": "ten"}).text == "Timer set for 10 minutes."
    here.call("set_timer", {"duration": "an hour twenty"})
    changed = here.call("change_timer", {"name": "ten minute", "duration": "twelve minutes"})
    assert changed.text == "Timer changed: 12 minutes left."


def test_loose_times_are_read() -> None:
    rng = Random(2)
    assert str(when("half six", NOW)) == "2026-11-21 18:30:00"
    for _ in range(300):
        assert when(loose_clock(rng, digits=False), NOW)
        assert when(loose_clock(rng, digits=True), NOW)
    said = {loose_moment(rng) for _ in range(300)}
    hours = {text for text in said if when(text, NOW)}
    assert {"first thing tomorrow", "friday after work"} & hours and len(hours) > 10


def test_a_scrapped_thing_is_undone_before_the_next_is_done() -> None:
    for seed in range(60):
        script = talk(seed)
        request(script, "set_alarm")
        if everyday.scrap(script, "add_to_list"):
            names = [name for name, _ in calls(script)]
            assert names[names.index("add_to_list") - 1].startswith("cancel_")
