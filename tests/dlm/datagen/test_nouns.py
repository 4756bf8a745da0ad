from random import Random

from dlm.datagen import nouns
from dlm.datagen.composed_words import ALL_THINGS, THINGS
from dlm.datagen.holdout import unseen


def test_lists_are_large() -> None:
    assert all(len(nouns.heads(group)) > 80 for group in (*ALL_THINGS, nouns.ANY))
    assert len(nouns.modifiers()) > 300 and len(nouns.deeds()) > 150


def test_training_never_names_what_the_tables_keep_unseen() -> None:
    rng = Random(1)
    hidden = {names[0] for group in THINGS for names in ALL_THINGS[group] if unseen(names[0])}
    for group in (*ALL_THINGS, nouns.ANY):
        for _ in range(300):
            for name in nouns.thing(rng, group, "train"):
                assert not nouns.kept(name) and name not in hidden


def test_the_held_out_split_names_nothing_else() -> None:
    rng = Random(2)
    for group in THINGS:
        assert all(unseen(nouns.thing(rng, group, "heldout")[0]) for _ in range(50))


def test_things_are_hardly_ever_the_same() -> None:
    rng = Random(3)
    drawn = [nouns.thing(rng, "goods", "train")[0] for _ in range(1000)]
    assert len(set(drawn)) > 600


def test_things_have_second_names_that_only_reading_tells() -> None:
    rng = Random(5)
    drawn = [nouns.thing(rng, nouns.ANY, "train") for _ in range(1000)]
    short = [names for names in drawn if len(names) == 2 and names[0].endswith(f"_{names[1]}")]
    other = [names for names in drawn if len(names) == 2 and names not in short]
    # Two fifths of the things are compounds.
    assert 70 < len(short) < 170 and 340 < len(other) < 460
    assert all(len(set(names)) == len(names) <= 2 for names in drawn)
    assert len({second for _, second in other}) > 0.8 * len(other)


def test_a_relative_shares_the_last_word_alone() -> None:
    rng = Random(4)
    (found,) = nouns.relative(rng, "office_chair")
    assert found.endswith("_chair") and found != "office_chair"


def test_plurals() -> None:
    words = ("chair", "story", "sketch", "box", "bus", "tray", "waltz", "window blinds")
    assert [nouns.plural(w) for w in words] == [
        "chairs", "stories", "sketches", "boxes", "buses", "trays", "waltzes", "window blinds",
    ]  # fmt: skip
