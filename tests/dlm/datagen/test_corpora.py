from pathlib import Path
from random import Random
from typing import Any

import pytest

from dlm.datagen import coffee_rows
from dlm.datagen.catalog import PARAMETERS
from dlm.datagen.corpora import (
    _DIALOGUES,
    _INTENTS_ALONE,
    _UTTERANCES,
    as_heard,
    beginning,
    dialogue,
    load,
)
from dlm.datagen.talk import TALK

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
                {
                    "name": "light_turn_on",
                    "arguments": {"brightness": 50, "device": "Porch Light"},
                }
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
    assert "description" not in found["tools"][0]["parameters"]["properties"]["device"]


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


def test_the_corpora_serve_most_tools_and_splits_share_no_row(corpora: Path) -> None:
    train, rest = load(corpora, "train"), load(corpora, "heldout")
    assert len(train.requests) >= 14
    assert sum(map(len, train.requests.values())) > 5000
    for tool, rows in train.requests.items():
        assert all({p.slot for p in row if p.slot} <= set(PARAMETERS[tool]) for row in rows)
    assert set(train.talk) <= {*TALK, "repeat", "bye"}
    assert not set(train.unfit) & set(rest.unfit)
    assert len(train.chat) > 5000 and len(train.dialogues) > 3000


def test_share_alike_dialogues_need_the_option(corpora: Path, tmp_path: Path) -> None:
    for file in corpora.glob("*.jsonl.xz"):
        if not file.name.startswith("sgd_"):
            (tmp_path / file.name).symlink_to(file)
    # Without the option nothing of them is read; with it their file must be there.
    assert load(tmp_path, "heldout").dialogues
    with pytest.raises(FileNotFoundError, match="sgd_train"):
        load(tmp_path, "heldout", share_alike=True)


def test_whatever_is_read_is_attributed(repo_root: Path) -> None:
    card = (repo_root / "docs" / "model-card.md").read_text(encoding="utf-8")
    read = {*_UTTERANCES, *_INTENTS_ALONE, *_DIALOGUES, *coffee_rows.FILES}
    assert read | {"qna_chitchat", "slot_values"} == set(ATTRIBUTED)
    for name, words in ATTRIBUTED.items():
        assert any(words in line for line in card.splitlines() if line.startswith("|")), name
