"""Audio between the world and the agent: sample rates, frames, byte formats and telephone coding.

It knows nothing of transports or speech. Streams keep state between calls and belong to one
direction of one session; they are not thread-safe.
"""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.types import FRAME_SAMPLES, AudioFrame, Samples

_MU_BIAS = 0x84
_MU_CLIP = 0x7FFF - _MU_BIAS


class StreamResampler:
    """Changes the sample rate of a stream, chunk by chunk.

    soxr's variable-rate stream is used for a fixed rate too, because it gives out samples with a
    constant lag of 10 to 30 ms; its fixed-rate stream works in blocks of up to 120 ms.

    Args:
        from_hz: Rate of the samples pushed.
        to_hz: Rate of the samples returned.

    Raises:
        ValueError: A rate is not positive.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        if from_hz <= 0 or to_hz <= 0:
            raise ValueError(f"got rates {from_hz} and {to_hz} Hz; expected positive rates")
        self.from_hz = from_hz
        self.to_hz = to_hz
        self._stream = None if from_hz == to_hz else self._open()

    def _open(self) -> Any:
        import soxr

        return soxr.ResampleStream(self.from_hz, self.to_hz, 1, dtype="int16", vr=True)

    def push(self, samples: Samples) -> Samples:
        """Take the next samples at ``from_hz``; return those at ``to_hz`` that are ready."""
        return self._resample(samples, last=False)

    def flush(self) -> Samples:
        """End the stream: return what is still inside, and begin anew with the next `push`."""
        rest = self._resample(np.empty(0, np.int16), last=True)
        if self._stream is not None:
            self._stream = self._open()
        return rest

    def _resample(self, samples: Samples, last: bool) -> Samples:
        _check(samples)
        if self._stream is None:
            return samples
        resampled: Samples = self._stream.resample_chunk(np.ascontiguousarray(samples), last=last)
        return resampled


class Framer:
    """Cuts a 16 kHz stream, in chunks of any size, into frames of 20 ms.

    Args:
        start_sample: Position of the first sample that will be pushed.
    """

    def __init__(self, start_sample: int = 0) -> None:
        self._next_sample = start_sample
        self._rest: Samples = np.empty(0, np.int16)

    def push(self, samples: Samples) -> list[AudioFrame]:
        """Take the next samples; return the frames that are now full, in order."""
        _check(samples)
        audio = np.concatenate([self._rest, samples])
        full = len(audio) // FRAME_SAMPLES
        frames = [
            AudioFrame(
                audio[i * FRAME_SAMPLES : (i + 1) * FRAME_SAMPLES],
                self._next_sample + i * FRAME_SAMPLES,
            )
            for i in range(full)
        ]
        self._next_sample += full * FRAME_SAMPLES
        self._rest = audio[full * FRAME_SAMPLES :]
        return frames

    def flush(self) -> list[AudioFrame]:
        """The last samples, padded with silence to a full frame; empty if none are left."""
        return self.push(np.zeros(-len(self._rest) % FRAME_SAMPLES, np.int16))


def samples_from_pcm16(data: bytes) -> Samples:
    """Samples from little-endian 16-bit PCM.

    Raises:
        ValueError: The number of bytes is odd.
    """
    if len(data) % 2:
        raise ValueError(f"got {len(data)} bytes of PCM; expected an even number")
    return np.frombuffer(data, dtype="<i2").astype(np.int16)


def pcm16_from_samples(samples: Samples) -> bytes:
    """Little-endian 16-bit PCM of (T,) int16 samples."""
    _check(samples)
    return samples.astype("<i2").tobytes()


def samples_from_mulaw(data: bytes) -> Samples:
    """Samples from mu-law bytes, one each. Source: ITU-T G.711."""
    return _MULAW_TO_SAMPLE[np.frombuffer(data, np.uint8)]


def mulaw_from_samples(samples: Samples) -> bytes:
    """Mu-law bytes of (T,) int16 samples, one each. Source: ITU-T G.711."""
    _check(samples)
    return _SAMPLE_TO_MULAW[samples.view(np.uint16)].tobytes()


def samples_from_alaw(data: bytes) -> Samples:
    """Samples from A-law bytes, one each. Source: ITU-T G.711."""
    return _ALAW_TO_SAMPLE[np.frombuffer(data, np.uint8)]


def alaw_from_samples(samples: Samples) -> bytes:
    """A-law bytes of (T,) int16 samples, one each. Source: ITU-T G.711."""
    _check(samples)
    return _SAMPLE_TO_ALAW[samples.view(np.uint16)].tobytes()


def level_dbfs(samples: Samples) -> float:
    """Root-mean-square level in dB below full scale; -100 for digital silence or no samples."""
    if not len(samples):
        return -100.0
    wide = samples.astype(np.float32)
    mean_square = float(np.dot(wide, wide)) / len(samples)
    return max(-100.0, 10 * float(np.log10(mean_square / 32768**2 + 1e-10)))


def _check(samples: Samples) -> None:
    if samples.dtype != np.int16 or samples.ndim != 1:
        raise ValueError(
            f"got {samples.dtype} samples of shape {samples.shape}; expected (T,) int16"
        )


def _mulaw_decode_table() -> Samples:
    code = ~np.arange(256) & 0xFF
    magnitude = ((((code & 0x0F) << 3) + _MU_BIAS) << ((code >> 4) & 7)) - _MU_BIAS
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _mulaw_encode_table() -> NDArray[np.uint8]:
    sample = np.arange(65536).astype(np.uint16).view(np.int16).astype(np.int32)
    magnitude = np.minimum(np.abs(sample), _MU_CLIP) + _MU_BIAS
    exponent = np.log2(magnitude).astype(np.int32) - 7
    code = np.where(sample < 0, 0x80, 0) | exponent << 4 | (magnitude >> (exponent + 3)) & 0x0F
    table: NDArray[np.uint8] = (~code & 0xFF).astype(np.uint8)
    return table


def _alaw_decode_table() -> Samples:
    code = np.arange(256) ^ 0x55
    exponent = (code >> 4) & 7
    step = (code & 0x0F) << 4
    magnitude = np.where(exponent == 0, step + 8, (step + 0x108) << np.maximum(exponent - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


def _alaw_encode_table() -> NDArray[np.uint8]:
    sample = np.arange(65536).astype(np.uint16).view(np.int16).astype(np.int32)
    magnitude = np.where(sample < 0, ~sample, sample)
    exponent = np.maximum(np.log2(np.maximum(magnitude, 1)).astype(np.int32) - 7, 0)
    mantissa = (magnitude >> np.maximum(exponent + 3, 4)) & 0x0F
    code = (exponent << 4 | mantissa) ^ np.where(sample < 0, 0x55, 0xD5)
    table: NDArray[np.uint8] = code.astype(np.uint8)
    return table


_MULAW_TO_SAMPLE = _mulaw_decode_table()
_SAMPLE_TO_MULAW = _mulaw_encode_table()
_ALAW_TO_SAMPLE = _alaw_decode_table()
_SAMPLE_TO_ALAW = _alaw_encode_table()


def write_wav(file: Path, samples: Samples, rate_hz: int) -> None:
    """Write int16 samples, (T,) for one channel or (T, C) for C channels, as a WAV file."""
    with wave.open(str(file), "wb") as wav:
        wav.setnchannels(samples.shape[1] if samples.ndim == 2 else 1)
        wav.setsampwidth(2)
        wav.setframerate(rate_hz)
        wav.writeframes(pcm16_from_samples(samples.reshape(-1)))
