"""Reads and writes numbers, durations, times and days as people say them.

It reads just enough for the simulated tools of the training data and the common forms in the
corpora, and returns None for anything else; the agent's real tools have proper parsers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from dlm.language.spoken_numbers import ORDINALS, SCALES, TENS, VALUES, number
from dlm.language.written_dates import MONTHS as MONTHS
from dlm.language.written_dates import WEEKDAYS as WEEKDAYS

HOLIDAYS = {
    "christmas": (12, 25), "christmas eve": (12, 24), "christmas day": (12, 25),
    "boxing day": (12, 26), "halloween": (10, 31), "new year's day": (1, 1),
    "new years day": (1, 1), "new year's eve": (12, 31), "new years eve": (12, 31),
    "valentine's day": (2, 14), "valentines day": (2, 14), "independence day": (7, 4),
    "st patrick's day": (3, 17), "veterans day": (11, 11),
}  # fmt: skip
_UNIT_SECONDS = {
    "day": 86400, "week": 604800, "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600,
    "hr": 3600,
}  # fmt: skip


def ordinal_of(number: int) -> str:
    """An ordinal from 1 to 31 in words: "twenty first" for 21."""
    if number <= 20:
        return ORDINALS[number]
    return "thirtieth" if number == 30 else f"{TENS[number // 10]} {ORDINALS[number % 10]}"


def nth(number: int) -> str:
    """A number as an ordinal in figures: "22nd"."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 14 else ends.get(number % 10, 'th')}"


_ORDINAL_VALUES = {form(n): n for form in (ordinal_of, nth) for n in range(1, 32)}


def figures(value: float) -> str:
    """A number in digits as the tools write it: at most two decimals, none when whole."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


_NUMBER_WORDS = frozenset((*VALUES, *SCALES, "point"))


def is_number_word(word: str) -> bool:
    """Whether a word is a numeral, or part of one."""
    return word.isdigit() or word in _NUMBER_WORDS


def digits(text: str) -> str:
    """The text in lower case with number words as digits: "21 miles" for "twenty one miles"."""
    words = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text.lower()).split()
    found: list[str] = []
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and (
            words[end] in _NUMBER_WORDS or (end > at and words[end] == "and")
        ):
            end += 1
        if words[at] in ("a", "an") and at + 1 < len(words) and words[at + 1] in SCALES:
            end = at + 2
        value = None
        while end > at and value is None:
            value = number(" ".join(words[at:end]))
            end -= value is None
        if value is None or words[at] == "point":
            found.append(words[at])
            at += 1
        else:
            found.append(figures(value))
            at = end
    return " ".join(found)


_SMALLER = {"hour": "minutes", "minute": "seconds"}


def _smaller(found: re.Match[str]) -> str:
    """Add the unit that the last number of a duration lacks: "an hour twenty"."""
    known = number(found[3]) is not None
    return f"{found[1]} {found[2]} {found[3]} {_SMALLER[found[2]]}" if known else found[0]


_PLAINER: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\b(uh|um|er|like|about)\b", " "),
    (r"\b((an|one|1) )?hour and a half\b", "90 minutes"),
    (r"\b((an|one|1) )?hour and a quarter\b", "75 minutes"),
    (r"\b(half an hour|half hour|a half hour)\b", "30 minutes"),
    (r"\bthree quarters of an hour\b", "45 minutes"),
    (r"\b(a )?quarter of an hour\b", "15 minutes"),
    (r"\bhalf a minute\b", "30 seconds"),
    (r"\ba couple of\b", "two"),
    (r"\ba few\b", "three"),
    (r"(\d)([a-z])", r"\1 \2"),
    (r"(\S+) (minutes|hours) and a half", r"\1 and a half \2"),
    (r"\ba minute and a half\b", "90 seconds"),
    (r"^(?:just|roughly|around) ", ""),
    (r"^(an?|one|two|three|\d) (hour|minute)s? (?:and )?((?:[a-z]+ ?){1,2}|\d\d)$", _smaller),
)
"""Rewrites of a duration, in this order."""


def duration(text: str) -> int | None:
    """Seconds in a duration such as "an hour and a half" or "90 secs"; None if not understood."""
    text = text.lower().replace("-", " ").strip()
    for pattern, plainer in _PLAINER:
        text = re.sub(pattern, plainer, text)
    total = 0.0
    words: list[str] = []
    for word in text.split():
        unit = word.rstrip("s").strip(",")
        if unit in _UNIT_SECONDS and words:
            value = 1.0 if words in (["a"], ["an"]) else number(" ".join(words))
            if value is None:
                return None
            total += value * _UNIT_SECONDS[unit]
            words = []
        elif not (word == "and" and not words):
            words.append(word)
    return None if words or total <= 0 else round(total)


def duration_text(seconds: int) -> str:
    """A duration as the tools write it: "1 hour 30 minutes" for 5400."""
    parts = []
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return " ".join(parts) or "0 seconds"


_LONGER = re.compile(r"\b(?:add|put|another|an extra|extra|more|longer)\b")
_SHORTER = re.compile(r"\b(?:less|shorter)\b")


def change(text: str) -> tuple[int, int] | None:
    """Seconds, and 1 if a timer gains them, -1 if it loses them, 0 if it is set to them.

    None if not understood.
    """
    sign = -1 if _SHORTER.search(text.lower()) else 1 if _LONGER.search(text.lower()) else 0
    plainer = _SHORTER.sub(" ", _LONGER.sub(" ", text.lower()))
    seconds = duration(plainer)
    return None if seconds is None else (seconds, sign)


def day(text: str, today: date) -> date | None:
    """The day that a text names, counted from ``today``; None if not understood."""
    text = text.lower().replace(",", "").replace(".", "").strip()
    text = re.sub(r"^(on|for|this coming|this|coming|the coming) ", "", text)
    fixed = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "now": 0}
    fixed |= {"day after tomorrow": 2, "the day after tomorrow": 2, "day before yesterday": -2}
    fixed |= {"afternoon": 0, "evening": 0, "morning": 0, "weekend": (5 - today.weekday()) % 7}
    text = re.sub(r" (morning|afternoon|evening|night)$", "", text)
    if text in fixed:
        return today + timedelta(days=fixed[text])
    if text in HOLIDAYS:
        month, number_ = HOLIDAYS[text]
        return _next(today, month, number_)
    return _weekday(text, today) or _offset(text, today) or _month_day(text, today)


def _weekday(text: str, today: date) -> date | None:
    following = text.startswith("next ")
    name = text.removeprefix("next ").removesuffix(" next week")
    if name not in WEEKDAYS:
        return None
    ahead = (WEEKDAYS.index(name) - today.weekday() - 1) % 7 + 1
    return today + timedelta(days=ahead + (7 if following and ahead < 4 else 0))


def _offset(text: str, today: date) -> date | None:
    match = re.fullmatch(r"(?:in )?(.+) (day|days|week|weeks)(?: from (?:now|today))?", text)
    if not match:
        return None
    count = 1.0 if match[1] in ("a", "an") else number(match[1])
    if count is None or count > 1000:
        return None
    return today + timedelta(days=int(count) * (7 if match[2].startswith("week") else 1))


def _month_day(text: str, today: date) -> date | None:
    words = [w for w in text.split() if w not in ("the", "of")]
    months = [w for w in words if w in MONTHS]
    rest = " ".join(w for w in words if w not in MONTHS)
    count = _ORDINAL_VALUES.get(rest)
    if count is None:
        value = number(rest) if months else None
        count = int(value) if value else None
    if count is None or not 1 <= count <= 31:
        return None
    month = MONTHS.index(months[0]) + 1 if months else today.month
    return _next(today, month, count)


def _next(today: date, month: int, number_: int) -> date | None:
    for year in (today.year, today.year + 1):
        try:
            found = date(year, month, number_)
        except ValueError:
            return None
        if found >= today:
            return found
    return None


_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+)\b"
_PLAINER_TIMES = (
    (rf"\bhalf (?={_HOUR})", "half past "),
    (r"\b(?:first thing(?: in the morning)?|breakfast ?time)\b", "8 am"),
    (r"\blunch ?time\b", "noon"),
    (r"\b(?:tea ?time|end of (?:the )?day|close of business)\b", "5 pm"),
    (r"\b(?:after work|dinner ?time)\b", "6 pm"),
    (r"\bafter dinner\b", "8 pm"),
    (r"\bbed ?time\b", "10 pm"),
    (r"\b(?:about|on the dot|later (?=tonight))\b", ""),
)
"""Rewrites of a time of day, in this order."""


def _plainer_time(text: str) -> str:
    for pattern, plainer in _PLAINER_TIMES:
        text = re.sub(pattern, plainer, text).strip()
    return text


def moved(text: str, old: str, now: datetime) -> str | None:
    """A moment said relative to another ("an hour later", "tuesday"), as the tools write it.

    None for anything else.
    """
    base = when(old, now)
    if base is None:
        return None
    if shift := re.fullmatch(r"(.+) (later|earlier)", text.lower()):
        seconds = duration(shift[1]) or 0
        base += timedelta(seconds=seconds if shift[2] == "later" else -seconds)
    elif (named := day(text, now.date())) is not None:
        base = datetime(named.year, named.month, named.day, base.hour, base.minute)
    else:
        return None
    return moment_text(base, now)


def when(text: str, now: datetime, first_hour: int = 0) -> datetime | None:
    """The moment that a text such as "tomorrow at half past six" names; None if not understood.

    Args:
        first_hour: Hours before this are taken for the afternoon if the text leaves that open.
    """
    text = text.lower().replace(".", "").replace(",", "").strip()
    text = re.sub(r"\b(uh|um|er)\b ?", "", text)
    ahead = re.fullmatch(r"in (.+)|(.+) from now", text)
    if ahead and (seconds := duration(ahead[1] or ahead[2])):
        return now + timedelta(seconds=seconds)
    text = re.sub(r"\b([ap]) m\b", r"\1m", text)
    text = _plainer_time(text)
    for head, tail in _splits(text):
        moment, named = clock(tail), day(head, now.date()) if head else now.date()
        if moment is None or named is None:
            continue
        if not moment[2] and 0 < moment[0] < first_hour and "morning" not in head:
            moment = (moment[0] + 12, moment[1], True)
        return _at(named, moment, head, now)
    return None


def _splits(text: str) -> list[tuple[str, str]]:
    """Ways to split a text into (day, clock time), in either order; the day may be missing."""
    words = text.split()
    found = [("", text)]
    for i in range(1, len(words)):
        a, b = " ".join(words[:i]), " ".join(words[i:])
        b_on = re.sub(r"^on ", "", b)
        found += [(a, re.sub(r"^(at|around|by) ", "", b)), (b_on, re.sub(r"^at ", "", a))]
    return found


def _at(named: date, moment: tuple[int, int, bool], head: str, now: datetime) -> datetime:
    hour, minute, fixed = moment
    if not fixed and hour < 12:
        if re.search(r"evening|afternoon|night", head) and hour != 0:
            hour += 12
        elif named == now.date() and "morning" not in head:
            past = (hour, minute) <= (now.hour, now.minute) < (hour + 12, minute)
            hour += 12 if past else 0
    found = datetime(named.year, named.month, named.day, hour % 24, minute)
    return found + timedelta(days=1) if found <= now else found


def clock(text: str) -> tuple[int, int, bool] | None:
    """(hour, minute, whether the half of the day is known) of a clock time; None for others."""
    text = re.sub(r"^(at|around) ", "", text.lower().strip())
    text = re.sub(r" o'?clock| sharp| exactly", "", text)
    if text in ("noon", "midday"):
        return 12, 0, True
    if text == "midnight":
        return 0, 0, True
    half = re.search(r" ?(am|pm|in the (morning|afternoon|evening)|at night)$", text)
    pm: bool | None = None
    if half:
        pm = half[1] != "am" and "morning" not in half[1]
        text = text[: half.start()].strip()
    read = _hour_minute(text)
    if read is None:
        return None
    hour, minute = read
    if pm is not None and 1 <= hour <= 12:
        return hour % 12 + (12 if pm else 0), minute, True
    return hour, minute, hour > 12 or pm is not None


def _hour_minute(text: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"(\d{1,2})(?::(\d\d))?", text)
    if match:
        hour, minute = int(match[1]), int(match[2] or 0)
        return (hour, minute) if hour < 24 and minute < 60 else None
    match = re.fullmatch(
        r"(half|a quarter|quarter|.+?)(?: minutes)? (past|after|to|before) (.+)", text
    )
    if match:
        hour_value = number(match[3])
        part = {"half": 30.0, "quarter": 15.0, "a quarter": 15.0}.get(match[1]) or number(match[1])
        if hour_value is None or part is None or not 0 < hour_value <= 12 or part >= 60:
            return None
        if match[2] in ("past", "after"):
            return int(hour_value), int(part)
        return (int(hour_value) - 2) % 12 + 1, 60 - int(part)
    words = text.split()
    hour_value = number(words[0]) if words else None
    if hour_value is None or not 0 < hour_value < 24 or len(words) > 3:
        return None
    if len(words) == 1:
        return int(hour_value), 0
    rest = words[1:]
    if rest[0] in ("oh", "o"):
        rest = rest[1:]
    value = number(" ".join(rest))
    return (int(hour_value), int(value)) if value is not None and value < 60 else None


def clock_text(moment: datetime) -> str:
    """A clock time as the tools write it: "3:42 PM"."""
    return f"{moment.hour % 12 or 12}:{moment.minute:02d} {'PM' if moment.hour >= 12 else 'AM'}"


_DAYS_AGAIN = "|".join(WEEKDAYS)
_AGAIN = (
    (r"every (\S+) (minutes|hours|days|weeks)", None),
    (r"every half(?: an)? hour", "every 30 minutes"),
    (r"hourly|every hour", "every hour"),
    (r"the (first) of every month", "on day 1 of every month"),
    (rf"every other (day|{_DAYS_AGAIN})", "every other {0}"),
    (rf"every ({_DAYS_AGAIN}) and ({_DAYS_AGAIN})", "every {0} and {1}"),
    (r"(?:every |each |on )?(?:weekdays?|workdays?)", "every weekday"),
    (r"(?:every |each |on )?weekends?", "every weekend"),
    (rf"(?:every |each )({_DAYS_AGAIN}) (?:morning|evening|afternoon)", "every {0}"),
    (rf"(?:every |each |on )?({_DAYS_AGAIN})s", "every {0}"),
    (rf"(?:every|each) ({_DAYS_AGAIN})", "every {0}"),
    (r"(?:every|each) (?:day|morning|evening|night|afternoon)|daily", "every day"),
)
"""Patterns of repetitions, and how the tools write them; {0} is the pattern's group."""
HOURS_OF_PARTS = {"evening": 19, "afternoon": 15, "night": 21}
"""The hour that is meant if only a part of the day is said; 9 for other parts."""


def repeat(text: str) -> str | None:
    """A repetition as the tools write it: "6:00 AM every weekday" for "every weekday at six".

    None for anything else. Without a time it is at nine, or at the hour of the part of the day.
    """
    text = text.lower().strip()
    for pattern, written in _AGAIN:
        if not (match := re.search(rf"\b(?:{pattern})\b", text)):
            continue
        if written is None:
            value = number(match[1])
            return None if value is None else f"every {figures(value)} {match[2]}"
        named = [part.title() if part in WEEKDAYS else part for part in match.groups() if part]
        shown = written.format(*named)
        if shown in ("every hour", "every 30 minutes"):
            return shown
        part = re.search(r"\b(evening|afternoon|night)\b", match[0])
        rest = f"{text[: match.start()]} {text[match.end() :]}".strip()
        at = _time_again(re.sub(r"^(?:at|on|for) |(?: at| on)$", "", rest).strip(), part)
        return None if at is None else f"{at} {shown}"
    return None


def _time_again(text: str, part: re.Match[str] | None) -> str | None:
    if not text:
        return clock_text(datetime(2024, 1, 1, HOURS_OF_PARTS.get(part[1], 9) if part else 9))
    found = clock(re.sub(r"\b([ap]) m\b", r"\1m", _plainer_time(text)))
    if found is None:
        return None
    hour, minute, fixed = found
    hour += 12 if part and not fixed and 0 < hour < 12 else 0
    return clock_text(datetime(2024, 1, 1, hour % 24, minute))


def moment_or_repeat(text: str, now: datetime) -> str | None:
    """A moment or a repetition as the tools write it; None if not understood."""
    again = repeat(text)
    if again is not None:
        return again
    found = when(text, now)
    return None if found is None else moment_text(found, now)


def date_text(of: date) -> str:
    """A date as the tools write it: "Saturday, November 21, 2026"."""
    return f"{WEEKDAYS[of.weekday()].title()}, {MONTHS[of.month - 1].title()} {of.day}, {of.year}"


def moment_text(moment: datetime, now: datetime) -> str:
    """A moment as the tools write it: "7:00 AM tomorrow", "7:00 AM on Friday, November 27"."""
    ahead = (moment.date() - now.date()).days
    if ahead in (0, 1):
        return f"{clock_text(moment)} {('today', 'tomorrow')[ahead]}"
    day_ = date_text(moment.date())
    shown = day_ if moment.year != now.year else day_.rsplit(",", 1)[0]
    return f"{clock_text(moment)} on {shown}"
