"""Forgets all that is kept for the user, who is asked first."""

from __future__ import annotations

import re

from voice.tools.registry import Asked, tool
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope
from voice.tools.store import Store

QUESTION = "That deletes your lists, timers, alarms, reminders and orders. Shall I delete them?"

_FORGET_ALL = re.compile(
    r"(?:(?:yes|yeah|yep|yup|sure|okay|ok|please|do|go ahead|and|just)\W+)*"
    r"(?:delete|erase|forget|remove|clear|wipe|destroy|drop|get rid of)\W+"
    r"(?:(?:it|them|those|that)(?: all)?|all(?: of)?(?: it| them| that)?|(?:absolutely )?everything"
    r"|the (?:whole )?lot|(?:all )?(?:of )?my (?:data|stuff|information))"
    r"(?: (?:about|of) (?:me|mine)| (?:that )?you (?:have|know|keep|kept)(?: (?:about|on|of) me)?)?"
    r"(?:\W+(?:please|now|then|thanks|thank you))*\W*"
)
"""What agrees to the question in its own words; of "everything but my alarms" nothing is known."""


def _forgets_all(message: str) -> bool:
    return _FORGET_ALL.fullmatch(message.lower().strip()) is not None


@tool(asked=Asked(lambda: QUESTION, _forgets_all, always=True))
def forget_me(*, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Forget everything about the user."""
    store.forget()
    scope.forget()
    ringer.wake()
    return "All that I kept for you is deleted."
