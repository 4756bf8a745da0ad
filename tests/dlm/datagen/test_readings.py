from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.datagen.interruptions import interrupted
from dlm.datagen.readings import reading, taught
from dlm.datagen.reasons import reasoned
from dlm.datagen.schemas import TOOLS
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from dlm.train.data import encode_row
from dlm.train.objective import collate
from tests.dlm.datagen.test_dialogues import check_call
from tests.dlm.tiny import tokenizer


@pytest.mark.parametrize("split", ["train", "heldout"])
@pytest.mark.parametrize("with_corpora", [False, True])
def test_a_reading_is_a_request_behind_the_tool_that_serves_it(
    split: str, with_corpora: bool, corpora: Path
) -> None:
    source = Source.load(corpora if with_corpora else None, split)
    rng = Random(4)
    rows = [row for _ in range(400) if (row := reading(source, rng))]
    assert len(rows) > 150
    for row in rows:
        (tool,) = row["tools"]
        asked, answer = row["messages"]
        assert (row["system"], asked["role"]) == ("", "user")
        for call in answer["tool_calls"]:
            assert call["name"] == tool["name"]
            check_call(call, tool["parameters"], [asked["content"]])
    own = sum(row["tools"][0]["name"] in TOOLS for row in rows) / len(rows)
    assert 0.005 < own < 0.3


def test_readings_stand_among_dialogues_in_their_share() -> None:
    source = Source.load(None, "train")
    rows = list(islice(taught(source, 0.4, seed=3), 1500))
    assert sum("reading" in row for row in rows) / len(rows) == pytest.approx(0.4, abs=0.05)
    dialogues = [row for row in rows if "reading" not in row]
    chance = Random("3/interruptions")
    streamed = islice(stream(Random("3/train"), source, SHARES), len(dialogues))
    assert dialogues == [interrupted(row, chance) for row in streamed]
    assert rows == list(islice(taught(source, 0.4, seed=3), 1500))
    assert not any("reading" in row for row in islice(taught(source, 0.0, seed=3), 200))


def test_what_the_user_says_is_learned_with_a_weight_of_its_own_and_not_drafted() -> None:
    template = Template(tokenizer())
    source = Source.load(None, "train")
    rows = list(islice(taught(source, 0.5, seed=3), 200))
    for row in reasoned(rows, 1.0, seed=1):
        encoded = encode_row(template, row)
        said = sum(m["role"] == "assistant" and not m.get("cut") for m in row["messages"])
        if not row.get("reading"):
            assert len(encoded.answers) == said
            continue
        assert "reasoning" not in row["messages"][1]
        (start, end), *answers = encoded.answers
        assert encoded.ids[start - 1] == Mark.USER and encoded.ids[end - 1] == Mark.END
        words = template.decode(encoded.ids[start:end])
        assert words.split() == row["messages"][0]["content"].split()
        made = collate([encoded], 0.125, reading_weight=0.25)
        assert made.answers == [answers]
        assert made.weights[0, start:end].tolist() == [0.25] * (end - start)
        assert made.weights[0, start - 1] == 0.125
        assert made.weights[0, answers[0][0]] == 1.0
