"""Sequences as the vendors document them, byte for byte."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from voice.audio import mulaw_from_samples
from voice.errors import ProtocolError
from voice.telephony.codec import (
    CallAudio,
    CallEnded,
    CallEvent,
    CallStarted,
    KeyPressed,
    MarkPlayed,
)
from voice.telephony.media_stream import EXOTEL, PLIVO, TELNYX, TWILIO, Dialect, MediaStream

FRAME = np.arange(-80, 80).astype(np.int16) * 100
SILENT = np.zeros(160, np.int16)
PAYLOAD = base64.b64encode(mulaw_from_samples(FRAME)).decode()

TWILIO_START = (
    '{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ18","callSid"'
    ':"CA5","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,'
    '"channels":1},"customParameters":{"agent":"coffee","ticket":"t1"}},"streamSid":"MZ18"}'
)
TELNYX_START = (
    '{"event":"start","sequence_number":"1","start":{"user_id":"3E6F","call_control_id":"v2:T02",'
    '"call_session_id":"ff55","from":"+13122010094","to":"+13122123456","client_state":"aGF2","custom'
    '_parameters":{"agent":"coffee"},"media_format":{"encoding":"L16","sample_rate":16000,'
    '"channels":1}},"stream_id":"32DE"}'
)
PLIVO_START = (
    '{"sequenceNumber":0,"event":"start","start":{"callId":"c1","streamId":"s1","accountId":"MA1",'
    '"tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000}},'
    '"extra_headers":"agent=coffee;sessionId=abc-xyz"}'
)
EXOTEL_START = (
    '{"event":"start","sequence_number":"1","stream_sid":"MZx","start":{"stream_sid":"MZx","call_sid"'
    ':"CAx","account_sid":"ACx","from":"+919876543210","to":"+918047491899","custom_parameters":'
    '{"agent":"coffee"},"media_format":{"encoding":"audio/x-raw","sample_rate":"8000","bit_rate"'
    ':"16"}}}'
)


def begun(dialect: Dialect, start: str) -> MediaStream:
    codec = MediaStream(dialect)
    assert codec.receive('{"event":"connected","protocol":"Call","version":"1.0.0"}') == []
    (event,) = codec.receive(start)
    assert isinstance(event, CallStarted)
    return codec


def heard(events: list[CallEvent]) -> list[int]:
    return [s for e in events if isinstance(e, CallAudio) for s in e.samples.tolist()]


def media(chunk: int, stamp_ms: int, payload: str = PAYLOAD) -> str:
    fields = {"track": "inbound", "chunk": str(chunk), "timestamp": str(stamp_ms)}
    return json.dumps({"event": "media", "media": {**fields, "payload": payload}})


@pytest.mark.parametrize(
    ("dialect", "start", "call_id", "rate_hz"),
    [
        (TWILIO, TWILIO_START, "CA5", 8000),
        (TELNYX, TELNYX_START, "v2:T02", 16000),
        (PLIVO, PLIVO_START, "c1", 8000),
        (EXOTEL, EXOTEL_START, "CAx", 8000),
    ],
)
def test_a_call_starts(dialect: Dialect, start: str, call_id: str, rate_hz: int) -> None:
    codec = MediaStream(dialect)
    (started,) = codec.receive(start)
    assert isinstance(started, CallStarted)
    assert started.call_id == call_id
    assert started.parameters["agent"] == "coffee"
    assert codec.rate_hz == rate_hz
    assert codec.answer() == codec.hang_up() == []


def test_twilio_tells() -> None:
    codec = begun(TWILIO, TWILIO_START)
    (audio,) = codec.receive(
        '{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":'
        f'"5","payload":"{PAYLOAD}"}},"streamSid":"MZ18"}}'
    )
    assert isinstance(audio, CallAudio)
    assert audio.rate_hz == 8000
    assert np.allclose(audio.samples, FRAME, rtol=0.04, atol=8)
    assert codec.receive(
        '{"event":"dtmf","streamSid":"MZ18","sequenceNumber":"5","dtmf":{"track":"inbound_track",'
        '"digit":"1"}}'
    ) == [KeyPressed("1")]
    assert codec.receive(
        '{"event":"mark","sequenceNumber":"4","streamSid":"MZ18","mark":{"name":"m1"}}'
    ) == [MarkPlayed("m1")]
    assert codec.receive(
        '{"event":"stop","sequenceNumber":"5","stop":{"accountSid":"AC1","callSid":"CA5"},'
        '"streamSid":"MZ18"}'
    ) == [CallEnded()]


def test_twilio_is_told() -> None:
    codec = begun(TWILIO, TWILIO_START)
    assert codec.audio(SILENT[:3]) == [
        '{"event":"media","streamSid":"MZ18","media":{"payload":"////"}}'
    ]
    assert codec.mark("m1") == ['{"event":"mark","streamSid":"MZ18","mark":{"name":"m1"}}']
    assert codec.clear() == ['{"event":"clear","streamSid":"MZ18"}']
    assert codec.send_digits("12") == []


def test_telnyx_is_told_in_samples_of_big_endian_order() -> None:
    codec = begun(TELNYX, TELNYX_START)
    assert codec.audio(np.array([1, 256, -2], np.int16)) == [
        '{"event":"media","media":{"payload":"AAEBAP/+"}}'
    ]
    assert codec.mark("m1") == ['{"event":"mark","mark":{"name":"m1"}}']
    assert codec.clear() == ['{"event":"clear"}']
    (audio,) = codec.receive(
        '{"event":"media","sequence_number":"4","media":{"track":"inbound","chunk":"2","timestamp":'
        '"5","payload":"AAEBAP/+"},"stream_id":"32DE"}'
    )
    assert isinstance(audio, CallAudio)
    assert (audio.samples.tolist(), audio.rate_hz) == ([1, 256, -2], 16000)
    assert codec.receive(
        '{"event":"dtmf","stream_id":"32DE","occurred_at":"x","sequence_number":"5","dtmf":'
        '{"digit":"1"}}'
    ) == [KeyPressed("1")]


def test_plivo_tells_and_is_told() -> None:
    codec = begun(PLIVO, PLIVO_START)
    assert codec.audio(SILENT[:3]) == [
        '{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":'
        '"////"}}'
    ]
    assert codec.mark("m1") == ['{"event":"checkpoint","streamId":"s1","name":"m1"}']
    assert codec.clear() == ['{"event":"clearAudio","streamId":"s1"}']
    assert codec.send_digits("12#") == ['{"event":"sendDTMF","dtmf":"12#"}']
    assert codec.receive('{"event":"playedStream","streamId":"s1","name":"m1"}') == [
        MarkPlayed("m1")
    ]
    assert codec.receive('{"event":"clearedAudio","streamId":"s1"}') == []


def test_exotel_gets_100_ms_at_the_least_in_multiples_of_320_bytes() -> None:
    codec = begun(EXOTEL, EXOTEL_START)
    for samples, size in ((SILENT, 3200), (np.zeros(1601, np.int16), 3520)):
        (message,) = codec.audio(samples)
        sent = json.loads(message)
        assert sent["stream_sid"] == "MZx"
        assert len(base64.b64decode(sent["media"]["payload"])) == size
    assert codec.clear() == ['{"event":"clear","stream_sid":"MZx"}']
    assert codec.traits.frame_ms == 200


def test_the_agents_own_audio_is_not_heard() -> None:
    codec = begun(TWILIO, TWILIO_START)
    assert codec.receive(media(1, 5).replace("inbound", "outbound")) == []


def test_a_gap_in_time_is_filled_with_silence() -> None:
    codec = begun(TWILIO, TWILIO_START)
    assert len(heard(codec.receive(media(1, 5)))) == 160
    assert len(heard(codec.receive(media(2, 26)))) == 160
    missing = heard(codec.receive(media(3, 86)))
    assert len(missing) == 160 + 320
    assert not any(missing[:320])
    assert len(heard(codec.receive(media(4, 10**15)))) == 160 + 8000


def test_audio_out_of_order_is_put_in_order() -> None:
    codec = begun(PLIVO, PLIVO_START)
    payloads = {n: base64.b64encode(bytes([n] * 160)).decode() for n in range(1, 9)}
    order = [heard(codec.receive(media(n, 0, payloads[n]))) for n in (1, 3, 2, 2, 4)]
    assert [len(piece) for piece in order] == [160, 0, 320, 0, 160]
    # Number 5 never comes; after four more it is silence.
    late = [heard(codec.receive(media(n, 0, payloads[n % 5 + 1]))) for n in (6, 7, 8, 9, 10)]
    assert [len(piece) for piece in late] == [0, 0, 0, 0, 960]
    assert late[-1][:160] == [0] * 160


@pytest.mark.parametrize(
    ("dialect", "start"), [(TELNYX, TELNYX_START), (PLIVO, PLIVO_START), (EXOTEL, EXOTEL_START)]
)
def test_chunks_that_are_counted_anew_are_heard(dialect: Dialect, start: str) -> None:
    codec = begun(dialect, start)
    for number in (*range(1, 100), 101):
        codec.receive(media(number, 0))
    pieces = [heard(codec.receive(media(number, 0))) for number in range(1, 10)]
    length = len(pieces[-1])
    # Up to four could be late; then what waited behind chunk 100 goes first.
    assert [len(piece) // length for piece in pieces] == [0, 0, 0, 0, 2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("dialect", "start"), [(TELNYX, TELNYX_START), (PLIVO, PLIVO_START), (EXOTEL, EXOTEL_START)]
)
def test_media_may_overtake_the_start(dialect: Dialect, start: str) -> None:
    codec = MediaStream(dialect)
    assert codec.receive(media(1, 0)) == []
    assert isinstance(codec.receive(start)[0], CallStarted)
    assert heard(codec.receive(media(2, 20)))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "[]",
        "{",
        '{"event":"media"}',
        '{"event":"media","media":{"payload":"////"}}',
        '{"event":"start"}',
        '{"event":"start","streamSid":"MZ","start":{}}',
        '{"event":"start","streamSid":"MZ","start":{"callSid":"CA","mediaFormat":{"encoding":"opus"}}}',
        '{"event":"start","streamSid":"MZ","start":{"callSid":"CA","mediaFormat":{"sampleRate":1}}}',
        '{"event":"start","streamSid":"MZ","start":{"callSid":"CA","mediaFormat":{"channels":2}}}',
        '{"event":"dtmf","dtmf":{"digit":"12"}}',
        '{"event":"mark","mark":{}}',
    ],
)
def test_what_breaks_the_protocol_is_refused(message: str) -> None:
    with pytest.raises(ProtocolError):
        MediaStream(TWILIO).receive(message)


@pytest.mark.parametrize("payload", [None, 3, "é", "////\n", "abc", "=" * 4])
def test_a_payload_is_base64(payload: Any) -> None:
    codec = begun(TWILIO, TWILIO_START)
    with pytest.raises(ProtocolError):
        codec.receive(json.dumps({"event": "media", "media": {"payload": payload}}))


def test_binary_messages_and_unknown_ones() -> None:
    codec = begun(TWILIO, TWILIO_START)
    assert codec.receive('{"event":"tomorrow"}') == []
    with pytest.raises(ProtocolError, match="binary"):
        codec.receive(b"\x00")
