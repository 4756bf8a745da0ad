"""Sequences of Asterisk's chan_websocket, plain and JSON, byte for byte."""

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.asterisk import ChanWebSocket
from voice.telephony.codec import (
    CallAudio,
    CallEnded,
    CallEvent,
    CallStarted,
    FlowChanged,
    KeyPressed,
    MarkPlayed,
    Traits,
)

PLAIN_START = (
    "MEDIA_START connection_id:e226e283 channel:WebSocket/connection1/0x5140001a0040"
    " channel_id:pbx1-123456789.999 format:ulaw optimal_frame_size:160 ptime:20"
)
JSON_START = """{
  "event": "MEDIA_START",
  "connection_id": "media_connection1",
  "channel": "WebSocket/media_connection1/0x5140001a0040",
  "channel_id": "1761245643.1",
  "format": "slin16",
  "optimal_frame_size": 640,
  "ptime": 20,
  "channel_variables": {"DIALEDPEERNUMBER": "media_connection1/c(slin16)", "agent": "coffee"}
}"""
SILENT = np.zeros(160, np.int16)


def begun(start: str = PLAIN_START, **query: str) -> ChanWebSocket:
    codec = ChanWebSocket(query)
    assert isinstance(codec.receive(start)[0], CallStarted)
    return codec


def test_a_call_starts_in_plain_text() -> None:
    codec = ChanWebSocket({"agent": "coffee"})
    assert codec.receive(PLAIN_START) == [CallStarted("pbx1-123456789.999", {"agent": "coffee"})]
    assert (codec.rate_hz, codec.traits) == (8000, Traits())
    older = "MEDIA_START connection_id:c1 channel:WebSocket/c1 format:alaw optimal_frame_size:160"
    assert ChanWebSocket({}).receive(older) == [CallStarted("c1")]


def test_a_call_starts_in_json_with_its_variables() -> None:
    codec = ChanWebSocket({})
    (started,) = codec.receive(JSON_START)
    assert isinstance(started, CallStarted)
    assert (started.call_id, started.parameters["agent"]) == ("1761245643.1", "coffee")
    assert codec.rate_hz == 16000


@pytest.mark.parametrize(
    ("start", "written", "marked"),
    [
        (PLAIN_START, "{}", "MARK_MEDIA m1"),
        (JSON_START, '{{"command":"{}"}}', '{"command":"MARK_MEDIA","correlation_id":"m1"}'),
    ],
    ids=["plain text", "JSON"],
)
def test_commands(start: str, written: str, marked: str) -> None:
    codec = begun(start)
    assert codec.answer() == [written.format("ANSWER")]
    assert codec.clear() == [written.format("FLUSH_MEDIA")]
    assert codec.hang_up() == [written.format("HANGUP")]
    assert codec.send_digits("1") == []
    assert codec.mark("m1") == [marked]
    # The tail of an odd piece is not to be lost.
    begin, _, end = codec.audio(SILENT[:2])
    assert begin == written.format("START_MEDIA_BUFFERING")
    assert end == written.format("STOP_MEDIA_BUFFERING")


def test_audio_goes_both_ways() -> None:
    assert begun().audio(SILENT) == [b"\xff" * 160]
    assert begun(JSON_START).audio(np.ones(320, np.int16)) == [b"\x01\x00" * 320]
    (audio,) = begun().receive(b"\xff" * 160)
    assert isinstance(audio, CallAudio)
    assert (audio.samples.tolist(), audio.rate_hz) == ([0] * 160, 8000)
    assert begun().receive(b"") == []


@pytest.mark.parametrize(
    ("message", "event"),
    [
        ("MEDIA_XOFF", FlowChanged(open=False)),
        ("MEDIA_XON", FlowChanged(open=True)),
        ("MEDIA_MARK_PROCESSED correlation_id:m1", MarkPlayed("m1")),
        ("MEDIA_MARK_PROCESSED m1", MarkPlayed("m1")),
        ("DTMF_END digit:5 channel_id:pbx1-1.9", KeyPressed("5")),
        ("HANGUP", CallEnded()),
        ('{"event":"MEDIA_XOFF","channel_id":"1.1"}', FlowChanged(open=False)),
        ('{"event":"MEDIA_XON","channel_id":"1.1"}', FlowChanged(open=True)),
        ('{"event":"MEDIA_MARK_PROCESSED","correlation_id":"m1"}', MarkPlayed("m1")),
        ('{"event":"DTMF_END","channel_id":"1.1","digit":"#"}', KeyPressed("#")),
    ],
)
def test_events(message: str, event: CallEvent) -> None:
    assert begun().receive(message) == [event]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "STATUS queue_length:43 xon_level:800 xoff_level:900 queue_full:false bulk_media:true",
        "MEDIA_BUFFERING_COMPLETED 61ea9311",
        '{"event":"QUEUE_DRAINED"}',
        "media_xoff",
    ],
)
def test_what_is_of_no_use_is_passed_over(message: str) -> None:
    assert begun().receive(message) == []


@pytest.mark.parametrize(
    "message",
    [
        b"\xff",
        "MEDIA_START",
        "MEDIA_START connection_id:c1 format:opus",
        "MEDIA_START connection_id:c1 format:ulaw optimal_frame_size:70000",
        "MEDIA_START connection_id:c1 format:ulaw ptime:1000",
        "MEDIA_START format:ulaw",
        "DTMF_END",
        '{"event":"DTMF_END","digit":[]}',
        "{",
    ],
)
def test_what_breaks_the_protocol_is_refused(message: str | bytes) -> None:
    with pytest.raises(ProtocolError):
        ChanWebSocket({}).receive(message)
