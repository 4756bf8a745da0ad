from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.speech.normalization import spoken, spoken_words

PATTERNS = (
    *("1,", "a.a", "(", "5 ", "[a", "<a", "*a", "&a", "a@", "1-", "1/2", "+1 ", "1.2", "A.", "|-"),
    *("$1", "http://", "1", "<!--", " \n", "x"),
)
SENTENCES = [
    ("It costs $49.95.", "It costs forty nine dollars and ninety five cents."),
    ("It is 3:35.", "It is three thirty five."),
    ("Alarm set for 7:00 AM tomorrow.", "Alarm set for seven a m tomorrow."),
    ("3:05 PM", "three oh five p m"),
    ("5 miles is 8.05 kilometers.", "five miles is eight point zero five kilometers."),
    ("Apple is at 87.20 dollars.", "Apple is at eighty seven dollars and twenty cents."),
    ("12 times 7 is 84.", "twelve times seven is eighty four."),
    ("9 minutes 30 seconds left.", "nine minutes thirty seconds left."),
    ("Dr. Smith, e.g., is in the U.S.", "doctor Smith, for example, is in the U S."),
    ("Tomorrow is Sunday, November 22, 2026.",
     "Tomorrow is Sunday, November twenty second, twenty twenty six."),
    ("2 reminders: call mom, 5:00 PM today; buy milk.",
     "two reminders: call mom, five p m today; buy milk."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SENTENCES)
def test_says_what_the_agent_says(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Settings > Privacy", "Settings, Privacy"),
        ("a > b", "a greater than b"),
        ("order #A-1023", "order number A one thousand and twenty three"),
        ("salt & pepper", "salt and pepper"),
        ("5 + 3 = 8", "five plus three equals eight"),
        ("5 - 3, 5*3, 6 / 2", "five minus three, five times three, six divided by two"),
        ("and/or, TCP/IP", "and or, T C P slash I P"),
        ("#7 and #tag", "number seven and hashtag tag"),
        ("10² and x^2", "ten squared and x squared"),
        ("10⁶ and x⁴", "ten to the power of six and x to the power of four"),
        ("10⁻⁶ and e^-x", "ten to the power of minus six and e to the power of minus x"),
        ("~5 and < 7", "about five and less than seven"),
        ("yes—no – ok - fine (or not)", "yes, no, ok, fine, or not,"),
        ("Well... maybe. Well... Maybe", "Well, maybe. Well. Maybe"),
        ("Milk\nEggs\n\nDone", "Milk, Eggs. Done"),
        ("What?! Oh.", "What? Oh."),
        ("STOP RIGHT THERE NOW", "stop right there now"),
        ("the GPUs, a TV's USB-C", "the G P U's, a T V's U S B C"),
        ("A4 mp3 5G", "A four mp three five G"),
    ],
)
def test_says_signs_and_marks(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    "text",
    ["hello there", "don't worry, be happy", "a well-known café, naïve. Really? Yes!", "I am"],
)
def test_leaves_plain_words_alone(text: str) -> None:
    assert spoken(text) == text


@pytest.mark.parametrize(
    "text", ["", "  \n", "👍🏽", "---", "\x00\x07", "\ud800", "***", "...", "()"]
)
def test_says_nothing_where_nothing_can_be_said(text: str) -> None:
    assert spoken(text) == ""


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{1,8}(?:[,.;?!]|'s)?", fullmatch=True), max_size=12))
def test_is_idempotent_on_words(words: list[str]) -> None:
    said = spoken(" ".join(words))
    assert spoken(said) == said


WRITTEN = st.one_of(
    st.text(max_size=200),
    st.text("0123456789.,:/-+$€%#*@_()[]<>&^~'\"| \nabpmAMxkK°", max_size=80),
)


@settings(deadline=None)
@given(WRITTEN)
def test_only_what_can_be_spoken_comes_out(text: str) -> None:
    for word in spoken(text).split(" "):
        for char in word:
            assert char in "'-,.;:!?" or unicodedata.category(char)[0] in "LM", (word, char)
        assert not word or word[0] not in ",.;:!?"


@settings(deadline=None)
@given(WRITTEN)
def test_each_word_ends_where_a_written_word_ends(text: str) -> None:
    words = spoken_words(text)
    ends = [word.end_char for word in words]
    assert ends == sorted(ends)
    for end in ends:
        assert 0 < end <= len(text)
        assert not text[end - 1].isspace()
        assert end == len(text) or text[end].isspace()


def test_the_words_of_an_amount_end_with_it() -> None:
    text = "Pay **$5** now."
    ends = [(word.text, text[: word.end_char]) for word in spoken_words(text)]
    assert ends == [
        ("Pay", "Pay"),
        ("five", "Pay **$5**"),
        ("dollars", "Pay **$5**"),
        ("now.", text),
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_takes_no_longer_than_the_text_is_long(pattern: str) -> None:
    began = time.process_time()
    spoken(pattern * (8000 // len(pattern)))
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Open 9 AM – 5 PM.", "Open nine a m to five p m."),
        ("9am-5pm", "nine a m to five p m"),
        ("10 a.m.-2 p.m.", "ten a m to two p m."),
        ("from 10 - 12 PM", "from ten to twelve p m"),
        ("Open 9:00 - 17:00 daily", "Open nine o'clock to seventeen hundred daily"),
        ("noon–1pm", "noon to one p m"),
        ("20°C–25°C", "twenty degrees Celsius to twenty five degrees Celsius"),
        ("5%-10%", "five percent to ten percent"),
        ("$2M-$3M", "two million dollars to three million dollars"),
        ("Dec 25–Jan 2", "December twenty fifth to January second"),
        ("We have 3 – May I?", "We have three, May I?"),
        ("It's 3 PM - 5 minutes late", "It's three p m, five minutes late"),
        ("Save 20% – $5 off", "Save twenty percent, five dollars off"),
        ("10 - 5 = 5", "ten minus five equals five"),
    ],
)
def test_a_dash_between_two_of_a_kind_is_to(text: str, said: str) -> None:
    assert spoken(text) == said
