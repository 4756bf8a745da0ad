import pytest

from voice.errors import ProtocolError
from voice.telephony.codec import as_key, as_number, as_object, as_text, parameters


def test_numbers_may_be_written_as_text() -> None:
    assert as_number("8000", "rate") == 8000
    assert as_number(8000, "rate") == 8000


@pytest.mark.parametrize(
    "value", [None, True, -1, "-1", "8e3", 8000.5, "1" * 19, 10**20, [], {}, "٣", "\ud800"]
)
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ProtocolError, match="rate"):
        as_number(value, "rate")


def test_a_number_that_python_will_not_spell_is_refused() -> None:
    with pytest.raises(ProtocolError, match="rate"):
        as_number(10**5000, "rate")


def test_text_has_a_limit() -> None:
    assert as_text("x" * 1024, "name") == "x" * 1024
    with pytest.raises(ProtocolError, match="1025 characters"):
        as_text("x" * 1025, "name")


def test_an_object_is_an_object() -> None:
    assert as_object({"a": 1}, "start") == {"a": 1}
    with pytest.raises(ProtocolError, match="start: got nothing"):
        as_object(None, "start")


def test_a_key_is_one_character() -> None:
    keys = ("1", 1, "#", "*", "a", " 2 ", "!", "w", " ", "ß", "\0")
    told = ["1", "1", "#", "*", "A", "2", "!", "W", " ", "ß", "\0"]
    assert [as_key(key, "digit") for key in keys] == told
    for value in ("", "12", "  ", None, [], {}):
        with pytest.raises(ProtocolError, match="digit"):
            as_key(value, "digit")


def test_parameters_are_plain_and_few() -> None:
    assert parameters({"agent": "coffee", "n": 3, "deep": {"a": 1}, "no": None, "b": True}) == {
        "agent": "coffee",
        "n": "3",
    }
    assert parameters(None) == {}
    assert parameters("agent=coffee") == {}
    with pytest.raises(ProtocolError, match="65 parameters"):
        parameters({str(number): "" for number in range(65)})
