from voice.telephony.keypad import MAX_KEYS, Keypad


def test_hash_ends_an_entry() -> None:
    keypad = Keypad(2.5)
    assert [keypad.press(key, 0.0) for key in "452"] == [None] * 3
    assert keypad.press("#", 0.0) == "4 5 2"
    assert keypad.empty


def test_a_pause_ends_an_entry() -> None:
    keypad = Keypad(2.5)
    assert keypad.wait_s(0.0) is None
    keypad.press("4", 10.0)
    keypad.press("*", 12.0)
    assert keypad.wait_s(12.5) == 2.0
    assert keypad.elapsed(14.4) is None
    assert keypad.elapsed(14.5) == "4 star"
    assert keypad.elapsed(99.0) is None


def test_hash_alone_is_an_answer_too() -> None:
    assert Keypad(2.5).press("#", 0.0) == "hash"


def test_an_entry_has_an_end() -> None:
    keypad = Keypad(2.5)
    said = [keypad.press("7", 0.0) for _ in range(MAX_KEYS)]
    assert said[:-1] == [None] * (MAX_KEYS - 1)
    assert said[-1] == " ".join("7" * MAX_KEYS)
