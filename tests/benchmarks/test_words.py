import pytest

from benchmarks.voice.words import errors, words


def test_words_are_compared_as_they_sound():
    assert words("Set a Timer, for 30 seconds!") == [
        "set",
        "a",
        "timer",
        "for",
        "thirty",
        "seconds",
    ]
    assert words("forty-two o'clock") == ["forty", "two", "o'clock"]


@pytest.mark.parametrize(
    ("reference", "heard", "count"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b c", "a b b c", 1),
        ("a b c", "", 3),
        ("", "a b", 2),
        ("a b c d", "b c d e", 2),
    ],
)
def test_errors_are_the_fewest_edits(reference, heard, count):
    assert errors(reference.split(), heard.split()) == count
