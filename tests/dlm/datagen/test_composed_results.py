"""Composed results: what is told stands in the result, in English, and is never the same twice."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from functools import cache
from random import Random
from typing import Any

import pytest

from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.noise import Style
from dlm.datagen.results.composed_fields import GROUPS, TABLE, column, draw_field, many, things
from dlm.datagen.results.composed_results import write
from dlm.datagen.results.composed_talk import LACKING
from dlm.datagen.values.result_values import CURRENCIES, UNITS, WORDING
from dlm.datagen.values.slots import Values
from dlm.evaluate.cases import Case, Kind, cases
from dlm.evaluate.scores import told
from dlm.language.identifiers import worded
from tests.dlm.datagen.test_dialogues import check
from tests.dlm.datagen.test_results import episodes, spoken, told_numbers

Row = dict[str, Any]
ROWS = 3000
CLEAN = Style()
_WORD = re.compile(r"[^\W\d]+(?:'\w+)?")
_MARKERS = re.compile(r"[{}|\[\]]|\b(?:IT|WS?|NP|AN|NOUNs?|MOST|MORE|TOLD|DONE|VERB|FOR)\b(?!-)")


@cache
def rows(split: str, style: Style | None = CLEAN) -> list[tuple[list[Row], list[Row]]]:
    rng, values = Random(f"composed {split}"), Values(free=split == "train")
    return [write(rng, values, split, style, at % 3 == 0) for at in range(ROWS)]


def replies(split: str) -> list[str]:
    told = (m for _, messages in rows(split) for m in messages if m["role"] == "assistant")
    return [m["content"] for m in told if m["content"]]


@cache
def vocabulary() -> frozenset[str]:
    """Words of replies from the tables; of fields those alone that keys may write otherwise."""
    texts = [*TABLE.wording["coded"], *TABLE.short, *TABLE.keys, *TABLE.own, *WORDING["welcome"]]
    texts += itertools.chain(*TABLE.deeds.values())
    texts += itertools.chain(*TABLE.tell.values(), *TABLE.lists.values(), WORDING["pending"])
    for form in (*TABLE.types.values(), *TABLE.own.values()):
        texts += [*form.np, *form.verb, *form.bare, *form.yes, *form.no, form.joint]
        texts += [*form.most, *form.compared]
    for unit in (*UNITS.values(), *CURRENCIES.values()):
        texts += [unit.one, unit.many]
    texts.append("""
        yes no its was room your number minus out of first second third fourth fifth sixth last
        bigger highest lowest higher lower earliest latest earlier later fewest fewer
    """)
    return frozenset(_WORD.findall(" ".join(texts).lower()))


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_replies_hold_nothing_but_what_the_result_and_the_request_do(split: str) -> None:
    for tools, messages in rows(split):
        names = " ".join(worded([tool["name"] for tool in tools]).values())
        for result, said, answers in episodes(messages):
            allowed = spoken(said) | spoken(result) | spoken(names)
            size = result.count("\n") + 1 if result[:1] not in ("[", "{") else 0
            listed = json.loads(result) if not size else []
            found = listed if isinstance(listed, list) else [*listed.values(), *listed]
            counts = {str(len(some)) for some in (found, *found) if isinstance(some, list)}
            allowed |= counts | {str(size)}
            for asked, reply in answers:
                allowed |= spoken(asked)
                assert told_numbers(reply) <= allowed, (result, asked, reply)
                words = set(_WORD.findall(re.sub(r"\d[\d:]* ?[AP]M", " ", reply).lower()))
                left = words - allowed - {many(word) for word in allowed} - vocabulary()
                left = {word for word in left if many(word) not in allowed}
                assert not left, (left, result, asked, reply)


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_replies_are_english(split: str) -> None:
    wrong = re.compile(
        r"\.\.|  |\ba [aeio]|\ban [^aeiouh ]|\bof (?:it|IT)\b|(\b[a-z]+) \1\b| [.,]"
        r"|(?:^| )1 (?!percent|has|is)\w+s\b"
    )
    for reply in replies(split):
        assert not _MARKERS.search(reply), reply
        assert reply[-1] in ".?" and reply[0] == reply[0].upper(), reply
        assert not wrong.search(reply), reply


def judged(split: str) -> list[Case]:
    found = cases({"tools": tools, "messages": messages} for tools, messages in rows(split))
    return [case for case in found if case.values]


def test_the_judge_takes_scripted_replies_and_no_others() -> None:
    found = judged("heldout")
    assert len(found) > ROWS and all(told(case, case.wanted.content) for case in found)
    fooled = 0
    for case, other in zip(found, found[9:], strict=False):
        values = [v for v in case.values if v not in (LACKING, "yes", "no") and "|" not in v]
        for value in values:
            without = re.sub(
                re.escape(value), "something", case.wanted.content, flags=re.IGNORECASE
            )
            assert not told(case, without), (case.values, without)
        assert not told(case, f"{case.wanted.content} It is 98761 Blixes.")
        fooled += bool(values) and told(case, other.wanted.content)
    assert fooled < len(found) / 50


def test_a_failure_is_told_as_one() -> None:
    failed = 0
    for _, messages in rows("train"):
        for result, _, answers in episodes(messages):
            value = json.loads(result) if result[:1] == "{" else {"error": result[:7] == "Error: "}
            keys = value.get("success", True) and value.get("ok", True) and value.get("status")
            if value.get("error") or keys is False or keys in ("error", "failed"):
                failed += 1
                reply = answers[0][1]
                assert re.search(r"[Ss]orry|n't|afraid|failed", reply), (result, reply)
    assert failed > ROWS // 20


def test_the_highest_is_the_highest() -> None:
    seen = 0
    for _, messages in rows("train"):
        for at, message in enumerate(messages):
            asked = re.search(
                r"the (high|low)est ([\w ]+?)(?: would| please|$)", message["content"] or ""
            )
            result = next((m["content"] for m in messages[at::-1] if m["role"] == "tool"), "")
            if message["role"] != "user" or asked is None:
                continue
            if messages[at + 1].get("tool_calls"):
                result = messages[at + 2]["content"]
            lists = (
                [v for v in json.loads(result).values() if isinstance(v, list)]
                if result[:1] == "{"
                else []
            )
            reply = next(
                m["content"]
                for m in messages[at + 1 :]
                if m["role"] == "assistant" and m["content"]
            )
            columns = [
                key for key in (lists[0][0] if lists and isinstance(lists[0][:1], list) and lists[0]
                                and isinstance(lists[0][0], dict) else {})
                if worded([key])[key].startswith(asked[2])
            ]  # fmt: skip
            if len(columns) != 1:
                continue
            sizes = [
                float(
                    re.findall(r"-?\d+\.?\d*", json.dumps(item[columns[0]], ensure_ascii=False))[0]
                )
                for item in lists[0]
            ]
            best = lists[0][sizes.index((max if asked[1] == "high" else min)(sizes))]
            name = str(next(iter(best.values())))
            assert name in reply or re.match("20|to|[MTWFS].+day", name), (
                result,
                message["content"],
                reply,
            )
            seen += 1
    assert seen > 30


def test_ratings_of_one_list_have_one_scale() -> None:
    for seed in range(60):
        scales = {v.said.split(" out of ")[1] for v in column("rating", 4, Random(seed), Values())}
        assert len(scales) == 1


def test_things_and_fields_are_many_and_some_are_held_out() -> None:
    shown = {split: {n for g in GROUPS for n in things(g, split)} for split in ("train", "heldout")}
    assert len(shown["train"]) > 700 and len(shown["heldout"]) > 70
    assert not shown["train"] & shown["heldout"]
    fields: dict[str, set[str]] = {"train": set(), "heldout": set()}
    rng = Random(3)
    for at in range(6000):
        split = "heldout" if at % 6 == 0 else "train"
        field = draw_field(rng, rng.choice(GROUPS), split)
        assert field is None or unseen(field.words) == (split == "heldout")
        fields[split] |= {field.words} if field else set()
    assert len(fields["train"]) > 1500 and len(fields["heldout"]) > 150
    for split in ("train", "heldout"):
        for tools, _ in rows(split):
            for spec in tools:
                (words,) = worded([spec["name"]]).values()
                assert held_out(words.replace(" ", "_")) == (split == "heldout"), words


def test_no_two_dialogues_are_alike() -> None:
    for split in ("train", "heldout"):
        results = [
            m["content"] for _, messages in rows(split) for m in messages if m["role"] == "tool"
        ]
        long = [text for text in results if len(text) > 30]
        assert len(set(long)) > 0.995 * len(long) > 0.75 * len(results)
    shapes = {re.sub(r"[\d.]+|[A-Z]\w+", "#", reply) for reply in replies("train")}
    assert len(shapes) > 0.5 * len(replies("train"))


def test_rows_hold_as_all_rows_do_and_talk_is_no_reply() -> None:
    for tools, messages in rows("train", None):
        check({"tools": tools, "messages": messages})
    thanked = cases({"tools": tools, "messages": messages} for tools, messages in rows("train"))
    assert all(case.values for case in thanked if case.kind is Kind.REPLY)


def test_the_same_seed_writes_the_same_rows_whatever_the_hash_seed() -> None:
    text = "import json; from random import Random; from dlm.datagen.values.slots import Values;"
    text += "from dlm.datagen.results.composed_results import write; r, v = Random(5), Values();"
    text += "print(json.dumps([write(r, v, s) for s in ('train', 'heldout') for _ in range(60)]))"
    digests = set()
    for seed in ("1", "2"):
        known = os.environ | {"PYTHONHASHSEED": seed}
        out = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, check=True, env=known
        )
        digests.add(hashlib.sha256(out.stdout).hexdigest())
    assert len(digests) == 1
