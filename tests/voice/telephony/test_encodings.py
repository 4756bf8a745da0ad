import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.codec import AudioFormat, Encoding, padded

SAMPLES = np.array([0, 1000, -1000, 32000, -32000], np.int16)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        (Encoding.L16_LITTLE, "0000e80318fc007d0083"),
        (Encoding.L16_BIG, "000003e8fc187d008300"),
    ],
)
def test_linear_samples_are_written_in_either_order(encoding: Encoding, data: str) -> None:
    form = AudioFormat(encoding, 16000)
    assert form.encode(SAMPLES).hex() == data
    assert form.decode(bytes.fromhex(data)).tolist() == SAMPLES.tolist()
    assert form.decode(bytes.fromhex(data)).dtype == np.int16


@pytest.mark.parametrize("encoding", [Encoding.MULAW, Encoding.ALAW])
def test_g711_comes_back_to_within_a_step(encoding: Encoding) -> None:
    form = AudioFormat(encoding)
    data = form.encode(SAMPLES)
    assert len(data) == len(SAMPLES)
    assert np.allclose(form.decode(data), SAMPLES, rtol=0.04, atol=8)


def test_silence_is_what_the_vendors_say() -> None:
    silence = np.zeros(1, np.int16)
    assert AudioFormat(Encoding.MULAW).encode(silence) == b"\xff"
    assert AudioFormat(Encoding.ALAW).encode(silence) == b"\xd5"


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ProtocolError, match="3 bytes"):
        AudioFormat(Encoding.L16_LITTLE).decode(b"abc")


@pytest.mark.parametrize("rate_hz", [0, 7999, 10**9])
def test_rates_that_no_telephone_has_are_refused(rate_hz: int) -> None:
    with pytest.raises(ProtocolError, match="sample rate"):
        AudioFormat(Encoding.MULAW, rate_hz)


def test_padding_is_silence_up_to_a_multiple() -> None:
    assert padded(SAMPLES, 4).tolist() == [*SAMPLES.tolist(), 0, 0, 0]
    assert padded(SAMPLES, 5) is SAMPLES
