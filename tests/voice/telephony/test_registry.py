"""Whatever the far side sends, a codec answers with events or with `ProtocolError`."""

import json
import pickle
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.voice.telephony.test_asterisk import JSON_START, PLAIN_START
from tests.voice.telephony.test_audiosocket import AUDIO, IDENTITY
from tests.voice.telephony.test_l16_stream import JAMBONZ_START, VONAGE_START
from tests.voice.telephony.test_media_stream import (
    EXOTEL_START,
    PLIVO_START,
    TELNYX_START,
    TWILIO_START,
    media,
)
from voice.errors import ProtocolError
from voice.telephony.audiosocket import AudioSocket
from voice.telephony.codec import CallCodec, KeyPressed, LineMessage
from voice.telephony.registry import PROTOCOLS

MAX_BYTES = 64 * 1024
STARTS: dict[str, tuple[LineMessage, ...]] = {
    "twilio": (TWILIO_START,),
    "telnyx": (TELNYX_START,),
    "plivo": (PLIVO_START,),
    "exotel": (EXOTEL_START,),
    "asterisk": (PLAIN_START, JSON_START),
    "jambonz": (JAMBONZ_START,),
    "audio_fork": (JAMBONZ_START,),
    "vonage": (VONAGE_START,),
    "audiosocket": (IDENTITY + AUDIO,),
}
EVENTS = (
    "start", "media", "dtmf", "mark", "stop", "playedStream", "websocket:connected",
    "websocket:dtmf", "websocket:notify", "MEDIA_START", "DTMF_END", "MEDIA_MARK_PROCESSED",
    "MEDIA_XOFF",
)  # fmt: skip
NAMES = (
    "event", "type", "data", "media", "payload", "chunk", "timestamp", "track", "start", "digit",
    "dtmf", "mark", "name", "streamSid", "callSid", "mediaFormat", "encoding", "sampleRate",
    "channels", "extra_headers", "customParameters", "format", "optimal_frame_size", "ptime",
    "channel_id", "correlation_id", "content-type", "mixType", "metadata",
)  # fmt: skip

plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(("8000", "ulaw", "audio/l16;rate=8000", "////", "inbound", "stereo"))
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)
    ),
    max_leaves=12,
)
objects = st.fixed_dictionaries(
    {"event": st.sampled_from(EVENTS)},
    optional={name: values for name in NAMES if name != "event"},
)
messages = (
    st.text(max_size=200)
    | st.binary(max_size=700)
    | objects.map(json.dumps)
    | st.builds(media, st.integers(0, 10**20), st.integers(0, 10**20))
    | st.builds("{} {}".format, st.sampled_from(EVENTS), st.text("abc:0123 {}\x00", max_size=40))
)


def codecs() -> list[tuple[str, Callable[[], CallCodec]]]:
    made: list[tuple[str, Callable[[], CallCodec]]] = [("audiosocket", AudioSocket)]
    return made + [(name, partial(found.codec, {})) for name, found in PROTOCOLS.items()]


def feed(codec: CallCodec, sent: list[LineMessage]) -> None:
    """As a call does: the first broken message is the last."""
    try:
        for message in sent:
            for event in codec.receive(message):
                assert not isinstance(event, KeyPressed) or len(event.key) == 1
            codec.traits, codec.rate_hz  # noqa: B018
    except ProtocolError:
        return


@pytest.mark.parametrize(("name", "make"), codecs())
@given(sent=st.lists(messages, max_size=6))
@settings(max_examples=15)
def test_fuzzed_messages(name: str, make: Callable[[], CallCodec], sent: list[LineMessage]) -> None:
    feed(make(), sent)
    for start in STARTS[name]:
        feed(make(), [start, *sent])


@pytest.mark.parametrize(("name", "make"), codecs())
def test_memory_is_bounded(name: str, make: Callable[[], CallCodec]) -> None:
    """Nothing that a peer can go on sending makes a codec grow."""
    codec = make()
    codec.receive(STARTS[name][0])
    chance = random.Random(name)
    for number in range(600):
        message: LineMessage = media(chance.randrange(10**12), number)
        if name in ("asterisk", "jambonz", "audio_fork", "vonage"):
            message = chance.randbytes(320)
        elif name == "audiosocket":
            # A packet that never ends.
            message = b"\x10\xff\xff" if number == 0 else chance.randbytes(100)
        try:
            codec.receive(message)
        except ProtocolError:
            break
    held: dict[str, Any] = {
        key: value for key, value in vars(codec).items() if key not in ("_dialect",)
    }
    assert len(pickle.dumps(held)) < 2 * MAX_BYTES


KEY_MESSAGES: dict[str, str] = {
    "twilio": '{"event":"dtmf","dtmf":{"digit":"%s"}}',
    "telnyx": '{"event":"dtmf","dtmf":{"digit":"%s"}}',
    "plivo": '{"event":"dtmf","dtmf":{"digit":"%s"}}',
    "exotel": '{"event":"dtmf","dtmf":{"digit":"%s"}}',
    "asterisk": "DTMF_END digit:%s channel_id:pbx1-1.9",
    "jambonz": '{"event":"dtmf","dtmf":"%s"}',
    "audio_fork": '{"event":"dtmf","dtmf":"%s"}',
    "vonage": '{"event":"websocket:dtmf","digit":"%s"}',
    "audiosocket": "\x03\x00\x01%s",
}


@pytest.mark.parametrize("key", ["5", "!", "F", "W", ","])
@pytest.mark.parametrize(("name", "make"), codecs())
def test_a_key_that_no_telephone_has_breaks_nothing(
    name: str, make: Callable[[], CallCodec], key: str
) -> None:
    codec = make()
    codec.receive(STARTS[name][0])
    told = KEY_MESSAGES[name] % key
    message = told.encode() if isinstance(STARTS[name][0], bytes) else told
    assert codec.receive(message) == [KeyPressed(key)]


@pytest.mark.parametrize(("name", "make"), codecs())
def test_a_key_message_without_a_key_is_broken(name: str, make: Callable[[], CallCodec]) -> None:
    codec = make()
    codec.receive(STARTS[name][0])
    told = KEY_MESSAGES[name].replace("%s", "").replace("\x01", "\x00")
    with pytest.raises(ProtocolError):
        codec.receive(told.encode() if isinstance(STARTS[name][0], bytes) else told)
