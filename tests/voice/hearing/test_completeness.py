"""What reads finished, what does not, and that in doubt it says neither."""

from __future__ import annotations

import time

import pytest

from voice.hearing.completeness import Completeness, is_short_answer, reads_complete


@pytest.mark.parametrize(
    "text",
    [
        "yes", "No thanks.", "stop", "that's all", "goodbye", "never mind",
        "what time is it", "What's the weather like?", "is the front door locked",
        "set a timer for ten minutes", "set an alarm for seven thirty a m",
        "wake me up at half past six tomorrow", "turn on the kitchen light",
        "turn the living room lamp off", "turn the light on",
        "add milk to the shopping list", "take eggs off my shopping list",
        "what is twelve times seven",
        "cancel the timer", "read my order", "two small mochas please",
        "can you tell me the time", "do you know what time it is",
    ],
)  # fmt: skip
def test_complete(text: str) -> None:
    assert reads_complete(text) is Completeness.COMPLETE


@pytest.mark.parametrize(
    "text",
    [
        "set a timer for", "set a timer for ten", "add milk and", "add milk to the",
        "what's the weather in", "remind me to", "can you", "turn on", "turn on the",
        "i'd like a large", "i would like", "what is twelve times", "um",
        "what is", "my number is five five five", "5 5 5", 
        "anna at example dot", 
        "switch off the living", 
        "what do you want to", "i want", "turn on the kitchen", "turn off the living room",
        "set a timer", "add milk to the shopping", "what is on my shopping", "what", "what time",
        "how old", "i would also like", 
    ],
)  # fmt: skip
def test_incomplete(text: str) -> None:
    assert reads_complete(text) is Completeness.INCOMPLETE


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "?!", "remind me to call mom", "a large latte", "can i have a latte",
        "i'd like a mocha", "anna",
        "the meeting was moved", "anna dot miller at example dot com",
        "five five five one two three four five six seven",
    ],
)  # fmt: skip
def test_neither(text: str) -> None:
    assert reads_complete(text) is Completeness.NEUTRAL


def test_case_and_punctuation_do_not_matter() -> None:
    assert reads_complete("Set a timer, for TEN minutes!") is Completeness.COMPLETE
    assert reads_complete("What’s the") is Completeness.INCOMPLETE


@pytest.mark.parametrize(
    ("text", "short"),
    [("Yeah.", True), ("no thanks", True), ("Stop!", True), ("stop the timer", False), ("", False)],
)
def test_a_short_answer_is_the_whole_text(text: str, short: bool) -> None:
    assert is_short_answer(text) is short


def test_digits_without_end_cost_little() -> None:
    # The square of their number would be minutes.
    begun_s = time.thread_time()
    assert reads_complete("one " * 100_000 + "what") is not Completeness.COMPLETE
    assert reads_complete("4 " * 100_000) is Completeness.NEUTRAL
    assert time.thread_time() - begun_s < 30
