from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speech.segmenter import HARD_CHARS, LONGEST_CHARS, SegmentCutter

FRAGMENTS = st.sampled_from(
    [
        *("$49.95", "3:35 p.m.", "Dr. Smith", "U.S.", "example.com", "e.g.", "and", "but", "So,"),
        *("Wait...", "5 - 3", "1.", "\n", "\n\n", "- milk", "word", "Yes!", "Really?!", "(ok.)"),
        *(
            "“Go.”",
            "—",
            "https://x.com/a,b?c=d.",
            "a@b.com",
            "May 5, 2026",
            "x: y;",
            "[a, b](c)",
            "[d, e]",
            "…",
            "。",
            "👍",
        ),
    ]
)
REPLIES = st.one_of(
    st.text(max_size=400),
    st.lists(FRAGMENTS, max_size=80).map(" ".join),
    st.lists(FRAGMENTS, max_size=80).map("".join),
)


def cut(text: str, step: int | None = None) -> list[str]:
    cutter = SegmentCutter()
    step = step or max(1, len(text))
    segments = []
    for start in range(0, len(text), step):
        segments += cutter.push(text[start : start + step])
    return segments + cutter.flush()


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("Sure. I set a timer.", ["Sure.", " I set a timer."]),
        ("Sure, I've set a timer, and it rings.", ["Sure, I've set a timer,", " and it rings."]),
        ("The list has 3 items: milk and eggs.", ["The list has 3 items:", " milk and eggs."]),
        ("The light is now on and it works.", ["The light is now on", " and it works."]),
        ("I would say — yes.", ["I would say —", " yes."]),
        ("It opens in Jan. Bring ID.", ["It opens in Jan.", " Bring ID."]),
        ("Really?! Yes! Go", ["Really?!", " Yes!", " Go"]),
        ("Yes. I set it, and it, and it. Bye.", ["Yes.", " I set it, and it, and it.", " Bye."]),
        (
            'He said "Go." Then **left.** Done (ok.) x',
            ['He said "Go."', " Then **left.**", " Done (ok.)", " x"],
        ),
        ("Here it is:\n1. Milk\n2. Eggs", ["Here it is:", "\n1. Milk", "\n2. Eggs"]),
        ("No. I can't.", ["No.", " I can't."]),
        ("We met at 3:35 p.m. Then we ate.", ["We met at 3:35 p.m.", " Then we ate."]),
        ("It is 84. Next one?", ["It is 84.", " Next one?"]),
        ("今日は。元気ですか？はい。", ["今日は。", "元気ですか？", "はい。"]),
    ],
)
def test_cuts_where_a_speaker_would_pause(text: str, segments: list[str]) -> None:
    assert cut(text) == segments


@pytest.mark.parametrize(
    "text",
    [
        "It costs $49.95 at 3:35 p.m. today.",
        "Ask Dr. Smith of the U.S. Army.",
        "See example.com or a.b@example.com for it.",
        "Take e.g. this one.",
        "Pi is 3.14159 or so.",
        "Look at https://example.com/a.b?c=d,e for more.",
        "Well... maybe later… or never.",
        "Tomorrow is Sunday, November 22, 2026.",
        "One hundred and five of them.",
        "That is number No. 5 there.",
        "Pay by Nov. 30, 2026.",
        "It is on Fri. Nov. 27 or Mon. morning.",
        "J. R. Tolkien wrote it.",
        "Hold on\nfor a second.",
        "That is in [Smith, Jones and so on](https://example.com/a,b) there.",
        "12 times 7 is 5 - 3 there.",
    ],
)
def test_keeps_together_what_belongs_together(text: str) -> None:
    assert cut(text) == [text]


def test_a_segment_comes_as_soon_as_a_space_follows_it_and_a_clause_if_it_is_the_first() -> None:
    cutter = SegmentCutter()
    assert cutter.push("Done.") == []
    assert cutter.push(" ") == ["Done."]
    cutter.flush()
    assert cutter.push("I have set the timer, ") == ["I have set the timer,"]


def test_a_long_later_sentence_is_cut_at_a_clause() -> None:
    clause = "there were so many things in that old house by the lake, "
    assert cut("Yes. And " + clause + clause + "really.")[1].endswith("lake,")


def test_text_without_pauses_is_cut_at_white_space() -> None:
    segments = cut("word " * 200)
    assert max(map(len, segments)) <= LONGEST_CHARS
    assert all(segment.split() == ["word"] * segment.count("word") for segment in segments)


def test_text_without_white_space_does_not_wait_for_ever() -> None:
    cutter = SegmentCutter()
    assert [len(segment) for segment in cutter.push("x" * 2500)] == [HARD_CHARS, HARD_CHARS]
    text = f"{'x' * 2500} {'y' * 1200} end"
    assert cut(text, len(text)) == cut(text, 1)


def test_white_space_without_end_costs_little() -> None:
    # Its square would be hours.
    begun_s = time.thread_time()
    assert cut(f"Yes.{' ' * 50_000}Then all went well. So", 1)[-1] == " So"
    assert cut(f"{' ' * 500_000}x", 500_000) == [f"{' ' * 500_000}x"]
    assert time.thread_time() - begun_s < 60


def test_a_long_text_that_arrives_at_once_costs_little() -> None:
    # Its square would be minutes.
    begun_s = time.thread_time()
    assert len(SegmentCutter().push("2 x " * 100_000)) > 1000
    assert time.thread_time() - begun_s < 20


@given(REPLIES)
def test_keeps_all_text(text: str) -> None:
    segments = cut(text)
    assert "".join(segments) == text.rstrip()
    assert all(segment.strip() for segment in segments)


@given(REPLIES, st.integers(1, 9))
def test_pieces_of_arrival_make_no_difference(text: str, step: int) -> None:
    assert cut(text, step) == cut(text)
