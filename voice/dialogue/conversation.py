"""The conversation: a state machine over the dialogue, without I/O and without a clock.

Inputs go into `Conversation.feed`, commands come out. What a superseded reply still produces
carries its id and is dropped. Real parts run it in `voice.session.session`, tests on virtual time.
This module is the user's side of it; `voice.dialogue.reply_loop` is the agent's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from voice.dialogue.commands import Command, Draft, Emit
from voice.dialogue.fillers import calls_off
from voice.dialogue.history import History
from voice.dialogue.idle import GOODBYE, IdleTimer
from voice.dialogue.interruption import Interruptions
from voice.dialogue.reply_loop import ReplyLoop
from voice.dialogue.speculation import SpeculativeReply, Wording
from voice.dialogue.tool_calls import aloud
from voice.dialogue.user_turn import UserTurn
from voice.errors import ProtocolError
from voice.events import (
    Failure,
    FinalTranscript,
    TranscriptFailed,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.inputs import (
    Announce,
    EndRequested,
    IdleElapsed,
    Input,
    OpinionFailed,
    RecognitionFailed,
    SessionOptions,
    SpeakingStopped,
    ToolFinished,
)
from voice.types import (
    EndReason,
    Message,
    Pause,
    Role,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    ToolSpec,
    Transcript,
    TurnEnded,
    samples_of_ms,
)

NOT_UNDERSTOOD = "Sorry, I did not catch that."
NOT_HEARD = "Sorry, I could not hear that."
# Shorter sound without words is a cough or a door; an apology for it would be worse than silence.
APOLOGISE_FROM_S = 0.6
REOPEN_MS = 700
"""Who goes on so soon after the end of the turn had not ended it."""

Answer = Callable[[int, SessionOptions], list[Command]]
"""Begins a reply: the turn that it answers, its options → what is to be done."""


class Conversation:
    """One dialogue and the turn that is under way in it.

    Args:
        options: How it begins; replaced when the client changes them.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        max_tool_calls: In one reply; then the model must answer in words.
        max_history: Messages that the model sees.
        draft_words: Stable words from which on drafts are asked for; 0 asks for none.
    """

    def __init__(
        self,
        options: SessionOptions,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        max_tool_calls: int = 6,
        max_history: int = 24,
        draft_words: int = 0,
    ) -> None:
        self.options = options
        self.dialogue = History()
        self._ids = ids
        self._tools = tools
        self._limits = max_tool_calls, max_history
        self._draft_words = draft_words
        self._agent = ReplyLoop(self.dialogue, tools, ids, max_tool_calls, max_history)
        self._turns: dict[int, UserTurn] = {}
        self._speaking: int | None = None
        self._last_turn = 0
        self._decided: TurnEnded | None = None
        self._waiting: deque[Announce] = deque(maxlen=16)
        self._idleness = IdleTimer(self.dialogue, ids)
        # What a turn is owed that was known when the user had made another sound already.
        self._owed: Answer | None = None
        self._interrupting = Interruptions(self._agent)

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
            waiting = self._waiting.popleft()
            say = self._agent.announce if waiting.again else self._agent.say
            commands += say(waiting.text, self._last_turn, self.options)
        return commands

    @property
    def recognising(self) -> bool:
        """Whether a turn is over whose words are not known yet."""
        return any(turn.ended and turn.transcript is None for turn in self._turns.values())

    def respond(self, options: SessionOptions | None = None) -> list[Command]:
        """Begin a reply at the client's request; `ask` is to follow once nothing is `recognising`.

        Raises:
            ProtocolError: Another reply is being made.
        """
        if self._agent.current is not None:
            raise ProtocolError(
                f"reply {self._agent.current.reply_id} is in progress",
                "conversation_already_has_active_response",
            )
        self._owed = None
        self._idleness.broken()
        return self._agent.begin(self._last_turn, options or self.options)

    def ask(self, reply_id: str, context: History | None = None) -> list[Command]:
        """Ask the model for a reply that the client wanted; nothing when it is over by now.

        Args:
            reply_id: Of the reply.
            context: What the model sees in place of the dialogue.
        """
        if self.active_reply != reply_id:
            return []
        newest = next(reversed(list(self.dialogue)), None)
        if context is None and newest and newest.message == Message(Role.USER):
            return self._agent.answer(NOT_UNDERSTOOD)
        return self._agent.ask(context)

    def cancel(self, reply_id: str | None = None) -> list[Command]:
        """Stop the reply that is being made, at the client's request.

        Raises:
            ProtocolError: There is none, or it has another id.
        """
        return self._agent.cancel(reply_id)

    def heard(self, item_id: str, text: str) -> None:
        """Keep of a reply what its client has played."""
        self._agent.heard(item_id, text)
        self._keep_missed()

    def _dispatch(self, event: Input) -> list[Command]:
        match event:
            case SpeechStarted():
                return self._speech_started(event)
            case TurnEnded():
                return self._turn_ended(event)
            case Transcript():
                return self._transcript(event)
            case RecognitionFailed():
                return self._recognition_failed(event)
            case SpeechLasted(turn_id):
                turn = self._turns.get(turn_id)
                return self._interrupting.lasted(turn_id, turn) if turn else []
            case ToolFinished(result):
                if self._agent.calls.finished(result):
                    self._waiting.append(Announce(aloud(result.content), again=True))
            case SpeakingStopped():
                self._agent.speaking_stopped(event)
                self._keep_missed()
                return self._interrupting.stopped()
            case Announce():
                self._waiting.append(event)
            case EndRequested(reason):
                self._agent.ending = reason
                return self._agent.hang_up()
            case OpinionFailed(turn_id, message):
                return [Emit(Failure(turn_id, "llm", message))]
            case IdleElapsed():
                return self._idle(event)
            case Pause(turn_id) | SpeechResumed(turn_id):
                turn = self._turns.get(turn_id)
                return turn.pause(event) if turn else []
            case _:
                return self._agent.feed(event)
        return []

    def _open(self, turn_id: int, start_sample: int) -> UserTurn:
        turn = UserTurn(self._ids("item"), start_sample, Wording(self._draft_words))
        self._turns[turn_id] = turn
        self._last_turn = turn_id
        return turn

    def _speech_started(self, event: SpeechStarted) -> list[Command]:
        turn = self._open(event.turn_id, event.start_sample)
        reopens = self._reopens(event)
        self._speaking = event.turn_id
        self._idleness.broken()
        if not self.options.interrupt_response:
            return [turn.started(event.turn_id)]
        return self._interrupting.begun(event.turn_id, turn, self.options.holds, reopens)

    def _reopens(self, event: SpeechStarted) -> bool:
        """Whether the user only goes on with the turn that the agent is answering."""
        ended, current = self._decided, self._agent.current
        answers = [*self._agent.sounding, *([current] if current else [])]
        if ended is None or not any(reply.turn_id == ended.turn_id for reply in answers):
            return False
        return event.start_sample - ended.decided_sample <= samples_of_ms(REOPEN_MS)

    def forget_turn(self) -> list[Command]:
        """The client has dropped what was heard of the turn that is under way."""
        turn = self._turns.pop(self._speaking, None) if self._speaking is not None else None
        self._speaking = None
        released = turn.doubt.release() if turn and turn.doubt else []
        return released + self._nothing_heard()

    def _turn_ended(self, event: TurnEnded) -> list[Command]:
        turn = self._turns.get(event.turn_id)
        if turn is None:
            # A manual turn has no detected start.
            start = event.end_sample if event.start_sample is None else event.start_sample
            turn = self._open(event.turn_id, start)
        turn.ended, turn.end_sample = event, event.end_sample
        if self._speaking == event.turn_id:
            self._speaking = None
        return self._settle(event.turn_id, turn) if turn.doubt else self._commit(event, turn)

    def _settle(self, turn_id: int, turn: UserTurn) -> list[Command]:
        """Once a turn in doubt has ended and been recognised, it is a turn or nothing."""
        if turn.ended is None or turn.transcript is None:
            return []
        out = self._interrupting.weigh(turn_id, turn, turn.transcript)
        if turn.doubt is None:
            return out + self._interrupting.stopped(partial(self._commit, turn.ended, turn))
        del self._turns[turn_id]
        return out + self._nothing_heard()

    def _commit(self, event: TurnEnded, turn: UserTurn) -> list[Command]:
        self._decided = event
        self._idleness.broken()
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
        if event.final:
            turn.transcript = event
            take = self._settle if turn.doubt else self._take_turn
            return take(event.turn_id, turn)
        if turn.doubt and not turn.paused:
            return self._interrupting.overheard(event.turn_id, turn, event.text)
        weighed = self._interrupting.weigh(event.turn_id, turn, event) if turn.doubt else []
        if turn.doubt or not event.text:
            return weighed
        told = turn.shown(event.turn_id, event.text)
        draft = partial(self._draft, event.turn_id, turn, event.text)
        return weighed + told + (self._interrupting.stopped(draft) if weighed else draft())

    def _draft(self, turn_id: int, turn: UserTurn, text: str) -> list[Command]:
        options = self.options
        if self._agent.current or not (options.turn_detection and options.create_response):
            return []
        words = turn.wording.take(text, turn.paused)
        return [Draft(turn_id, words, turn.paused)] if words else []

    def rehearse(self, draft: Draft) -> tuple[SpeculativeReply, list[Command]]:
        """The reply that would follow a draft's words, on a copy of the dialogue.

        Returns:
            The reply in the making, and the commands that it begins with.
        """
        dialogue = self.dialogue.copy()
        dialogue.add(f"draft_{draft.turn_id}", Message(Role.USER, draft.words))
        rehearsal = SpeculativeReply(dialogue, self._tools, *self._limits)
        return rehearsal, rehearsal.begin(draft.turn_id, self.options)

    def _take_turn(self, turn_id: int, turn: UserTurn) -> list[Command]:
        """Go on once the turn has both ended and been recognised."""
        if turn.ended is None or turn.transcript is None:
            return []
        del self._turns[turn_id]
        heard, seconds = turn.transcript, turn.seconds
        manual = turn.ended.reason is EndReason.MANUAL
        out: list[Command] = [
            Emit(FinalTranscript(turn_id, turn.item_id, heard.text, heard.confidence, seconds))
        ]
        if turn.cut and not manual and not turn.cut.proven(heard, turn.ended.end_sample):
            out += self._answer(self._owed or self._agent.go_on)
        elif heard.text:
            self.dialogue.say(turn.item_id, heard.text)
            self._owed = None
            out += [] if manual else self._answer(partial(self._reply_to, heard.text))
        elif not manual:
            out += self._nothing_heard(NOT_UNDERSTOOD if seconds >= APOLOGISE_FROM_S else "")
        return out

    def _answer(self, answer: Answer) -> list[Command]:
        """Give an answer, once what the user has said behind its question is known as well."""
        self._owed = answer if self._more_follows else None
        return answer(self._last_turn, self.options) if self._answers_by_itself() else []

    def _reply_to(self, text: str, turn_id: int, options: SessionOptions) -> list[Command]:
        stopped = calls_off(text) and self._agent.stop_tools(turn_id, options)
        return stopped or self._agent.start(turn_id, options)

    def _nothing_heard(self, apology: str = "") -> list[Command]:
        """Answer a turn before, where that still waits; else apologise, if in any words."""
        if not self._answers_by_itself():
            return []
        owed, self._owed = self._owed, None
        if owed:
            return owed(self._last_turn, self.options)
        return self._say(apology) if apology else []

    def _answers_by_itself(self) -> bool:
        free = self._agent.current is None and not self._more_follows
        return free and self.options.turn_detection and self.options.create_response

    @property
    def _more_follows(self) -> bool:
        """Whether the user speaks, or words are not known yet of a turn that ended by itself."""
        unknown = [turn.ended for turn in self._turns.values() if turn.transcript is None]
        ended = any(event and event.reason is not EndReason.MANUAL for event in unknown)
        return ended or self._speaking is not None

    def _recognition_failed(self, event: RecognitionFailed) -> list[Command]:
        turn = self._turns.pop(event.turn_id, None)
        if turn is None:
            return []
        if self._speaking == event.turn_id:
            self._speaking = None
        if turn.doubt:
            return turn.doubt.release() + self._nothing_heard()
        out: list[Command] = [
            Emit(TranscriptFailed(event.turn_id, turn.item_id, event.message)),
            Emit(Failure(event.turn_id, "asr", event.message)),
        ]
        return out + self._nothing_heard(NOT_HEARD)

    def _keep_missed(self) -> None:
        """What was announced and not heard is said once more, behind the turn that stopped it."""
        if missed := self._agent.missed():
            self._waiting.appendleft(Announce(missed))

    def _idle(self, event: IdleElapsed) -> list[Command]:
        if not self.quiet or self._agent.calls.owe:
            return []
        told, words = self._idleness.elapsed(event, self.options)
        if words == GOODBYE:
            self._agent.ending = "idle"
        return told + self._say(words)

    def _say(self, text: str) -> list[Command]:
        return self._agent.say(text, self._last_turn, self.options)
