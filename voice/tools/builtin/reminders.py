"""Reminders, for once or repeating: set, listed, moved, cancelled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated

from voice.tools.builtin.alerts import (
    EVERY_ONE,
    cancel,
    change,
    due_at,
    every_one,
    listed,
    moved,
    only,
    when_due,
)
from voice.tools.registry import Known, Readable, ToolError, tool
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope
from voice.tools.spoken_dates import pushed
from voice.tools.store import Alert, AlertKind, Store

_FIRST_HOUR = 7
"""A reminder for "tomorrow at five" means the afternoon; an alarm for then means the morning."""
_SMALL_WORDS = {"the", "a", "an", "my", "to", "of", "about", "for", "and"}


_UNSET = Alert(0, AlertKind.REMINDER, "", None, 0.0, "")
# "An hour later" can only be read for a reminder that has a time.
_SET = replace(_UNSET, due=datetime(9000, 1, 1).timestamp())
_When = Annotated[str, Readable(lambda said, now: moved(_UNSET, said, now, _FIRST_HOUR))]


def _noted(said: str, *, store: Store) -> None:
    """Check that there is a reminder with these words.

    Raises:
        ToolError: There is none.
    """
    if not _called(_bare(said), store.alerts(AlertKind.REMINDER)):
        raise ToolError(f"There is no such reminder: {said}.")


_Text = Annotated[str, Known(_noted)]
_To = Annotated[
    str,
    Readable(lambda said, now: moved(_SET, said, now, _FIRST_HOUR), "To what time?", refuses=False),
]


@tool()
def set_reminder(
    text: str, when: _When = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Remember something for the user."""
    what = re.sub(r"^(?:to|that|about) ", "", text.strip().rstrip("."))
    if not when:
        store.add_alert(AlertKind.REMINDER, what, None, scope.session_id)
        return f"Reminder noted: {what}."
    now = scope.now()
    reminder, _ = moved(_UNSET, when, now, _FIRST_HOUR)
    store.add_alert(reminder.kind, what, reminder.due, scope.session_id, repeat=reminder.repeat)
    ringer.wake()
    return f"Reminder set for {when_due(reminder, now)}: {what}."


@tool(read_only=True)
def list_reminders(*, scope: SessionScope, store: Store) -> str:
    """Say what reminders there are."""
    now = scope.now()

    reminders = store.alerts(AlertKind.REMINDER)
    return listed(reminders, "You have no reminders.", lambda one: _timed(one, now))


@tool()
def change_reminder(
    text: _Text, when: _To, *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Move a reminder to another time."""
    now = scope.now()
    reminder = _chosen(_bare(text), store.alerts(AlertKind.REMINDER), now)
    when = pushed(when, next(iter(scope.said), ""))
    changed, _ = moved(reminder, when, now, _FIRST_HOUR)
    kept = change(store, reminder, changed, scope, "You have no reminders.")
    ringer.wake()
    still = f", and still for {when_due(kept, now)}" if kept else ""
    return f"Reminder moved to {when_due(changed, now)}{still}: {changed.label}."


@tool(undoes=True)
def cancel_reminder(text: str = "", *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Delete a reminder."""
    now, reminders = scope.now(), store.alerts(AlertKind.REMINDER)
    said = _bare(text)
    if reminders and EVERY_ONE.fullmatch(said):
        chosen = every_one(reminders, scope, lambda reminder: reminder.label, "text")
    else:
        chosen = [_chosen(said, reminders, now)]
    cancelled, still = cancel(store, chosen, (said, *scope.said[:1]), now)
    ringer.wake()
    if len(cancelled) > 1:
        return f"{len(cancelled)} reminders cancelled{still}."
    if still:
        return f"Reminder for {when_due(cancelled[0], now)} cancelled{still}: {cancelled[0].label}."
    return f"Reminder cancelled: {cancelled[0].label}."


def _chosen(said: str, reminders: Sequence[Alert], now: datetime) -> Alert:
    """The reminder with these words or at this time, or the only one.

    Raises:
        ToolError: There is none, or several may be meant.
    """
    if not reminders:
        raise ToolError("You have no reminders.")
    named = said and EVERY_ONE.fullmatch(said) is None
    found = [one for one in reminders if _bare(_timed(one, now)) == said]
    found = found or _called(said, reminders) or due_at(said, reminders, now)
    found = found if named else [*reminders]
    if not found:
        raise ToolError(f"There is no such reminder: {said}.")
    several = "You have several reminders."
    return only(found, several, lambda one: one.label, "text", closer=lambda one: _timed(one, now))


def _timed(one: Alert, now: datetime) -> str:
    return one.label if one.due is None else f"{one.label}, {when_due(one, now)}"


def _called(said: str, reminders: Sequence[Alert]) -> list[Alert]:
    """The newest reminder of exactly these words, or else all that contain them."""
    words = _stems(said)
    exact = [one for one in reminders if _stems(one.label) == words]
    found = exact[-1:] or [one for one in reminders if words and words <= _stems(one.label)]
    # Or with their time, as `_timed` tells them.
    return found or [one for one in reminders if said.startswith(f"{one.label.lower()}, ")]


def _stems(text: str) -> set[str]:
    found = re.findall(r"[\w']+", text.lower())
    return {word.removesuffix("'s").removesuffix("s") for word in found} - _SMALL_WORDS


def _bare(said: str) -> str:
    """A text without the words around it: "the reminder to call mom" → "call mom"."""
    words = re.sub(r"\b(?:reminders?|one|please)\b$", "", said.lower().strip().rstrip("."))
    return re.sub(r"^(?:(?:the|my|reminders?|to|about|for|at|one) )+", "", words.strip()).strip()
