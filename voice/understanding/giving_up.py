"""Whether the user takes back everything that was said, or wants to begin again. English only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from voice.understanding.english import bare

_STARTS_OVER = re.compile(
    r"start over|start again|(?:let's )?(?:start|begin) (?:over|again)|from the beginning"
)
_LEAVES_IT = (
    r"(?:never mind|forget (?:about )?(?:it|that|this|everything|(?:it|that|this) all"
    r"|(?:all|the whole) (?:of )?(?:it|that|thing|lot))|(?:let's )?leave (?:it|that)"
    r"|(?:(?:i'm|i am) afraid )?(?:(?:i|we)(?:'ll|'d| will| would)? ?(?:want|need|have|like) to )?"
    r"cancel(?: (?:it|that|this|everything|(?:my|the) \w+))?"
    r"|i(?:'ve| have)? changed my mind|i don't want (?:it|that|to)(?: any more| anymore)?)"
)
_DOES_WITHOUT = (
    r"(?:i'll|i will|i can|we'll|we will|we can) (?:\w+ ){1,5}"
    r"(?:myself|ourselves|elsewhere|back|again|later|another (?:day|time))"
)
_GIVES_UP = re.compile(rf"{_LEAVES_IT}(?: (?:{_LEAVES_IT}|{_DOES_WITHOUT}))*")


def gives_up(message: str) -> bool:
    """Whether a message takes back everything: "never mind, I'll do it myself", "start over"."""
    return _GIVES_UP.fullmatch(bare(message)) is not None or starts_over(message)


def forgets(clause: str, things: Iterable[str]) -> bool:
    """Whether words give up one of these things, which may only be being made."""
    named = "|".join(things)
    return re.fullmatch(rf"forget (?:about )?(?:my|the) (?:{named})", bare(clause)) is not None


def starts_over(message: str) -> bool:
    """Whether a message wants to begin again: "start over"."""
    return _STARTS_OVER.fullmatch(bare(message)) is not None
