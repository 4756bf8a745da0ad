"""Shared by timers, alarms and reminders: which of several is meant, and when it is due."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from voice.tools import phrasing, spoken_dates, spoken_repeats
from voice.tools.registry import Choose, ToolError
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, Store

EVERY_ONE = re.compile(r"(?:all|both|every|each)(?: of)?(?: (?:them|the|my|our))?")
"""Words for all entries."""
_LONGEST = 250
"""Most characters of a message that are searched for a day."""
_PLACES = {"next": 0, "first": 0, "earliest": 0, "second": 1, "last": -1, "latest": -1}


def only(
    alerts: Sequence[Alert],
    several: str,
    describe: Callable[[Alert], str],
    argument: str,
    article: str = "",
) -> Alert:
    """The only one of at least one entry.

    Raises:
        Choose: There are several; their descriptions are the options of ``argument``.
    """
    if len(alerts) == 1:
        return alerts[0]
    names = [describe(alert) for alert in alerts]
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
    said = next(iter(scope.said), "").lower().replace("’", "'").replace("'s", "")
    now = scope.now()
    if days := _days(said, now):
        alerts = [one for one in alerts if one.due and moment_due(one, now).date() in days]
        if not alerts:
            raise ToolError("There is none on that day.")
    if len(alerts) > 2 and re.search(r"\bboth\b", said):
        names = [describe(alert) for alert in alerts]
        raise Choose(f"There are {len(alerts)}: {phrasing.joined(names)}. Which?", argument, names)
    return [*alerts]


def _days(said: str, now: datetime) -> tuple[date, ...]:
    """The days that a message names, if any."""
    day, _ = spoken_dates.take_day(spoken_dates.normal_form(said[:_LONGEST]), now)
    if day and re.search(r"\bweekends?\b", said):
        return (day, day + timedelta(6 - day.weekday()))
    return (day,) if day else ()


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
    return [alert for alert in dated if spoken_dates.may_mean(said, moment_due(alert, now), now)]


def _repeat(said: str, now: datetime) -> spoken_repeats.Repeat | None:
    try:
        return spoken_repeats.repeat(said, now)
    except ToolError:
        return None


def moved(alert: Alert, said: str, now: datetime, first_hour: int = 1) -> tuple[Alert, bool]:
    """An entry moved to a spoken time, and whether a time of day was said.

    A time of day alone keeps its day, or the days on which it repeats.

    Raises:
        ToolError: It cannot be read, or has passed.
    """
    if again := spoken_repeats.repeat(said, now, first_hour):
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), True
    near = None if alert.due is None else moment_due(alert, now)
    when = spoken_dates.moment(said, now, first_hour, near)
    if alert.repeat and when.time_said:
        again = spoken_repeats.at_time(alert.repeat, when.moment, moment_due(alert, now), now)
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), True
    return replace(alert, due=when.moment.timestamp(), repeat=""), when.time_said


def cancel(store: Store, alerts: Sequence[Alert]) -> list[Alert]:
    """Delete entries; returns those that were still there.

    Raises:
        ToolError: None of them was.
    """
    cancelled = [alert for alert in alerts if store.remove_alert(alert.id)]
    if not cancelled:
        raise ToolError("It has just gone off, or was cancelled.")
    return cancelled


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
