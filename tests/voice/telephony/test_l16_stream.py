"""jambonz, FreeSWITCH's mod_audio_fork and Vonage, byte for byte."""

import json

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.codec import CallAudio, CallEvent, CallStarted, KeyPressed, MarkPlayed
from voice.telephony.l16_stream import AudioFork, Vonage

JAMBONZ_START = (
    '{"callSid":"c1","direction":"inbound","from":"+1555","to":"+1556","callStatus":"in-progress",'
    '"sampleRate":16000,"mixType":"mono","metadata":{"agent":"coffee"}}'
)
VONAGE_START = (
    '{"event":"websocket:connected","content-type":"audio/l16;rate=16000","agent":"coffee",'
    '"call_uuid":"u1"}'
)
SAMPLES = np.array([1, 256, -2], np.int16)


def heard(events: list[CallEvent]) -> list[int]:
    return [s for e in events if isinstance(e, CallAudio) for s in e.samples.tolist()]


def test_jambonz() -> None:
    codec = AudioFork({})
    (started,) = codec.receive(JAMBONZ_START)
    assert isinstance(started, CallStarted)
    assert (started.call_id, started.parameters["agent"]) == ("c1", "coffee")
    assert codec.rate_hz == 16000
    assert heard(codec.receive(bytes.fromhex("01000001feff"))) == SAMPLES.tolist()
    assert codec.receive('{"event":"dtmf","dtmf":"2","duration":"1600"}') == [KeyPressed("2")]
    for event in ("playout", "cleared"):
        told = f'{{"type":"mark","data":{{"name":"m1","event":"{event}"}}}}'
        assert codec.receive(told) == [MarkPlayed("m1")]
    assert codec.mark("m1") == ['{"type":"mark","data":{"name":"m1"}}']
    assert codec.clear() == ['{"type":"killAudio"}']
    assert codec.hang_up() == ['{"type":"disconnect"}']
    assert codec.answer() == codec.send_digits("1") == []


def test_mod_audio_fork_may_begin_without_a_description() -> None:
    codec = AudioFork({"rate": "24000", "agent": "coffee"})
    started, audio = codec.receive(bytes.fromhex("0100"))
    assert started == CallStarted("", {"rate": "24000", "agent": "coffee"})
    assert isinstance(audio, CallAudio)
    assert audio.rate_hz == codec.rate_hz == 24000


def test_mod_audio_fork_may_describe_the_call_in_any_words() -> None:
    codec = AudioFork({})
    assert codec.receive("caller anna") == [CallStarted("")]
    assert codec.rate_hz == 8000


def test_mod_audio_fork_may_send_any_words_later() -> None:
    codec = AudioFork({})
    codec.receive(bytes(320))
    assert codec.receive("the caller was moved") == []
    assert codec.receive('["also", "this"]') == []
    assert codec.receive('{"event":"dtmf","dtmf":"5"}') == [KeyPressed("5")]


def test_the_caller_is_the_first_of_two_channels() -> None:
    codec = AudioFork({})
    codec.receive('{"callSid":"c1","sampleRate":8000,"mixType":"stereo"}')
    assert heard(codec.receive(bytes.fromhex("01000900020009000300 0900"))) == [1, 2, 3]
    with pytest.raises(ProtocolError, match="6 bytes"):
        codec.receive(bytes(6))


def test_vonage() -> None:
    codec = Vonage({})
    (started,) = codec.receive(VONAGE_START)
    assert isinstance(started, CallStarted)
    assert (started.call_id, started.parameters["agent"]) == ("u1", "coffee")
    assert codec.rate_hz == 16000
    assert heard(codec.receive(bytes.fromhex("01000001feff"))) == SAMPLES.tolist()
    assert codec.receive('{"event":"websocket:dtmf","digit":"5","duration":260}') == [
        KeyPressed("5")
    ]
    assert codec.receive('{"event":"websocket:notify","payload":{"mark":"m1"}}') == [
        MarkPlayed("m1")
    ]
    assert codec.receive('{"event":"websocket:cleared"}') == []
    assert codec.audio(SAMPLES) == [bytes.fromhex("01000001feff") + bytes(634)]
    assert codec.mark("m1") == ['{"action":"notify","payload":{"mark":"m1"}}']
    assert codec.clear() == ['{"action":"clear"}']
    assert codec.hang_up() == []


@pytest.mark.parametrize("kind", [None, "audio/opus", "audio/l16;rate=x", "audio/l16;rate=1", 3])
def test_vonage_must_say_what_it_sends(kind: object) -> None:
    with pytest.raises(ProtocolError):
        Vonage({}).receive(json.dumps({"event": "websocket:connected", "content-type": kind}))


@pytest.mark.parametrize(
    "messages",
    [
        [b"\x01\x00"],
        ["[]"],
        [VONAGE_START, b"\x01"],
        [VONAGE_START, '{"event":"websocket:dtmf"}'],
    ],
)
def test_what_breaks_vonages_protocol_is_refused(messages: list[str | bytes]) -> None:
    codec = Vonage({})
    with pytest.raises(ProtocolError):
        for message in messages:
            codec.receive(message)


@pytest.mark.parametrize(
    "messages", [["{"], ['{"sampleRate":"fast"}'], [JAMBONZ_START, "{"], [JAMBONZ_START, b"1"]]
)
def test_what_breaks_jambonzs_protocol_is_refused(messages: list[str | bytes]) -> None:
    codec = AudioFork({})
    with pytest.raises(ProtocolError):
        for message in messages:
            codec.receive(message)
