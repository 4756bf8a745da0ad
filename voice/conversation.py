"""The conversation: a state machine over the dialogue, without I/O and without a clock.

Inputs go into `Conversation.feed`, commands come out. What a superseded reply still produces
carries its id and is dropped. Real parts run it in `voice.pipeline`, tests on virtual time. This
module is the user's side of it; `voice.replying` is the agent's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from voice.dialogue import Dialogue
from voice.errors import ProtocolError
from voice.events import (
    Failure,
    FinalTranscript,
    InterimTranscript,
    TranscriptFailed,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.replying import Replying
from voice.turns import (
    Announce,
    AudioPlayed,
    AudioSent,
    Command,
    Emit,
    EndRequested,
    IdleElapsed,
    Input,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    RecognitionFailed,
    SessionOptions,
    SpeakingStopped,
    SpeechFailed,
    ToolAnswered,
)
from voice.types import (
    SAMPLE_RATE_HZ,
    EndReason,
    Message,
    Pause,
    Role,
    SpeechResumed,
    SpeechStarted,
    ToolSpec,
    Transcript,
    TurnEnded,
)

NOT_UNDERSTOOD = "Sorry, I did not catch that."
NOT_HEARD = "Sorry, I could not hear that."
STILL_THERE = "Are you still there?"
GOODBYE = "Goodbye."
# Shorter sound without words is a cough or a door; an apology for it would be worse than silence.
APOLOGISE_FROM_S = 0.6


@dataclass(slots=True)
class _UserTurn:
    item_id: str
    start_sample: int
    end_sample: int | None = None
    transcript: Transcript | None = None


class Conversation:
    """One dialogue and the turn that is under way in it.

    Args:
        options: How it begins; replaced when the client changes them.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        max_tool_calls: In one reply; then the model must answer in words.
        max_history: Messages that the model sees.
    """

    def __init__(
        self,
        options: SessionOptions,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        max_tool_calls: int = 6,
        max_history: int = 24,
    ) -> None:
        self.options = options
        self.dialogue = Dialogue()
        self._ids = ids
        self._agent = Replying(self.dialogue, tools, ids, max_tool_calls, max_history)
        self._turns: dict[int, _UserTurn] = {}
        self._speaking: int | None = None
        self._last_turn = 0
        self._waiting: deque[str] = deque(maxlen=16)
        self._idle_count = 0

    @property
    def active_reply(self) -> str | None:
        """Id of the reply that is being made or sent, or None."""
        return self._agent.current.reply_id if self._agent.current else None

    @property
    def quiet(self) -> bool:
        """Whether neither side speaks, and no turn of the user's waits for an answer."""
        return self._agent.silent and not self._turns

    def feed(self, event: Input) -> list[Command]:
        """Take an input in.

        Returns:
            What is to be done now, in this order.
        """
        commands = self._dispatch(event)
        if self._waiting and self.quiet:
            commands += self._say(self._waiting.popleft())
        return commands

    def respond(self, options: SessionOptions | None = None) -> list[Command]:
        """Begin a reply at the client's request.

        Raises:
            ProtocolError: Another reply is being made.
        """
        if self._agent.current is not None:
            raise ProtocolError(
                f"reply {self._agent.current.reply_id} is in progress",
                "conversation_already_has_active_response",
            )
        return self._agent.start(self._last_turn, options or self.options)

    def cancel(self, reply_id: str | None = None) -> list[Command]:
        """Stop the reply that is being made, at the client's request.

        Raises:
            ProtocolError: There is none, or it has another id.
        """
        return self._agent.cancel(reply_id)

    def _dispatch(self, event: Input) -> list[Command]:
        match event:
            case SpeechStarted() | TurnEnded() | Transcript() | RecognitionFailed():
                return self._hear(event)
            case ModelSaid():
                return self._agent.model_said(event)
            case ModelAnswered():
                return self._agent.model_answered(event)
            case ModelFailed():
                return self._agent.model_failed(event)
            case ToolAnswered():
                return self._agent.tool_answered(event)
            case SpeechFailed():
                return self._agent.speech_failed(event)
            case AudioSent(reply_id):
                return self._agent.audio_sent(reply_id)
            case AudioPlayed(reply_id):
                return self._agent.audio_played(reply_id)
            case SpeakingStopped():
                self._agent.speaking_stopped(event)
            case Announce(text):
                self._waiting.append(text)
            case EndRequested(reason):
                self._agent.ending = reason
                return self._agent.hang_up()
            case IdleElapsed():
                return self._idle()
            case Pause() | SpeechResumed():
                pass
        return []

    def _hear(
        self, event: SpeechStarted | TurnEnded | Transcript | RecognitionFailed
    ) -> list[Command]:
        match event:
            case SpeechStarted():
                return self._speech_started(event)
            case TurnEnded():
                return self._turn_ended(event)
            case Transcript():
                return self._transcript(event)
            case RecognitionFailed():
                return self._recognition_failed(event)

    def _speech_started(self, event: SpeechStarted) -> list[Command]:
        item_id = self._ids("item")
        self._turns[event.turn_id] = _UserTurn(item_id, event.start_sample)
        self._speaking = self._last_turn = event.turn_id
        self._idle_count = 0
        # A client flushes on this event, so it goes out before anything that takes longer.
        out: list[Command] = [Emit(UserSpeechStarted(event.turn_id, item_id, event.start_sample))]
        if self.options.interrupt_response:
            out += self._agent.interrupt("turn_detected")
        return out

    def _turn_ended(self, event: TurnEnded) -> list[Command]:
        turn = self._turns.get(event.turn_id)
        if turn is None:
            # A manual turn has no detected start.
            turn = self._turns[event.turn_id] = _UserTurn(self._ids("item"), event.end_sample)
            self._last_turn = event.turn_id
        turn.end_sample = event.end_sample
        if self._speaking == event.turn_id:
            self._speaking = None
        previous = self.dialogue.last_id
        self.dialogue.add(turn.item_id, Message(Role.USER))
        out: list[Command] = []
        if event.reason is not EndReason.MANUAL:
            out.append(Emit(UserSpeechStopped(event.turn_id, turn.item_id, event.end_sample)))
        out.append(Emit(UserTurnCommitted(event.turn_id, turn.item_id, previous)))
        return out + self._take_turn(event.turn_id, turn)

    def _transcript(self, event: Transcript) -> list[Command]:
        turn = self._turns.get(event.turn_id)
        if turn is None:
            return []
        if not event.final:
            return [Emit(InterimTranscript(event.turn_id, turn.item_id, event.text))]
        turn.transcript = event
        return self._take_turn(event.turn_id, turn)

    def _take_turn(self, turn_id: int, turn: _UserTurn) -> list[Command]:
        """Go on once the turn has both ended and been recognised."""
        if turn.end_sample is None or turn.transcript is None:
            return []
        del self._turns[turn_id]
        heard = turn.transcript
        seconds = max(0, turn.end_sample - turn.start_sample) / SAMPLE_RATE_HZ
        out: list[Command] = [
            Emit(FinalTranscript(turn_id, turn.item_id, heard.text, heard.confidence, seconds))
        ]
        if heard.text:
            self.dialogue.say(turn.item_id, heard.text)
            if self._answers_by_itself():
                out += self._agent.start(turn_id, self.options)
        elif self._answers_by_itself() and seconds >= APOLOGISE_FROM_S:
            out += self._say(NOT_UNDERSTOOD)
        return out

    def _answers_by_itself(self) -> bool:
        free = self._agent.current is None and self._speaking is None
        return free and self.options.turn_detection and self.options.create_response

    def _recognition_failed(self, event: RecognitionFailed) -> list[Command]:
        turn = self._turns.pop(event.turn_id, None)
        if turn is None:
            return []
        if self._speaking == event.turn_id:
            self._speaking = None
        out: list[Command] = [
            Emit(TranscriptFailed(event.turn_id, turn.item_id, event.message)),
            Emit(Failure(event.turn_id, "asr", event.message)),
        ]
        return out + (self._say(NOT_HEARD) if self._answers_by_itself() else [])

    def _idle(self) -> list[Command]:
        if not self.quiet:
            return []
        self._idle_count += 1
        if self._idle_count == 1:
            return self._say(STILL_THERE)
        self._agent.ending = "idle"
        return self._say(GOODBYE)

    def _say(self, text: str) -> list[Command]:
        return self._agent.say(text, self._last_turn, self.options)
