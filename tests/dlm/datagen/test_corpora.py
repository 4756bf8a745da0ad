"""Rows of the corpora become requests, talk, dialogues and tools, or are left out."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from dlm.datagen.corpora.collection import (
    _DIALOGUES,
    _INTENTS_ALONE,
    _UTTERANCES,
    as_heard,
    beginning,
    dialogue,
)
from dlm.datagen.corpora.intent_tools import answered, asked, collect, offer, telling_phrases
from dlm.datagen.corpora.labelled_rows import request
from dlm.datagen.corpora.orders import FILES, drink_order
from dlm.datagen.corpora.spans import Request, complete, from_markers
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.phrases import Piece

ATTRIBUTED = {
    "clinc_oos": "Larson et al., EMNLP 2019",
    "nlu_evaluation_data": "Liu, Eshghi, Swietojanski, Rieser",
    "hwu64": "HWU64",
    "slurp_devel": "SLURP",
    "snips_train": "Coucke et al. 2018",
    "mycroft_ovos_intents": "Mycroft AI, OpenVoiceOS",
    "ohf_intents_expanded": "Open Home Foundation",
    "ohf_intents_dialogues": "Open Home Foundation",
    "banking77_train": "Casanueva et al. 2020",
    "rasa_nlu": "Rasa Technologies",
    "home_llm_dialogues": "Alex O'Connell",
    "taskmaster4_coffee": "Taskmaster",
    "taskmaster_reward_good": "Taskmaster",
    "qna_chitchat": "Microsoft",
    "slot_values": "GeoNames",
}
"""Corpora that training reads, and words of their line in the model card."""

ROW: dict[str, Any] = {
    "tools": [
        {
            "name": "light_turn_on",
            "description": "Turn on a light",
            "parameters": {
                "type": "object",
                "properties": {
                    "device": {"type": "string", "description": "Name"},
                    "brightness": {"type": "integer"},
                },
                "required": ["device"],
            },
        }
    ],
    "messages": [
        {"role": "user", "content": "Porch light to 50 percent!"},
        {
            "role": "assistant",
            "content": "Sure.",
            "tool_calls": [
                {"name": "light_turn_on", "arguments": {"brightness": 50, "device": "Porch Light"}}
            ],
        },
        {"role": "tool", "name": "light_turn_on", "content": '{"success":true}'},
        {"role": "assistant", "content": "Done."},
    ],
}


def test_dialogues_take_the_users_own_words() -> None:
    found = dialogue(ROW)
    assert found is not None
    call = found["messages"][1]
    assert call["content"] is None
    assert call["tool_calls"][0]["arguments"] == {"device": "Porch light", "brightness": 50}
    assert found["tools"][0]["parameters"]["properties"]["device"]["description"] == "Name"


def test_dialogues_whose_values_were_never_said_are_left_out() -> None:
    other = {**ROW, "messages": [{"role": "user", "content": "Lights!"}, *ROW["messages"][1:]]}
    assert dialogue(other) is None


def test_a_dialogue_is_cut_before_what_was_never_said() -> None:
    said = {"role": "user", "content": "Lights!"}
    call = {"name": "light_turn_on", "arguments": {"device": "Desk Lamp"}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    never = [said, called, *ROW["messages"][2:]]
    found = beginning({**ROW, "messages": [*ROW["messages"], *never]})
    assert found is not None and len(found["messages"]) == len(ROW["messages"])
    assert beginning({**ROW, "messages": never}) is None


def test_what_is_heard_changes_text_and_values_alike() -> None:
    found = dialogue(ROW)
    assert found is not None
    heard = [as_heard(found, Random(seed)) for seed in range(20)]
    bare = [h for h in heard if h["messages"][0]["content"] == "porch light to fifty percent"]
    assert bare
    assert bare[0]["messages"][1]["tool_calls"][0]["arguments"]["device"] == "porch light"


def test_whatever_is_read_is_attributed(repo_root: Path) -> None:
    card = (repo_root / "docs" / "model-card.md").read_text(encoding="utf-8")
    read = {*_UTTERANCES, *_INTENTS_ALONE, *_DIALOGUES, *FILES}
    assert read | {"qna_chitchat", "slot_values"} == set(ATTRIBUTED)
    for name, words in ATTRIBUTED.items():
        assert any(words in line for line in card.splitlines() if line.startswith("|")), name


def labelled(text: str, intent: str, **slots: Any) -> tuple[str, dict[str, str]] | None:
    found = request({"text": text, "intent": intent, "slots": slots})
    return None if found is None else (found[0], {p.slot: p.text for p in found[1] if p.slot})


@pytest.mark.parametrize(
    ("text", "intent", "slots", "tool", "arguments"),
    [
        ("set a six minute timer", "timer", {}, "set_timer", {"duration": "six minute"}),
        (
            "alarm five pm tuesday",
            "alarm_set",
            {"time": "five pm"},
            "set_alarm",
            {"when": "five pm tuesday"},
        ),
        (
            "Weather for Coaldale Arkansas",
            "GetWeather",
            {"city": "Coaldale", "state": "Arkansas"},
            "get_weather",
            {"place": "Coaldale Arkansas"},
        ),
        (
            "turn off the bedroom lamp",
            "iot_hue_lightoff",
            {"house_place": "bedroom", "device_type": "lamp"},
            "set_device",
            {"state": "off", "room": "bedroom", "device": "lamp"},
        ),
        (
            "remind me to call mom tomorrow at nine",
            "reminder_update",
            {},
            "set_reminder",
            {"text": "call mom", "when": "tomorrow at nine"},
        ),
        (
            "put butter on my shopping list",
            "shopping_list_update",
            {},
            "add_to_list",
            {"item": "butter", "list": "shopping"},
        ),
        (
            "what is ten divided by five",
            "qa_maths",
            {},
            "calculate",
            {"expression": "ten divided by five"},
        ),
        ("what time is it in lisbon", "time", {}, "get_time", {"place": "lisbon"}),
        ("what date is it", "date", {}, "get_date", {}),
    ],
)
def test_rows_become_requests(
    text: str, intent: str, slots: dict[str, Any], tool: str, arguments: dict[str, str]
) -> None:
    assert labelled(text, intent, **slots) == (tool, arguments)


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("set an alarm every day at nine", "alarm", {}),
        ("cancel my six am alarm", "alarm", {}),
        ("will it rain near me", "GetWeather", {"spatial_relation": "near"}),
        ("add it to the list", "lists_createoradd", {}),
        ("play some music", "PlayMusic", {}),
        ("what will the time be in an hour", "time", {}),
        ("remind me of the meeting on one divided by twenty two", "calendar_set", {}),
    ],
)
def test_rows_that_say_more_than_a_tool_takes_are_refused(
    text: str, intent: str, slots: dict[str, Any]
) -> None:
    assert labelled(text, intent, **slots) is None


def labels(tool: str, *pieces: str | tuple[str, str]) -> Request:
    return tool, [Piece(p) if isinstance(p, str) else Piece(*p) for p in pieces]


WEATHER = [
    labels("get_weather", "weather in ", ("boston", "place")),
    labels("get_weather", "is it raining in ", ("Boston", "place"), "?"),
    labels("get_weather", "will it rain ", ("tomorrow", "day")),
]


def judged(*requests: Request) -> list[bool]:
    """What is said of some requests among those above, which are whole."""
    found = list(complete([*WEATHER, *requests]))
    assert all(found[: len(WEATHER)])
    return found[len(WEATHER) :]


def test_a_place_that_nobody_marked_is_noticed() -> None:
    assert judged(labels("get_weather", "boston weather?")) == [False]


def test_another_tool_s_rows_tell_as_well() -> None:
    assert judged(labels("get_time", "what time is it in boston")) == [False]


def test_only_sources_that_mark_values_are_believed_where_they_do() -> None:
    def row(source: str, intent: str, **slots: str) -> dict[str, object]:
        return {"source": source, "intent": intent, "slots": slots}

    rows = [
        row("marking", "play", song="yesterday"),
        row("marking", "play"),
        row("bare", "play"),
        row("bare", "tell_joke"),
    ]
    assert from_markers(rows) == [rows[0], rows[1], rows[3]]
    assert from_markers(rows[2:]) == rows[2:]


def said(text: str, span: tuple[int, int] | None) -> str | None:
    return " ".join(text.split()[span[0] : span[1]]) if span else None


def slots(text: str) -> dict[str, str] | None:
    found = drink_order(text)
    return None if found is None else {p.slot: p.text for p in found if p.slot}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Can I get a latte?", {"drink": "latte"}),
        (
            "I want an iced cortado with oat milk and vanilla.",
            {"drink": "iced cortado", "milk": "oat milk", "sweetener": "vanilla"},
        ),
        ("Two Chai Lattes please", {"quantity": "Two", "drink": "Chai Lattes"}),
        (
            "a double macchiato with a pump of vanilla syrup",
            {"shots": "double", "drink": "macchiato", "sweetener": "a pump of vanilla syrup"},
        ),
        ("an almond milk mocha", {"milk": "almond milk", "drink": "mocha"}),
    ],
)
def test_orders_are_read(text: str, wanted: dict[str, str]) -> None:
    assert slots(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "what drinks do you have",
        "a latte and a mocha please",
        "a latte with unicorn dust",
        "a latte with oat milk or almond milk",
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    assert drink_order(text) is None


ROWS: list[dict[str, Any]] = [
    {
        "text": f"play something by singer {i} on the radio",
        "intent": "play_radio",
        "slots": {"artist_name": f"singer {i}"},
        "source": "marked",
    }
    for i in range(40)
]


def test_rows_become_a_purpose_with_spans() -> None:
    (purpose,) = collect(ROWS, "train").values()
    assert purpose.verbs[0] == "play"
    assert len(purpose.rows) == sum(not held_out(r["text"]) for r in ROWS)
    assert all(slots == {"artist_name": (3, 5)} for _, slots in purpose.rows)


def test_unseen_intents_are_in_the_held_out_split_alone() -> None:
    name = next(f"intent_{i}" for i in range(99) if unseen(f"intent_{i}"))
    rows = [
        {"text": f"do thing {i}", "intent": name, "slots": {}, "source": "bare"} for i in range(20)
    ]
    assert not collect(rows, "train")
    assert list(collect(rows, "heldout")) == [name]
    assert not collect(ROWS, "heldout")


def test_an_offered_purpose_asks_and_answers() -> None:
    (purpose,) = collect(ROWS, "train").values()
    rng = Random(1)
    for _ in range(50):
        text, slots = rng.choice(purpose.rows)
        wish = offer(purpose, rng, "snake", slots)
        pieces = asked(wish, text, slots) or []
        said = {p.slot: p.text for p in pieces if p.slot}
        assert set(wish.spec["parameters"]["required"]) <= set(said)
        assert set(said) == set(wish.keys.values())
        result, reply = answered(wish, said, rng)
        assert result and reply and "{" not in reply


SENTENCES = {
    "rent": ["where can i rent a car", "i want to rent a vehicle", "rent me a car in town"],
    "wash": ["please wash the car", "i want the vehicle washed", "wash my windows"],
    "hello": ["how are you"],
}


def test_words_of_one_intent_are_told_in_the_order_said() -> None:
    told = telling_phrases(SENTENCES)
    assert told["rent"][0] == "rent_car"
    assert set(told["wash"]) == {"wash", "washed", "wash_windows"}
