"""Connects a call that has started to the agent it asks for, and gives tools its line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voice.config import Config
from voice.errors import ProtocolError
from voice.events import SessionEnded, SessionEvent
from voice.metrics import Metrics
from voice.session.session import Session
from voice.telephony.call import CallLimits, Connect, Opened, Send
from voice.telephony.codec import CallCodec, CallStarted
from voice.telephony.twilio import TwilioCalls

if TYPE_CHECKING:
    from voice.session.resources import Resources

AGENT, TICKET = "agent", "ticket"
TRANSFERRED = "transferred"

_ARTICLES = ("a ", "an ", "the ", "my ", "your ", "some ")


@dataclass(slots=True)
class TelephoneLine:
    """What tools may do with a call; see `voice.tools.scope.Line`.

    Attributes:
        numbers: Who a caller may be put through to → number; empty where the line cannot.
        number: Where the call goes on to once it ends here.
        reason: Why the session has ended.
    """

    codec: CallCodec
    send: Send
    numbers: dict[str, str]
    number: str = ""
    reason: str = field(default="", init=False)

    def transfer(self, to: str) -> bool:
        """Hand the call over once it ends here; False when nobody is known so."""
        name = to.lower()
        for article in _ARTICLES:
            name = name.removeprefix(article)
        self.number = self.numbers.get(name) or self.numbers.get("anyone", "")
        return bool(self.number)

    def send_digits(self, digits: str) -> bool:
        """Press keys; False when the protocol cannot."""
        messages = self.codec.send_digits(digits)
        self.send(messages)
        return bool(messages)


class CallRouter:
    """Connects calls.

    Args:
        parts: Of the server's own agent.
        config: All options.
        metrics: Count sessions.

    Raises:
        ConfigError: An agent that calls may choose is wrong.
        ModelError: Its recogniser cannot be had.
    """

    def __init__(self, parts: Resources, config: Config, metrics: Metrics) -> None:
        self._parts = parts
        self._metrics = metrics
        self._telephony = config.telephony
        self._agents = {name: parts.for_agent(name) for name in config.telephony.agents}
        self._agents |= {config.agent: parts, parts.agent.name: parts}
        self.limits = CallLimits(
            start_s=config.telephony.start_timeout_s,
            idle_s=config.telephony.idle_timeout_s,
            longest_s=config.server.longest_session_s,
            send_s=config.server.send_timeout_s,
            messages_per_s=config.server.max_messages_per_s,
            audio_speed=config.server.max_audio_speed,
            digits_s=config.telephony.digits_timeout_s,
        )

    def knows(self, agent: str) -> bool:
        """Whether a call may choose this agent."""
        return agent in self._agents

    def connector(self, stack: ExitStack, twilio: TwilioCalls | None = None) -> Connect:
        """What a `Call` is given to open its conversation with.

        Args:
            stack: Left when the call is over.
            twilio: Checks the tickets of Twilio's streams, and takes calls that go on.
        """

        def connect(started: CallStarted, codec: CallCodec, send: Send) -> Opened:
            parts = self._agent_of(started)
            if twilio is not None and self._telephony.require_ticket:
                twilio.begin(started.call_id, started.parameters.get(TICKET, ""))
            options = replace(parts.options(), output_rate_hz=codec.rate_hz, holds=True)
            session = Session(parts, options)
            numbers = self._telephony.transfer_numbers if twilio is not None else {}
            line = TelephoneLine(codec, send, numbers)
            session.scope.line = line
            measured = stack.enter_context(self._metrics.session(session.session_id))
            return Opened(
                session,
                _both(measured.observe, line),
                lambda: _hand_over(twilio, started.call_id, line),
            )

        return connect

    def _agent_of(self, started: CallStarted) -> Resources:
        name = started.parameters.get(AGENT)
        if name is None:
            return self._parts
        if name not in self._agents:
            raise ProtocolError("there is no such agent here", "unknown_agent", AGENT)
        return self._agents[name]


def _both(
    observe: Callable[[SessionEvent], None], line: TelephoneLine
) -> Callable[[SessionEvent], None]:
    def both(event: SessionEvent) -> None:
        observe(event)
        if isinstance(event, SessionEnded):
            line.reason = event.reason

    return both


def _hand_over(twilio: TwilioCalls | None, call_id: str, line: TelephoneLine) -> None:
    """A transfer that the caller talked over has been called off."""
    if twilio is not None and line.reason == TRANSFERRED and line.number:
        twilio.hand_over(call_id, line.number)
