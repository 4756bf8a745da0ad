"""What a tool may read and change of the conversation that calls it."""

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
from voice.tools.registry import Tool


def local_now() -> datetime:
    """The wall clock in the machine's own time zone, which keeps its rules of summer time."""
    return datetime.now(get_localzone())


class Clock(Protocol):
    """The time of day, which may be set at any moment, and one that goes on evenly."""

    def __call__(self) -> datetime:
        """The time of day."""
        ...

    def uptime_s(self) -> float:
        """Seconds that nobody sets, from a moment that all processes of the machine share."""
        ...


class MachineClock:
    """The clock of this machine."""

    def __call__(self) -> datetime:
        """See `local_now`."""
        return local_now()

    def uptime_s(self) -> float:
        """See `Clock`; where the system tells, time that the machine slept counts."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Drink:
    """One kind of drink in an order; equal values are the same kind."""

    name: str
    """As on the menu, singular."""
    size: str = ""
    roast: str = ""
    shots: str = ""
    milk: str = ""
    sweetener: str = ""
    extras: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """That an order is placed, under which id, when (in seconds since the epoch)."""

    order_id: int
    at_s: float


class Inverses(list[Callable[[], Awaitable[None] | object]]):
    """What takes back what one call has changed, each change in its order; may block or wait."""


@dataclass(frozen=True, slots=True)
class Done:
    """A call that has changed something.

    Attributes:
        said: What the tool has answered.
        inverses: None of what cannot be taken back.
    """

    tool: str
    said: str
    inverses: tuple[Callable[[], Awaitable[None] | object], ...]


class Line(Protocol):
    """The telephone line that a conversation is held over, as far as tools may use it."""

    def transfer(self, to: str) -> bool:
        """Hand the call over once it ends here; False when the line cannot do that."""

    def send_digits(self, digits: str) -> bool:
        """Press keys; False when the line cannot."""


class Progress:
    """Reports to the user how far a tool is, from any thread, while the answer waits for it."""

    def __init__(self, emit: Callable[[str], None] = lambda _: None) -> None:
        self._emit = emit
        self._hints: deque[str] = deque(maxlen=1)

    @property
    def hinted(self) -> str:
        """The newest hint; empty where there is none."""
        return next(iter(self._hints), "")

    def hint(self, text: str) -> None:
        """Offer a short sentence to be said in place of the filler, should one be due."""
        self._hints.append(text)

    def report(self, text: str) -> None:
        """Say a short sentence such as "Half of it is done."; no effect after the answer."""
        self._emit(text)


@dataclass(slots=True)
class SessionScope:
    """One conversation, as far as tools are concerned.

    Attributes:
        agent: The agent's name.
        caller: Whom it converses with; None for a stranger.
        shop: What the agent sells.
        said: The user's last messages that say more than "yes", newest first, of the request whose
            tools run.
        order: Drinks ordered so far → how many of each, oldest first.
        removed: What the call before has taken back, in an answer that calls another tool as well:
            that one may put it back, changed.
        done: The calls that were made for the last message of the user's that changed anything.
        done_for: That message.
        customer: Whose name is to stand on the order; empty while it is unknown.
        placed: Set once the order is placed, as long as nothing else is ordered.
        in_order: Held by a call that changes something, so that those of one answer run one after
            the other: a correction takes back before it puts anew.
        end_requested: Whether the user has asked to end the conversation; read by the session.
        transfer_to: Whom the call is to be handed over to; None without such a request.
        known: What the flow of the conversation knows, by name.
        line: The telephone line; None where there is none, or where the client controls it.
        tools: Tools of this conversation alone, by name.
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
    customer: str = ""
    placed: Placed | None = None
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    end_requested: bool = False
    _forgotten: bool = field(default=False, init=False)
    transfer_to: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    line: Line | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)

    @property
    def owner(self) -> Owner:
        """Whose is what tools keep here; a stranger has no more than this conversation."""
        stranger = Caller(CallerKind.CONVERSATION, self.session_id)
        return Owner(self.agent, self.caller or stranger)

    def request_end(self) -> None:
        """Ask for the conversation to end once the reply has been spoken; may be called again."""
        self.end_requested = True

    def forget(self) -> None:
        """Note that the user has had all deleted that was kept of them, a placed order too."""
        self._forgotten = True
        self.put_order({} if self.placed else self.order.copy(), "", None)

    def take_forgotten(self) -> bool:
        """Whether that was noted since this was asked last."""
        forgotten, self._forgotten = self._forgotten, False
        return forgotten

    def note(self, done: Done) -> None:
        """Remember a call that has changed something, with the others for the same message."""
        message = next(iter(self.said), "")
        if message != self.done_for:
            self.done.clear()
        self.done_for = message
        self.done.append(done)

    def kept_order(self) -> tuple[dict[Drink, int], str, Placed | None]:
        """What is ordered now, for whom, and whether it is placed; for `put_order`."""
        return dict(self.order), self.customer, self.placed

    def put_order(self, order: Mapping[Drink, int], customer: str, placed: Placed | None) -> None:
        """Have ordered just these."""
        self.order.clear()
        self.order.update(order)
        self.customer, self.placed = customer, placed

    def request_transfer(self, to: str) -> None:
        """Ask for the call to be handed to ``to`` once the reply has been spoken."""
        self.transfer_to = to
