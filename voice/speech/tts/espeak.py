"""The embedded voice: espeak-ng from the espeakng-loader package, called through ctypes.

espeak-ng keeps one state per process, so all voices share a lock. A sentence takes about a
millisecond, and the lock is never held while a caller handles audio.

Source: speak_lib.h of espeak-ng 1.52 (structures, constants, meaning of the callback).
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator
from functools import cache

import numpy as np

from voice.errors import ModelError
from voice.speech.tts.assembly import Piece, assemble, readable
from voice.speech.tts.timing import WordStart
from voice.types import Samples, Segment, SpeechChunk

_WORDS_PER_MINUTE = 175
_OUTPUT_SYNCHRONOUS = 2
_OPTION_DONT_EXIT = 0x8000
_BUFFER_MS = 200
_POSITION_CHARACTER = 1
_CHARS_UTF8 = 1
_PARAMETER_RATE, _PARAMETER_PITCH = 1, 3
_EVENT_LIST_TERMINATED, _EVENT_WORD = 0, 1
_PIECE = re.compile(r".{1,400}(?:\s|$)|.{1,400}", re.DOTALL)
"""Text that is spoken while the lock is held; cut at white space if there is any."""

_LOCK = threading.Lock()


class _EventId(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _EventId),
    )


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class _Library:
    """libespeak-ng, initialised once; every method needs `_LOCK` to be held."""

    def __init__(self) -> None:
        import espeakng_loader

        try:
            self._lib = ctypes.CDLL(espeakng_loader.get_library_path())
            data = espeakng_loader.get_data_path()
        except (OSError, RuntimeError) as error:
            raise ModelError(f"espeak-ng cannot be loaded: {error}") from error
        self.sample_rate_hz = int(
            self._lib.espeak_Initialize(
                _OUTPUT_SYNCHRONOUS, _BUFFER_MS, data.encode(), _OPTION_DONT_EXIT
            )
        )
        if self.sample_rate_hz <= 0:
            raise ModelError(f"espeak-ng cannot read its data in {data}")
        self._audio: list[Samples] = []
        self._starts: list[tuple[int, int]] = []
        # The library keeps only a pointer, so the callback must live as long as the library.
        self._callback = _CALLBACK(self._receive)
        self._lib.espeak_SetSynthCallback(self._callback)

    def choose(self, voice: str) -> None:
        """Switch to a voice.

        Raises:
            ModelError: espeak-ng has no voice of that name.
        """
        if self._lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ModelError(
                f"espeak-ng: got the voice {voice!r}; expected one like 'en-us' or 'en'"
            )

    def speak(self, text: str, pitch: int) -> tuple[Samples, list[tuple[int, int]]]:
        """Audio of a text, (T,) int16, and for each word its index in the text and its first ms."""
        self._audio, self._starts = [], []
        self._lib.espeak_SetParameter(_PARAMETER_RATE, _WORDS_PER_MINUTE, 0)
        self._lib.espeak_SetParameter(_PARAMETER_PITCH, pitch, 0)
        encoded = text.encode()
        status = self._lib.espeak_Synth(
            encoded, ctypes.c_size_t(len(encoded) + 1), 0, _POSITION_CHARACTER, 0, _CHARS_UTF8,
            None, None,
        )  # fmt: skip
        if status != 0:
            raise ModelError(f"espeak-ng failed to speak (status {status})")
        audio = np.concatenate(self._audio) if self._audio else np.empty(0, np.int16)
        return audio, self._starts

    def _receive(
        self,
        samples: ctypes._Pointer[ctypes.c_short],
        count: int,
        events: ctypes._Pointer[_Event],
    ) -> int:
        if samples and count > 0:
            # A ctypes array over the pointer would leak two types for every new length.
            heard = ctypes.string_at(samples, count * ctypes.sizeof(ctypes.c_short))
            self._audio.append(np.frombuffer(heard, np.int16))
        index = 0
        while events[index].type != _EVENT_LIST_TERMINATED:
            event = events[index]
            if event.type == _EVENT_WORD:
                self._starts.append((event.text_position - 1, event.audio_position))
            index += 1
        return 0


@cache
def _library() -> _Library:
    return _Library()


class EspeakSynthesizer:
    """Speaks with an espeak-ng voice; there may be many of these, used from any thread.

    Args:
        voice: espeak-ng voice name, such as "en-us".
        pitch: 0 to 99; 50 is the voice's own.

    Raises:
        ModelError: espeak-ng is not installed, or knows no such voice.
    """

    def __init__(self, voice: str = "en-us", pitch: int = 50) -> None:
        self.name = f"espeak:{voice}"
        self._voice = voice
        self._pitch = pitch
        with _LOCK:
            library = _library()
            library.choose(voice)
            self.sample_rate_hz = library.sample_rate_hz

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `voice.speech.tts.Synthesizer.synthesize`."""
        return assemble(segment, self.sample_rate_hz, self._pieces(segment.spoken), speed)

    def _pieces(self, text: str) -> Iterator[Piece]:
        made = 0
        for match in _PIECE.finditer(readable(text)):
            if not match.group().strip():
                continue
            with _LOCK:
                library = _library()
                library.choose(self._voice)
                samples, words = library.speak(match.group(), self._pitch)
            starts = tuple(
                WordStart(match.start() + char, made + ms * self.sample_rate_hz // 1000)
                for char, ms in words
            )
            made += len(samples)
            yield Piece(samples, starts)
