"""Who converses with an agent, as far as a door can tell, and whose an entry is.

A door knows: this machine's user, the holder of the server's own key, a user named for an ephemeral
key, a telephone number. Anybody else is a stranger, whose conversation is all that is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_NAME = 256
"""Characters of a caller's name."""

_KEYPAD = str.maketrans("abcdefghijklmnopqrstuvwxyz", "22233344455566677778889999")
_WITHHELD = frozenset(
    word.translate(_KEYPAD)
    for word in ("anonymous", "blocked", "private", "restricted", "unavailable", "unknown")
)
"""Some services spell the reason of a missing number in digits."""


class CallerKind(StrEnum):
    """How a caller is known."""

    LOCAL = "local"
    OPERATOR = "operator"
    USER = "user"
    PHONE = "phone"
    CONVERSATION = "conversation"

    @property
    def named(self) -> bool:
        """Whether there are several callers of this kind, told apart by their names."""
        return self not in (CallerKind.LOCAL, CallerKind.OPERATOR)


@dataclass(frozen=True, slots=True)
class Caller:
    """One whom an agent converses with.

    Attributes:
        name: Of a user, or a telephone number, or a conversation's id; empty for the other kinds.

    Raises:
        ValueError: The kind needs a name and has none, or the other way round, or it is too long,
            or cannot be printed.
    """

    kind: CallerKind
    name: str = ""

    def __post_init__(self) -> None:
        readable = len(self.name) <= MAX_NAME and self.name.isprintable()
        if self.kind.named != bool(self.name) or not readable:
            wanted = f"1 to {MAX_NAME} printable characters" if self.kind.named else "none"
            raise ValueError(f"name of a caller: got {self.name[:40]!r}; expected {wanted}")

    def __str__(self) -> str:
        """Its written form, "user:ada" or "local", which `parse` reads."""
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)

    @classmethod
    def parse(cls, text: str) -> Caller:
        """The caller of a written form.

        Raises:
            ValueError: It is none.
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
    """Whose an entry is: a caller's, at one agent.

    Attributes:
        agent: Its name.
    """

    agent: str
    caller: Caller


def caller_of_number(said: str) -> Caller | None:
    """The caller at a telephone number; None for a withheld one, or for what is no number."""
    number = re.sub(r"[\s().-]", "", said.removeprefix("tel:"))
    digits = number.removeprefix("+")
    if not re.fullmatch(r"[0-9]{2,15}", digits) or not digits.strip("0") or digits in _WITHHELD:
        return None
    return Caller(CallerKind.PHONE, number)
