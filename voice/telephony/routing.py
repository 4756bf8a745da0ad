"""Connects a started call to the agent it asks for, and lets tools use its line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voice.callers import Caller, caller_of_number
from voice.config import Config
from voice.errors import ProtocolError
from voice.events import SessionEnded, SessionEvent
from voice.inputs import SessionOptions
from voice.metrics import Metrics
from voice.session.session import Session
from voice.telephony.call import CallLimits, Connect, Opened, Send
from voice.telephony.codec import CallCodec, CallStarted
from voice.telephony.twilio import TwilioCalls
from voice.tools.scope import Line

if TYPE_CHECKING:
    from voice.session.resources import Resources

AGENT, CALLER, TICKET = "agent", "caller", "ticket"
"""Names of call parameters."""
TRANSFERRED = "transferred"
"""End reason of a session whose call is to be transferred."""

OpenSession = Callable[["Resources", SessionOptions, Line | None, Caller | None], Session]
"""Makes a session; the line is None unless it is a telephone call, the caller None if unknown."""

_ARTICLES = ("a ", "an ", "the ", "my ", "your ", "some ")


@dataclass(slots=True)
class TelephoneLine:
    """The line of a call, for tools; see `voice.tools.scope.Line`.

    Attributes:
        numbers: Names that a caller may be put through to, in lower case → number; empty if the
            line cannot transfer.
    """

    codec: CallCodec
    send: Send
    numbers: dict[str, str]
    _number: str = field(default="", init=False)
    _ended: str = field(default="", init=False)

    def transfer(self, to: str) -> bool:
        """Transfer the call once it ends here; False if nobody is known by that name."""
        name = to.lower()
        for article in _ARTICLES:
            name = name.removeprefix(article)
        self._number = self.numbers.get(name) or self.numbers.get("anyone", "")
        return bool(self._number)

    def send_digits(self, digits: str) -> bool:
        """Press keys; False if the protocol cannot."""
        messages = self.codec.send_digits(digits)
        self.send(messages)
        return bool(messages)

    def observe(self, event: SessionEvent) -> None:
        """Note the reason when the session ends."""
        if isinstance(event, SessionEnded):
            self._ended = event.reason

    @property
    def transferred_to(self) -> str:
        """The number that the call goes on to; empty unless the session ended in a transfer."""
        return self._number if self._ended == TRANSFERRED else ""


class CallRouter:
    """Opens the conversations of calls; ``resources`` are those of the server's own agent.

    Raises:
        ConfigError: An agent that calls may choose is wrong.
        ModelError: The recogniser of such an agent cannot be loaded.
    """

    def __init__(
        self, resources: Resources, config: Config, metrics: Metrics, open_session: OpenSession
    ) -> None:
        self._resources = resources
        self._metrics = metrics
        self._open_session = open_session
        self._telephony = config.telephony
        known = config.telephony.transfer_numbers.items()
        self._transfer_numbers = {name.lower(): number for name, number in known}
        option = "telephony.agents"
        agents = self._telephony.agents
        self._agents = {name: resources.for_agent(name, option) for name in agents}
        self._agents |= {config.agent: resources, resources.agent.name: resources}
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
        """The function with which a `Call` opens its conversation.

        Args:
            stack: Closed when the call is over.
            twilio: Checks the tickets of Twilio's streams, and transfers calls.
        """

        def connect(started: CallStarted, codec: CallCodec, send: Send) -> Opened:
            caller = caller_of_number(self._number_of(started, twilio))
            assigned = self._agent_of(started).assign(caller)
            resources = assigned.resources
            options = replace(resources.options(), output_rate_hz=codec.rate_hz, holds=True)
            numbers = self._transfer_numbers if twilio is not None else {}
            line = TelephoneLine(codec, send, numbers)
            session = self._open_session(resources, options, line, caller)
            measure = stack.enter_context(self._metrics.conversation(session, assigned))

            def observe(event: SessionEvent) -> None:
                measure(event)
                line.observe(event)

            def hung_up() -> None:
                if twilio is not None and line.transferred_to:
                    twilio.hand_over(started.call_id, line.transferred_to)

            return Opened(session, observe, hung_up)

        return connect

    def _number_of(self, started: CallStarted, twilio: TwilioCalls | None) -> str:
        if twilio is None:
            return started.parameters.get(CALLER, started.number)
        # Twilio signs what it tells the webhook, but not what it tells the stream.
        if not self._telephony.require_ticket:
            return ""
        return twilio.begin(started.call_id, started.parameters.get(TICKET, ""))

    def _agent_of(self, started: CallStarted) -> Resources:
        name = started.parameters.get(AGENT)
        if name is None:
            return self._resources
        if name not in self._agents:
            raise ProtocolError("there is no such agent here", "unknown_agent", AGENT)
        return self._agents[name]
