from __future__ import annotations

import asyncio

from tests.support.virtual_parts import Answer, Model, calling, parts
from tests.support.virtual_time import run
from voice.events import Denoising, Failure, ReplyEnded
from voice.llm.base import MalformedAnswer, Prompt


def test_what_the_model_shows_and_says_is_told() -> None:
    async def main() -> None:
        async with calling(parts(Model(lambda _: "This is an answer of many words."))) as line:
            await line.say("hello")
            await line.next(ReplyEnded)
            assert [event.text for event in line.of(Denoising)][-1].endswith("many words.")

    run(main())


def test_a_malformed_answer_is_asked_for_again_from_within_its_own_task() -> None:
    failures = [MalformedAnswer("bad")]

    def answer(prompt: Prompt) -> Answer:
        return failures.pop() if prompt.priority > 0 and failures else "Fine."

    async def main() -> None:
        async with calling(parts(Model(answer), None, None, "drafting.enabled=false")) as line:
            await line.say("hello")
            assert (await line.next(ReplyEnded)).text == "Fine."
            assert not line.of(Failure)
            assert failures == []

    run(main())


def test_requests_that_are_over_are_forgotten() -> None:
    async def main() -> None:
        async with calling(parts(Model(lambda _: "Fine."))) as line:
            for _ in range(3):
                await line.say("hello there")
                await line.next(ReplyEnded)
                await asyncio.sleep(2)
            assert line.session._hands._generating._tasks == {}

    run(main())
