"""Sound files, encoded while the sound is being made: WAV, MP3, Opus, AAC, FLAC and raw samples."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from voice.audio import StreamResampler, pcm16_from_samples, write_wav
from voice.errors import ConfigError
from voice.types import Samples

if TYPE_CHECKING:
    from av import AudioFrame

RATE_HZ = 24_000
"""Sample rate of every encoded file: what clients of OpenAI's API expect of raw samples."""

BIT_RATE = 64_000
"""Bits per second of the lossy formats."""

MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": f"audio/pcm;rate={RATE_HZ}",
}
_ENCODED = {
    "mp3": ("mp3", "libmp3lame"),
    "opus": ("ogg", "libopus"),
    "aac": ("adts", "aac"),
    "flac": ("flac", "flac"),
}
"""Container and codec, as FFmpeg calls them."""


class _Writer(Protocol):
    def push(self, samples: Samples) -> bytes: ...

    def finish(self) -> bytes: ...


class _Bare:
    def push(self, samples: Samples) -> bytes:
        return pcm16_from_samples(samples)

    def finish(self) -> bytes:
        return b""


class _Wav(_Bare):
    """A WAV file of unknown length; its header gives the largest possible sizes."""

    def __init__(self) -> None:
        self._head = (
            b"RIFF\xff\xff\xff\xffWAVEfmt " + (16).to_bytes(4, "little")
            + (1).to_bytes(2, "little") + (1).to_bytes(2, "little")
            + RATE_HZ.to_bytes(4, "little") + (2 * RATE_HZ).to_bytes(4, "little")
            + (2).to_bytes(2, "little") + (16).to_bytes(2, "little") + b"data\xff\xff\xff\xff"
        )  # fmt: skip

    def push(self, samples: Samples) -> bytes:
        head, self._head = self._head, b""
        return head + super().push(samples)


class _Pipe(io.RawIOBase):
    """Collects what FFmpeg writes until the next `take`; it cannot seek."""

    def __init__(self) -> None:
        self._data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._data += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._data)
        self._data.clear()
        return taken


class Encoder:
    """Encodes a file in a lossy format or FLAC, piece by piece.

    Args:
        kind: One of `MEDIA_TYPES` except WAV and raw samples.
        layout: "mono" or "stereo".
        bit_rate: Bits per second of the lossy formats.
    """

    def __init__(self, kind: str, layout: str = "mono", bit_rate: int = BIT_RATE) -> None:
        import av

        container, codec = _ENCODED[kind]
        # By default Ogg holds back a second of sound.
        options = {"page_duration": "100000"} if container == "ogg" else {}
        self._pipe = _Pipe()
        self._file = av.open(self._pipe, "w", format=container, options=options)
        stream = self._file.add_stream(codec, rate=RATE_HZ, bit_rate=bit_rate)
        assert isinstance(stream, av.AudioStream)
        context = stream.codec_context
        context.layout = self._layout = layout
        context.open()
        self._stream = stream
        self._fit = av.AudioResampler(context.format, layout, RATE_HZ, context.frame_size)
        self._at = 0

    def push(self, samples: Samples) -> bytes:
        """Encode (T,) or, for stereo, (T, 2) int16 at `RATE_HZ`; return the file's next bytes."""
        import av

        if len(samples):
            packed = samples.reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(packed, format="s16", layout=self._layout)
            frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, self._at, Fraction(1, RATE_HZ)
            self._at += len(samples)
            self._mux(frame)
        return self._pipe.take()

    def finish(self) -> bytes:
        """Close the file; return its last bytes."""
        self._mux(None)
        self._file.mux(self._stream.encode(None))
        self._file.close()
        return self._pipe.take()

    def _mux(self, frame: AudioFrame | None) -> None:
        for fitting in self._fit.resample(frame):
            self._file.mux(self._stream.encode(fitting))


def encoded(chunks: Iterator[tuple[Samples, int]], kind: str) -> Iterator[bytes]:
    """The bytes of a file of mono sound, piece by piece.

    Args:
        chunks: (T,) int16 and their rate in Hz, which is the same for all.
        kind: One of `MEDIA_TYPES`.
    """
    writer: _Writer = Encoder(kind) if kind in _ENCODED else _Wav() if kind == "wav" else _Bare()
    resampler: StreamResampler | None = None
    for samples, rate_hz in chunks:
        resampler = resampler or StreamResampler(rate_hz, RATE_HZ)
        if data := writer.push(resampler.push(samples)):
            yield data
    if resampler is not None:
        yield writer.push(resampler.flush())
    yield writer.finish()


def format_of(file: Path) -> str:
    """The format named by the file's extension: "wav" or one that `Encoder` writes.

    Raises:
        ConfigError: The extension names another format, or is missing.
    """
    kind = file.suffix.lower().removeprefix(".")
    if kind != "wav" and kind not in _ENCODED:
        raise ConfigError(f"{file}: expected a name that ends in .wav, .{', .'.join(_ENCODED)}")
    return kind


def write_file(file: Path, samples: Samples, rate_hz: int) -> None:
    """Write (T,) int16, or (T, 2) for stereo, whose rate must be `RATE_HZ` unless it is a WAV.

    Raises:
        ConfigError: See `format_of`.
        OSError: The file cannot be written.
    """
    kind = format_of(file)
    if kind == "wav":
        write_wav(file, samples, rate_hz)
    elif samples.ndim == 1:
        file.write_bytes(b"".join(encoded(iter([(samples, rate_hz)]), kind)))
    else:
        encoder = Encoder(kind, "stereo")
        file.write_bytes(encoder.push(samples) + encoder.finish())
