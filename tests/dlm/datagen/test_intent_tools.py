from random import Random
from typing import Any

from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.intent_tools import answered, collect, offer

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


def test_a_source_that_marks_nothing_is_not_believed_where_others_mark() -> None:
    bare = [{**row, "text": f"now {row['text']}", "slots": {}, "source": "bare"} for row in ROWS]
    (purpose,) = collect([*ROWS, *bare], "train").values()
    assert all(text.startswith("play") and slots for text, slots in purpose.rows)


def test_a_row_that_leaves_its_value_unmarked_is_refused() -> None:
    rows = [*ROWS, {**ROWS[0], "text": "let me hear singer", "slots": {}}]
    (purpose,) = collect(rows, "train").values()
    assert all(slots for _, slots in purpose.rows)


def test_a_purpose_tells_whether_any_sentence_has_slots() -> None:
    name = next(f"intent_{i}" for i in range(99) if not unseen(f"intent_{i}"))
    rows = [
        {"text": f"do {i} now", "intent": name, "slots": {}, "source": "bare"} for i in range(40)
    ]
    found = collect([*ROWS, *rows], "train")
    assert [p.marked for p in found.values()] == [True, False]


def test_a_slot_that_is_not_said_refuses_the_row() -> None:
    wrong = [{**row, "slots": {"artist_name": "abba"}} for row in ROWS]
    assert not collect(wrong, "train")


def test_an_offered_purpose_asks_and_answers() -> None:
    (purpose,) = collect(ROWS, "train").values()
    rng = Random(1)
    for _ in range(50):
        text, slots = rng.choice(purpose.rows)
        asked = offer(purpose, rng, "snake", slots)
        pieces = asked(asked, text, slots) or []
        said = {p.slot: p.text for p in pieces if p.slot}
        assert set(asked.spec["parameters"]["required"]) <= set(said)
        assert set(said) == set(asked.keys.values())
        result, reply = answered(asked, said, rng)
        assert result and reply and "{" not in reply
