"""OpenAI's transcription endpoint: answers with JSON, text, subtitles or a stream of events."""

from __future__ import annotations

import asyncio
import io
import math
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from dlm.server.request_checks import bounded
from voice.access.keys import Grant
from voice.access.requests import server_sent
from voice.dictation.editor import edited, is_dictation
from voice.errors import ProtocolError
from voice.hearing.asr.transcribed import Transcribed, Word
from voice.hearing.passages import Passage, passages
from voice.realtime.wire import WireModel, validated
from voice.types import SAMPLE_RATE_HZ, Samples

if TYPE_CHECKING:
    from voice.hearing.asr import Recognizer
    from voice.session.resources import Resources

LARGEST_MIB = 25
"""Size of a recording, as in OpenAI's API."""
LONGEST_S = 3600
"""Length of a decoded recording, since a small file of Opus can hold an hour."""
CUE_CHARACTERS, CUE_S = 84, 7.0
"""Longest subtitle: two lines, shown for as long as people read one."""
_LEAST_PROBABILITY = 1e-10
_FORMATS = "wav,mp3,ogg,flac,mov,mp4,m4a,matroska,webm,aac"
"""The FFmpeg demuxers that may be used; others, such as playlists, open what a file names."""


class _Fields(WireModel):
    model: str = ""
    language: str = ""
    prompt: str = ""
    response_format: Literal["json", "text", "srt", "vtt", "verbose_json"] = "json"
    stream: Literal["true", "false", "True", "False"] = "false"
    temperature: float = Field(default=0.0, ge=0, le=1, strict=False)
    timestamp_granularities: list[Literal["segment", "word"]] = Field(default=[])

    @property
    def dictates(self) -> bool:
        """Whether the intended text is wanted; its words have no times."""
        return is_dictation(self.model)

    @property
    def wants_times(self) -> bool:
        """Whether the words' times are needed."""
        subtitles = self.response_format in ("srt", "vtt")
        return subtitles or "word" in self.timestamp_granularities


class TranscriptionApi:
    """``POST /v1/audio/transcriptions`` and ``/v1/audio/translations``.

    Args:
        resources: Hold the recogniser and its threads.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        # Leave threads for the conversations.
        self._one_at_a_time = asyncio.Lock()

    async def transcribe(self, request: Request, grant: Grant) -> Response:
        """Transcribe the uploaded file; only the server's own key may ask."""
        grant.check_main()
        fields, file = await _form(request)
        recognizer = self._resources.recognizer
        if fields.dictates and fields.wants_times:
            message = "model: dictation has no subtitles and no times of words"
            raise ProtocolError(message, "invalid_value", "model")
        language = _language(fields, recognizer)
        hear = partial(recognizer.transcribe, language=language, times=fields.wants_times)
        return await self._words(request, fields, file, hear)

    async def translate(self, request: Request, grant: Grant) -> Response:
        """Translate the uploaded file's speech into English; only the server's own key may ask."""
        grant.check_main()
        fields, file = await _form(request)
        recognizer = self._resources.recognizer
        if not recognizer.translates:
            message = (
                f"model: {recognizer.name} knows English alone here; the operator can choose one"
                " that translates (asr.whisper.model=base)"
            )
            raise ProtocolError(message, "unsupported_model", "model")
        if "word" in fields.timestamp_granularities:
            message = "timestamp_granularities: a translation's words have no times"
            raise ProtocolError(message, "invalid_value", "timestamp_granularities")
        hear = partial(recognizer.translate, language=_language(fields, recognizer))
        return await self._words(request, fields, file, hear, "translate")

    async def _words(
        self,
        request: Request,
        fields: _Fields,
        file: bytes,
        hear: Callable[[Samples], Transcribed],
        task: str = "transcribe",
    ) -> Response:
        async with self._one_at_a_time:
            samples = await asyncio.to_thread(decoded, file)
        found = passages(
            samples,
            self._resources.vad(),
            hear,
            self._resources.config.vad.threshold,
        )
        each = _each(partial(self._next, found), request.is_disconnected)
        if fields.dictates:
            each = _meant(each)
        if fields.stream.lower() == "true":
            return StreamingResponse(_events(each), media_type="text/event-stream")
        heard = [passage async for passage in each]
        return _answer(heard, len(samples) / SAMPLE_RATE_HZ, fields, task)

    async def _next(self, found: Iterator[Passage]) -> Passage | None:
        """The next utterance; the thread is free for others between utterances."""
        threads, loop = self._resources.recognition_threads, asyncio.get_running_loop()
        async with self._one_at_a_time:
            return await loop.run_in_executor(threads, next, found, None)


def decoded(file: bytes) -> Samples:
    """Decode a recording to samples, (T,) int16 mono at 16 kHz.

    Raises:
        ProtocolError: It is not a sound file of a known format, or too long.
    """
    import av

    try:
        known = {"format_whitelist": _FORMATS}
        with av.open(io.BytesIO(file), "r", container_options=known) as container:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
            parts, length = [np.empty(0, np.int16)], 0
            for frame in container.decode(audio=0):
                for part in resampler.resample(frame):
                    parts.append(part.to_ndarray()[0])
                    length += part.samples
                if length > LONGEST_S * SAMPLE_RATE_HZ:
                    raise ProtocolError(f"file: longer than {LONGEST_S} s", "too_large", "file")
            parts += [part.to_ndarray()[0] for part in resampler.resample(None)]
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise ProtocolError("file: no sound that can be read", param="file") from error
    return np.concatenate(parts)


async def _meant(each: AsyncIterator[Passage]) -> AsyncIterator[Passage]:
    """Edit the utterances as one text: what follows a pause may take back what came before."""
    heard = [passage async for passage in each]
    if text := edited(" ".join(passage.text for passage in heard)).strip("\n"):
        yield replace(heard[0], end_s=heard[-1].end_s, text=text, tokens=())


def _language(fields: _Fields, recognizer: Recognizer) -> str:
    """The requested language's code; empty if none was requested.

    Raises:
        ProtocolError: The recogniser lacks the language, or the word times that were requested.
    """
    code = fields.language.partition("-")[0].lower()
    if code and code not in recognizer.languages:
        heard = ", ".join(recognizer.languages[:9])
        message = f"language: got {code[:20]!r}; {recognizer.name} hears {heard} here"
        raise ProtocolError(message, "invalid_value", "language")
    if "word" in fields.timestamp_granularities and not recognizer.tells_times:
        message = f"timestamp_granularities: {recognizer.name} tells no times of words"
        raise ProtocolError(message, "invalid_value", "timestamp_granularities")
    return code


async def _form(request: Request) -> tuple[_Fields, bytes]:
    kind = request.headers.get("content-type", "nothing").partition(";")[0]
    if kind != "multipart/form-data":
        raise ProtocolError(f"Content-Type: got {kind[:60]}; expected multipart/form-data")
    largest = LARGEST_MIB * 1024 * 1024
    too_large = ProtocolError(f"file: larger than {LARGEST_MIB} MiB", "too_large", "file")
    # The fields beside the file are small.
    body = bounded(request.stream(), largest + 65_536, too_large)
    try:
        form = await MultiPartParser(request.headers, body, max_files=1).parse()
    except (MultiPartException, KeyError) as error:
        raise ProtocolError(f"expected multipart/form-data: {error}") from error
    try:
        file = form.get("file")
        if file is None or isinstance(file, str):
            raise ProtocolError("file: missing", "missing_required_parameter", "file")
        several = "timestamp_granularities"
        given = {**form, several: form.getlist(f"{several}[]")}
        fields = validated(_Fields, given)
        if fields.stream.lower() == "true" and fields.response_format not in ("json", "text"):
            message = "response_format: a stream has events of text; expected json or text"
            raise ProtocolError(message, param="response_format")
        if len(recording := await file.read()) > largest:
            raise too_large
        return fields, recording
    finally:
        await form.close()


async def _each(
    step: Callable[[], Awaitable[Any]], has_left: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Passage]:
    """Passages, for as long as the client is connected.

    Raises:
        ClientDisconnect: The client has left.
    """
    while (passage := await step()) is not None:
        yield passage
        if await has_left():
            raise ClientDisconnect


async def _events(each: AsyncIterator[Passage]) -> AsyncIterator[str]:
    text = ""
    async for passage in each:
        delta = f" {passage.text}" if text else passage.text
        text += delta
        yield server_sent({"type": "transcript.text.delta", "delta": delta})
    yield server_sent({"type": "transcript.text.done", "text": text})


def _answer(heard: Sequence[Passage], seconds: float, fields: _Fields, task: str) -> Response:
    text = " ".join(passage.text for passage in heard)
    match fields.response_format:
        case "text":
            return PlainTextResponse(f"{text}\n")
        case "srt":
            return PlainTextResponse("".join(_cues(heard, ",")))
        case "vtt":
            cues = "".join(_cues(heard, "."))
            return PlainTextResponse(f"WEBVTT\n\n{cues}", media_type="text/vtt")
        case "verbose_json":
            wanted = fields.timestamp_granularities
            return JSONResponse({"task": task, **_verbose(heard, seconds, wanted)})
    return JSONResponse({"text": text, "usage": _usage(seconds)})


def _verbose(heard: Sequence[Passage], seconds: float, wanted: Sequence[str]) -> dict[str, Any]:
    lengths: Counter[str] = Counter()
    for passage in heard:
        lengths[passage.language] += len(passage.text)
    code = max(lengths, key=lengths.__getitem__, default="en")
    whole: dict[str, Any] = {
        "language": _name(code),
        "duration": _rounded(seconds),
        "text": " ".join(passage.text for passage in heard),
        "usage": _usage(seconds),
    }
    if "word" in wanted:
        words = [word for passage in heard for word in passage.words]
        whole["words"] = [
            {"word": w.text, "start": _rounded(w.start_s), "end": _rounded(w.end_s)} for w in words
        ]
    if "segment" in wanted or not wanted:
        whole["segments"] = [_segment(index, passage) for index, passage in enumerate(heard)]
    return whole


def _segment(index: int, passage: Passage) -> dict[str, Any]:
    written = passage.text.encode()
    return {
        "id": index,
        # Where the decoded audio begins, in Whisper's frames of 10 ms.
        "seek": round(100 * passage.start_s),
        "start": _rounded(passage.start_s),
        "end": _rounded(passage.end_s),
        "text": passage.text,
        "tokens": passage.tokens,
        "temperature": 0.0,
        "avg_logprob": _rounded(math.log(max(passage.confidence, _LEAST_PROBABILITY))),
        "compression_ratio": _rounded(len(written) / len(zlib.compress(written))),
        "no_speech_prob": _rounded(1 - passage.speech),
    }


def _usage(seconds: float) -> dict[str, Any]:
    return {"type": "duration", "seconds": _rounded(seconds)}


def _rounded(number: float) -> float:
    """A number rounded to thousandths, as seconds to the millisecond."""
    return round(number, 3)


def _name(code: str) -> str:
    """A language's English name in lower case, as in OpenAI's API."""
    from babel import Locale

    return str(Locale("en").languages.get(code, code)).lower()


def _cues(heard: Sequence[Passage], mark: str) -> Iterator[str]:
    spoken = (cue for passage in heard for cue in _parts(passage))
    for number, (start_s, end_s, text) in enumerate(spoken, start=1):
        yield f"{number}\n{_time(start_s, mark)} --> {_time(end_s, mark)}\n{text}\n\n"


def _parts(passage: Passage) -> Iterator[tuple[float, float, str]]:
    """Cut an utterance into subtitles (start, end, text); a single one if no times are known."""
    if not passage.words:
        yield passage.start_s, passage.end_s, passage.text
        return
    cue: list[Word] = []
    for word in passage.words:
        full = len(" ".join(one.text for one in [*cue, word])) > CUE_CHARACTERS
        if cue and (full or word.end_s - cue[0].start_s > CUE_S):
            yield _cue(cue)
            cue = []
        cue.append(word)
    yield _cue(cue)


def _cue(words: Sequence[Word]) -> tuple[float, float, str]:
    return words[0].start_s, words[-1].end_s, " ".join(word.text for word in words)


def _time(seconds: float, mark: str) -> str:
    whole_ms = round(seconds * 1000)
    minutes, ms = divmod(whole_ms, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{ms // 1000:02}{mark}{ms % 1000:03}"
