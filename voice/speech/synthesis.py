"""Synthesis of one segment, whose chunks can be read while they are made or later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from voice.errors import ModelError
from voice.speech.tts import Synthesizer
from voice.types import Segment, SpeechChunk


@dataclass(frozen=True, slots=True)
class Said:
    """A segment to be said, and how to say it.

    Attributes:
        speed: Speaking rate; 1 is the voice's own.
        voice: Name of the voice; empty for the server's own.
    """

    segment: Segment
    speed: float
    voice: str = ""


class Synthesis:
    """One segment's audio, made in a thread chunk by chunk.

    Args:
        said: What to say.
        voices: Returns the voice of a name; may be slow the first time.
        executor: Runs the voice.
    """

    def __init__(
        self, said: Said, voices: Callable[[str], Synthesizer], executor: Executor
    ) -> None:
        self.said = said
        self._voices = voices
        self._executor = executor
        self._made: list[SpeechChunk] = []
        self._error: Exception | None = None
        self._more = asyncio.Event()
        self._cancelled = False

    def cancel(self) -> None:
        """Make no further chunks, and end the reader's wait for them."""
        self._cancelled = True
        self._more.set()

    async def run(self) -> None:
        """Make the chunks; an error is raised in `chunks`, not here."""
        loop = asyncio.get_running_loop()
        try:
            chunks = self._speak()
            while not self._cancelled and not (self._made and self._made[-1].last):
                self._made.append(await loop.run_in_executor(self._executor, _next, chunks))
                self._more.set()
        except Exception as error:
            self._error = error
            self._more.set()

    def _speak(self) -> Iterator[SpeechChunk]:
        voice = self._voices(self.said.voice)
        yield from voice.synthesize(self.said.segment, self.said.speed)

    async def chunks(self) -> AsyncGenerator[SpeechChunk, None]:
        """All chunks, each as soon as it is made, until `cancel`; for a single reader.

        Raises:
            Exception: Whatever the voice raised.
        """
        taken = 0
        while not self._cancelled:
            self._more.clear()
            while taken < len(self._made):
                chunk = self._made[taken]
                taken += 1
                yield chunk
                if chunk.last:
                    return
            if self._error is not None:
                raise self._error
            if not self._more.is_set():
                await self._more.wait()


def _next(chunks: Iterator[SpeechChunk]) -> SpeechChunk:
    try:
        return next(chunks)
    except StopIteration:
        raise ModelError("the voice ended without a last chunk") from None
