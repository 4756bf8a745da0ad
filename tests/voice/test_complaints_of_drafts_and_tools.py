"""What users of other agents complain of, where answers, tools and load are to blame.

The numbers are those of the list of complaints that the project keeps; `tests/test_complaints_*`
together have them all.
"""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from tests.support import virtual_tools
from tests.support.virtual_parts import (
    Answer,
    Call,
    Model,
    Recognizer,
    Tape,
    Voice,
    call,
    calling,
    last_user,
    parts,
)
from tests.support.virtual_time import now, run, virtual
from voice.errors import ModelError
from voice.events import (
    FinalTranscript,
    ReplyEnded,
    ReplyHeard,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    TurnMeasured,
)
from voice.llm.base import Prompt
from voice.types import Segment, SpeechChunk

STORY = "Once there was a king who had three sons, and each of them wanted to see the world."


async def answered(line: Call, text: str) -> ReplyEnded:
    await line.say(text)
    await line.next(FinalTranscript)
    return await line.next(ReplyEnded, lambda ended: ended.status is ReplyStatus.COMPLETED)


@pytest.mark.parametrize("decode_s", [0.05, 2.0])
@pytest.mark.parametrize("holds", [True, False])
@virtual
async def test_complaint_1_the_context_after_an_interruption_is_what_was_heard(
    holds: bool, decode_s: float
) -> None:
    model = Model(lambda p: STORY if "story" in last_user(p) else "Fine.")
    # A slow recogniser has words only when the turn is over.
    interim_ms = 240 if decode_s < 1 else 60_000
    slow = Recognizer(Tape(), interim_ms, decode_s)
    async with calling(parts(model, None, slow, "endpointing.barge_in_ms=5000")) as line:
        line.session.update(holds=holds)
        await line.say("tell me a story")
        await line.next(ReplyHeard, lambda heard: heard.chars > 20)
        await line.say("no tell me the time")
        await line.next(ReplyText, lambda text: text.delta == "Fine.")
        (_, asked), (_, heard), (_, again), _ = line.history()
        assert (asked, again) == ("tell me a story", "no tell me the time")
        assert STORY.startswith(heard)
        assert 20 < len(heard) < len(STORY)
        assert [m.content for m in model.prompts[-1].messages[1:]] == [asked, heard, again]


class _Breaking(Voice):
    """A voice that raises at the third sentence."""

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        if segment.index == 2:
            raise ModelError("out of breath")
        return super().synthesize(segment, speed)


@pytest.mark.parametrize("interrupts", [True, False])
@virtual
async def test_complaint_1_of_a_reply_that_the_voice_broke_off_the_context_is_what_sounded(
    interrupts: bool,
) -> None:
    model = Model(lambda _: "It is noon. It rains. It is cold. It is windy.")
    async with calling(parts(model, _Breaking())) as line:
        await line.say("what is the news")
        await line.next(ReplyHeard, lambda heard: heard.chars == len("It is noon. It rains."))
        await asyncio.sleep(0 if interrupts else 5)
        assert line.of(ReplyEnded)[0].status is ReplyStatus.FAILED
        await line.say("what was that")
        await line.next(ReplyStarted)
        assert line.history()[:2] == [
            ("user", "what is the news"),
            ("agent", "It is noon. It rains."),
        ]


@virtual
async def test_complaint_2_a_tools_result_survives_an_interruption_and_is_not_had_twice() -> None:
    async with calling(parts(Model(lambda _: call("slow_book", what="a boat")))) as line:
        await line.say("book a boat please")
        await line.next(ReplyStarted)
        await asyncio.sleep(1.0)
        await line.say("book a boat hello")
        await asyncio.sleep(1.0)
        await line.say("are you there")
        await asyncio.sleep(8)
        assert virtual_tools.LEDGER == ["slow_book a boat"]
        assert ("tool", "Booked a boat.") in line.history()


@virtual
async def test_complaint_2_who_asks_again_for_what_took_too_long_has_it_once() -> None:
    booking = Model(lambda _: call("slow_book", what="a boat"))
    loaded = parts(booking, None, None, "turn.tool_timeout_s=1.0")
    async with calling(loaded) as line:
        await answered(line, "book a boat please")
        await answered(line, "book a boat please")
        await asyncio.sleep(12)
        assert virtual_tools.LEDGER == ["slow_book a boat"]
        told = [content for role, content in line.history() if role == "tool"]
        assert told == ["Booked a boat."] * 2
        # That it is done is said once.
        assert [ended.text for ended in line.of(ReplyEnded)].count("Booked a boat.") == 1


def test_complaint_9_speculation_leaves_no_trace_and_its_cost_is_bounded() -> None:
    async def main(drafting: str) -> tuple[list[tuple[str, str]], list[str], int]:
        def answer(prompt: Prompt) -> Answer:
            words = last_user(prompt)
            name = "book" if "book" in words else "look_up"
            return call(name, **{"what" if name == "book" else "topic": words.split()[-1]})

        model = Model(answer)
        async with calling(parts(model, None, None, f"drafting.enabled={drafting}")) as line:
            for text in ("look up tea", "please book me a boat", "look up the king of france"):
                await answered(line, text)
                await asyncio.sleep(4)
            return line.history(), sorted(set(virtual_tools.LEDGER)), len(model.prompts)

    drafted, done_with, asked_with = run(main("true"))
    plain, done_without, asked_without = run(main("false"))
    assert drafted == plain
    assert {"book boat"} == {what for what in done_with if what.startswith("book")}
    assert set(done_without) <= set(done_with)
    # No more than a draft for each interim transcript.
    assert asked_without == 3
    assert asked_with <= 4 * asked_without


@pytest.mark.parametrize("calls", [1, 3, 5])
def test_complaint_10_the_third_call_at_once_is_as_quick_as_the_first(calls: int) -> None:
    async def main() -> list[float]:
        loaded = parts(Model(lambda _: STORY, forward_s=0.03))

        async def talk(number: int) -> float:
            await asyncio.sleep(number * 0.1)
            async with calling(loaded) as line:
                await line.say("please tell me the story of the old king and his three sons")
                await line.next(ReplyEnded)
                return line.heard_after()

        waits = await asyncio.gather(*(talk(number) for number in range(calls)))
        # Drafts of words that may go on make room: they take a model that is idle.
        model = loaded.model
        assert isinstance(model, Model)
        assert len(model.prompts) > calls
        assert model.most_live == 1
        return waits

    waits = run(main())
    assert max(waits) < 1.0
    assert max(waits) - min(waits) < 0.05


@virtual
async def test_complaint_11_memory_is_flat_over_two_hundred_turns() -> None:
    model = Model(lambda _: "Fine.")
    async with calling(parts(model)) as line:

        async def turns(count: int) -> None:
            for _ in range(count):
                await line.say("thank you", word_ms=100)
                await line.next(ReplyEnded)
                await asyncio.sleep(0.4)
                # What the test itself keeps is no part of the session.
                line.forget()
                model.prompts.clear()

        await turns(40)
        gc.collect()
        tracemalloc.start(1)
        await turns(80)
        gc.collect()
        half = tracemalloc.get_traced_memory()[0]
        await turns(80)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - half
        tracemalloc.stop()
        # The dialogue's own words: two short messages a turn.
        assert grown < 80 * 1500


@virtual
async def test_complaint_13_marks_are_of_their_own_turn_and_as_long_as_they_lasted() -> None:
    model = Model(lambda prompt: f"You said {last_user(prompt)}.")
    async with calling(parts(model, None, None, "turn.idle_timeout_s=0")) as line:
        await answered(line, "what time is it")
        first = await line.next(TurnMeasured)
        await asyncio.sleep(100)
        said_s = now()
        await answered(line, "and what day is it")
        second = await line.next(TurnMeasured)
        assert (first.turn_id, second.turn_id) == (1, second.turn_id)
        assert second.turn_id > 1
        for measured in (first, second):
            marks = measured.marks_ms
            assert 0 < marks["end_of_turn"] <= marks["first_token"] <= marks["first_audio"]
            assert marks["first_audio"] < 2000
        assert line.times(TurnMeasured)[-1] - said_s < 10
        heard_ms = line.heard_after() * 1000
        assert second.marks_ms["first_audio"] == pytest.approx(heard_ms, abs=25)
