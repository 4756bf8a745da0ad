"""What timers, alarms and reminders share: which of several is meant, and when it is due."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from voice.tools import phrasing, spoken_dates, spoken_repeats
from voice.tools.registry import Choose, ToolError
from voice.tools.store import Alert

EVERY_ONE = re.compile(r"(?:all|both|every|each)(?: of)?(?: (?:them|the|my|our))?")
"""How a user says that all of them are meant."""
_PLACES = {"next": 0, "first": 0, "earliest": 0, "second": 1, "last": -1, "latest": -1}


def only(
    alerts: Sequence[Alert],
    several: str,
    describe: Callable[[Alert], str],
    argument: str,
    article: str = "",
) -> Alert:
    """The only one of some entries, of which there is at least one.

    Raises:
        Choose: There are more; their descriptions are values of the ``argument``.
    """
    if len(alerts) == 1:
        return alerts[0]
    names = [describe(alert) for alert in alerts]
    which = phrasing.joined(names, last="or")
    raise Choose(f"{several} Which one: {article}{which}?", argument, names)


def listed(alerts: Sequence[Alert], none: str, describe: Callable[[Alert], str]) -> str:
    """Entries of one kind in a sentence, or ``none`` where there are none."""
    if not alerts:
        return none
    described = "; ".join(describe(alert) for alert in alerts)
    return f"{phrasing.counted(len(alerts), alerts[0].kind)}: {described}."


def when_due(alert: Alert, now: datetime) -> str:
    """When an entry is due, as it is said: "7:00 AM tomorrow", "6:30 AM every weekday".

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
    """Those of some entries, soonest first, that a spoken time may name."""
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
    """An entry with the time that is said, and whether a time of day was said.

    A time of day alone leaves the day, or the days on which it repeats, as they are.

    Raises:
        ToolError: It cannot be read, or has passed.
    """
    if again := spoken_repeats.repeat(said, now, first_hour):
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), True
    near = None if alert.due is None else moment_due(alert, now)
    when = spoken_dates.moment(said, now, first_hour, near)
    if alert.repeat and when.time_said:
        again = spoken_repeats.at_time(alert.repeat, when.moment, now)
        return replace(alert, due=again.first.timestamp(), repeat=again.rule), True
    return replace(alert, due=when.moment.timestamp(), repeat=""), when.time_said
