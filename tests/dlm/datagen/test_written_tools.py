"""Function calls asked for in writing."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dlm.checkpoints
from dlm.datagen.dialogues import Source, stream
from dlm.datagen.holdout import held_out
from dlm.datagen.unfamiliar.written_tools import (
    FUNCTIONS,
    Function,
    _alike,
    _Row,
    _slots,
    _without,
    functions,
)
from dlm.datagen.values.written_values import choices
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.language.copy_sources import sources
from dlm.language.messages import Answer
from dlm.language.template import Template, tools_of, turns_of
from dlm.language.tokenizer import Mark, Tokenizer
from tests.dlm.answers import allows

Row = dict[str, Any]


def rows(count: int, split: str = "train", seed: int = 1) -> list[Row]:
    source = Source.load(None, split)
    return list(islice(stream(Random(seed), source, {"written": 1.0}), count))


@pytest.mark.parametrize("spans", [True, False])
def test_the_grammar_of_a_rows_tools_allows_all_that_its_agent_says(spans: bool) -> None:
    (place,) = (Path(p) / "quicksilver-small" for p in dlm.checkpoints.__path__)
    template = Template(Tokenizer.load(place))
    factory = GrammarFactory(template, template.size)
    for split in ("train", "heldout"):
        for row in rows(50, split):
            tools, turns = tools_of(row["tools"]), turns_of(row)
            for at, turn in enumerate(turns):
                if turn.role != "assistant":
                    continue
                said = tuple(t.content for t in turns[:at] if t.role == "user")
                texts = sources(turns[:at]) if spans else None
                rules = AnswerRules(tools, copy_sources=texts, user_texts=said)
                ids = template.spell(Answer(turn.content, turn.calls), tools)
                assert ids[-1] == Mark.END
                assert allows(rules, ids[:-1], factory), (said, turn)
                assert template.answer(ids, tools).calls == turn.calls


def phrasings(function: Function) -> list[str]:
    entry = function.entry
    return [*entry.say, *(source for lack in entry.lack for source in lack.say)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_each_phrasing_says_all_the_values_that_its_call_gives(function: Function) -> None:
    for seed, source in enumerate(phrasings(function) * 3):
        row = _Row(Random(seed), "train")
        text, values = row.request(function, source)
        needed = {p.slot for p in function.parameters.values() if not p.optional}
        assert values.keys() <= _slots(source)
        assert source not in function.entry.say or needed <= values.keys()
        for slot, value in values.items():
            kind = function.parameters[slot].kind
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, bool):
                    continue
                if options := choices(kind):
                    assert item in options
                elif isinstance(item, str):
                    assert re.search(rf"(?<!\w){re.escape(item)}(?!\w|'\w)", text), (text, item)
                elif json.dumps(item) not in text.replace(",", ""):
                    assert 2 <= item <= 12, (text, item)
        text, several = row.several(function) or (text, [values])
        assert len({json.dumps(v) for v in several}) == len(several), text


def test_functions_have_names_of_their_own_and_some_are_held_out() -> None:
    names = [name for f in FUNCTIONS for name in (f.name, *f.entry.names)]
    assert len(set(names)) == len(names) and len(FUNCTIONS) >= 180
    assert 5 < len(functions("heldout")) < len(functions("train")) / 5
    offered = {split: {t["name"] for row in rows(900, split) for t in row["tools"]}
               for split in ("train", "heldout")}  # fmt: skip
    assert not offered["train"] & offered["heldout"]
    bare = (name.rpartition(".")[2] for name in offered["train"])
    assert not any(held_out(name) for name in bare if name.islower())


def test_rows_call_once_or_often_ask_and_decline() -> None:
    made = rows(1500)
    first = [next(m for m in row["messages"] if m["role"] == "assistant") for row in made]
    counts = [len(m.get("tool_calls", ())) for m in first]
    kinds = [m.get("kind") for m in first]
    share = {
        "one": counts.count(1), "more": sum(count > 1 for count in counts),
        "decline": kinds.count("decline"), "ask": kinds.count("ask"),
    }  # fmt: skip
    assert sum(share.values()) == len(made)
    assert 0.35 < share["one"] / len(made) < 0.6 and 0.2 < share["more"] / len(made) < 0.35
    assert 0.1 < share["decline"] / len(made) < 0.2 and 0.05 < share["ask"] / len(made) < 0.15
    types = {p["type"] for row in made for t in row["tools"]
             for p in t["parameters"]["properties"].values()}  # fmt: skip
    assert types == {"string", "integer", "number", "boolean", "array"}


@pytest.mark.parametrize("absent", FUNCTIONS[::7], ids=lambda f: f.name)
def test_no_function_stands_beside_its_like_where_it_is_asked_for(absent: Function) -> None:
    for seed in range(30):
        offered = _without(_Row(Random(seed), "train"), absent) or []
        assert not any(o.function == absent or _alike(o.function, absent) for o in offered)


def test_words_before_a_value_fit_it() -> None:
    said = [m["content"] for row in rows(1500) for m in row["messages"] if m["role"] == "user"]
    assert any(" tomorrow" in text for text in said)
    assert not [text for text in said if re.search(r"(?i)\bon (today|tomorrow|next|this)\b", text)]
    assert any(" an apartment" in text or " an action" in text for text in said)
    assert not [text for text in said if re.search(r"\b[Aa] (apartment|action|8|11|18)\b", text)]
