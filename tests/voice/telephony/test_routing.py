from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.fakes import FakeParts
from tests.voice.telephony.test_asterisk import JSON_START
from tests.voice.telephony.test_l16_stream import JAMBONZ_START, VONAGE_START
from tests.voice.telephony.test_media_stream import (
    EXOTEL_START,
    PLIVO_START,
    TELNYX_START,
    TWILIO_START,
)
from voice.callers import Caller, CallerKind
from voice.config import Config, MetricsConfig, ServerConfig, TelephonyConfig
from voice.errors import ProtocolError
from voice.events import SessionEnded
from voice.metrics import Metrics
from voice.telephony.codec import CallStarted, LineMessage
from voice.telephony.media_stream import PLIVO, TWILIO, Dialect, MediaStream
from voice.telephony.registry import PROTOCOLS
from voice.telephony.routing import CallRouter, TelephoneLine
from voice.telephony.twilio import TwilioCalls

NUMBERS = {"Manager": "+15550100", "anyone": "+15550199"}


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


@pytest.mark.parametrize(
    ("name", "start", "number"),
    [
        ("telnyx", TELNYX_START, "+13122010094"),
        ("exotel", EXOTEL_START, "+919876543210"),
        ("jambonz", JAMBONZ_START, "+1555"),
        ("jambonz", JAMBONZ_START.replace("inbound", "outbound"), "+1556"),
        ("jambonz", JAMBONZ_START.replace('"+1555"', "null"), None),
        ("jambonz", JAMBONZ_START.replace("+1555", "anonymous"), None),
        (
            "jambonz",
            JAMBONZ_START.replace('"metadata":{', '"metadata":{"caller":"+1 (777)",'),
            "+1777",
        ),
        ("jambonz", JAMBONZ_START.replace('"metadata":{', '"metadata":{"caller":"",'), None),
        ("plivo", PLIVO_START.replace("sessionId", "caller=0157 1;sessionId"), "01571"),
        ("plivo", PLIVO_START, None),
        ("vonage", VONAGE_START.replace('"agent"', '"caller":"491571","agent"'), "491571"),
        ("vonage", VONAGE_START, None),
        ("asterisk", JSON_START, None),
    ],
)
def test_a_call_is_its_numbers(name: str, start: str, number: str | None) -> None:
    parts, made = FakeParts(), PROTOCOLS[name].codec({})
    (started,) = made.receive(start)
    assert isinstance(started, CallStarted)
    with ExitStack() as stack:
        router(parts).connector(stack)(started, made, [].extend)
    caller = Caller(CallerKind.PHONE, number) if number else None
    assert parts.sessions[0].scope.caller == caller


def test_a_dial_string_tells_asterisks_caller() -> None:
    parts, made = FakeParts(), PROTOCOLS["asterisk"].codec({"caller": "+4930123"})
    (started,) = made.receive(JSON_START)
    assert isinstance(started, CallStarted)
    with ExitStack() as stack:
        router(parts).connector(stack)(started, made, [].extend)
    assert str(parts.sessions[0].scope.caller) == "phone:+4930123"


@pytest.mark.parametrize(
    ("required", "number", "caller"),
    [
        (True, "+15550123", Caller(CallerKind.PHONE, "+15550123")),
        (True, "+266696687", None),
        (False, "+15550123", None),
    ],
)
def test_the_number_of_a_twilio_call_is_what_its_signed_webhook_told(
    required: bool, number: str, caller: Caller | None
) -> None:
    parts, calls = FakeParts(), TwilioCalls()
    sent = {"ticket": calls.ticket("CA5", number), "caller": "+15550999"}
    with ExitStack() as stack:
        connect = router(parts, require_ticket=required).connector(stack, calls)
        connect(CallStarted("CA5", sent, "+15550999"), codec(), [].extend)
    assert parts.sessions[0].scope.caller == caller


def test_limits_come_from_the_configuration() -> None:
    limits = router(FakeParts(), digits_timeout_s=4, idle_timeout_s=9, start_timeout_s=2).limits
    assert (limits.digits_s, limits.idle_s, limits.start_s) == (4, 9, 2)
    assert (limits.longest_s, limits.audio_speed) == (60, 3)
