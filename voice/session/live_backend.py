"""Executes a conversation's commands with the real parts: the model, the tools and the voice."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from voice.dialogue.commands import (
    Announced,
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
    StopSpeaking,
)
from voice.events import Denoising, SessionEvent
from voice.llm.base import AnswerDone, DraftView, ModelEvent, ReplyModel
from voice.session.command_runner import Feed
from voice.session.preemptive_generation import PreemptiveGeneration
from voice.session.tool_runs import ToolRuns
from voice.session.turn_latency import TurnLatency
from voice.speech.audio_output import AudioOutput


@dataclass(frozen=True, slots=True)
class SessionCallbacks:
    """What the backend reports to the session."""

    emit: Callable[[SessionEvent], None]
    latency: TurnLatency
    hang_up: Callable[[str], None]
    announced: Callable[[str, bool | None], None]
    """Called with an announcement's key and whether it was heard, as `Announced` reports it."""


class LiveBackend:
    """The real parts of one session.

    ``model`` answers out-of-band requests; ``drafts`` answers the conversation's own replies.
    """

    def __init__(
        self,
        model: ReplyModel,
        drafts: PreemptiveGeneration,
        tools: ToolRuns,
        output: AudioOutput,
        session: SessionCallbacks,
    ) -> None:
        self._model = model
        self._drafts = drafts
        self._tools = tools
        self._output = output
        self._session = session

    async def answer(self, request: Generate) -> AsyncGenerator[ModelEvent, None]:
        """Yield the model's answer; its stages are timed, and its denoising steps shown."""
        reply_id = request.reply_id
        answer = self._model.answer if request.out_of_band else self._drafts.reply
        latency = self._session.latency
        async with aclosing(answer(request.prompt)) as events:
            with latency.asking(reply_id):
                async for event in events:
                    latency.reached(reply_id, "first_token")
                    match event:
                        case DraftView(text, step) if request.spoken:
                            self._session.emit(Denoising(reply_id, text, step))
                        case AnswerDone(calls=()):
                            latency.reached(reply_id, "reply_committed")
                    yield event

    async def run_tool(self, run: RunTool, feed: Feed) -> None:
        """Run a tool, and feed its result."""
        await self._tools.run(run, feed)

    def perform(self, command: Command) -> None:
        """Execute a command at once."""
        match command:
            case Emit(event):
                self._session.emit(event)
            case CancelTool(key):
                self._tools.cancel(key)
            case Draft():
                self._drafts.draft(command)
            case Speak(reply_id, segment, rate_hz, speed, voice, loudness):
                self._output.speak(reply_id, segment, rate_hz, speed, voice, loudness)
            case SpeakEnd(reply_id):
                # After tools whose results were spoken, the model gives no answer of its own.
                self._session.latency.reached(reply_id, "reply_committed")
                self._output.end(reply_id)
            case StopSpeaking(reply_id):
                self._output.stop(reply_id)
            case HoldSpeaking(reply_id):
                self._output.hold(reply_id)
            case ReleaseSpeaking(reply_id):
                self._output.release(reply_id)
            case Announced(key, heard):
                self._session.announced(key, heard)
            case HangUp(reason):
                self._session.hang_up(reason)
