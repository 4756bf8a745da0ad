"""Forgets all that is kept for the user, who is asked first."""

from __future__ import annotations

from datetime import timedelta

from voice.tools.registry import tool
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope
from voice.tools.store import Store

_SOONEST = timedelta(seconds=1)
"""Nobody has heard the question and answered it by then: the model has called twice at once."""
_LATEST = timedelta(minutes=1)


@tool()
def forget_me(*, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Forget everything about the user."""
    now = scope.now()
    asked, scope.asked_to_forget = scope.asked_to_forget, now
    if asked is None or not _SOONEST <= now - asked <= _LATEST:
        return "That deletes your lists, timers, alarms, reminders and orders. Shall I delete them?"
    scope.asked_to_forget = None
    store.forget()
    ringer.wake()
    return "All that I kept for you is deleted."
