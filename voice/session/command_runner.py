"""One session's hands: what the conversation decides is done, by the part that can do it.

Here the model is asked, tools are run, drafts are made and the voice speaks. What comes of it is
told to the conversation; who that is, and what it makes of it, the hands do not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voice.dialogue.commands import (
    CancelTool,
    Command,
    Draft,
    Emit,
    Generate,
    HangUp,
    HoldSpeaking,
    ReleaseSpeaking,
    RunTool,
    Speak,
    SpeakEnd,
    StopGenerating,
    StopSpeaking,
)
from voice.dialogue.speculation import SpeculativeReply
from voice.events import SessionEvent
from voice.inputs import Input
from voice.session.generation import Generation
from voice.session.preemptive_generation import DraftBackend, PreemptiveGeneration
from voice.session.tool_runs import ToolRuns
from voice.speech.audio_output import AudioOutput
from voice.tools import SessionScope

if TYPE_CHECKING:
    from voice.session.resources import Resources

ASIDE_PRIORITY = 0
"""Of replies beside the conversation: behind those that somebody waits to hear, before drafts."""


@dataclass(frozen=True, slots=True)
class SessionCallbacks:
    """What connects the hands with their session.

    Attributes:
        tell: Takes what the conversation has to know.
        emit: Takes what the client is told.
        reached: Called with a reply's id and the name of a stage that it has reached.
        spawn: Runs something for as long as the session lasts.
        rehearse: Gives the reply that would follow a draft's words, and what it begins with.
        hang_up: Ends the session, for a reason.
    """

    tell: Callable[[Input], None]
    emit: Callable[[SessionEvent], None]
    reached: Callable[[str, str], None]
    spawn: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]
    rehearse: Callable[[Draft], tuple[SpeculativeReply, list[Command]]]
    hang_up: Callable[[str], None]


class CommandRunner:
    """Carries out commands.

    Args:
        parts: What is loaded.
        scope: What tools know and may change of this conversation.
        beside: The ids of replies beside the conversation.
        nerves: To the session and back.

    Attributes:
        mouth: Where this session speaks.
    """

    def __init__(
        self,
        parts: Resources,
        scope: SessionScope,
        beside: Container[str],
        nerves: SessionCallbacks,
    ) -> None:
        self.mouth = AudioOutput(parts.synthesizer, parts.mouth_threads, nerves.emit, nerves.tell)
        self._nerves = nerves
        self._beside = beside
        toolbox = parts.toolbox
        workshop = DraftBackend(
            model=parts.model,
            run_tool=lambda call, key: toolbox.run(call, scope, key),
            is_read_only=toolbox.is_read_only,
            prepare=self.mouth.prepare,
            forget_sound=self.mouth.drop_prepared,
            spawn=nerves.spawn,
        )
        self._ahead = PreemptiveGeneration(workshop, parts.config.drafting, parts.busy, nerves.emit)
        told = nerves.tell, nerves.emit, nerves.reached, nerves.spawn
        self._generating = Generation(self._ahead, *told)
        # No draft answers them: drafts are of what the user says.
        self._asides = Generation(parts.model, *told)
        slow_s = parts.config.turn.filler_after_ms / 1000
        self._errands = ToolRuns(toolbox, scope, self._ahead, nerves.tell, slow_s)

    def drop_drafts(self) -> None:
        """Forget what was made ahead; a reply has ended, or the session."""
        self._ahead.drop()

    def carry_out(self, commands: list[Command]) -> None:
        """Do what the conversation says, in its order."""
        for command in commands:
            self._carry_out(command)

    def _carry_out(self, command: Command) -> None:
        match command:
            case Emit(event):
                self._nerves.emit(event)
            case Generate():
                self._generate(command)
            case StopGenerating(reply_id):
                self._generating.stop(reply_id)
                self._asides.stop(reply_id)
            case RunTool(reply_id, call, key):
                self._nerves.spawn(self._errands.run(reply_id, call, key))
            case CancelTool(key):
                self._errands.cancel(key)
            case Draft():
                self._ahead.draft(command, *self._nerves.rehearse(command))
            case Speak(reply_id, segment, rate_hz, speed):
                self.mouth.speak(reply_id, segment, rate_hz, speed)
            case SpeakEnd(reply_id):
                self.mouth.end(reply_id)
            case StopSpeaking(reply_id):
                self.mouth.stop(reply_id)
            case HoldSpeaking(reply_id):
                self.mouth.hold(reply_id)
            case ReleaseSpeaking(reply_id):
                self.mouth.release(reply_id)
            case HangUp(reason):
                self._nerves.hang_up(reason)

    def _generate(self, wanted: Generate) -> None:
        if wanted.reply_id in self._beside:
            prompt = replace(wanted.prompt, priority=ASIDE_PRIORITY)
            self._asides.start(wanted.reply_id, prompt)
        else:
            self._generating.start(wanted.reply_id, wanted.prompt)
