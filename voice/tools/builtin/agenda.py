"""What is coming up: alarms, reminders and timers together."""

from __future__ import annotations

import re
from datetime import datetime

from voice.tools import spoken_dates
from voice.tools.builtin.alerts import listed, moment_due, when_due
from voice.tools.registry import tool
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store

_DAY = re.compile(
    r"\b(?:today|tonight|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE
)


@tool(read_only=True)
def coming_up(message: str, *, scope: SessionScope, store: Store) -> str:
    """Say what is coming up, all of it or on the day that a message names."""
    now = scope.now()
    day = found[0].lower() if (found := _DAY.search(message)) else ""
    date = spoken_dates.day(day.replace("tonight", "today"), now) if day else None

    def comes(alert: Alert) -> bool:
        if alert.due is None or (alert.kind is AlertKind.TIMER and alert.due <= now.timestamp()):
            return alert.due is None and not day
        return date is None or moment_due(alert, now).date() == date

    coming = [alert for alert in store.alerts() if comes(alert)]
    if not coming:
        return f"Nothing is set for {day}." if day else "Nothing is coming up."
    kinds = ([one for one in coming if one.kind is kind] for kind in AlertKind)
    return " ".join(listed(one, "", lambda alert: _described(alert, now)) for one in kinds if one)


def _described(alert: Alert, now: datetime) -> str:
    when = when_due(alert, now) if alert.due else ""
    return ", ".join(filter(None, (alert.label, when)))
