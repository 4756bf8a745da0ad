"""Results are told from what they and the request hold, and failures never as successes."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.noise import Style
from dlm.datagen.language.phrases import template
from dlm.datagen.language.spoken_values import MONTHS
from dlm.datagen.reasons import trace
from dlm.datagen.results import facts
from dlm.datagen.results.deeds import carry_out
from dlm.datagen.results.facts import ResultWriter, write
from dlm.datagen.results.tools import DEEDS, FACTS, LISTS, MATTERS, Deed, Fact, offered, slot_of
from dlm.datagen.values.result_values import CURRENCIES, FAILURES, UNITS, WORDING, draw
from dlm.datagen.values.slots import Values
from dlm.evaluate.cases import Kind, cases
from dlm.language.identifiers import worded
from dlm.language.spoken_numbers import number
from tests.dlm.datagen.test_dialogues import check

Row = dict[str, Any]
ROWS = 6000
CLEAN = Style()
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::\d\d)?(?: ?([ap])m)?", re.IGNORECASE)
_TOLD_KEYS = {"status", "message", "detail"}
_WORD = re.compile(r"[^\W\d]+(?:'\w+)?")
_NEGATIVE = re.compile(r"\b(?:sorry|not|\w+n't|no|failed|neither|nothing|nobody)\b", re.IGNORECASE)


def rows(split: str = "train", count: int = ROWS) -> Iterator[list[Row]]:
    rng, values = Random(f"results {split}"), Values(free=True)
    for at in range(count):
        yield write(rng, values, split, None, at % 3 == 0)[1]


def episodes(messages: list[Row]) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Each result, all that the user had said, and what is asked and told of the result."""
    said = ""
    for at, message in enumerate(messages):
        said += f" {message['content']}" if message["role"] == "user" else ""
        if message["role"] == "tool":
            end = next(
                (i for i in range(at + 1, len(messages)) if messages[i].get("tool_calls")),
                len(messages) + 1,
            )
            told = messages[at + 1 : end - 1]
            asked = ["", *(m["content"] for m in told if m["role"] == "user")]
            answers = [m["content"] for m in told if m["role"] == "assistant"]
            yield message["content"], said, list(zip(asked, answers, strict=True))


def spoken(text: str) -> set[str]:
    """Words of a result in lower case, the numbers and times in it as they may be told."""
    found = set()
    for clock in _CLOCK.finditer(text):
        hour, half = int(clock[1]), clock[3]
        late = half.lower() == "p" if half else hour >= 12
        found.add(f"{hour % 12 or 12}:{clock[2]} {'pm' if late else 'am'}")
    for year, month, day in re.findall(r"(\d{4})-(\d\d)-(\d\d)", text):
        found |= {MONTHS[int(month) - 1], str(int(day)), year}
    if re.search(r"(?<![\w-])-\d", text):
        found.add("minus")
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    plain = f"{text} {parted}".lower().replace("_", " ")
    return found | set(re.findall(r"\d+(?:\.\d+)?|[^\W\d]+(?:'\w+)?", plain))


def told_numbers(reply: str) -> set[str]:
    clocks = {f"{c[1]}:{c[2]} {c[3].lower()}m" for c in _CLOCK.finditer(reply) if c[3]}
    return clocks | set(re.findall(r"\d+(?:\.\d+)?", _CLOCK.sub(" ", reply)))


@cache
def vocabulary() -> frozenset[str]:
    """All words of the phrasings of replies."""
    names = """
    unknown no_state yes_state failed sorry welcome elsewhere empty single few several counted
    counted_one counted_none nth no_nth most_told pending undone undone_why partly partly_why
    partly_done partly_failed
    """
    texts = [text for name in names.split() for text in WORDING[name]]
    texts += [*FAILURES.values(), *facts._NTH, "Yes No only"]
    for unit in (*UNITS.values(), *CURRENCIES.values()):
        texts += [unit.one, unit.many]
    for matter in MATTERS.values():
        if isinstance(matter, Deed):
            texts += [*matter.done, *matter.numbered, *matter.changed[1:], matter.undone]
            continue
        texts += [matter.named, *(f[2] for f in matter.fields.values())]
        texts += [f[4] for f in matter.fields.values() if len(f) > 4]
        if isinstance(matter, Fact):
            texts += matter.reply
        else:
            texts += [matter.one, matter.many, matter.item, *matter.most]
    words = re.sub(r"\{\w*\}", " ", " ".join(texts)).lower()
    return frozenset(re.findall(r"[^\W\d]+(?:'\w+)?", words))


def counts(result: str) -> set[str]:
    """How many things a list has."""
    found = set()
    value = json.loads(result) if result[:1] in "[{" else {}
    for some in (value, *(value.values() if isinstance(value, dict) else ())):
        if isinstance(some, list):
            found.add(str(len(some)))
    return found


def failed(result: str) -> bool:
    """Whether a result says that nothing was done or found out."""
    if result.startswith("Error"):
        return True
    if not result.startswith("{"):
        return False
    value = json.loads(result)
    refused = False in (value.get("ok"), value.get("success"))
    told = value.get("status") in ("error", "failed") and value.keys() <= _TOLD_KEYS
    return "error" in value or refused or told


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_replies_hold_nothing_but_what_the_result_and_the_request_do(split: str) -> None:
    told = 0
    for messages in rows(split):
        for result, said, answers in episodes(messages):
            allowed = spoken(said) | spoken(result) | counts(result)
            for asked, reply in answers:
                told += 1
                allowed |= spoken(asked)
                assert not re.search(r"\b[Ii]T\b|[{}]", reply), reply
                assert told_numbers(reply) <= allowed, (result, asked, reply)
                words = _WORD.findall(_CLOCK.sub(" ", reply).lower())
                assert set(words) <= allowed | vocabulary(), (
                    set(words) - allowed - vocabulary(), result, reply,
                )  # fmt: skip
    assert told > ROWS


def test_a_failure_is_never_told_as_a_success_nor_a_success_as_a_failure() -> None:
    seen = Counter[bool]()
    for messages in rows():
        for result, _, answers in episodes(messages):
            seen[failed(result)] += 1
            if failed(result):
                assert _NEGATIVE.search(answers[0][1]), (result, answers)
                for asked, reply in answers[1:]:
                    assert not reply.startswith("Yes"), (result, asked, reply)
            else:
                assert "didn't work" not in answers[0][1], (result, answers)
                assert "couldn't" not in answers[0][1], (result, answers)
    assert seen[True] > ROWS // 20


def test_comparisons_are_answered_rightly() -> None:
    checked = Counter[str]()
    more, less = ("above", "over", "more than", "higher than", "at least"), ("below", "under")
    form = re.compile(rf" ({'|'.join(more + less + ('less than', 'lower than'))}) ([\w ]+?)\??$")
    units = {w for u in (*UNITS.values(), *CURRENCIES.values())
             for w in (*u.one.split(), *u.many.split())}  # fmt: skip
    rng, values = Random(4), Values()
    for _ in range(ROWS):
        messages = write(rng, values, "train", CLEAN)[1]
        for at, message in enumerate(messages[:-1]):
            asked = message["content"] or ""
            agent = (m for m in messages[at + 1 :] if m["role"] == "assistant")
            reply = next(m["content"] for m in agent if m["content"])
            found = form.search(asked)
            if message["role"] != "user" or found is None or not reply.startswith(("Yes", "No, ")):
                continue
            limit = number(" ".join(w for w in found[2].split() if w not in units))
            size = re.search(r"(minus )?(\d+(?:\.\d+)?)", reply)
            if limit is None or size is None or "because" in reply:
                continue
            held = -float(size[2]) if size[1] else float(size[2])
            right = held > limit if found[1] in more else held < limit
            assert reply.startswith("Yes" if right else "No"), (asked, reply)
            checked[reply[:3]] += 1
    assert min(checked["Yes"], checked["No,"]) > 40


def teller(seed: str, name: str) -> tuple[ResultWriter, Any]:
    one = ResultWriter(Random(seed), Values(), "train", CLEAN, False)
    return one, offered(name, "snake", "train", one.rng)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_every_field_of_a_fact_can_be_asked_for_and_told(name: str) -> None:
    """Both as it stands in a result and where it is not there."""
    fact = FACTS[name]
    told = set()
    for seed in range(60):
        one, _ = teller(f"{name} {seed}", name)
        for key, form in fact.fields.items():
            value = draw(form[1], one.rng, one.values)
            for known in (value, None) if form[1] != "bool" else (value,):
                shown = facts._Shown(fact, {key: known})
                question = one._question(shown, "it")
                if question is None:
                    continue
                told.add((key, known is None))
                one.ask(question.ask, fact, "it", **question.told)
                one.tell(question.answer, "it", **question.fields)
                reply = one.messages[-1]["content"]
                assert "{" not in reply and "IT" not in reply.split()
                if known is not None and known.said and " not " not in reply.lower():
                    assert known.said.lower() in reply.lower(), reply
                if form[1] == "bool":
                    assert reply.startswith("Yes" if value.size else "No")
    wanted = {(key, False) for key in fact.fields}
    wanted |= {(key, True) for key, form in fact.fields.items() if form[1] != "bool"}
    assert wanted <= told


def test_what_was_done_otherwise_is_told_as_it_was_done() -> None:
    """Of a table asked for at seven, and booked for another time, seven is not claimed."""
    otherwise = 0
    for seed in range(400):
        one, tool = teller(str(seed), "table_reservation")
        carry_out(one, tool, DEEDS["table_reservation"])
        asked, result, reply = (one.messages[at]["content"] for at in (0, 2, 3))
        if "not the time" in reply or not re.search(r"\d:\d\d", reply):
            continue
        (told,) = told_numbers(reply)
        assert told in spoken(result), (asked, result, reply)
        otherwise += 1
    assert otherwise > 40


def test_two_fields_of_a_thing_never_have_the_same_key() -> None:
    for name, matter in MATTERS.items():
        if not isinstance(matter, Deed):
            keys = [key for form in matter.fields.values() for key in form[0].split(", ")]
            assert len(keys) == len(set(keys)), name
            assert bool(matter.needs) == bool(slot_of(matter)), name
            for source in matter.reply if isinstance(matter, Fact) else (matter.item,):
                assert template(source).slots <= {*matter.fields, slot_of(matter)}, (name, source)


def test_a_tenth_of_the_tools_is_held_out_with_all_their_names() -> None:
    kept = [name for name in MATTERS if unseen(name)]
    assert len(MATTERS) > 100 and len(LISTS) >= 15 and 5 <= len(kept) <= 20
    rng, values = Random(2), Values()
    for split in ("train", "heldout"):
        for _ in range(500):
            for spec in write(rng, values, split)[0]:
                (words,) = worded([spec["name"]]).values()
                assert held_out(words.replace(" ", "_")) == (split == "heldout"), words


def test_what_is_answered_from_a_result_at_hand_is_a_reply_and_no_talk() -> None:
    rng, values = Random(8), Values()
    answered = 0
    for _ in range(200):
        tools, messages = write(rng, values, "train")
        scored = cases([{"tools": tools, "messages": messages}])
        agent = [m for m in messages if m["role"] == "assistant"]
        for message, case in zip(agent, scored, strict=True):
            if message["content"] and case.turns[-1].role == "user":
                thanked = message["content"] in WORDING["welcome"]
                assert case.kind is (Kind.TALK if thanked else Kind.REPLY)
                answered += not thanked
                at = next(i for i, m in enumerate(messages) if m is message)
                thoughts = trace({"tools": tools, "messages": messages}, at, rng)
                assert thanked or "talk" not in " ".join(thoughts)
    assert answered > 100


def test_rows_hold_as_all_rows_do() -> None:
    rng, values = Random(6), Values(free=True)
    kinds = Counter[str]()
    for at in range(2000):
        tools, messages = write(rng, values, "train", None, at % 2 == 0)
        check({"tools": tools, "messages": messages})
        for before, after in itertools.pairwise(messages):
            kinds["from what there is"] += before["role"] == "user" and bool(after["content"])
            kinds["json"] += before["role"] == "tool" and before["content"][:1] in "{["
            kinds["results"] += before["role"] == "tool"
    assert kinds["from what there is"] > 1000 and 0.7 < kinds["json"] / kinds["results"] < 0.95
