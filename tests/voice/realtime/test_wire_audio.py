import base64

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.realtime.wire import G711Format, PcmFormat, audio_chunks, decode_audio, encode_audio

PCM = PcmFormat(type="audio/pcm")
RAMP = np.arange(-8000, 8000, 37, dtype=np.int16)


def test_pcm_is_exact() -> None:
    assert base64.b64decode(encode_audio(np.array([1, -2], np.int16), PCM)) == b"\x01\x00\xfe\xff"
    np.testing.assert_array_equal(decode_audio(encode_audio(RAMP, PCM), PCM), RAMP)


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
def test_telephone_coding_is_close(kind: str) -> None:
    form = G711Format.model_validate({"type": kind})
    assert len(base64.b64decode(encode_audio(RAMP, form))) == len(RAMP)
    assert np.abs(decode_audio(encode_audio(RAMP, form), form) - RAMP.astype(int)).max() <= 256


@pytest.mark.parametrize("audio", ["!", "AAA", "AAAA"])
def test_what_is_not_audio_is_refused(audio: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        decode_audio(audio, PCM)
    assert raised.value.param == "audio"


@pytest.mark.parametrize("first", [True, False])
def test_chunks_are_bounded_and_lose_nothing(first: bool) -> None:
    samples = np.arange(24_000, dtype=np.int16)
    pieces = list(audio_chunks(samples, 24_000, first))
    np.testing.assert_array_equal(np.concatenate(pieces), samples)
    assert len(pieces[0]) == (960 if first else 4800)
    assert max(len(piece) for piece in pieces) == 4800


def test_no_samples_make_no_chunk() -> None:
    assert list(audio_chunks(np.empty(0, np.int16), 8000, True)) == []
