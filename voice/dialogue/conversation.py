"""The conversation: a state machine over the dialogue, without I/O and without a clock.

Inputs go into `Conversation.feed`, commands come out. Whatever a superseded reply still produces
carries that reply's id and is dropped. `voice.session.session` runs it with real parts, tests run
it on virtual time. This module handles the user's and the client's side, and
`voice.dialogue.reply_loop` the agent's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto

from voice.dialogue.announcements import Announcements
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Command, Draft, Emit, HangUp
from voice.dialogue.controls import STILL_THERE, controlled
from voice.dialogue.draft_words import DraftWords
from voice.dialogue.fillers import calls_off
from voice.dialogue.flow import Flow
from voice.dialogue.history import History
from voice.dialogue.interruption import REASON, Interruption, reopens
from voice.dialogue.other_language import OtherLanguage
from voice.dialogue.reply import Occasion
from voice.dialogue.reply_loop import ReplyLoop
from voice.dialogue.reply_playback import Heard
from voice.dialogue.user_turn import UserTurn
from voice.errors import ProtocolError
from voice.events import (
    Failure,
    FinalTranscript,
    TranscriptFailed,
    UserIdle,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.inputs import (
    Announce,
    AudioPlayed,
    EndOfMessageFailed,
    EndRequested,
    FlowResumed,
    IdleElapsed,
    Input,
    ItemTranscribed,
    ItemTranscriptionFailed,
    News,
    OptionsChanged,
    RecognitionFailed,
    ReplyInput,
    SessionOptions,
    ToolFinished,
)
from voice.llm.base import Prompt
from voice.tools.spoken_results import spoken_result
from voice.types import (
    EndReason,
    Message,
    Pause,
    Role,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    ToolCall,
    ToolSpec,
    Transcript,
    TurnEnded,
)

NOT_CAUGHT = "Sorry, I did not catch that."
NOT_APPROVED = "Error: This was not approved."
NOT_HEARD = "Sorry, I could not hear that."
GOODBYE = "Goodbye."
# A shorter sound without words is a cough or a door; an apology would be worse than silence.
APOLOGISE_FROM_S = 0.6
MOST_OUT_OF_BAND = 4

Context = Sequence[str | Message]
"""What the model sees in place of the dialogue: messages, and ids of the dialogue's entries."""


class Due(Enum):
    """What the agent does next of its own accord, once the user is silent and all words are known.

    Attributes:
        NOTHING: Wait for the user.
        REPLY: Answer what the user said last.
        RESUME: Say the rest of a reply that was interrupted by mistake.
    """

    NOTHING = auto()
    REPLY = auto()
    RESUME = auto()


class Conversation:
    """One dialogue and the turn that is under way in it.

    Args:
        options: Initial options; `OptionsChanged` replaces them.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        limits: Limits of each reply.
        draft_words: Fewest stable words for which a draft is asked while the user speaks; 0 turns
            drafts off.
        heard: Tells how much of a reply the user has heard by now.
        flow: The flow at its start; None for a single agent without a flow.
    """

    def __init__(
        self,
        options: SessionOptions,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        limits: Limits = Limits(),  # noqa: B008
        draft_words: int = 0,
        heard: Heard = lambda reply_id: "",
        flow: Flow | None = None,
    ) -> None:
        self.dialogue = History()
        self._options = options
        self._ids = ids
        self._tools = tools
        self._limits = limits
        self._draft_words = draft_words
        self._heard = heard
        self._agent = ReplyLoop(self.dialogue, tools, ids, limits, heard, flow=flow)
        # Out-of-band replies in progress, each with its own dialogue for its calls.
        self._out_of_band: dict[str, ReplyLoop] = {}
        self._turns: dict[int, UserTurn] = {}
        self._speaking: int | None = None
        self._last_turn = 0
        self._committed: TurnEnded | None = None
        self._due = Due.NOTHING
        self._announcements = Announcements(self.dialogue)
        self._silences = 0
        self._other_language = OtherLanguage()
        # Replies that the client has requested but the model has not been asked for yet.
        self._requested: dict[str, Context | None] = {}
        # Items whose audio is being recognised, with the length of the text that follows the audio.
        self._untranscribed: dict[str, int] = {}

    @property
    def options(self) -> SessionOptions:
        """The current options."""
        return self._options

    @property
    def active_reply(self) -> str | None:
        """Id of the reply that is being made or sent, or None."""
        return self._agent.current.reply_id if self._agent.current else None

    @property
    def quiet(self) -> bool:
        """Whether neither side is speaking, and no user turn is waiting for an answer."""
        return self._agent.silent and not self._turns and self._due is not Due.REPLY

    @property
    def proposed(self) -> tuple[ToolCall, ...]:
        """The calls that the agent has asked about, and that a "yes" would make."""
        return self._agent.proposed

    def feed(self, event: Input) -> list[Command]:
        """Take in an input; returns the commands to carry out now, in order."""
        match event:
            case TurnEnded():
                out = self._turn_ended(event)
            case Transcript():
                out = self._transcript(event)
            case SpeechStarted():
                out = self._speech_started(event)
            case SpeechLasted(turn_id) | Pause(turn_id) | SpeechResumed(turn_id):
                turn = self._turns.get(turn_id)
                out = self._speech_goes_on(event, turn) if turn else []
            case RecognitionFailed():
                out = self._recognition_failed(event)
            case OptionsChanged(options):
                self._options, out = options, []
            case ItemTranscribed() | ItemTranscriptionFailed():
                out = self._item_transcribed(event)
            case _:
                out = self._noted(event) if isinstance(event, News) else self._reply_input(event)
        out += self._ask_requested()
        out += self._answer_waiting()
        out += self._announce()
        # Whoever set an announcement learns whether it was heard before the session ends.
        return sorted(out, key=lambda command: isinstance(command, HangUp))

    def leave(self) -> list[Command]:
        """End the conversation here, whatever is being said."""
        return self._announcements.leave(self._heard)

    def create_response(
        self, options: SessionOptions, context: Context | None = None, out_of_band: bool = False
    ) -> tuple[str, list[Command]]:
        """Begin a reply at the client's request; the model is asked once all words are known.

        Returns:
            The reply's id, and the commands to carry out now.

        Raises:
            ProtocolError: Another reply is in progress (out of band: too many are), or the context
                names an unknown id.
        """
        for item_id in (one for one in context or () if isinstance(one, str)):
            self.dialogue.get(item_id)
        if out_of_band:
            reply_id, out = self._begin_out_of_band(options)
        else:
            reply_id, out = self._begin_requested(options)
        self._requested[reply_id] = context
        return reply_id, out + self._ask_requested()

    def carry_out(self, call: ToolCall, options: SessionOptions) -> tuple[str, list[Command]]:
        """Begin a reply with a call that the client has approved; else as `create_response`."""
        reply_id, out = self._begin_requested(options)
        return reply_id, out + self._agent.carry_out(call)

    def decline(
        self, call: ToolCall, item_id: str, options: SessionOptions
    ) -> tuple[str, list[Command]]:
        """Begin a reply to a call that the client has refused; otherwise as `create_response`.

        Args:
            call: The refused call, which is in the dialogue.
            item_id: Id of the new entry with the refusal, which becomes the call's result.
            options: Options of the reply.
        """
        reply_id, out = self._begin_requested(options)
        self.dialogue.add(
            item_id, Message(Role.TOOL, NOT_APPROVED, call_id=call.call_id, name=call.name)
        )
        return reply_id, out + self._agent.ask()

    def cancel(self, reply_id: str | None = None) -> list[Command]:
        """Stop a reply at the client's request; None stands for the current one.

        Raises:
            ProtocolError: No reply is in progress, or it has another id.
        """
        agent = self._agent_of(reply_id)
        sounding, out = agent.sounding, agent.cancel(reply_id)
        if agent is self._agent:
            out += self._announcements.hush(sounding)
        return self._settled(reply_id, out) + self._answer_waiting()

    def interrupt(self) -> list[Command]:
        """Stop everything that the agent is saying, if anything: the user has heard enough."""
        out = self._announcements.hush(self._agent.sounding)
        if self._agent.current is not None:
            return out + self._agent.cancel(None) + self._answer_waiting()
        return out if self._agent.silent else out + self._agent.interrupt("client_cancelled")

    def truncate(self, item_id: str, text: str) -> None:
        """Keep only the part of a reply that the client has played."""
        self._agent.truncate(item_id, text)

    def forget_turn(self) -> list[Command]:
        """Forget the turn in progress: the client has dropped its audio."""
        turn = self._turns.pop(self._speaking, None) if self._speaking is not None else None
        self._speaking = None
        if turn and turn.stopped_for_nothing and self._due is Due.NOTHING:
            self._due = Due.RESUME
        return (turn.drop() if turn else []) + self._answer()

    def await_item(self, item_id: str, following: int = 0) -> None:
        """Hold back requested replies until this item has been transcribed, or that has failed.

        Its words come before the last ``following`` characters of its text.
        """
        self._untranscribed[item_id] = following

    def prompt_for(self, words: str) -> Prompt:
        """The prompt that the model would get if the user's turn ended with these words."""
        return self._agent.prompt(self._options, self._ending_with(words))

    def speculate(self, draft: Draft) -> tuple[ReplyLoop, list[Command]]:
        """An agent's side on a copy of the dialogue that ends with a draft, and its commands."""
        numbers = itertools.count(1)
        agent = self._agent.copy(
            self._ending_with(draft.words), lambda prefix: f"draft_{prefix}_{next(numbers)}"
        )
        return agent, [*agent.begin(draft.turn_id, self._options), *agent.ask()]

    def _ending_with(self, words: str) -> History:
        dialogue = self.dialogue.copy()
        going_on = any(turn.goes_on for turn in self._turns.values())
        dialogue.add("draft", Message(Role.USER, words), goes_on=going_on)
        return dialogue

    def _begin_out_of_band(self, options: SessionOptions) -> tuple[str, list[Command]]:
        """Begin a reply that stays out of the dialogue and has the client's tools only."""
        if len(self._out_of_band) >= MOST_OUT_OF_BAND:
            raise ProtocolError(
                f"{len(self._out_of_band)} replies outside the conversation are in progress; "
                f"expected at most {MOST_OUT_OF_BAND} at once",
                "too_many_active_responses",
            )
        agent = ReplyLoop(History(), {}, self._ids, replace(self._limits, out_of_band=True))
        commands = agent.begin(0, replace(options, agent_tools=()))
        assert agent.current is not None
        self._out_of_band[agent.current.reply_id] = agent
        return agent.current.reply_id, commands

    def _begin_requested(self, options: SessionOptions) -> tuple[str, list[Command]]:
        current, out = self._agent.current, []
        if current is not None and current.occasion is Occasion.ANSWER:
            raise ProtocolError(
                f"reply {current.reply_id} is in progress",
                "conversation_already_has_active_response",
            )
        if current is not None:
            out = self._agent.cancel(None)
        self._announcements.go_on()
        self._due = Due.NOTHING
        self._silences = 0
        out += self._agent.begin(self._last_turn, options)
        return self.active_reply or "", out

    def _ask_requested(self) -> list[Command]:
        """Ask the model for the replies that the client has requested, if all words are known."""
        unknown = any(turn.ended and turn.transcript is None for turn in self._turns.values())
        if unknown or self._untranscribed:
            return []
        requested, self._requested = self._requested, {}
        out: list[Command] = []
        for reply_id, context in requested.items():
            seen = None if context is None else self.dialogue.picked(context)
            if reply_id in self._out_of_band:
                seen = self.dialogue.copy() if seen is None else seen
                out += self._out_of_band[reply_id].ask(seen)
            elif reply_id == self.active_reply:
                newest = next(reversed(list(self.dialogue)), None)
                unclear = seen is None and newest and newest.message == Message(Role.USER)
                fixed = NOT_CAUGHT if unclear else None if context else self._controlled()
                out += self._agent.ask(seen) if fixed is None else self._agent.answer(fixed)
        return out

    def _announce(self) -> list[Command]:
        if not self.quiet:
            return []
        announce, out = self._announcements.next()
        if announce is not None:
            occasion = Occasion.ALERT if announce.again else Occasion.REMARK
            said = announce.text, self._last_turn, self._options, occasion
            out += self._agent.say(*said, aside=True)
            out += self._announcements.begun(self._agent.current)
        return out

    def _noted(self, event: News) -> list[Command]:
        match event:
            case ToolFinished(result):
                learned = self._agent.learn_late(result)
                if self._agent.calls.finished(result):
                    self._announcements.add(Announce(spoken_result(result.content), again=True))
                return learned
            case FlowResumed(position):
                return self._agent.lead.resume(position)
            case Announce():
                self._announcements.add(event)
            case EndRequested(reason):
                return self._agent.end(reason, talked_over=bool(self._turns))
            case EndOfMessageFailed(turn_id, message):
                return [Emit(Failure(turn_id, "llm", message))]
            case IdleElapsed():
                return self._idle_elapsed(event)
        return []

    def _reply_input(self, event: ReplyInput) -> list[Command]:
        out = self._settled(event.reply_id, self._agent_of(event.reply_id).feed(event))
        return out + (self._announcements.played(event) if isinstance(event, AudioPlayed) else [])

    def _agent_of(self, reply_id: str | None) -> ReplyLoop:
        return self._out_of_band.get(reply_id or "", self._agent)

    def _settled(self, reply_id: str | None, commands: list[Command]) -> list[Command]:
        """Forget the out-of-band reply if it is over; returns the commands unchanged."""
        if reply_id in self._out_of_band and self._out_of_band[reply_id].current is None:
            del self._out_of_band[reply_id]
        return commands

    def _open(self, turn_id: int, start_sample: int) -> UserTurn:
        words = DraftWords(self._draft_words)
        turn = UserTurn(turn_id, self._ids("item"), start_sample, words)
        self._turns[turn_id] = turn
        self._last_turn = turn_id
        return turn

    def _speech_started(self, event: SpeechStarted) -> list[Command]:
        turn = self._open(event.turn_id, event.start_sample)
        self._speaking = event.turn_id
        self._silences = 0
        self._announcements.go_on()
        if not self._options.interrupt_response:
            return [turn.started()]
        sounding, replies = self._agent.sounding, [*self._agent.sounding, self._agent.current]
        answered = {one.turn_id for one in replies if one and one.occasion is Occasion.ANSWER}
        turn.goes_on = reopens(event, self._committed, answered | self._turns.keys())
        if not self._agent.silent:
            for earlier in self._turns.values():
                if earlier.pending:
                    earlier.pending.hand_over()
            turn.interrupt(Interruption.begin(sounding, self._options.holds, turn.goes_on))
            if turn.pending:
                return turn.pending.hold()
        return self._stop(turn, withdraw=turn.goes_on)

    def _speech_goes_on(
        self, event: SpeechLasted | Pause | SpeechResumed, turn: UserTurn
    ) -> list[Command]:
        if not isinstance(event, SpeechLasted):
            return turn.pause(event)
        if turn.pending:
            turn.pending.last()
            return self._stop_if_proven(turn)
        return []

    def _stop_if_proven(self, turn: UserTurn) -> list[Command]:
        """Stop what was only held, once the speech has proved to be an interruption."""
        return [] if turn.pending else self._stop(turn)

    def _stop(self, turn: UserTurn, withdraw: bool = False) -> list[Command]:
        # The client flushes its audio at the turn's start, so this event goes out first.
        return [turn.started(), *self._agent.interrupt(REASON, withdraw)]

    def _judge(
        self, turn: UserTurn, pending: Interruption, transcript: Transcript
    ) -> list[Command]:
        return pending.judge(transcript) + self._stop_if_proven(turn)

    def _turn_ended(self, event: TurnEnded) -> list[Command]:
        turn = self._turns.get(event.turn_id)
        if turn is None:
            # A manual turn has no detected start.
            start = event.end_sample if event.start_sample is None else event.start_sample
            turn = self._open(event.turn_id, start)
        turn.end(event)
        if self._speaking == event.turn_id:
            self._speaking = None
        return ([] if turn.pending else self._commit(event, turn)) + self._settle(turn)

    def _commit(self, event: TurnEnded, turn: UserTurn) -> list[Command]:
        self._committed = event
        self._silences = 0
        previous = self.dialogue.last_id
        self.dialogue.add(turn.item_id, Message(Role.USER), goes_on=turn.goes_on)
        out: list[Command] = []
        if event.reason is not EndReason.MANUAL:
            out.append(Emit(UserSpeechStopped(event.turn_id, turn.item_id, event.end_sample)))
        return [*out, Emit(UserTurnCommitted(event.turn_id, turn.item_id, previous))]

    def _transcript(self, event: Transcript) -> list[Command]:
        turn = self._turns.get(event.turn_id)
        if turn is None:
            return []
        if event.final:
            turn.recognise(event)
            return self._settle(turn)
        out: list[Command] = []
        if turn.pending and not turn.paused:
            turn.pending.overhear(event.text)
            return self._stop_if_proven(turn)
        if turn.pending:
            out = self._judge(turn, turn.pending, event)
        if turn.pending or not event.text:
            return out
        return out + turn.show(event.shown) + self._draft(turn, event.text)

    def _draft(self, turn: UserTurn, text: str) -> list[Command]:
        options = self._options
        if self._agent.current or not (options.turn_detection and options.create_response):
            return []
        words = turn.draft_words.take(text, turn.paused, options.shows_drafts)
        return [Draft(turn.turn_id, words, turn.paused)] if words else []

    def _settle(self, turn: UserTurn) -> list[Command]:
        """Act on the turn, once it has both ended and been recognised."""
        ended, transcript = turn.ended, turn.transcript
        if ended is None or transcript is None:
            return []
        out: list[Command] = []
        if turn.pending:
            out += self._judge(turn, turn.pending, transcript)
            if turn.pending:
                # It was not an interruption, so it is not a turn either.
                del self._turns[turn.turn_id]
                return out + self._answer()
            out += self._commit(ended, turn)
        del self._turns[turn.turn_id]
        shown = transcript.shown, transcript.confidence, turn.seconds, transcript.find_words
        out.append(Emit(FinalTranscript(turn.turn_id, turn.item_id, *shown)))
        manual, apology = ended.reason is EndReason.MANUAL, ""
        if turn.interruption and not manual and turn.interruption.was_none(transcript):
            self._due = Due.RESUME if self._due is Due.NOTHING else self._due
        elif transcript.text:
            self._other_language.hear(turn.item_id, transcript)
            self.dialogue.say(turn.item_id, transcript.text)
            self._due = Due.NOTHING if manual else Due.REPLY
        elif not manual and turn.seconds >= APOLOGISE_FROM_S:
            apology = NOT_CAUGHT
        return out if manual else out + self._answer(apology)

    def _answer_waiting(self) -> list[Command]:
        """Answer words that came during a reply, once that is over."""
        return self._answer() if self._due is Due.REPLY and self._agent.current is None else []

    def _answer(self, apology: str = "") -> list[Command]:
        """Do what is due, unless more may follow; if nothing is, say the ``apology``, if any."""
        if self._more_follows:
            return []
        current, options = self._agent.current, self._options
        waits = current.reply_id not in self._requested if current else self._untranscribed
        if self._due is Due.REPLY and waits:
            # A reply that was begun before these words comes first, and so do the client's words.
            return []
        due, self._due = self._due, Due.NOTHING
        if current or not (options.turn_detection and options.create_response):
            return []
        if due is Due.RESUME:
            return self._agent.resume(self._last_turn)
        if due is Due.NOTHING:
            return self._say(apology) if apology else []
        if calls_off(self.dialogue.newest_said):
            stopped = self._agent.stop_tools(self._last_turn, options)
            if stopped:
                return stopped
        fixed = self._controlled()
        out = self._agent.begin(self._last_turn, self._options)
        return out + (self._agent.ask() if fixed is None else self._agent.answer(fixed))

    def _controlled(self) -> str | None:
        """The answer to a message in another language, or to one for the conversation itself.

        A message of the latter kind ("slower, please") may change the options. None for others.
        """
        if (answer := self._other_language.answer(self.dialogue, NOT_CAUGHT)) is not None:
            return answer
        found = controlled(self.dialogue, self._options, self._agent.interrupted, self._tools)
        if found is None:
            return None
        answer, self._options = found
        return answer

    @property
    def _more_follows(self) -> bool:
        """Whether the user is speaking, or a turn that ended by itself is not yet transcribed."""
        unknown = [turn.ended for turn in self._turns.values() if turn.transcript is None]
        ended = any(event and event.reason is not EndReason.MANUAL for event in unknown)
        return ended or self._speaking is not None

    def _recognition_failed(self, event: RecognitionFailed) -> list[Command]:
        turn = self._turns.pop(event.turn_id, None)
        if turn is None:
            return []
        if self._speaking == event.turn_id:
            self._speaking = None
        if turn.pending:
            return turn.pending.release() + self._answer()
        out: list[Command] = [
            Emit(TranscriptFailed(event.turn_id, turn.item_id, event.message)),
            Emit(Failure(event.turn_id, "asr", event.message)),
        ]
        return out + self._answer(NOT_HEARD)

    def _item_transcribed(self, event: ItemTranscribed | ItemTranscriptionFailed) -> list[Command]:
        following = self._untranscribed.pop(event.item_id, 0)
        if isinstance(event, ItemTranscriptionFailed):
            failed = TranscriptFailed(0, event.item_id, event.message)
            return [Emit(failed), Emit(Failure(0, "asr", event.message))]
        heard = event.transcript
        typed = {entry.item_id: entry.message.content for entry in self.dialogue}
        if event.item_id in typed:
            text = typed[event.item_id]
            at = len(text) - following
            words = text[:at].strip(), heard.text, text[at:]
            self.dialogue.say(event.item_id, " ".join(filter(None, words)))
        shown = heard.shown, heard.confidence, event.seconds
        return [Emit(FinalTranscript(0, event.item_id, *shown))]

    def _idle_elapsed(self, event: IdleElapsed) -> list[Command]:
        if not self.quiet or self._agent.calls.unfinished:
            return []
        self._silences += 1
        if self._options.idle_ends:
            if self._silences == 1:
                return self._say(STILL_THERE, Occasion.REMARK)
            return self._say(GOODBYE, Occasion.REMARK) + self._agent.end("idle")
        item_id, previous = self._ids("item"), self.dialogue.last_id
        self.dialogue.add(item_id, Message(Role.USER))
        idle = UserIdle(item_id, previous, event.start_sample, event.end_sample)
        return [Emit(idle), *self._say(STILL_THERE, Occasion.REMARK)]

    def _say(self, text: str, occasion: Occasion = Occasion.ANSWER) -> list[Command]:
        return self._agent.say(text, self._last_turn, self._options, occasion)
