from datetime import datetime
from random import Random

import pytest

from dlm.datagen.twins import TWINS
from dlm.datagen.world import Result, World, bare, capital, failure, listing, title, unread


def test_words_are_written_as_services_write_them() -> None:
    assert capital("milk") == "Milk" and capital("") == ""
    assert title("isle of man") == "Isle of Man"
    assert bare("The Kitchen") == "kitchen"
    assert listing(["a"]) == "a" and listing(["a", "b", "c"]) == "a, b and c"
    assert listing(["a", "b"], "or") == "a or b"


def test_errors_are_speakable() -> None:
    assert unread("duration", "blue").text == "Error: I could not read the duration blue."
    assert failure("No.").error and not Result("Fine.").error


def test_the_moment_can_be_given() -> None:
    now = datetime(2026, 11, 21, 15, 42)
    assert World(Random(0), TWINS, now).call("get_time", {}).text == "It is 3:42 PM."


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'fly'"):
        World(Random(0), TWINS).call("fly", {})
