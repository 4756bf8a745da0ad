"""Audio as the wire carries it: base64 of PCM or G.711, in pieces of a bounded length."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from voice.audio import (
    alaw_from_samples,
    mulaw_from_samples,
    pcm16_from_samples,
    samples_from_alaw,
    samples_from_mulaw,
    samples_from_pcm16,
)
from voice.errors import ProtocolError
from voice.realtime.session_object import G711Format, PcmFormat
from voice.types import Samples

FIRST_CHUNK_MS = 40
CHUNK_MS = 200

_DECODE = {
    "audio/pcm": samples_from_pcm16,
    "audio/pcmu": samples_from_mulaw,
    "audio/pcma": samples_from_alaw,
}
_ENCODE = {
    "audio/pcm": pcm16_from_samples,
    "audio/pcmu": mulaw_from_samples,
    "audio/pcma": alaw_from_samples,
}


def decode(audio: str, audio_format: PcmFormat | G711Format) -> Samples:
    """Samples at the format's rate from base64.

    Raises:
        ProtocolError: It is not base64, or not whole samples.
    """
    try:
        return _DECODE[audio_format.type](base64.b64decode(audio, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ProtocolError(f"audio: {error}", param="audio") from error


def encode(samples: Samples, audio_format: PcmFormat | G711Format) -> str:
    """Base64 of samples at the format's rate."""
    return base64.b64encode(_ENCODE[audio_format.type](samples)).decode("ascii")


def chunks(samples: Samples, rate_hz: int, first: bool) -> Iterator[Samples]:
    """Pieces of `CHUNK_MS`; a reply's first is short, so that it plays while the rest comes."""
    start = 0
    size = rate_hz * (FIRST_CHUNK_MS if first else CHUNK_MS) // 1000
    while start < len(samples):
        yield samples[start : start + size]
        start += size
        size = rate_hz * CHUNK_MS // 1000
