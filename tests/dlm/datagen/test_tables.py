"""Data files are read into dataclasses or refused with their entry, and fit each other."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random

import pytest

from dlm.datagen import reasons
from dlm.datagen.corpora import orders
from dlm.datagen.corpora.intent_tools import TOPICS, UNFIT
from dlm.datagen.corpora.labelled_rows import READERS
from dlm.datagen.holdout import unseen
from dlm.datagen.language import tables
from dlm.datagen.language.phrases import template
from dlm.datagen.language.tables import TableError
from dlm.datagen.language.wording import SMALL_TALK, TALK, WORDING
from dlm.datagen.language.words import UNITS, WORDS
from dlm.datagen.own_tools.script import Drawing
from dlm.datagen.own_tools.simulated_tools import SIMULATED
from dlm.datagen.tools import catalog
from dlm.datagen.tools.catalog import AGENTS_OWN, INVENTED, SPECS, TOOLS
from dlm.datagen.turns import at_ease
from dlm.datagen.unfamiliar.composed_tools import ACTIONS, KINDS, THINGS
from dlm.datagen.values.slots import Values
from tests.dlm.datagen.worlds import world


@dataclass(frozen=True, slots=True)
class Size:
    litres: float


@dataclass(frozen=True, slots=True)
class Drink:
    """One entry of a file."""

    names: tuple[str, ...]
    sizes: dict[str, Size]
    hot: bool = False


def read(text: str, directory: Path) -> dict[str, Drink]:
    (directory / "drinks.toml").write_text(text)
    return tables.read("drinks", dict[str, Drink], directory)


def test_lists_are_arrays_or_texts_divided_by_commas(tmp_path: Path) -> None:
    text = '[tea]\nnames = """\ngreen tea,\nchai\n"""\nsizes.cup = { litres = 1 }\nhot = true\n'
    assert read(text, tmp_path) == {"tea": Drink(("green tea", "chai"), {"cup": Size(1.0)}, True)}
    assert read('[tea]\nnames = ["a, b"]\nsizes = {}', tmp_path)["tea"].names == ("a, b",)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("names = 5\nsizes = {}", "tea.names: expected an array, got 5"),
        ("names = [5]\nsizes = {}", "tea.names[0]: expected a value of type str, got 5"),
        ("names = []\nsizes = {}\nhot = 1", "tea.hot: expected a value of type bool, got 1"),
        ("names = []\nsizes = []", "tea.sizes: expected a table, got []"),
        ("names = []\nsizes.cup = 5", "tea.sizes.cup: expected a table, got 5"),
        ("names = []\nsizes = {}\ncold = true", "tea.cold: expected one of names, sizes, hot"),
        ("names = []", "tea.sizes: expected an entry, got None"),
        ("names = [", "drinks.toml: "),
    ],
)
def test_what_does_not_fit_is_told_with_its_file_and_entry(
    entries: str, expected: str, tmp_path: Path
) -> None:
    with pytest.raises(TableError, match=re.escape(expected)):
        read(f"[tea]\n{entries}", tmp_path)


@pytest.mark.parametrize(
    "phrasing", ["Set it", "set {nothing}", "set {duration} or {duration}", " set it"]
)
def test_phrasings_that_do_not_fit_their_tool_are_refused(phrasing: str) -> None:
    with pytest.raises(TableError, match=r"^set_timer: expected"):
        catalog._check("set_timer", (phrasing,))
    with pytest.raises(TableError, match="twice"):
        catalog._check("set_timer", ("start", "start"))


def test_every_tool_is_simulated_asked_for_and_renamed() -> None:
    assert set(SIMULATED) == set(TOOLS) == set(AGENTS_OWN)
    assert not set(INVENTED) & set(TOOLS)
    assert set(catalog.CAN) == set(SPECS) - {"end_conversation"}
    for name, spec in SPECS.items():
        for split in ("train", "heldout"):
            names = catalog.other_names(name, split)
            assert len(names.verbs) * len(names.nouns) >= 6 and len(names.descriptions) >= 2, name
        assert all(catalog.other_keys(name, key) for key in spec["parameters"]["properties"])
        for key in catalog.LACKING.get(name, {}):
            assert key in spec["parameters"]["required"] and catalog.question(name, key)
            assert all(f"{{{key}}}" in answer for answer in catalog.answers(name, key))


def test_replies_hold_only_what_is_known() -> None:
    assert all(template(e).slots <= {"error", "low"} for e in WORDING.errors)
    assert all(template(d).slots <= {"what"} for d in WORDING.declines)
    assert all(template(c).slots == {"drink"} for c in orders.ORDERS["changed"])
    topics = (*TALK.topics.values(), *SMALL_TALK.values(), *TALK.shop_talk.values())
    assert all(not template(answer).slots for topic in topics for answer in topic.answers)


def test_questions_about_what_was_asked_for_have_slots_that_can_be_drawn() -> None:
    drawing = Drawing(Values(), Random(1), world(), digits=False)
    questions = ((t, q) for t, several in at_ease._ASKING_BACK.about.items() for q in several)
    drawn = {(t, slot): drawing.single(t, slot) for t, q in questions for slot in template(q).slots}
    assert drawn["read_list", "item"] and all(drawn.values())


def test_no_remark_is_answered_in_two_ways() -> None:
    seen: dict[str, str] = {}
    for name, topic in (*TALK.topics.items(), *SMALL_TALK.items()):
        for source in topic.say:
            assert source == source.lower() and seen.setdefault(source.rstrip("?"), name) == name


def test_small_talk_has_many_kinds_and_none_prevails() -> None:
    # A kind is drawn as often as it has phrasings; what is of no kind stays rare.
    counts = {name: len(topic.say) for name, topic in SMALL_TALK.items()}
    assert len(counts) > 100 and max(counts.values()) < 0.03 * sum(counts.values())
    assert counts["remark"] < 0.01 * sum(counts.values())


def test_small_talk_is_answered_shortly_and_never_by_i_see() -> None:
    told = [answer for topic in SMALL_TALK.values() for answer in topic.answers]
    assert len(set(told)) == len(told)
    assert all(len(answer.split()) < 14 and "I see." not in answer for answer in told)


def test_intents_have_one_use_and_a_topic_that_answers() -> None:
    assert not set(READERS) & set(TOPICS) and not (set(READERS) | set(TOPICS)) & UNFIT
    assert set(TOPICS.values()) <= {*TALK.topics, "repeat", "bye"}


def test_composed_tools_speak_of_known_kinds_and_keep_things_for_both_splits() -> None:
    for action in ACTIONS:
        told = {slot.rstrip("*") for say in action.say for slot in template(say).slots}
        assert action.group in THINGS and {*action.kinds, *told} <= set(KINDS), action
    for things in THINGS.values():
        assert 0 < sum(unseen(names[0]) for names in things) < len(things) / 2


def test_every_measure_has_two_units_and_lists_repeat_nothing() -> None:
    measures = [unit.measures for unit in UNITS.values()]
    assert all(measures.count(measure) >= 2 for measure in measures)
    assert all(len(set(words)) == len(words) for name, words in WORDS.items() if name != "all")


def test_thoughts_are_plain_sentences_with_known_fields() -> None:
    table = reasons._TABLE
    known = {"said", "does", "name", "count", "keys", "key", "told"}
    forms = [form for field in fields(table) for form in _texts(getattr(table, field.name))]
    for form in (*forms, *(thought.thought for thought in table.talk)):
        assert form == form.lower()
        assert {name for _, name, _, _ in string.Formatter().parse(form) if name} <= known
        # The cut at a budget looks for the end of a sentence.
        unfinished = form in (*table.fits, *table.order, *table.leads)
        assert unfinished or (form.endswith(".") and form.count(".") == 1), form


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, tuple) else ()
