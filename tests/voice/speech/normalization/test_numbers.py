from __future__ import annotations

import pytest

from voice.speech.normalization import spoken
from voice.speech.normalization.numbers import cardinal, digits, integer, is_one, ordinal, year


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0", "zero"),
        ("1234", "one thousand two hundred and thirty four"),
        ("1,234.50", "one thousand two hundred and thirty four point five zero"),
        (".5", "zero point five"),
        ("-7", "minus seven"),
        ("007", "zero zero seven"),
        ("9" * 16, " ".join(["nine"] * 16)),
    ],
)
def test_cardinal(text: str, said: str) -> None:
    assert cardinal(text) == said


def test_single_forms() -> None:
    assert integer(105) == "one hundred and five"
    assert ordinal(21) == "twenty first"
    assert digits("4-07") == "four zero seven"
    assert (year(1999), year(2005), year(2026)) == (
        "nineteen ninety nine",
        "two thousand and five",
        "twenty twenty six",
    )
    assert is_one("1.0")
    assert not is_one("1,000")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("call 555-123-4567", "call five five five, one two three, four five six seven"),
        ("8.1B people", "eight point one billion people"),
        ("text STOP to 12345", "text STOP to one two three four five"),
        ("3 ½ hours", "three and a half hours"),
        ("seat 14B, B2B", "seat fourteen B, B two B"),
        ("020 7946 0958", "zero two zero, seven nine four six, zero nine five eight"),
        ("(02) 9999 8888", "zero two, nine nine nine nine, eight eight eight eight"),
        ("Your code is 483920.", "Your code is four eight three nine two zero."),
        ("ending in 4242", "ending in four two four two"),
        ("Reno, NV 89501", "Reno, N V eight nine five zero one"),
        ("the call is 1200 words", "the call is one thousand two hundred words"),
        ("10x faster", "ten times faster"),
        ("50/50", "fifty fifty"),
        ("(555) 123-4567", "five five five, one two three, four five six seven"),
        ("+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"),
        ("555-1234", "five five five, one two three four"),
        ("4111 1111 1111 1111", ", ".join(["four one one one"] + ["one one one one"] * 3)),
        ("call 911, code 4821", "call nine one one, code four eight two one"),
        ("order 12345678", "order one two three four five six seven eight"),
        ("1000000", "one million"),
        ("1/2, 3/4, 2½, 5 1/8", "one half, three quarters, two and a half, five and an eighth"),
        ("17/20", "seventeen over twenty"),
        ("24/7", "twenty four seven"),
        ("1st, 22nd, 103rd", "first, twenty second, one hundred and third"),
        ("3-5 and 10–12", "three to five and ten to twelve"),
        ("10k, 5M", "ten thousand, five million"),
        ("5 x 3", "five times three"),
        ("3.11.2", "three point eleven point two"),
        ("192.168.0.1", "one nine two dot one six eight dot zero dot one"),
        ("it is -3.5", "it is minus three point five"),
        (
            "call me at 555 123 4567.",
            "call me at five five five, one two three, four five six seven.",
        ),
        ("100 200 3000", "one hundred two hundred three thousand"),
        ("I rate it 10/10.", "I rate it ten out of ten."),
        ("4.5/5 rating", "four point five out of five rating"),
        ("a score of 85/100", "a score of eighty five out of one hundred"),
        ("4/5 stars, 5/5!", "four out of five stars, five out of five!"),
        ("on 10/10, due 5/5, 4/5 of it", "on October tenth, due May fifth, four fifths of it"),
        ("10/10/2026", "October tenth, twenty twenty six"),
        ("GMT-5, UTC+2", "G M T minus five, U T C plus two"),
        ("UTC-03:30", "U T C minus three thirty"),
        ("COVID-19", "COVID nineteen"),
    ],
)
def test_numbers_in_text(text: str, said: str) -> None:
    assert spoken(text) == said
