from dlm.datagen.words import CURRENCIES, UNITS, WORDS


def test_lists_hold_clean_different_values() -> None:
    for name, values in WORDS.items():
        assert all(value and value == " ".join(value.split()) for value in values), name
        if name != "all":
            assert len(set(values)) == len(values), name


def test_open_kinds_are_varied() -> None:
    for name in ("item", "task", "place", "company", "name", "surname", "drink"):
        assert len(WORDS[name]) >= 40, name


def test_every_measure_has_two_units() -> None:
    measures = [measure for measure, _ in UNITS.values()]
    assert all(measures.count(m) >= 2 for m in set(measures))
    assert all(worth > 0 for worth in CURRENCIES.values())
