from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.virtual_parts import Voice
from tests.support.virtual_time import now, run
from voice.errors import ModelError
from voice.speech.synthesis import Said, Synthesis
from voice.types import Segment, SpeechChunk

SEGMENT = Segment(1, 0, "one two three four five", "one two three four five")


def synthesis(voice: Voice) -> Synthesis:
    return Synthesis(Said(SEGMENT, 1.0), lambda name: voice, ThreadPoolExecutor(1))


async def followed(made: Synthesis) -> list[tuple[float, SpeechChunk]]:
    return [(now(), chunk) async for chunk in made.chunks()]


def test_chunks_come_as_they_are_made_and_at_once_when_they_have_been() -> None:
    async def main() -> None:
        voice = Voice(word_s=0.2)
        made = synthesis(voice)
        task = asyncio.create_task(made.run())
        chunks = await followed(made)
        assert [at for at, _ in chunks] == pytest.approx([0.5, 1.0])
        assert [chunk.last for _, chunk in chunks] == [False, True]
        await task
        ready = synthesis(voice)
        await ready.run()
        began = now()
        assert [at for at, _ in await followed(ready)] == pytest.approx([began, began])

    run(main())


def test_what_is_cancelled_makes_no_further_chunk() -> None:
    async def main() -> None:
        made = synthesis(Voice(word_s=0.2))
        task = asyncio.create_task(made.run())
        await asyncio.sleep(0.1)
        made.cancel()
        await task
        assert now() == pytest.approx(0.5)

    run(main())


def test_who_takes_chunks_of_what_is_cancelled_waits_for_none() -> None:
    async def main() -> None:
        made = synthesis(Voice(word_s=0.2))
        task = asyncio.create_task(made.run())
        asyncio.get_running_loop().call_later(0.6, made.cancel)
        assert len(await followed(made)) == 1
        assert now() == pytest.approx(0.6)
        await task

    run(main())


def test_what_the_voice_raises_is_raised_where_the_chunks_are_taken() -> None:
    async def main() -> None:
        made = synthesis(Voice(broken=ModelError("no voice")))
        await made.run()
        with pytest.raises(ModelError, match="no voice"):
            await followed(made)

    run(main())


def test_a_voice_without_a_last_chunk_is_an_error() -> None:
    class Endless(Voice):
        def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
            return iter(())

    async def main() -> None:
        made = synthesis(Endless())
        await made.run()
        with pytest.raises(ModelError, match="without a last chunk"):
            await followed(made)

    run(main())
