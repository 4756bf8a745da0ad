from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest

from tests.support import virtual_tools
from tests.support.virtual_parts import (
    Answer,
    Call,
    Model,
    Recognizer,
    Stream,
    Tape,
    Voice,
    call,
    calling,
    last_user,
    parts,
    tool_results,
)
from tests.support.virtual_time import run, virtual
from voice.events import (
    Denoising,
    DraftsUsed,
    Failure,
    ReplyDrafted,
    ReplyEnded,
    ReplyStarted,
    ReplyToolResult,
)
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.llm.base import MalformedAnswer, Prompt
from voice.session.preemptive_generation import MOST_SHOWN
from voice.types import ToolSpec, Transcript

LONG = "Tea is a drink that is made of leaves, and it comes from the east of Asia."


def echo(prompt: Prompt) -> str:
    return f"You said {last_user(prompt)}."


async def drafts(line: Call) -> DraftsUsed:
    return await line.next(DraftsUsed)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_reply_that_was_drafted_sounds_at_once(enabled: str) -> None:
    async def main() -> float:
        model = Model(lambda _: LONG, forward_s=0.06)
        loaded = parts(model, None, None, f"drafting.enabled={enabled}")
        async with calling(loaded) as line:
            await line.say("tell me about tea")
            started = await line.next(ReplyStarted)
            assert started.turn_id == 1
            await line.next(ReplyEnded)
            assert line.history() == [("user", "tell me about tea"), ("agent", LONG)]
            return line.heard_after() - (line.times(ReplyStarted)[0] - line.turns_said[0])

    after_commit = run(main())
    assert (after_commit < 0.01) == (enabled == "true")


@virtual
async def test_nothing_of_a_draft_is_seen_before_the_turn_is_over() -> None:
    async with calling(parts(Model(echo))) as line:
        await line.say("set a timer for")
        await asyncio.sleep(0.3)
        assert not line.of(ReplyStarted)
        assert line.history() == []
        assert len(line.session._resources.model.prompts) >= 1  # type: ignore[attr-defined]


@virtual
async def test_a_draft_that_answers_the_final_words_is_committed_as_it_stands() -> None:
    model = Model(echo)
    async with calling(parts(model)) as line:
        await line.say("what time is it")
        await line.next(ReplyEnded)
        told = await drafts(line)
        asked = [last_user(prompt) for prompt in model.prompts]
        assert told.outcome == "stood"
        assert told.made == len(asked)
        assert asked.count("what time is it") == 1
        # The one that has become the reply is as urgent as a reply from then on.
        ranks = [prompt.rank > 0 for prompt in model.prompts]
        assert ranks == [said == "what time is it" for said in asked]
        assert told.forwards - told.discarded == 2


@virtual
async def test_without_a_pause_before_the_end_the_draft_is_revised() -> None:
    model = Model(echo)
    # The last words are in no interim transcript, and the turn is over when they are decoded.
    slow = Recognizer(Tape(), interim_ms=720, decode_s=2.0)
    async with calling(parts(model, None, slow)) as line:
        await line.say("please tell me what time it is now")
        ended = await line.next(ReplyEnded)
        told = await drafts(line)
        assert ended.text == "You said please tell me what time it is now."
        assert told.outcome == "revised"
        assert told.discarded == told.forwards
        last = model.prompts[-1]
        assert last.draft is not None
        assert last.draft.content.startswith("You said please tell")


@virtual
async def test_a_draft_that_holds_under_other_words_sounds_from_what_was_made_ahead() -> None:
    voice = Voice()
    model = Model(lambda _: LONG)
    slow = Recognizer(Tape(), interim_ms=720, decode_s=2.0)
    async with calling(parts(model, voice, slow)) as line:
        await line.say("tell me something about tea please now")
        await line.next(ReplyEnded)
        told = await drafts(line)
        # The last words change nothing: one forward finds that all of the draft stands.
        assert told.outcome == "revised"
        final = [prompt for prompt in model.prompts if prompt.rank > 0]
        assert [prompt.draft is not None for prompt in final] == [True]
        assert len(voice.spoken) == len(set(voice.spoken))
        started = line.times(ReplyStarted)[0] - line.turns_said[0]
        assert line.heard_after() - started < 0.03


@virtual
async def test_a_draft_of_other_words_is_thrown_away() -> None:
    model = Model(lambda prompt: f"{last_user(prompt).split()[-1]} it is.")
    slow = Recognizer(Tape(), interim_ms=720, decode_s=2.0)
    async with calling(parts(model, None, slow)) as line:
        await line.say("paint it red or rather green instead")
        assert (await line.next(ReplyEnded)).text == "instead it is."
        told = await drafts(line)
        assert told.outcome == "discarded"
        assert told.forwards == told.discarded > 0


@virtual
async def test_a_tool_that_only_reads_runs_in_the_draft_and_once() -> None:
    async with calling(parts(Model(lambda _: call("look_up", topic="tea")))) as line:
        await line.say("tell me about tea")
        ended = await line.next(ReplyEnded)
        assert ended.text == "Tea is fine."
        assert virtual_tools.LEDGER == ["look_up tea"]
        assert line.of(ReplyToolResult)[0].result.content == "tea is fine."
        assert [role for role, _ in line.history()] == ["user", "agent", "tool", "agent"]
        started = line.times(ReplyStarted)[0] - line.turns_said[0]
        assert line.heard_after() - started < 0.01


@virtual
async def test_a_tool_in_a_draft_sees_the_words_that_it_is_for() -> None:
    def answer(prompt: Prompt) -> Answer:
        return call("repeat") if "repeat" in last_user(prompt) else "Fine."

    loaded = parts(Model(answer))
    tools = {"tools": (*loaded.agent.tools, "repeat")}
    loaded = replace(loaded, agent=loaded.agent.model_copy(update=tools))
    async with calling(loaded) as line:
        for words in ("say this and repeat", "hello there", "now say that and repeat"):
            await line.say(words)
            ended = await line.next(ReplyEnded)
            assert ended.text in ("Fine.", f"{words.capitalize()}, you said.")
            # Whoever goes on at once goes on with the same message.
            await asyncio.sleep(2)
        assert (await drafts(line)).outcome == "stood"
        assert line.session.scope.said == ()


@virtual
async def test_what_a_tool_has_read_for_fewer_words_is_not_taken_for_all_of_them() -> None:
    loaded = parts(Model(lambda _: call("repeat")))
    agent = loaded.agent.model_copy(update={"tools": (*loaded.agent.tools, "repeat")})
    async with calling(replace(loaded, agent=agent)) as line:
        await line.say("repeat what I say to you and do it now")
        assert (await drafts(line)).made > 1
        ended = line.of(ReplyEnded)[0]
        assert ended.text == "Repeat what I say to you and do it now, you said."


@virtual
async def test_a_tool_with_side_effects_waits_for_the_end_of_the_turn() -> None:
    async with calling(parts(Model(lambda _: call("book", what="a boat")))) as line:
        await line.say("book a boat please")
        await asyncio.sleep(0.25)
        assert virtual_tools.LEDGER == []
        await line.next(ReplyEnded)
        assert virtual_tools.LEDGER == ["book a boat"]
        assert (await drafts(line)).outcome == "stood"


@virtual
async def test_what_was_read_before_something_changed_is_read_again() -> None:
    def answer(prompt: Prompt) -> Answer:
        results = tool_results(prompt)
        if len(results) < 3:
            return [call("look_up", topic="a"), call("book", what="b"), call("look_up", topic="a")][
                len(results)
            ]
        return "Done."

    loaded = parts(Model(answer), None, None, "llm.tool_replies=rephrased")
    async with calling(loaded) as line:
        await line.say("look and book and look")
        await line.next(ReplyEnded)
        assert virtual_tools.LEDGER == ["look_up a", "book b", "look_up a"]


@virtual
async def test_a_draft_that_fails_costs_itself_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    failures = [MalformedAnswer("bad"), RuntimeError("a bug")] * 3

    def answer(prompt: Prompt) -> Answer:
        return failures.pop() if prompt.rank < 0 and failures else "Fine."

    async with calling(parts(Model(answer))) as line:
        await line.say("how are you doing today")
        assert (await line.next(ReplyEnded)).text == "Fine."
        assert not line.of(Failure)
    assert "a draft failed: RuntimeError\n" in caplog.text
    assert "    raise answer\n" in caplog.text


@virtual
async def test_a_draft_that_fails_when_it_is_already_followed_is_asked_for_again() -> None:
    def answer(prompt: Prompt) -> Answer:
        return MalformedAnswer("bad") if prompt.rank < 0 else "Fine."

    async with calling(parts(Model(answer, forward_s=0.8))) as line:
        await line.say("how are you doing today")
        assert (await line.next(ReplyEnded)).text == "Fine."
        assert not line.of(Failure)
        assert (await drafts(line)).outcome == "discarded"


@virtual
async def test_a_busy_machine_makes_no_drafts() -> None:
    model = Model(echo)
    loaded = parts(model)
    async with calling(loaded) as line:
        with (
            loaded.load_monitor.request(),
            loaded.load_monitor.request(),
            loaded.load_monitor.request(),
        ):
            await line.say("what time is it")
            await line.next(ReplyEnded)
        told = await drafts(line)
        assert (told.made, told.outcome, told.forwards) == (0, "", 0)
        assert told.skipped > 0
        assert len(model.prompts) == 1


def test_a_remote_model_is_not_asked_unless_that_is_wanted() -> None:
    async def main(*options: str) -> int:
        model = Model(echo)
        async with calling(parts(model, None, None, "llm.engine=remote", *options)) as line:
            await line.say("tell me about tea from china")
            await line.next(ReplyEnded)
            return len(model.prompts)

    assert run(main()) == 1
    assert run(main("drafting.remote=true")) > 1


class Judge(Model):
    """Expects the user to go on unless the words are these."""

    def __init__(self, whole: str, probability: float | RuntimeError = 0.0) -> None:
        super().__init__(echo)
        self.whole = whole
        self.probability = probability
        self.judged: list[str] = []

    async def end_of_message(self, prompt: Prompt) -> float | None:
        if prompt.rank < 0:
            self.judged.append(last_user(prompt))
            if isinstance(self.probability, RuntimeError):
                raise self.probability
        if last_user(prompt) == self.whole or isinstance(self.probability, RuntimeError):
            return 0.9
        return self.probability


def test_words_that_the_model_expects_to_go_on_are_not_drafted() -> None:
    async def main(*options: str) -> tuple[list[str], list[str], DraftsUsed]:
        model = Judge("play jazz from new orleans")
        async with calling(parts(model, None, None, *options)) as line:
            await line.say("play jazz from new orleans today")
            ended = await line.next(ReplyEnded)
            assert ended.text == "You said play jazz from new orleans today."
            told = await drafts(line)
            return model.judged, [last_user(prompt) for prompt in model.prompts], told

    judged, asked, told = run(main())
    assert judged == [
        "play jazz",
        "play jazz from new",
        "play jazz from new orleans",
        "play jazz from new orleans today",
    ]
    assert asked == ["play jazz from new orleans", "play jazz from new orleans today"]
    assert (told.made, told.unlikely, told.outcome) == (2, 3, "stood")
    # Each question is a forward, and the first draft's are lost as well.
    assert told.discarded == len(judged) + 2
    judged, asked, told = run(main("drafting.least_likely=0"))
    assert judged == []
    assert (told.made, told.unlikely) == (len(asked), 0)


@virtual
async def test_who_watches_drafts_sees_those_of_words_that_are_hardly_all() -> None:
    model = Judge("play jazz from new orleans")
    async with calling(parts(model)) as line:
        line.session.update(shows_drafts=True)
        await line.say("play jazz from new orleans today")
        await line.next(ReplyEnded)
        assert model.judged == []
        assert line.of(ReplyDrafted)[0].text == "You said play jazz."


@virtual
async def test_a_judge_that_fails_costs_the_draft_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    model = Judge("", RuntimeError("a bug"))
    async with calling(parts(model)) as line:
        await line.say("play jazz from new orleans")
        assert (await line.next(ReplyEnded)).text == "You said play jazz from new orleans."
        assert not line.of(Failure)
        assert (await drafts(line)).outcome == "stood"
    assert "a draft was not judged: RuntimeError\n" in caplog.text
    assert "    raise self.probability\n" in caplog.text


@virtual
async def test_a_draft_made_from_the_one_before_is_counted() -> None:
    async with calling(parts(Model(echo))) as line:
        await line.say("play jazz loudly now please")
        await line.next(ReplyEnded)
        told = await drafts(line)
        assert told.outcome == "stood"
        assert told.revised == told.made - 1 > 0


@virtual
async def test_a_turn_of_which_nothing_was_understood_needed_no_draft() -> None:
    recognizer = Deaf(Tape())
    async with calling(parts(Model(echo), None, recognizer)) as line:
        await line.say("play jazz loudly now please")
        await line.next(ReplyEnded)
        told = await drafts(line)
        assert told.made > 0
        assert (told.outcome, told.discarded) == ("needless", told.forwards)


class Deaf(Recognizer):
    """Is sure of nothing in the end."""

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> Stream:
        return Unsure(self, turn_id)


class Unsure(Stream):
    def finish(self) -> Transcript:
        return replace(super().finish(), text="", confidence=0.0)


@virtual
async def test_an_interrupted_reply_leaves_no_draft_behind() -> None:
    model = Model(echo)
    async with calling(parts(model)) as line:
        await line.say("what time is it")
        await line.next(ReplyStarted)
        await asyncio.sleep(0.5)
        await line.say("no tell me the date")
        await line.next(ReplyEnded)
        ended = await line.next(ReplyEnded)
        assert ended.text.endswith("tell me the date.")
        assert line.session._drafts._answers == []
        assert model.live == 0


@virtual
async def test_who_asks_sees_each_draft_as_it_is_made_and_none_behind_the_reply() -> None:
    def answer(prompt: Prompt) -> Answer:
        return call("book", what="a boat") if "boat" in last_user(prompt) else LONG

    async with calling(parts(Model(answer))) as line:
        line.session.update(shows_drafts=True)
        await line.say("tell me about tea please or rather book me a boat")
        await line.next(ReplyStarted)
        shown = line.of(ReplyDrafted)
        assert [draft.number for draft in shown] == sorted(draft.number for draft in shown)
        words = [draft.text for draft in shown if draft.number == 1]
        assert words == sorted(words, key=len)
        assert len(words) > 2
        assert LONG.startswith(words[0])
        assert shown[-1].number > 1
        assert [(c.name, c.arguments) for c in shown[-1].calls] == [("book", {"what": "a boat"})]
        await line.next(ReplyEnded)
        assert line.of(ReplyDrafted) == shown


@virtual
async def test_of_words_that_a_tool_says_in_the_models_place_none_of_the_models_are_shown() -> None:
    def answer(prompt: Prompt) -> Answer:
        return "I looked that up for you." if tool_results(prompt) else call("look_up", topic="tea")

    door = ToolSpec("open_door", "Open the door.", {"type": "object", "properties": {}})
    async with calling(parts(Model(answer))) as line:
        line.session.update(shows_drafts=True, client_tools=(door,))
        await line.say("look tea up for me please")
        ended = await line.next(ReplyEnded)
        shown = [event.text for event in (*line.of(ReplyDrafted), *line.of(Denoising))]
        assert ended.text in shown
        assert not any("looked" in text for text in shown)
        assert "looked" not in ended.text


@virtual
async def test_who_does_not_ask_sees_none() -> None:
    async with calling(parts(Model(echo))) as line:
        await line.say("what time is it")
        assert (await drafts(line)).made
        assert not line.of(ReplyDrafted)


@virtual
async def test_a_draft_that_comes_to_nothing_is_taken_back() -> None:
    async with calling(parts(Model(echo))) as line:
        line.session.update(shows_drafts=True)
        await line.say("set a timer for")
        await line.next(ReplyDrafted)
        line.session.clear_audio()
        gone = line.of(ReplyDrafted)[-1]
        assert (gone.turn_id, gone.text, gone.calls) == (1, "", ())


@virtual
async def test_of_a_long_draft_a_client_gets_the_beginning() -> None:
    async with calling(parts(Model(lambda _: LONG * 20))) as line:
        line.session.update(shows_drafts=True)
        await line.say("tell me about tea")
        await line.next(ReplyEnded)
        shown = line.of(ReplyDrafted)
        assert max(len(draft.text) for draft in shown) == MOST_SHOWN
        assert len({(draft.number, draft.text) for draft in shown}) == len(shown)
