from __future__ import annotations

import asyncio

import pytest

from tests.support import virtual_tools
from tests.support.virtual_parts import Model, call, calling, last_user, parts, tool_results
from tests.support.virtual_time import now, run
from voice.events import FinalTranscript, ReplyEnded, ReplyStatus, ReplyText
from voice.llm.base import Prompt


def test_a_dialogue_of_thirty_seconds_is_over_at_once() -> None:
    async def main() -> None:
        model = Model(lambda prompt: f"You said {last_user(prompt)}.")
        async with calling(parts(model)) as line:
            for text in ("how are you", "what time is it", "thank you very much"):
                await line.say(text)
                assert (await line.next(FinalTranscript)).text == text
                ended = await line.next(ReplyEnded)
                assert ended.text == f"You said {text}."
                assert 0.1 < line.heard_after() < 2
                await asyncio.sleep(9)
            assert line.history()[-2:] == [
                ("user", "thank you very much"),
                ("agent", "You said thank you very much."),
            ]
            assert now() > 30

    run(main())


def test_tools_run_on_virtual_time() -> None:
    def answer(prompt: Prompt) -> object:
        return tool_results(prompt)[0] if tool_results(prompt) else call("slow_book", what="a boat")

    async def main() -> None:
        async with calling(parts(Model(answer))) as line:  # type: ignore[arg-type]
            await line.say("book a boat")
            ended = await line.next(ReplyEnded)
            assert (ended.status, ended.text) == (ReplyStatus.COMPLETED, "Booked a boat.")
            answered = line.times(ReplyText)[0] - line.turns_said[0]
            assert answered == pytest.approx(4, abs=1)
            assert virtual_tools.LEDGER == ["slow_book a boat"]

    run(main())
