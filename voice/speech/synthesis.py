"""One segment's audio while a voice makes it: its chunks can be taken now or later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Executor

from voice.errors import ModelError
from voice.speech.tts import Synthesizer
from voice.types import Segment, SpeechChunk


class Synthesis:
    """One segment's audio, made in a thread a chunk at a time.

    Args:
        synthesizer: The voice.
        executor: Runs it.
        segment: What to say.
        speed: Speaking rate; 1 is the voice's own.
    """

    def __init__(
        self, synthesizer: Synthesizer, executor: Executor, segment: Segment, speed: float
    ) -> None:
        self.segment = segment
        self.speed = speed
        self._synthesizer = synthesizer
        self._executor = executor
        self._made: list[SpeechChunk] = []
        self._error: Exception | None = None
        self._more = asyncio.Event()
        self._cancelled = False

    def cancel(self) -> None:
        """Make no further chunk."""
        self._cancelled = True

    async def run(self) -> None:
        """Make the chunks; an error is raised where they are taken."""
        loop = asyncio.get_running_loop()
        try:
            chunks = self._synthesizer.synthesize(self.segment, self.speed)
            while not self._cancelled and not (self._made and self._made[-1].last):
                self._made.append(await loop.run_in_executor(self._executor, _next, chunks))
                self._more.set()
        except Exception as error:
            self._error = error
            self._more.set()

    async def chunks(self) -> AsyncGenerator[SpeechChunk, None]:
        """All chunks from the first, each as soon as it is made; for one reader.

        Raises:
            Exception: The voice raised it.
        """
        taken = 0
        while True:
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
