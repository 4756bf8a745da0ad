from random import Random

from dlm.datagen.grammar import fill, template
from dlm.datagen.replies import (
    ABILITIES,
    CLEARED,
    DECLINES,
    ERRORS,
    FIXED,
    GREETINGS,
    INSTRUCTIONS,
    REPLIES,
)
from dlm.datagen.schemas import TOOLS


def test_every_tool_has_replies_and_an_ability() -> None:
    assert set(REPLIES) == set(TOOLS)
    assert set(ABILITIES) == set(TOOLS) - {"end_conversation"}


def test_replies_are_short_sentences() -> None:
    for cases in REPLIES.values():
        for options in cases.values():
            assert len(options) >= 2
            for option in options:
                assert option.endswith((".", "?", "!", "{fact}", "{passage}")), option
                assert len(option.split()) <= 14, option


def test_errors_and_declines_hold_only_their_own_fields() -> None:
    assert all(template(e).slots <= {"error", "low"} for e in ERRORS)
    assert all(template(d).slots <= {"what"} for d in DECLINES)
    assert any(not template(d).slots for d in DECLINES)
    assert all(template(f).slots == {"drink"} for f in FIXED)
    assert len(CLEARED) == len(set(CLEARED))


def test_greetings_and_instructions_can_be_read() -> None:
    rng = Random(0)
    fields = {"name": "Quicksilver", "company": "Acme"}
    assert all("{" not in fill(i, rng, fields) for i in INSTRUCTIONS)
    assert all(fill(g, rng, {}) for options in GREETINGS.values() for g in options)
