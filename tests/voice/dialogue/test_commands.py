from __future__ import annotations

import pytest

from voice.inputs import SessionOptions, with_changes


def test_changes_leave_the_rest_as_it_was() -> None:
    before = SessionOptions(instructions="Be brief.")
    after = with_changes(before, speed=1.5)
    assert (after.instructions, after.speed, before.speed) == ("Be brief.", 1.5, 1.0)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(ValueError, match="loudness"):
        with_changes(SessionOptions(), loudness=11)
