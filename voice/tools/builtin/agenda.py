"""What is coming up: alarms, reminders and timers together."""

from __future__ import annotations

from datetime import datetime

from voice.tools import phrasing
from voice.tools.builtin.alerts import comes_on, days_named, listed, when_due
from voice.tools.registry import tool
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store


@tool(read_only=True)
def coming_up(message: str, *, scope: SessionScope, store: Store) -> str:
    """Say what is coming up, all of it or on the day that a message names."""
    now = scope.now()
    days = days_named(message, now)

    def comes(alert: Alert) -> bool:
        if alert.due is None or (alert.kind is AlertKind.TIMER and alert.due <= now.timestamp()):
            return alert.due is None and not days
        return not days or comes_on(alert, days, now)

    coming = [alert for alert in store.alerts() if comes(alert)]
    if not coming and len(days) == 1:
        return f"Nothing is set for {phrasing.near_day(days[0], now.date()).removeprefix('on ')}."
    if not coming:
        return "Nothing is set for those days." if days else "Nothing is coming up."
    kinds = ([one for one in coming if one.kind is kind] for kind in AlertKind)
    return " ".join(listed(one, "", lambda alert: _described(alert, now)) for one in kinds if one)


def _described(alert: Alert, now: datetime) -> str:
    when = when_due(alert, now) if alert.due else ""
    return ", ".join(filter(None, (alert.label, when)))
