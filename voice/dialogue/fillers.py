"""What is said while a tool works, and the words with which the user calls it off."""

from __future__ import annotations

import re

ONE_MOMENT = "One moment."
STOPPED = "Okay, I stopped that."
CANNOT_STOP = "That cannot be stopped any more."

_POLITE = re.compile(
    r"\b(?:oh|ok|okay|no|wait|hey|hold on|please|actually|sorry|thanks|thank you|it s ok)\b"
)
_CALLED_OFF = re.compile(
    r"(?:you can )?(?:stop|cancel|abort|drop|forget|leave)(?: (?:it|that|this|everything))?"
    r"|never ?mind|stop (?:looking|searching|that now)"
)


def calls_off(text: str) -> bool:
    """Whether the user wants what is being done to be stopped, and says nothing else.

    >>> calls_off("No, wait, cancel that please."), calls_off("cancel the pasta timer")
    (True, False)
    """
    bare = " ".join(re.sub(r"\W+", " ", text.lower()).split())
    return _CALLED_OFF.fullmatch(" ".join(_POLITE.sub(" ", bare).split())) is not None
