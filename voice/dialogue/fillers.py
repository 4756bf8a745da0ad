"""What is said while a tool works, and the words with which the user calls it off."""

from __future__ import annotations

import re

from voice.understanding.english import bare

ONE_MOMENT = "One moment."
UNDER_WAY = "That is being done."
"""Also what the model reads as the result of a call whose output the client has not sent yet."""
STOPPED = "Okay, I stopped that."
CANNOT_STOP = "That cannot be stopped any more."

_CALLED_OFF = re.compile(
    r"(?:you can )?(?:stop|cancel|abort|drop|forget|leave)(?: (?:it|that|this|everything))?"
    r"|never ?mind|stop (?:looking|searching)"
)


def calls_off(text: str) -> bool:
    """Whether the message asks to stop what is being done, and says nothing else.

    >>> calls_off("No, wait, cancel that please."), calls_off("cancel the pasta timer")
    (True, False)
    """
    return _CALLED_OFF.fullmatch(bare(text)) is not None
