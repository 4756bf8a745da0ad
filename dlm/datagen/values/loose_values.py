"""Amounts, durations and times as people say them loosely; only for training."""

from __future__ import annotations

from random import Random

from dlm.datagen.language.spoken_values import WEEKDAYS
from dlm.language.spoken_numbers import words_of

LOOSE_AMOUNTS = (
    "two and a half", "three and a half", "one and a half", "four and a half", "a couple of",
    "a dozen", "a hundred and one", "half a dozen", "ten and a half", "a million",
)  # fmt: skip
LOOSE_DURATIONS = (
    "hour and a half", "half hour", "two and a half hours", "three quarters of an hour",
    "a couple of minutes", "an hour and a quarter", "a minute and a half", "quarter of an hour",
    "half a minute", "half an hour", "a couple of hours", "one and a half hours", "a day", "a week",
    "an hour and ten", "an hour twenty", "a minute thirty", "an hour forty five", "ten mins",
    "five min", "ninety secs", "two hrs", "a few minutes", "two hours twenty", "just ten minutes",
)  # fmt: skip


def loose_clock(rng: Random, digits: bool) -> str:
    """A time of day in colloquial words: "half six", "ten to eight", "about nine"."""
    number = rng.randint(1, 12)
    hour = str(number) if digits else words_of(number)
    minutes = rng.choice(("five", "ten", "twenty", "twenty five", "a quarter"))
    forms = (
        f"half {hour}", f"half {hour}", f"{minutes} to {hour}", f"{minutes} to {hour}",
        f"{minutes} past {hour}", f"about {hour}", f"around {hour}", f"{hour} on the dot",
        f"{hour} sharp", f"half {hour} in the {rng.choice(('morning', 'evening'))}",
    )  # fmt: skip
    return rng.choice(forms[5:9] if digits else forms)


_PARTS = (
    "first thing tomorrow", "tomorrow first thing", "the day after tomorrow first thing",
    "tomorrow lunchtime", "at lunchtime", "after work", "after dinner", "tomorrow after work",
    "tomorrow evening", "at teatime", "at bedtime", "tomorrow at bedtime", "at end of day tomorrow",
    "first thing in the morning", "tomorrow morning",
)  # fmt: skip
_DAY_PARTS = ("morning", "evening", "afternoon", "first thing", "after work", "lunchtime")
"""Parts of a day, without an hour, as reminders may have."""


def loose_moment(rng: Random) -> str:
    """A moment without an hour: "friday after work", "first thing tomorrow"."""
    if rng.random() < 0.2:
        return f"{rng.choice(WEEKDAYS)} {rng.choice(_DAY_PARTS)}"
    return rng.choice(_PARTS)
