"""Who is talking to an agent, as far as a door can tell, and who owns an entry.

A door can recognise this machine's user, the holder of the server's own key, a user for whom an
ephemeral key was made, and a telephone number. Of anybody else only the conversation is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_NAME = 256
"""Most characters of a caller's name."""

_KEYPAD = str.maketrans("abcdefghijklmnopqrstuvwxyz", "22233344455566677778889999")
_WITHHELD = frozenset(
    word.translate(_KEYPAD)
    for word in ("anonymous", "blocked", "private", "restricted", "unavailable", "unknown")
)
"""Some services spell the reason for a missing number on the keypad, in digits."""


class CallerKind(StrEnum):
    """How a caller is known."""

    LOCAL = "local"
    OPERATOR = "operator"
    USER = "user"
    PHONE = "phone"
    CONVERSATION = "conversation"

    @property
    def named(self) -> bool:
        """Whether there may be several callers of this kind, told apart by name."""
        return self not in (CallerKind.LOCAL, CallerKind.OPERATOR)


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who talks to an agent.

    Attributes:
        name: The user's name, the telephone number or the conversation's id; empty for other kinds.

    Raises:
        ValueError: The name is missing, or the kind takes none, or it is too long or not printable.
    """

    kind: CallerKind
    name: str = ""

    def __post_init__(self) -> None:
        readable = len(self.name) <= MAX_NAME and self.name.isprintable()
        if self.kind.named != bool(self.name) or not readable:
            wanted = f"1 to {MAX_NAME} printable characters" if self.kind.named else "none"
            raise ValueError(f"name of a caller: got {self.name[:40]!r}; expected {wanted}")

    def __str__(self) -> str:
        """The written form that `parse` reads: "user:ada" or "local"."""
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)

    @classmethod
    def parse(cls, text: str) -> Caller:
        """Read a caller's written form.

        Raises:
            ValueError: The text is not one.
        """
        kind, _, name = text.partition(":")
        try:
            return cls(CallerKind(kind), name)
        except ValueError as error:
            expected = "local, operator, user:NAME, phone:NUMBER or conversation:ID"
            raise ValueError(f"caller: got {text[:80]!r}; expected {expected}") from error


LOCAL = Caller(CallerKind.LOCAL)
OPERATOR = Caller(CallerKind.OPERATOR)


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of an entry: a caller at one agent.

    Attributes:
        agent: Name of the agent.
        caller: The caller.
    """

    agent: str
    caller: Caller


def caller_of_number(said: str) -> Caller | None:
    """The caller at a telephone number; None if it is withheld or not a number."""
    number = re.sub(r"[\s().-]", "", said.removeprefix("tel:"))
    digits = number.removeprefix("+")
    if not re.fullmatch(r"[0-9]{2,15}", digits) or not digits.strip("0") or digits in _WITHHELD:
        return None
    return Caller(CallerKind.PHONE, number)
