"""The elements of the wire format: strict models, error texts, ids, JSON and audio.

A server event is a plain dict, ready for JSON. Source: the Realtime API of OpenAI, GA version.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar

import pydantic_core
from pydantic import BaseModel, ConfigDict, ValidationError

from voice.audio import (
    alaw_from_samples,
    mulaw_from_samples,
    pcm16_from_samples,
    samples_from_alaw,
    samples_from_mulaw,
    samples_from_pcm16,
)
from voice.errors import ProtocolError
from voice.types import Samples

ServerEvent = dict[str, Any]

NewId = Callable[[str], str]
"""Makes a unique id with a prefix."""

_UNION_TAGS = frozenset(
    {"server_vad", "semantic_vad", "function", "mcp", "function_call", "function_call_output"}
    | {"mcp_approval_response", "message", "str", "int", "float", "bool", "dict", "list"}
)
MOST_VALUES = 50_000
"""In a JSON text: each may turn out wrong, and a million validation errors take seconds."""
_CODES = {
    "missing": "missing_required_parameter",
    "union_tag_not_found": "missing_required_parameter",
}

FIRST_CHUNK_MS = 40
CHUNK_MS = 200

_CODECS = {
    "audio/pcm": (samples_from_pcm16, pcm16_from_samples),
    "audio/pcmu": (samples_from_mulaw, mulaw_from_samples),
    "audio/pcma": (samples_from_alaw, alaw_from_samples),
}


class WireModel(BaseModel):
    """Base of objects that clients send: types are strict, and unknown fields are ignored.

    Clients may be newer than the server, so an unknown field is no reason to refuse an event.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class PcmFormat(WireModel):
    """16-bit little-endian PCM, mono."""

    type: Literal["audio/pcm"]
    rate: Literal[24000] = 24000


class G711Format(WireModel):
    """Telephone coding, 8 kHz."""

    type: Literal["audio/pcmu", "audio/pcma"]


AudioFormat = PcmFormat | G711Format


M = TypeVar("M", bound=BaseModel)


def new_id(prefix: str) -> str:
    """A random id such as ``item_6f1c…``."""
    return f"{prefix}_{secrets.token_hex(8)}"


def read_json(text: str) -> Any:
    """Parse a JSON text whose numbers are all finite, so that it can be written again.

    Raises:
        ValueError: It is not JSON, nests too deeply, has too many values, or a number is too large.
    """
    data = pydantic_core.from_json(text, allow_inf_nan=False)
    # The parser refuses `Infinity` and `NaN`, but reads 1e999 as infinity.
    unread, read = [data], 0
    while unread:
        value = unread.pop()
        read += 1
        if read > MOST_VALUES:
            raise ValueError(f"got too many values; expected at most {MOST_VALUES}")
        if isinstance(value, dict):
            unread.extend(value.values())
        elif isinstance(value, list):
            unread.extend(value)
        elif isinstance(value, float) and math.isinf(value):
            raise ValueError("got a number that is too large; expected at most 1.8e308")
    return data


def validated(model: type[M], data: Any, path: str = "") -> M:
    """Read parsed JSON as ``model``; ``path`` is where it is in the client's event, for errors.

    Raises:
        ProtocolError: A field is missing or has a wrong value; ``param`` names the first.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        param = ".".join([part for part in (path, _dotted(problem["loc"])) if part]) or None
        code = _CODES.get(problem["type"], "invalid_value")
        got = "" if code != "invalid_value" else f" got {_short(problem['input'])};"
        message = f"{param or 'event'}:{got} {problem['msg']}"
        raise ProtocolError(message, code=code, param=param) from error


def parse_json(text: str) -> dict[str, Any]:
    """Parse the JSON object in a text message.

    Raises:
        ProtocolError: `read_json` refuses the text, or the value is not an object.
    """
    try:
        data = read_json(text)
    except ValueError as error:
        raise ProtocolError(f"the message is not valid JSON: {error}", "invalid_json") from error
    if not isinstance(data, dict):
        raise ProtocolError(f"got a JSON {type(data).__name__}; expected an object", "invalid_json")
    return data


def rate_hz(audio_format: AudioFormat) -> int:
    """The sample rate of a format."""
    return audio_format.rate if isinstance(audio_format, PcmFormat) else 8000


def decode_audio(audio: str, audio_format: AudioFormat) -> Samples:
    """Decode base64 into samples at the format's rate.

    Raises:
        ProtocolError: It is not base64, or not whole samples.
    """
    try:
        return _CODECS[audio_format.type][0](base64.b64decode(audio, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ProtocolError(f"audio: {error}", param="audio") from error


def encode_audio(samples: Samples, audio_format: AudioFormat) -> str:
    """Encode samples at the format's rate as base64."""
    return base64.b64encode(_CODECS[audio_format.type][1](samples)).decode("ascii")


def audio_chunks(samples: Samples, rate_hz: int, first: bool) -> Iterator[Samples]:
    """Pieces of `CHUNK_MS`; a response's first piece is shorter, so that it plays sooner."""
    start = 0
    size = rate_hz * (FIRST_CHUNK_MS if first else CHUNK_MS) // 1000
    while start < len(samples):
        yield samples[start : start + size]
        start += size
        size = rate_hz * CHUNK_MS // 1000


def _dotted(location: tuple[int | str, ...]) -> str:
    """The path of a field, without the union members' names that pydantic adds."""
    names = [
        str(part)
        for part in location
        if isinstance(part, int)
        or (re.fullmatch(r"[a-z][a-z0-9_]*", part) and part not in _UNION_TAGS)
    ]
    return ".".join(names)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
