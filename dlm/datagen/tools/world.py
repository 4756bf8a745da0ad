"""The random world that the simulated tools see, and what they answer.

The tools and the meaning of their arguments are not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

Arguments = dict[str, str]


@dataclass(slots=True)
class Result:
    """What a simulated tool answered.

    Attributes:
        text: The tool message's content.
        case: Selects the replies that fit: "done", "empty", "many", "error" and so on.
        fields: What replies may quote from the result.
    """

    text: str
    case: str = "done"
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def error(self) -> bool:
        """Whether the call failed."""
        return self.case == "error"


def told(form: str, case: str = "done", **fields: str) -> Result:
    """A result made from a sentence with slots; replies may quote the fields."""
    return Result(capital(form.format(**fields)), case, fields)


def failure(text: str) -> Result:
    """An error result; ``text`` is a sentence."""
    return Result(f"Error: {text}", "error", {"error": text})


def unread(kind: str, value: str) -> Result:
    """The error for a value that the tool cannot interpret."""
    return failure(f"I could not read the {kind} {value}.")


def capital(text: str) -> str:
    """``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def title(text: str) -> str:
    """A name as a service would write it: each word capitalised."""
    return " ".join(capital(w) if w not in ("and", "of", "the") else w for w in text.split())


def bare(text: str) -> str:
    """A name in lower case without its article: "kitchen" for "the kitchen"."""
    words = text.lower().split()
    return " ".join(words[1:] if words[:1] in (["the"], ["my"], ["a"], ["our"]) else words)


def drawn_clock(rng: Random) -> str:
    """A random time of day as a service would write it: "7:35 PM"."""
    return f"{rng.randint(1, 12)}:{5 * rng.randrange(12):02d} {rng.choice(('AM', 'PM'))}"


def listing(items: list[str], last: str = "and") -> str:
    """Items joined for speech: "milk, eggs and bread"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


class World:
    """Everything the simulated tools see, drawn at random; calls change it.

    Args:
        now: The moment of the dialogue; drawn when None.
    """

    def __init__(
        self, rng: Random, tools: Mapping[str, SimulatedTool], now: datetime | None = None
    ) -> None:
        self.rng, self._tools = rng, tools
        days, minutes = rng.randrange(365 * 6), rng.randrange(24 * 60)
        self.now = now or datetime(2024, 1, 1) + timedelta(days=days, minutes=minutes)
        self.timers: list[tuple[str, int]] = []
        self.asked_to_forget = False
        # As said, and as the tools write it.
        self.alarms: list[tuple[str, str]] = []
        self.reminders: list[tuple[str, str]] = []
        self.lists: dict[str, list[str]] = {}
        self.order: list[Arguments] = []
        self.devices: dict[str, str] = {}
        self.home = ""
        # Of the last sum; 0 before the first.
        self.value = 0.0

    def call(self, tool: str, arguments: Arguments) -> Result:
        """The result of a call.

        Raises:
            ValueError: No simulated tool has this name.
        """
        if tool not in self._tools:
            raise ValueError(f"tool must be one of {', '.join(self._tools)}, got {tool!r}")
        return self._tools[tool](self, arguments)


SimulatedTool = Callable[[World, Arguments], Result]
