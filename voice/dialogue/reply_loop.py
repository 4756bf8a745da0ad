"""The agent's replies: the one that is being made, and those whose sound has not ended.

Part of `voice.dialogue.conversation`: no I/O, no clock; methods return the commands to carry out
now, in order. What a reply says and which tools it calls is decided in `voice.dialogue.rounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Command, Emit, HangUp, StopGenerating
from voice.dialogue.fillers import CANNOT_STOP, STOPPED
from voice.dialogue.flow import Flow
from voice.dialogue.history import History
from voice.dialogue.lead import Lead
from voice.dialogue.reply import Occasion, Phase, Reply
from voice.dialogue.reply_playback import Heard, ReplyPlayback
from voice.dialogue.rounds import Rounds
from voice.errors import ProtocolError
from voice.events import AudioStopped, Failure, ReplyEnded, ReplyStarted, ReplyStatus
from voice.hearing.backchannel import is_parting
from voice.inputs import (
    AudioPlayed,
    AudioSent,
    Input,
    ReplyInput,
    SessionOptions,
    SpeechFailed,
    ToolAnswered,
)
from voice.llm.base import Prompt
from voice.types import ToolCall, ToolResult, ToolSpec


class ReplyLoop:
    """The reply that is being made, and those whose sound has not ended.

    Args:
        dialogue: Shared with the conversation; replies and tool results are written into it.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        limits: Limits of the tool loop and of the history.
        heard: Tells how much of a reply the user has heard by now.
        flow: Where the conversation stands; None for a single agent without a flow.

    Attributes:
        current: The reply that is being made or sent.
        interrupted: The reply that was stopped last, until it is resumed; None for an alert, which
            is said again.
        calls: The calls of tools that run here.
        lead: The flow's decisions.
        ending: Why the session is to end once everything has been heard; empty while it goes on.
    """

    def __init__(
        self,
        dialogue: History,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        limits: Limits,
        heard: Heard = lambda reply_id: "",
        flow: Flow | None = None,
    ) -> None:
        self.current: Reply | None = None
        self.interrupted: Reply | None = None
        self.ending = self._parting = ""
        self.lead = Lead(flow, tools, limits.rephrases)
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._limits = limits
        self._playback = ReplyPlayback(dialogue, heard)
        self._rounds = Rounds(
            dialogue, tools, ids, limits, self.lead, self._playback, lambda: bool(self.ending)
        )
        self.calls = self._rounds.calls

    def copy(self, dialogue: History, ids: Callable[[str], str]) -> ReplyLoop:
        """A loop for a draft: on another dialogue, with the same flow and open question."""
        other = ReplyLoop(dialogue, self._tools, ids, self._limits, flow=self.lead.copy())
        other._rounds.take_question(self._rounds)
        return other

    @property
    def silent(self) -> bool:
        """Whether no reply is being made and none is sounding."""
        return self.current is None and not self._playback.playing

    @property
    def sounding(self) -> list[Reply]:
        """The replies that may be audible now, the newest last."""
        current = [self.current] if self.current and self.current.segments else []
        return [*self._playback.playing, *current]

    @property
    def proposed(self) -> tuple[ToolCall, ...]:
        """The calls that a "yes" would now make."""
        return self._rounds.proposed

    def feed(self, event: Input) -> list[Command]:
        """Take in an input about a reply; stale ones change nothing, but tool results are kept."""
        if not isinstance(event, ReplyInput):
            return []
        learned: list[Command] = []
        match event:
            case SpeechFailed():
                return self._speech_failed(event)
            case AudioSent(reply_id):
                return self._audio_sent(reply_id)
            case AudioPlayed():
                return self._audio_played(event)
            case ToolAnswered(result=result):
                of_current = event.reply_id == (self.current.reply_id if self.current else None)
                learned = self._rounds.learn(result, of_current)
        reply = self.current
        if reply is None or reply.reply_id != event.reply_id or reply.phase is Phase.COMPLETE:
            return learned
        return learned + self._settled(self._rounds.take_in(reply, event))

    def begin(
        self, turn_id: int, options: SessionOptions, occasion: Occasion = Occasion.ANSWER
    ) -> list[Command]:
        """Begin a reply; `ask` or `answer` must follow, once it is known what the user said."""
        reply_id, item_id = self._ids("resp"), self._ids("item")
        origin = self.calls.origin() or reply_id
        here = self.lead.here(options)
        self.current = Reply(reply_id, item_id, turn_id, here, origin, occasion, base=options)
        last = self._dialogue.last_id
        return [Emit(ReplyStarted(reply_id, item_id, turn_id, last, self._limits.out_of_band))]

    def ask(self, context: History | None = None, resumed: Reply | None = None) -> list[Command]:
        """Answer the user's last message, mostly by asking the model.

        Args:
            context: What the model sees in place of the dialogue; None for the dialogue.
            resumed: A reply that was stopped, and whose context is used again.
        """
        # A "bye" over the agent's own goodbye does not cancel the end of the session.
        newest, parting, self._parting = self._dialogue.user_texts(1), self._parting, ""
        if newest and is_parting(newest[0]):
            self.ending = parting or self.ending
        known = resumed.before if resumed else frozenset(entry.item_id for entry in self._dialogue)
        return self._settled(self._rounds.begin(self._reply(), context, known))

    def answer(self, text: str) -> list[Command]:
        """Answer with fixed words in the reply that was begun."""
        return self._settled(self._rounds.answer(self._reply(), text))

    def prompt(self, options: SessionOptions, seen: History) -> Prompt:
        """The prompt that the model gets."""
        return self._rounds.prompts.of(options, seen, options.tool_choice)

    def carry_out(self, call: ToolCall) -> list[Command]:
        """Run a call that the client has approved, in the reply that was begun."""
        return self._settled(self._rounds.call(self._reply(), (call,), approved=True))

    def say(
        self,
        text: str,
        turn_id: int,
        options: SessionOptions,
        occasion: Occasion = Occasion.ANSWER,
        aside: bool = False,
    ) -> list[Command]:
        """Begin a reply of fixed words, of the agent's own accord.

        If they change the subject (``aside``), as an alarm does, a "yes" to them does not answer
        the question before them.
        """
        if aside:
            self._rounds.forget_question()
        begun = self.begin(turn_id, options, occasion)
        answer = self._rounds.answer_aside if aside else self._rounds.answer
        return begun + self._settled(answer(self._reply(), text))

    def interrupt(self, reason: str, withdraw: bool = False) -> list[Command]:
        """Stop all that the agent is saying or about to say. Running tools are left to finish.

        Args:
            reason: Why, as the client is told.
            withdraw: Whether the reply was begun too soon: then none of it is kept, heard or not.
        """
        reply, self.current = self.current, None
        interrupted = reply or next(reversed(self._playback.playing), None)
        if withdraw and interrupted is not None:
            self._playback.withdraw(interrupted)
            self._rounds.reopen_question(interrupted)
        # A second cough that interrupts nothing leaves the reply stopped before resumable.
        if interrupted is not None:
            repeated = interrupted.occasion is Occasion.ALERT
            self.interrupted = None if repeated else interrupted
        out: list[Command] = [] if self._limits.out_of_band else [Emit(AudioStopped())]
        out += self._playback.stop_all()
        if reply is not None:
            out += [StopGenerating(reply.reply_id), *self._playback.stop(reply)]
            reply.end_as(ReplyStatus.CANCELLED, reason)
            out.append(_ended(reply))
        self._parting, self.ending = self.ending or self._parting, ""
        return out

    def resume(self, turn_id: int) -> list[Command]:
        """Say the rest of the interrupted reply: the interruption was a false alarm."""
        reply, self.interrupted = self.interrupted, None
        if reply is None:
            return []
        self.ending, self._parting = self._parting, ""
        options, rest = reply.base or reply.options, self._playback.unheard(reply)
        if reply.phase is not Phase.COMPLETE and not reply.told:
            begun = self.begin(turn_id, options)
            again = self._reply()
            # Calls that were made must not be made twice because their results have been heard.
            again.origin = reply.origin
            asked = self.ask(reply.context, reply)
            again.spoken_before = reply.text.removesuffix(rest)
            return begun + asked
        if not rest.strip():
            return self.hang_up()
        return [*self.begin(turn_id, options), *self.answer(rest)]

    def truncate(self, item_id: str, text: str) -> None:
        """Keep only what the client has played of a reply; nothing if it was withdrawn."""
        self._playback.truncate(item_id, text)

    def cancel(self, reply_id: str | None) -> list[Command]:
        """Stop the reply that is being made, at the client's request.

        Raises:
            ProtocolError: No reply is in progress, or it has another id.
        """
        code = "response_cancel_not_active"
        if reply_id not in (None, self.current.reply_id if self.current else None):
            problem = f"response {reply_id[:80]!r} is not in progress"
            raise ProtocolError(problem, code, "response_id")
        if self.current is None:
            raise ProtocolError("no reply is in progress", code)
        return self.interrupt("client_cancelled")

    def stop_tools(self, turn_id: int, options: SessionOptions) -> list[Command]:
        """Stop the running tools and say so; does nothing if no tool is running."""
        stopping = self.calls.stop()
        if stopping is None:
            return []
        told = STOPPED if stopping else CANNOT_STOP
        return stopping + self.say(told, turn_id, options, aside=True)

    def end(self, reason: str, talked_over: bool = False) -> list[Command]:
        """End the session once everything has been heard.

        If the user has stopped the reply and talks (``talked_over``), that withdraws the end.
        """
        if talked_over and self.silent:
            self._parting = reason
            return []
        self.ending = reason
        return self.hang_up()

    def hang_up(self) -> list[Command]:
        """End the session now, if that was asked for and nothing is left to say."""
        return [HangUp(self.ending)] if self.ending and self.silent else []

    def learn_late(self, result: ToolResult) -> list[Command]:
        """Take in the late result of a call that took too long and got a provisional one."""
        return self.lead.learn(self.calls.late(result.call_id), result, self._dialogue)

    def _reply(self) -> Reply:
        assert self.current is not None
        return self.current

    def _settled(self, out: list[Command]) -> list[Command]:
        """The commands, followed by the reply's end if it is complete and has no sound."""
        reply = self.current
        mute = reply is not None and reply.phase is Phase.COMPLETE and not reply.sounds
        return out + self._audio_sent(reply.reply_id) if reply and mute else out

    def _speech_failed(self, event: SpeechFailed) -> list[Command]:
        """End the reply: the rest of it cannot be synthesised."""
        reply = self.current
        if reply is None or reply.reply_id != event.reply_id:
            return []
        reply.end_as(ReplyStatus.FAILED, event.message)
        failure = Emit(Failure(reply.turn_id, "tts", event.message))
        return [StopGenerating(reply.reply_id), failure, *self._audio_sent(reply.reply_id)]

    def _audio_sent(self, reply_id: str) -> list[Command]:
        """The reply is over for the client; its sound may go on."""
        reply = self.current
        if reply is None or reply.reply_id != reply_id:
            return []
        self.current = None
        self._playback.sounds_on(reply)
        return [_ended(reply), *self.hang_up()]

    def _audio_played(self, event: AudioPlayed) -> list[Command]:
        return self.hang_up() if self._playback.played(event) else []


def _ended(reply: Reply) -> Command:
    tokens = reply.input_tokens, reply.output_tokens
    return Emit(ReplyEnded(reply.reply_id, reply.status, reply.reason, reply.text, *tokens))
