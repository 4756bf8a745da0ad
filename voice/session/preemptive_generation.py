"""What a session works out ahead of the end of a turn: answers, tool results, the first sound.

Nothing of it can be seen or heard before the conversation asks for the same. Then an answer that is
there is given at once, one that is on its way is followed, and one to other words helps the model
as a draft; so do a tool's own words where it has just answered. One draft is in flight at a time: a
newer one takes its place.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from voice.config import DraftingConfig
from voice.dialogue.commands import Command, Draft, Generate, RunTool, Speak
from voice.dialogue.speculation import Outcome, SpeculativeReply, Tally, same_question
from voice.dialogue.tool_calls import signature
from voice.errors import ModelError
from voice.events import DraftsUsed
from voice.inputs import ModelAnswered, ModelSaid, ToolAnswered
from voice.llm.base import AnswerDone, DraftView, ModelEvent, Prompt, ReplyModel, TextPiece
from voice.session.load_monitor import LoadMonitor
from voice.types import Message, Role, Segment, ToolCall, ToolResult

PRIORITY = -1
_NOTHING = Message(Role.AGENT, "")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DraftBackend:
    """What drafts are made with.

    Attributes:
        model: Answers.
        run_tool: Runs a call that changes nothing, under a key.
        is_read_only: Whether a tool of this name changes nothing.
        prepare: Synthesises a segment at a speed, to be said later or never.
        forget_sound: Drops what was prepared.
        spawn: Runs something for as long as the session lasts.
    """

    model: ReplyModel
    run_tool: Callable[[ToolCall, str], Coroutine[Any, Any, ToolResult]]
    is_read_only: Callable[[str], bool]
    prepare: Callable[[Segment, float], None]
    forget_sound: Callable[[], None]
    spawn: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class _Unfinished(ModelError):
    """A draft's answer ended before it was complete."""


@dataclass(slots=True, eq=False)
class _Answer:
    """An answer of the model's, asked for in a draft."""

    prompt: Prompt
    events: list[ModelEvent] = field(default_factory=list)
    forwards: int = 0
    kept: int = 0
    failed: bool = False
    done: bool = False
    used: bool = False
    more: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def message(self) -> Message:
        """As far as it goes; calls are whole or not there."""
        text = "".join(event.text for event in self.events if isinstance(event, TextPiece))
        done = next((event for event in self.events if isinstance(event, AnswerDone)), None)
        return Message(Role.AGENT, text, done.calls if done else ())

    def take(self, event: ModelEvent) -> None:
        self.events.append(event)
        match event:
            case DraftView(step=step):
                self.forwards = max(self.forwards, step)
            case AnswerDone(forwards=forwards, kept=kept):
                self.forwards = max(self.forwards, forwards)
                self.kept = kept
                self.done = True
        self.more.set()

    def close(self) -> None:
        self.failed = not self.done
        self.more.set()

    async def follow(self) -> AsyncGenerator[ModelEvent, None]:
        """All events, the first of them at once.

        Raises:
            _Unfinished: The draft came to nothing behind what has been given.
        """
        taken = 0
        while True:
            self.more.clear()
            while taken < len(self.events):
                taken += 1
                yield self.events[taken - 1]
            if self.done:
                return
            if self.failed:
                raise _Unfinished("the model failed in the middle of its answer")
            await self.more.wait()


class PreemptiveGeneration:
    """One session's drafts.

    Args:
        workshop: What they are made with.
        config: How far they go.
        load: How busy the machine is.
        tell: Called with what became of each turn's drafts.
    """

    def __init__(
        self,
        workshop: DraftBackend,
        config: DraftingConfig,
        load: LoadMonitor,
        tell: Callable[[DraftsUsed], None],
    ) -> None:
        self._with = workshop
        self._config = config
        self._load = load
        self._tell = tell
        self._turn_id = 0
        self._tally = Tally()
        self._answers: list[_Answer] = []
        self._newest: list[_Answer] = []
        self._before: list[_Answer] = []
        self._results: dict[str, asyncio.Task[ToolResult]] = {}
        self._task: asyncio.Task[None] | None = None
        self._adopted = False
        self._asked = 0
        self._asking = 0

    def draft(self, wanted: Draft, rehearsal: SpeculativeReply, commands: list[Command]) -> None:
        """Make a draft in the place of the one before, unless the machine is busy.

        Args:
            wanted: Whose words it answers.
            rehearsal: The reply that would follow.
            commands: What that begins with.
        """
        if wanted.turn_id != self._turn_id:
            self.drop()
            self._turn_id = wanted.turn_id
        asked = next((c for c in commands if isinstance(c, Generate)), None)
        if asked is None or self._find(asked.prompt) is not None:
            return
        if not self._load.allows_draft(self._config, wanted.paused, self._asking):
            self._tally.skipped += 1
            return
        self._cancel()
        self._adopted = False
        self._asked = 0
        likely = wanted.paused or not self._config.least_likely
        question = None if likely else asked.prompt
        self._task = self._with.spawn(self._consider(question, rehearsal, commands))

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """What the model answers, from the draft as far as there is one; as `ReplyModel.answer`."""
        with self._load.reply():
            async with aclosing(self._answered(prompt)) as events:
                async for event in events:
                    yield event

    async def _answered(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        ready = self._find(prompt)
        self._adopted = True
        self._asked += 1
        if ready is not None:
            said, before = False, self._tally.outcome
            ready.used = True
            self._judge(Outcome.STOOD)
            try:
                async with aclosing(ready.follow()) as events:
                    async for event in events:
                        said = said or not isinstance(event, DraftView)
                        yield event
                return
            except _Unfinished:
                # Nothing that has been said can be taken back.
                if said:
                    raise
                ready.used, self._tally.outcome = False, before
        self._cancel()
        kept = 0
        with self._load.request():
            asked = replace(prompt, draft=_earlier(prompt, self._latest(), self._asked - 1))
            async with aclosing(self._with.model.answer(asked)) as events:
                async for event in events:
                    if isinstance(event, AnswerDone):
                        kept = event.kept
                    yield event
        self._judge(Outcome.REVISED if kept else Outcome.DISCARDED)

    async def result(self, call: ToolCall) -> ToolResult | None:
        """What a call brought in a draft, once; None when no draft has made it."""
        task = self._results.pop(signature(call), None)
        return None if task is None else replace(await task, call_id=call.call_id)

    def forget_results(self) -> None:
        """Something was changed, so what was read before may be wrong now."""
        for task in self._results.values():
            task.cancel()
        self._results.clear()

    def drop(self) -> None:
        """The turn is answered, or will not be; tells what its drafts came to."""
        self._cancel()
        tally, self._tally = self._tally, Tally()
        answers, self._answers, self._newest, self._before = self._answers, [], [], []
        self.forget_results()
        self._with.forget_sound()
        if tally.made or tally.skipped or tally.unlikely:
            tally.spent = tally.judged + sum(answer.forwards for answer in answers)
            tally.used = sum(answer.forwards for answer in answers if answer.used)
            self._tell(
                DraftsUsed(
                    self._turn_id,
                    (tally.outcome or Outcome.NEEDLESS).value if tally.made else "",
                    tally.made,
                    tally.skipped,
                    tally.spent,
                    tally.spent - tally.used,
                    tally.unlikely,
                    tally.revised,
                )
            )

    def _judge(self, outcome: Outcome) -> None:
        """The first answer of the reply decides."""
        if self._tally.made and self._tally.outcome is None:
            self._tally.outcome = outcome

    def _find(self, prompt: Prompt) -> _Answer | None:
        found = (a for a in reversed(self._answers) if same_question(a.prompt, prompt))
        return next((answer for answer in found if not answer.failed), None)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _consider(
        self, question: Prompt | None, rehearsal: SpeculativeReply, commands: list[Command]
    ) -> None:
        """Make a draft, unless the model expects the user to go on.

        Args:
            question: Whose last words may not be all; None where that does not matter.
            rehearsal: The reply that would follow.
            commands: What that begins with.
        """
        if question is not None and not await self._may_be_all(question):
            self._tally.unlikely += 1
            return
        self._tally.made += 1
        await self._make(rehearsal, commands)

    async def _may_be_all(self, question: Prompt) -> bool:
        self._asking += 1
        try:
            with self._load.request():
                asked = replace(question, priority=PRIORITY)
                probability = await self._with.model.end_of_message(asked)
        except Exception as error:
            # As below: what goes wrong costs the draft only.
            _log.info("a draft was not judged: %s", type(error).__name__)
            return False
        finally:
            self._asking -= 1
        if probability is None:
            return True
        self._tally.judged += 1
        return probability >= self._config.least_likely

    def _latest(self) -> list[_Answer]:
        """The latest draft that has come to anything."""
        return self._newest if any(a.message != _NOTHING for a in self._newest) else self._before

    async def _make(self, rehearsal: SpeculativeReply, commands: list[Command]) -> None:
        """Play the reply through, as far as that changes nothing."""
        self._before, self._newest = self._latest(), []
        while commands:
            self._sound(commands)
            asked = next((c for c in commands if isinstance(c, Generate)), None)
            if self._adopted or (asked is not None and self._find(asked.prompt) is not None):
                return
            if asked is None:
                commands = await self._read(rehearsal, commands)
            else:
                index = len(self._newest)
                draft = _earlier(asked.prompt, self._before, index)
                commands = await self._ask(rehearsal, asked, draft)
                self._tally.revised += not index and self._newest[0].kept > 0

    async def _ask(
        self, rehearsal: SpeculativeReply, asked: Generate, draft: Message | None
    ) -> list[Command]:
        """Ask the model; gives what the reply does next."""
        answer = _Answer(asked.prompt)
        self._answers.append(answer)
        self._newest.append(answer)
        prompt = replace(asked.prompt, draft=draft, priority=PRIORITY)
        commands: list[Command] = []
        self._asking += 1
        try:
            with self._load.request():
                async with aclosing(self._with.model.answer(prompt)) as events:
                    async for event in events:
                        answer.take(event)
                        commands = _fed(rehearsal, asked.reply_id, event)
                        self._sound(commands)
        except Exception as error:
            # A model that raises, whatever it is, must cost the draft only.
            _log.info("a draft failed: %s", type(error).__name__)
            return []
        finally:
            self._asking -= 1
            answer.close()
        return commands

    async def _read(self, rehearsal: SpeculativeReply, commands: list[Command]) -> list[Command]:
        """Run the calls that change nothing; gives what the reply does next."""
        if not self._config.tools:
            return []
        out: list[Command] = []
        for run in [c for c in commands if isinstance(c, RunTool)]:
            if self._with.is_read_only(run.call.name):
                key = signature(run.call)
                task = self._results.get(key)
                if task is None:
                    task = self._with.spawn(self._with.run_tool(run.call, key))
                    self._results[key] = task
                result = replace(await asyncio.shield(task), call_id=run.call.call_id)
                out += rehearsal.feed(ToolAnswered(run.reply_id, result))
        return out

    def _sound(self, commands: list[Command]) -> None:
        """Prepare the first sound of the draft."""
        first = next((c for c in commands if isinstance(c, Speak) and not c.segment.index), None)
        if first is not None and self._config.speech and not self._adopted:
            self._with.prepare(first.segment, first.speed)


def _fed(rehearsal: SpeculativeReply, reply_id: str, event: ModelEvent) -> list[Command]:
    match event:
        case TextPiece(text):
            return rehearsal.feed(ModelSaid(reply_id, text))
        case AnswerDone(calls, cut, input_tokens, output_tokens):
            return rehearsal.feed(ModelAnswered(reply_id, calls, cut, input_tokens, output_tokens))
        case DraftView():
            return []


def _earlier(prompt: Prompt, answers: list[_Answer], index: int) -> Message | None:
    """What an answer is likely to be like: what another draft has in its place, or tools' words."""
    if index < len(answers):
        message = answers[index].message
        if message.content or message.tool_calls:
            return message
    results = itertools.takewhile(lambda m: m.role is Role.TOOL, reversed(prompt.messages))
    words = [result.content.removeprefix("Error: ") for result in results]
    return Message(Role.AGENT, " ".join(reversed(words))) if words else None
