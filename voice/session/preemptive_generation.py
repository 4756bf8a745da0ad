"""Drafts replies before the end of a turn: answers, tool results, the first segment's audio.

A draft runs the agent's side of the conversation on a copy of the dialogue. None of it takes effect
before the conversation makes the same request (clients that ask for it can watch drafts). Then a
finished answer is given at once, an unfinished one is followed as it is made, and an answer to
other words serves the model as a draft to revise. One draft is in flight at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import StrEnum

from voice.config import DraftingConfig
from voice.dialogue.commands import Command, Draft, Emit, Generate, RunTool, Speak
from voice.dialogue.conversation import Conversation
from voice.dialogue.draft_words import same_question
from voice.dialogue.reply_loop import ReplyLoop
from voice.dialogue.tool_calls import signature
from voice.errors import ModelError, origins
from voice.events import DraftsUsed, FlowChanged, ReplyDrafted
from voice.inputs import ToolAnswered
from voice.llm.base import (
    PRIORITY,
    AnswerDone,
    DraftView,
    ModelEvent,
    Prompt,
    ReplyModel,
    TextPiece,
)
from voice.session.command_runner import CommandRunner, Feed, Spawn
from voice.session.load_monitor import LoadMonitor
from voice.speech.audio_output import AudioOutput
from voice.speech.synthesis import Said
from voice.tools import SessionScope, Toolbox
from voice.types import Message, Position, Role, Segment, ToolResult
from voice.understanding.english import normalised

DRAFT_PRIORITY = -1
MOST_SHOWN = 400
"""Characters of a draft that a client is shown; it gets no update for changes beyond them."""
_NOTHING = Message(Role.AGENT, "")

_log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """What became of a turn's drafts.

    Attributes:
        STOOD: The draft, begun before the turn was over, was used as the reply.
        REVISED: The reply kept tokens of the draft.
        DISCARDED: No part of it was used.
        NEEDLESS: The model was never asked for a reply, because nothing was understood or the user
            went on speaking.
    """

    STOOD = "stood"
    REVISED = "revised"
    DISCARDED = "discarded"
    NEEDLESS = "needless"


@dataclass(frozen=True, slots=True)
class DraftParts:
    """The parts that make drafts."""

    model: ReplyModel
    toolbox: Toolbox
    scope: SessionScope
    output: AudioOutput
    config: DraftingConfig
    load: LoadMonitor


@dataclass(slots=True)
class _Tally:
    """What a turn's drafts cost; see `DraftsUsed`. ``judged`` counts forwards to judge words."""

    made: int = 0
    skipped: int = 0
    unlikely: int = 0
    judged: int = 0
    revised: int = 0
    outcome: Outcome | None = None


class _Unfinished(ModelError):
    """A draft's answer ended before it was complete."""


@dataclass(slots=True, eq=False)
class _Answer:
    """A model's answer within a draft; for ``spoken`` see `Generate`."""

    prompt: Prompt
    spoken: bool = True
    events: list[ModelEvent] = field(default_factory=list)
    forwards: int = 0
    kept: int = 0
    confidence: float | None = None
    failed: bool = False
    done: bool = False
    used: bool = False
    more: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def message(self) -> Message:
        """The answer so far; its calls appear only once it is done."""
        text = "".join(event.text for event in self.events if isinstance(event, TextPiece))
        done = next((event for event in self.events if isinstance(event, AnswerDone)), None)
        return Message(Role.AGENT, text, done.calls if done else ())

    @property
    def shown(self) -> str:
        """Its words so far: the final ones, followed by those not yet final."""
        said = self.message.content
        views = (event.text for event in reversed(self.events) if isinstance(event, DraftView))
        view = next(views, "")
        return view if view.startswith(said) else said

    def priority(self) -> int:
        """Its priority at the model: a draft's until it becomes the reply."""
        return PRIORITY if self.used else DRAFT_PRIORITY

    def take(self, event: ModelEvent) -> None:
        self.events.append(event)
        match event:
            case DraftView(step=step):
                self.forwards = max(self.forwards, step)
            case AnswerDone(forwards=forwards, kept=kept, confidence=confidence):
                self.forwards = max(self.forwards, forwards)
                self.kept = kept
                self.confidence = confidence
                self.done = True
        self.more.set()

    def close(self) -> None:
        self.failed = not self.done
        self.more.set()

    async def follow(self) -> AsyncGenerator[ModelEvent, None]:
        """Yield all events, those that are there at once.

        Raises:
            _Unfinished: The answer failed before it was complete.
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
    """The drafts of one session, and the `Backend` for those of their commands that change nothing.

    ``emit`` is called with what became of each turn's drafts and, if the session's options say so,
    with each draft as it is made.
    """

    def __init__(
        self,
        conversation: Conversation,
        parts: DraftParts,
        spawn: Spawn,
        emit: Callable[[DraftsUsed | ReplyDrafted], None],
    ) -> None:
        self._conversation = conversation
        self._parts = parts
        self._spawn = spawn
        self._emit = emit
        self._turn_id = 0
        self._tally = _Tally()
        self._answers: list[_Answer] = []
        # Answers of the newest draft, and of the latest one before it that has any content.
        self._newest: list[_Answer] = []
        self._before: list[_Answer] = []
        self._number = 0
        self._shown: ReplyDrafted | None = None
        self._results: dict[str, asyncio.Task[ToolResult]] = {}
        self._task: asyncio.Task[None] | None = None
        # Where the newest draft has moved the flow to; None if it has not moved it.
        self._moved: Position | None = None
        # Whether the newest draft is over: its reply is being made, or it was dropped.
        self._over = False
        self._asked = 0
        self._asking = 0

    def draft(self, wanted: Draft) -> None:
        """Make a draft that replaces the previous one, unless the machine is busy."""
        if wanted.turn_id != self._turn_id:
            self.drop()
            self._turn_id = wanted.turn_id
        config = self._parts.config
        agent, commands = self._conversation.speculate(wanted)
        asked = next((one.prompt for one in commands if isinstance(one, Generate)), None)
        if asked is not None and self._find(asked) is not None:
            return
        if any(isinstance(one, RunTool) for one in commands) and not wanted.paused:
            # The model, which would tell whether these words may be all, is not asked.
            return
        # Fixed words cost nothing but the voice.
        fixed = not any(isinstance(one, Generate | RunTool) for one in commands)
        if not (fixed or self._parts.load.allows_draft(config, wanted.paused, self._asking)):
            self._tally.skipped += 1
            return
        self._cancel()
        self._over = False
        self._asked = 0
        # A client that watches drafts gets one even for words that are unlikely to be all.
        watched = self._conversation.options.shows_drafts
        unsure = not (wanted.paused or watched) and config.least_likely > 0
        self._task = self._spawn(self._make(agent, commands, asked if unsure else None))

    async def reply(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """As `ReplyModel.answer`, but from the draft if there is one for this prompt."""
        ready = self._find(prompt)
        self._over = True
        self._asked += 1
        with self._parts.load.reply():
            if ready is not None:
                spoken, before, ready.used = False, self._tally.outcome, True
                self._judge(Outcome.STOOD)
                try:
                    async with aclosing(ready.follow()) as events:
                        async for event in events:
                            spoken = spoken or not isinstance(event, DraftView)
                            yield event
                    return
                except _Unfinished:
                    # Words already passed on cannot be taken back.
                    if spoken:
                        raise
                    ready.used, self._tally.outcome = False, before
            self._cancel()
            kept = 0
            asked = replace(prompt, draft=_likely(self._latest(), self._asked - 1))
            with self._parts.load.request():
                async with aclosing(self._parts.model.answer(asked)) as events:
                    async for event in events:
                        if isinstance(event, AnswerDone):
                            kept = event.kept
                        yield event
            self._judge(Outcome.REVISED if kept else Outcome.DISCARDED)

    async def result(self, run: RunTool) -> ToolResult | None:
        """A call's result from a draft, given once; None if no draft made it for these words."""
        task = self._results.pop(self.key(run), None)
        return None if task is None else replace(await task, call_id=run.call.call_id)

    def key(self, run: RunTool) -> str:
        """Key of a call in a draft; it includes what the tool may read of the conversation."""
        return self._key(run, self._parts.scope)

    def _key(self, run: RunTool, scope: SessionScope) -> str:
        what = signature(run.call)
        if not self._parts.toolbox.sees_words(run.call.name, scope):
            return what
        return "/".join([what, scope.agent, str({**scope.known}), *map(normalised, run.said)])

    def forget_results(self) -> None:
        """Drop the results of tools, which may be out of date because something was changed."""
        for task in self._results.values():
            task.cancel()
        self._results.clear()

    def drop(self) -> None:
        """Drop the drafts of a turn that is answered or never will be; emit what became of them."""
        self._cancel()
        if self._shown is not None and not self._over:
            self._emit(ReplyDrafted(self._turn_id, self._number, "", ()))
        self._over = True
        self._number, self._shown = 0, None
        tally, self._tally = self._tally, _Tally()
        answers, self._answers, self._newest, self._before = self._answers, [], [], []
        self.forget_results()
        self._parts.output.drop_prepared()
        if tally.made or tally.skipped or tally.unlikely:
            spent = tally.judged + sum(answer.forwards for answer in answers)
            used = sum(answer.forwards for answer in answers if answer.used)
            self._emit(
                DraftsUsed(
                    self._turn_id,
                    (tally.outcome or Outcome.NEEDLESS).value if tally.made else "",
                    tally.made,
                    tally.skipped,
                    spent,
                    spent - used,
                    tally.unlikely,
                    tally.revised,
                )
            )

    async def answer(self, request: Generate) -> AsyncGenerator[ModelEvent, None]:
        """Yield the model's answer within the draft and keep it; nothing if it is known already.

        An error costs the draft only.
        """
        if self._over or self._find(request.prompt) is not None:
            return
        index, answer = len(self._newest), _Answer(request.prompt, request.spoken)
        self._tally.made += not index
        self._answers.append(answer)
        self._newest.append(answer)
        likely = _likely(self._before, index)
        prompt = replace(request.prompt, draft=likely, priority=answer.priority)
        self._asking += 1
        try:
            with self._parts.load.request():
                async with aclosing(self._parts.model.answer(prompt)) as events:
                    async for event in events:
                        answer.take(event)
                        self._show(answer)
                        if answer.done:
                            self._tally.revised += not index and answer.kept > 0
                        yield event
        except Exception as error:
            _log.info("a draft failed: %s", origins(error))
        finally:
            self._asking -= 1
            answer.close()

    async def run_tool(self, run: RunTool, feed: Feed) -> None:
        """Run a tool that changes nothing; at any other tool the draft ends.

        The run outlives its draft, because the next draft or the reply may make the same call. The
        tool sees the draft's words, in a copy of the conversation's scope.
        """
        toolbox, call = self._parts.toolbox, run.call
        wanted = self._parts.config.tools and toolbox.is_read_only(call.name, self._parts.scope)
        if self._over or not wanted:
            return
        scope = replace(self._parts.scope, said=run.said)
        if self._moved is not None:
            scope.agent, scope.known = self._moved.agent, self._moved.known
        key = self._key(run, scope)
        if key not in self._results:
            self._results[key] = self._spawn(toolbox.run(call, scope, key))
        result = await asyncio.shield(self._results[key])
        feed(ToolAnswered(run.reply_id, replace(result, call_id=call.call_id)))

    def perform(self, command: Command) -> None:
        """Prepare the audio of the first segment; ignore nearly all other commands."""
        if isinstance(command, Emit) and isinstance(command.event, FlowChanged):
            self._moved = command.event.position
        if self._over or not self._parts.config.speech:
            return
        if isinstance(command, Speak) and not command.segment.index:
            self._show(command.segment)
            said = Said(command.segment, command.speed, command.voice)
            self._parts.output.prepare(said)

    def _show(self, words: _Answer | Segment) -> None:
        """Emit the draft as it is now, if the client watches drafts."""
        if self._over or not self._conversation.options.shows_drafts:
            return
        if isinstance(words, _Answer):
            if not words.spoken:
                return
            text = words.shown
        elif any(answer.message.content for answer in self._newest if answer.spoken):
            # These are the model's words, which were shown as they arrived.
            return
        else:
            text = words.text
        calling = [answer for answer in self._newest if answer.message.tool_calls]
        calls = tuple(call for answer in calling for call in answer.message.tool_calls)
        sure = [one.confidence for one in calling if one.confidence is not None]
        draft = ReplyDrafted(
            self._turn_id, self._number, text[:MOST_SHOWN], calls, min(sure, default=None)
        )
        if draft != self._shown and (text or calls):
            self._shown = draft
            self._emit(draft)

    def _judge(self, outcome: Outcome) -> None:
        """Set the outcome of the turn's drafts; the first answer of the reply decides it."""
        if self._tally.made and self._tally.outcome is None:
            self._tally.outcome = outcome

    def _find(self, prompt: Prompt) -> _Answer | None:
        found = (a for a in reversed(self._answers) if same_question(a.prompt, prompt))
        return next((answer for answer in found if not answer.failed), None)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _make(
        self, agent: ReplyLoop, commands: list[Command], question: Prompt | None
    ) -> None:
        """Make a draft, unless the model expects the user's message in ``question`` to go on."""
        if question is not None and not await self._may_be_all(question):
            self._tally.unlikely += 1
            return
        self._begin()
        async with asyncio.TaskGroup() as group:
            CommandRunner(agent.feed, self, group.create_task).execute(commands)

    def _begin(self) -> None:
        self._number += 1
        self._moved = None
        self._before, self._newest = self._latest(), []

    async def _may_be_all(self, question: Prompt) -> bool:
        self._asking += 1
        try:
            with self._parts.load.request():
                asked = replace(question, priority=DRAFT_PRIORITY)
                probability = await self._parts.model.end_of_message(asked)
        except Exception as error:
            # An error costs the draft only.
            _log.info("a draft was not judged: %s", origins(error))
            return False
        finally:
            self._asking -= 1
        if probability is None:
            return True
        self._tally.judged += 1
        return probability >= self._parts.config.least_likely

    def _latest(self) -> list[_Answer]:
        """The answers of the latest draft that has any content."""
        return self._newest if any(a.message != _NOTHING for a in self._newest) else self._before


def _likely(answers: list[_Answer], index: int) -> Message | None:
    """An earlier draft's answer in the same place, which the new one will probably resemble."""
    message = answers[index].message if index < len(answers) else _NOTHING
    return None if message == _NOTHING else message
