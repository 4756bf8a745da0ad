"""The part of a conversation that its tools may read and change."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tzlocal import get_localzone

from voice.callers import Caller, CallerKind, Owner
from voice.config.shop import ShopConfig
from voice.tools.registry import Keeps, Tool


def local_now() -> datetime:
    """The wall-clock time in the machine's own time zone, with its rules for summer time."""
    return datetime.now(get_localzone())


class Clock(Protocol):
    """A wall clock, which may be set at any moment, and a monotonic one."""

    def __call__(self) -> datetime:
        """The time of day."""
        ...

    def uptime_s(self) -> float:
        """Monotonic seconds since a moment that all processes of the machine share."""
        ...


class MachineClock:
    """The clock of this machine."""

    def __call__(self) -> datetime:
        """See `local_now`."""
        return local_now()

    def uptime_s(self) -> float:
        """See `Clock`; includes the time that the machine slept, if the system tells."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Drink:
    """One kind of drink in an order; equal values are the same kind."""

    name: str
    """The name on the menu, singular."""
    size: str = ""
    roast: str = ""
    shots: str = ""
    milk: str = ""
    sweetener: str = ""
    extras: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A placed order: its id, and when it was placed (seconds since the epoch)."""

    order_id: int
    at_s: float


class Inverses(list[Callable[[], Awaitable[None] | object]]):
    """Functions that undo the changes of one call, in the order of the changes.

    They may block, or return something to await.
    """


@dataclass(frozen=True, slots=True)
class Done:
    """A call that has changed something.

    Attributes:
        said: The tool's answer.
        inverses: Functions that undo it, in the order of the changes; empty if nothing can.
    """

    tool: str
    said: str
    inverses: tuple[Callable[[], Awaitable[None] | object], ...]


class Line(Protocol):
    """The telephone line of a conversation, as far as tools may use it."""

    def transfer(self, to: str) -> bool:
        """Have the call transferred when it ends here; False if the line cannot do that."""

    def send_digits(self, digits: str) -> bool:
        """Press keys; False when the line cannot."""


class Progress:
    """Reports a tool's progress to the user while the answer waits for it; from any thread."""

    def __init__(self, emit: Callable[[str], None] = lambda _: None) -> None:
        self._emit = emit
        self._hints: deque[str] = deque(maxlen=1)

    @property
    def hinted(self) -> str:
        """The newest hint; empty if there is none."""
        return next(iter(self._hints), "")

    def hint(self, text: str) -> None:
        """Offer a short sentence to say in place of the filler, should one be due."""
        self._hints.append(text)

    def report(self, text: str) -> None:
        """Say a short sentence such as "Half of it is done."; no effect after the answer."""
        self._emit(text)


@dataclass(slots=True)
class SessionScope:
    """One conversation, as far as tools are concerned.

    Attributes:
        agent: The agent's name.
        caller: The caller; None for a stranger.
        shop: What the agent sells.
        said: The user's last messages that say more than "yes", newest first, up to the one whose
            tools run.
        order: Drink → how many of it are ordered so far, oldest first.
        removed: What the last undoing call has taken back. Another call of the same answer, or a
            later undoing one, may put it back, changed; an answer without undoing calls clears it.
        done: The calls made for the user's last message that changed anything.
        done_for: That message.
        newest_list: The list that a call was about last; empty before the first.
        customer: The name for the order; empty while it is unknown.
        placed: Set once the order is placed, until something else is ordered.
        in_order: Held by each call that changes something if its answer makes several, so that they
            run one after the other: a correction removes the old before it adds the new.
        end_requested: Whether the user has asked to end the conversation; read by the session.
        on_forget: Called by the tool's thread once everything kept for the user was deleted.
        transfer_to: Whom the call is to be transferred to; None without such a request.
        known: Name → value, as far as the flow of the conversation knows it.
        line: The telephone line; None if there is none, or if the client controls it.
        tools: Tools of this conversation alone, by name.
        keeps: What its agents' tools keep for callers beside the `Store`.
    """

    session_id: str
    agent: str = ""
    caller: Caller | None = None
    shop: ShopConfig = field(default_factory=ShopConfig)
    now: Callable[[], datetime] = local_now
    said: tuple[str, ...] = ()
    order: dict[Drink, int] = field(default_factory=dict)
    removed: object | None = None
    done: list[Done] = field(default_factory=list)
    done_for: str = ""
    newest_list: str = ""
    customer: str = ""
    placed: Placed | None = None
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    end_requested: bool = False
    on_forget: Callable[[], None] = lambda: None
    transfer_to: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    line: Line | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    keeps: list[Keeps] = field(default_factory=list)

    @property
    def owner(self) -> Owner:
        """The owner of what tools keep; for a stranger it is this conversation."""
        stranger = Caller(CallerKind.CONVERSATION, self.session_id)
        return Owner(self.agent, self.caller or stranger)

    def request_end(self) -> None:
        """Ask for the conversation to end once the reply has been spoken; may be called again."""
        self.end_requested = True

    def forget(self) -> None:
        """Note that everything kept for the user was deleted, a placed order too."""
        self.on_forget()
        self.put_order({} if self.placed else self.order.copy(), "", None)

    def note(self, done: Done) -> None:
        """Remember a call that has changed something, together with those for the same message."""
        message = next(iter(self.said), "")
        if message != self.done_for:
            self.done.clear()
        self.done_for = message
        self.done.append(done)

    def kept_order(self) -> tuple[dict[Drink, int], str, Placed | None]:
        """The order as it is now: drinks, customer, and whether it is placed; for `put_order`."""
        return dict(self.order), self.customer, self.placed

    def put_order(self, order: Mapping[Drink, int], customer: str, placed: Placed | None) -> None:
        """Replace the order."""
        self.order.clear()
        self.order.update(order)
        self.customer, self.placed = customer, placed

    def request_transfer(self, to: str) -> None:
        """Ask for the call to be transferred to ``to`` once the reply has been spoken."""
        self.transfer_to = to
