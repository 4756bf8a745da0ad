from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.fakes import FakeParts
from tests.voice.telephony.test_media_stream import PLIVO_START, TWILIO_START
from voice.config import Config, MetricsConfig, ServerConfig, TelephonyConfig
from voice.errors import ProtocolError
from voice.events import SessionEnded
from voice.metrics import Metrics
from voice.telephony.codec import CallStarted, LineMessage
from voice.telephony.media_stream import PLIVO, TWILIO, Dialect, MediaStream
from voice.telephony.routing import CallRouter, TelephoneLine
from voice.telephony.twilio import TwilioCalls

NUMBERS = {"manager": "+15550100", "anyone": "+15550199"}


def router(parts: FakeParts, **telephony: Any) -> CallRouter:
    config = Config(
        agent="coffee",
        telephony=TelephonyConfig(**telephony),
        server=ServerConfig(longest_session_s=60, max_audio_speed=3),
    )
    metrics = Metrics(MetricsConfig())
    return CallRouter(parts, config, metrics, FakeParts.session)  # type: ignore[arg-type]


def codec(dialect: Dialect = TWILIO, start: str = TWILIO_START) -> MediaStream:
    made = MediaStream(dialect)
    made.receive(start)
    return made


def test_a_call_without_a_wish_gets_the_servers_agent_at_its_rate() -> None:
    parts = FakeParts()
    with ExitStack() as stack:
        opened = router(parts).connector(stack)(CallStarted("c1"), codec(), [].extend)
    (session,) = parts.sessions
    assert opened.session is session  # type: ignore[comparison-overlap]
    assert session.options.output_rate_hz == 8000
    assert session.options.holds
    assert isinstance(session.scope.line, TelephoneLine)


def test_a_call_may_choose_a_configured_agent_and_no_other() -> None:
    parts, other = FakeParts(), FakeParts()
    parts.agents["assistant"] = other
    found = router(parts, agents=["assistant"])
    assert found.knows("assistant")
    assert not found.knows("/etc/passwd")
    with ExitStack() as stack:
        connect = found.connector(stack)
        connect(CallStarted("c1", {"agent": "assistant"}), codec(), [].extend)
        connect(CallStarted("c1", {"agent": "coffee"}), codec(), [].extend)
        with pytest.raises(ProtocolError, match="no such agent"):
            connect(CallStarted("c1", {"agent": "../secrets"}), codec(), [].extend)
    assert (len(parts.sessions), len(other.sessions)) == (1, 1)


def test_a_twilio_stream_shows_its_ticket() -> None:
    parts, calls = FakeParts(), TwilioCalls()
    ticket = calls.ticket("CA5")
    with ExitStack() as stack:
        connect = router(parts).connector(stack, calls)
        with pytest.raises(ProtocolError, match="ticket"):
            connect(CallStarted("CA6", {"ticket": ticket}), codec(), [].extend)
        assert parts.sessions == []
        connect(CallStarted("CA5", {"ticket": ticket}), codec(), [].extend)
        with pytest.raises(ProtocolError, match="ticket"):
            connect(CallStarted("CA5", {"ticket": ticket}), codec(), [].extend)
    assert len(parts.sessions) == 1


@pytest.mark.parametrize(
    ("to", "reason", "number"),
    [
        ("the manager", "transferred", "+15550100"),
        ("a person", "transferred", "+15550199"),
        ("the manager", "the caller hung up", ""),
    ],
)
def test_a_transfer_happens_unless_it_was_called_off(to: str, reason: str, number: str) -> None:
    parts, calls = FakeParts(), TwilioCalls()
    with ExitStack() as stack:
        connect = router(parts, transfer_numbers=NUMBERS).connector(stack, calls)
        started = CallStarted("CA5", {"ticket": calls.ticket("CA5")})
        opened = connect(started, codec(), [].extend)
        line = parts.sessions[0].scope.line
        assert line is not None
        assert line.transfer(to)
        opened.observe(SessionEnded(reason))
        opened.hung_up()
    assert calls.after("CA5") == number


def test_a_line_that_cannot_transfer_says_so() -> None:
    parts = FakeParts()
    with ExitStack() as stack:
        connect = router(parts, transfer_numbers=NUMBERS).connector(stack)
        connect(CallStarted("c1"), codec(), [].extend)
    line = parts.sessions[0].scope.line
    assert line is not None
    assert not line.transfer("the manager")
    assert not line.send_digits("12")


def test_nobody_is_known_by_that_name() -> None:
    line = TelephoneLine(codec(), [].extend, {"manager": "+15550100"})
    assert line.transfer("the Manager")
    assert not line.transfer("the owner")
    line.observe(SessionEnded("transferred"))
    assert line.transferred_to == ""


def test_keys_are_pressed_where_the_protocol_can() -> None:
    sent: list[LineMessage] = []
    line = TelephoneLine(codec(PLIVO, PLIVO_START), sent.extend, {})
    assert line.send_digits("12#")
    assert sent == ['{"event":"sendDTMF","dtmf":"12#"}']


def test_limits_come_from_the_configuration() -> None:
    limits = router(FakeParts(), digits_timeout_s=4, idle_timeout_s=9, start_timeout_s=2).limits
    assert (limits.digits_s, limits.idle_s, limits.start_s) == (4, 9, 2)
    assert (limits.longest_s, limits.audio_speed) == (60, 3)
