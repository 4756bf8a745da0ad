"""Shared by timers, alarms and reminders: which of several is meant, and when it is due."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from voice.tools import phrasing, spoken_dates, spoken_repeats
from voice.tools.registry import Choose, ToolError
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, Store

EVERY_ONE = re.compile(r"(?:all|both|every|each)(?: of)?(?: (?:them|the|my|our))?")
"""Words for all entries."""
_PLACE = re.compile(
    r"^(?:the )?(?:1st|2nd|3rd)$"
    r"|\bthe \d+(?:st|nd|rd|th)(?= (?:\d|thing|time|alarm|reminder|of (?:them|those|these)))"
)
"""A place in what was listed, which is no day: "the first one"."""
_LONGEST = 250
"""Most characters of a message that are searched for a day."""
_PLACES = {"next": 0, "first": 0, "earliest": 0, "second": 1, "last": -1, "latest": -1}


def only(
    alerts: Sequence[Alert],
    several: str,
    describe: Callable[[Alert], str],
    argument: str,
    article: str = "",
    closer: Callable[[Alert], str] | None = None,
) -> Alert:
    """The only one of at least one entry; of several that cannot be told apart, any.

    Args:
        closer: Describes those that have the same description.

    Raises:
        Choose: There are several; their descriptions are the options of ``argument``.
    """
    described = [describe(alert) for alert in alerts]
    named = {
        closer(alert) if closer and described.count(name) > 1 else name: alert
        for alert, name in zip(alerts, described, strict=True)
    }
    if len(named) == 1:
        return alerts[-1]
    names = list(named)
    which = phrasing.joined(names, last="or")
    raise Choose(f"{several} Which one: {article}{which}?", argument, names)


def every_one(
    alerts: Sequence[Alert], scope: SessionScope, describe: Callable[[Alert], str], argument: str
) -> list[Alert]:
    """All entries, or those on the day that the user's message names.

    Raises:
        ToolError: There are none on that day.
        Choose: The user said "both", and there are more than two.
    """
    said, now = next(iter(scope.said), "").lower(), scope.now()
    if days := days_named(said, now):
        alerts = [one for one in alerts if one.due and moment_due(one, now).date() in days]
        if not alerts:
            raise ToolError("There is none on that day.")
    if len(alerts) > 2 and re.search(r"\bboth\b", said):
        names = [describe(alert) for alert in alerts]
        raise Choose(f"There are {len(alerts)}: {phrasing.joined(names)}. Which?", argument, names)
    return [*alerts]


def days_named(said: str, now: datetime) -> tuple[date, ...]:
    """The days that a message names, one or several in a row: "next Friday", "this week"."""
    plain = said[:_LONGEST].lower().replace("’", "'").replace("'s", "")
    words = _PLACE.sub(" ", spoken_dates.normal_form(plain))
    first, _ = spoken_dates.take_day(words, now)
    today = last = now.date()
    week = re.search(r"\b(this|next) week\b", words)
    if week and not re.search(spoken_dates.WEEKDAY, words):
        monday = today - timedelta(today.weekday()) + timedelta(7 * (week[1] == "next"))
        first, last = max(today, monday), monday + timedelta(6)
    elif first is None:
        return ()
    elif re.search(r"\b(?:next|coming) \d{1,3} (?:day|week)s\b", words):
        first, last = today, first
    else:
        last = first + timedelta(6 - first.weekday() if re.search(r"\bweekends?\b", words) else 0)
    return tuple(first + timedelta(n) for n in range((last - first).days + 1))


def comes_on(alert: Alert, days: Sequence[date], now: datetime) -> bool:
    """Whether an entry that has a time is due on one of some days in a row."""
    return _due_from(alert, days[0], now).date() in days


def _due_from(alert: Alert, day: date, now: datetime) -> datetime:
    """When an entry is due next, or, if it repeats, from the beginning of a day on."""
    due, start = moment_due(alert, now), datetime.combine(day, time(), now.tzinfo)
    if not alert.repeat or due >= start:
        return due
    return spoken_repeats.after(alert.repeat, due, start - timedelta(seconds=1))


def listed(alerts: Sequence[Alert], none: str, describe: Callable[[Alert], str]) -> str:
    """Entries of one kind in a sentence, or the text ``none`` if there are none."""
    if not alerts:
        return none
    described = "; ".join(describe(alert) for alert in alerts)
    return f"{phrasing.counted(len(alerts), alerts[0].kind)}: {described}."


def when_due(alert: Alert, now: datetime) -> str:
    """When an entry is due, in words: "7:00 AM tomorrow", "6:30 AM every weekday".

    Raises:
        ValueError: It has no time.
    """
    if alert.repeat:
        return spoken_repeats.described(alert.repeat)
    return phrasing.moment(moment_due(alert, now), now)


def moment_due(alert: Alert, now: datetime) -> datetime:
    """When an entry is due, in the time zone of ``now``.

    Raises:
        ValueError: It has no time.
    """
    if alert.due is None:
        raise ValueError("alert.due: got None; expected a time")
    return datetime.fromtimestamp(alert.due, now.tzinfo)


def due_at(said: str, alerts: Sequence[Alert], now: datetime) -> list[Alert]:
    """Those of the entries, which are sorted soonest first, that a spoken time may name."""
    dated = [alert for alert in alerts if alert.due is not None]
    if said in _PLACES:
        place = _PLACES[said]
        return dated[place : place + 1 or None]
    if again := _repeat(said, now):
        return [alert for alert in dated if spoken_repeats.alike(again.rule, alert.repeat, said)]
    day, _ = spoken_dates.take_day(spoken_dates.normal_form(said), now)
    dues = [_due_from(alert, day or now.date(), now) for alert in dated]
    return [
        alert
        for alert, due in zip(dated, dues, strict=True)
        if spoken_dates.may_mean(said, due, now)
    ]


def _repeat(said: str, now: datetime) -> spoken_repeats.Repeat | None:
    try:
        return spoken_repeats.repeat(said, now)
    except ToolError:
        return None


def moved(alert: Alert, said: str, now: datetime, first_hour: int = 1) -> tuple[Alert, bool]:
    """An entry moved to a spoken time, and whether a time of day was said.

    A time of day alone keeps its day, or the days on which it repeats.

    Raises:
        ToolError: It cannot be read, or has passed; or the entry repeats, on other days than the
            one that was said.
    """
    if again := spoken_repeats.repeat(said, now, first_hour):
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), True
    near = None if alert.due is None else moment_due(alert, now)
    when = spoken_dates.moment(said, now, first_hour, near)
    if alert.repeat:
        day, _ = spoken_dates.take_day(spoken_dates.normal_form(said), now)
        if day and not (when.time_said and spoken_repeats.is_of(alert.repeat, said)):
            every = when_due(alert, now)
            raise ToolError(f"It is for {every}. Say on which days to repeat it, or set another.")
        again = spoken_repeats.at_time(alert.repeat, when.moment, moment_due(alert, now), now)
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), when.time_said
    return replace(alert, due=when.moment.timestamp()), when.time_said


def cancel(
    store: Store, alerts: Sequence[Alert], said: Sequence[str], now: datetime
) -> tuple[list[Alert], str]:
    """Delete entries; one that repeats stays if only some of its moments are named.

    Args:
        said: The words for the entries, and the user's message; the first that name a day count.

    Returns:
        What was cancelled, of an entry that stays its next moment, and when those that stay are
        due: ", and still set for 7:00 AM every day"; empty if none stays.

    Raises:
        ToolError: None of the entries was there any more, or only a later moment is named.
    """
    named = ((one, days_named(one, now)) for one in said)
    words, days = next((found for found in named if found[1] or _repeat(found[0], now)), ("", ()))
    lefts = [_left(alert, words, days, now) for alert in alerts]
    cancelled, still = list[Alert](), list[str]()
    for alert, left in zip(alerts, lefts, strict=True):
        if left and store.change_alert(left):
            cancelled.append(replace(alert, repeat=""))
            still.append(when_due(alert, now))
        elif left is None and store.remove_alert(alert.id):
            cancelled.append(alert)
    if not cancelled:
        raise ToolError("It has just gone off, or was cancelled.")
    return cancelled, f", and still set for {phrasing.joined(still)}" if still else ""


def _left(alert: Alert, said: str, days: Sequence[date], now: datetime) -> Alert | None:
    """A repeating entry without its moments on the days that some words name.

    None if it is meant as a whole: no day is named, or the words are those for its repeat.
    """
    if (
        not alert.repeat
        or not days
        or _repeat(said, now)
        or spoken_repeats.is_of(alert.repeat, said)
    ):
        return None
    due, end = moment_due(alert, now), datetime.combine(days[-1], time.max, now.tzinfo)
    if due.date() not in days:
        one, every = phrasing.moment(due, now), when_due(alert, now)
        raise ToolError(f"I can only cancel the next one, for {one}, or the one for {every}.")
    left = spoken_repeats.after(alert.repeat, due, end)
    return replace(alert, due=left.timestamp())


def change(
    store: Store, alert: Alert, changed: Alert, scope: SessionScope, gone: str
) -> Alert | None:
    """Change an entry's times; if it repeats and only some of its days are named, only on those.

    Returns:
        The entry that stays on the other days, if any.

    Raises:
        ToolError: It was already announced or deleted; the message is ``gone``.
    """
    left, now = None, scope.now()
    if alert.repeat and changed.repeat:
        left = spoken_repeats.without(alert.repeat, changed.repeat, moment_due(alert, now), now)
    kept = replace(alert, due=left.first.timestamp(), repeat=left.rule) if left else None
    if not store.change_alert(kept or changed):
        raise ToolError(gone)
    if kept:
        new = alert.kind, changed.label, changed.due, scope.session_id
        store.add_alert(*new, repeat=changed.repeat)
    return kept
