"""The agent's side of the conversation: asking the model, running tools, speaking.

Like `voice.dialogue.conversation`, of which it is a part, it has no I/O and no clock: every method
returns the commands that are to be carried out now, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from voice.dialogue.commands import Command, Emit, Generate, HangUp, SpeakEnd, StopGenerating
from voice.dialogue.fillers import CANNOT_STOP, ONE_MOMENT, STOPPED
from voice.dialogue.history import History
from voice.dialogue.number_check import is_grounded
from voice.dialogue.reply import Reply
from voice.dialogue.reply_playback import ReplyPlayback
from voice.dialogue.tool_calls import ToolCalls, aloud
from voice.errors import ProtocolError
from voice.events import (
    Failure,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyToolResult,
)
from voice.hearing.backchannel import is_parting
from voice.inputs import (
    AudioPlayed,
    AudioSent,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    ReplyInput,
    SessionOptions,
    SpeakingStopped,
    SpeechFailed,
    ToolAnswered,
    ToolProgressed,
    ToolSlow,
)
from voice.types import ToolCall, ToolSpec

WENT_WRONG = "Sorry, something went wrong."
MALFORMED_TRIES = 2


class ReplyLoop:
    """The reply that is being made, and those whose sound has not ended.

    Args:
        dialogue: Shared with the conversation; replies and tool results are written into it.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        max_tool_calls: In one reply; then the model must answer in words.
        max_history: Messages that the model sees.

    Attributes:
        current: The reply that is being made or sent.
        calls: The tools that run.
        ending: Why the session is to end once all has been heard; empty while it goes on.
    """

    def __init__(
        self,
        dialogue: History,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        max_tool_calls: int,
        max_history: int,
    ) -> None:
        self.current: Reply | None = None
        self.ending = self._parting = ""
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._max_tool_calls = max_tool_calls
        self._max_history = max_history
        self._speaking = ReplyPlayback(dialogue)
        self._cut: Reply | None = None
        self._announced: Reply | None = None
        self.calls = ToolCalls(dialogue, tools, ids)

    @property
    def silent(self) -> bool:
        """Whether no reply is being made and none sounds."""
        return self.current is None and not self._speaking.playing

    @property
    def sounding(self) -> list[Reply]:
        """The replies of which something may be heard now, the newest last."""
        current = [self.current] if self.current and self.current.segments else []
        return [*self._speaking.playing, *current]

    def feed(self, event: ReplyInput) -> list[Command]:
        """Take in what has become of a reply."""
        match event:
            case ModelSaid():
                return self.model_said(event)
            case ModelAnswered():
                return self.model_answered(event)
            case ModelFailed():
                return self.model_failed(event)
            case ToolAnswered():
                return self.tool_answered(event)
            case ToolSlow():
                return self.tool_slow(event)
            case ToolProgressed():
                return self.tool_progressed(event)
            case SpeechFailed():
                return self.speech_failed(event)
            case AudioSent(reply_id):
                return self.audio_sent(reply_id)
            case AudioPlayed():
                return self.audio_played(event)

    def start(self, turn_id: int, options: SessionOptions) -> list[Command]:
        """Begin a reply by asking the model."""
        return [*self.begin(turn_id, options), *self.ask()]

    def begin(self, turn_id: int, options: SessionOptions) -> list[Command]:
        """Begin a reply; `ask` or `answer` is to follow, once it is known what the user said."""
        told = self._new(turn_id, options)
        self._reply().waits = True
        return [told]

    def ask(self, context: History | None = None, of: Reply | None = None) -> list[Command]:
        """Ask the model; a context goes for the dialogue, as in the reply that it is ``of``."""
        # Another "bye" over the agent's own takes nothing back.
        said, parting, self._parting = self._dialogue.user_texts(1), self._parting, ""
        if said and is_parting(said[0]):
            self.ending = parting or self.ending
        reply = self._reply()
        reply.waits = False
        if context is not None:
            reply.context = context
            known = frozenset(entry.item_id for entry in self._dialogue)
            reply.before = of.before if of else known
        return [self._generate()]

    def answer(self, text: str) -> list[Command]:
        """Give the reply that was begun fixed words."""
        reply = self._reply()
        reply.waits = False
        pieces = reply.push(text) + reply.flush()
        return self._speaking.speak(reply, pieces) + self._close(reply)

    def say(self, text: str, turn_id: int, options: SessionOptions) -> list[Command]:
        """A reply of fixed words."""
        return [*self.begin(turn_id, options), *self.answer(text)]

    def announce(self, text: str, turn_id: int, options: SessionOptions) -> list[Command]:
        """As `say`, for words of which it is to be known whether they were `missed`."""
        out = self.say(text, turn_id, options)
        self._announced = self.current
        return out

    def missed(self) -> str:
        """The announcement of which not a word was heard until it was stopped; told of once."""
        reply = self._announced
        if reply is None or reply in self.sounding or self._speaking.unheard(reply) != reply.text:
            return ""
        self._announced = None
        if self._cut is reply:
            self._cut = None
        return reply.text

    def interrupt(self, reason: str, withdraw: bool = False) -> list[Command]:
        """Stop whatever the agent says or is about to say. Tools that run are left to finish.

        Args:
            reason: Told to the client.
            withdraw: Whether the reply was begun too soon: nothing of it is kept, heard or not.
        """
        reply, self.current = self.current, None
        cut = reply or next(reversed(self._speaking.playing), None)
        if withdraw and cut is not None:
            self._speaking.withdraw(cut)
        # A second cough over nothing leaves what the first has stopped to go on with.
        self._cut = cut or self._cut
        out = self._speaking.stop()
        if reply is not None:
            out += [StopGenerating(reply.reply_id), *self._speaking.break_off(reply)]
            out.append(self._ended(reply, ReplyStatus.CANCELLED, reason))
        self._parting, self.ending = self.ending or self._parting, ""
        return out

    def go_on(self, turn_id: int, _: SessionOptions) -> list[Command]:
        """Say the rest of what was interrupted, as it was asked for: the interruption was none."""
        cut, self._cut = self._cut, None
        if cut is None:
            return []
        self.ending, self._parting = self._parting, ""
        if not cut.closed:
            return [*self.begin(turn_id, cut.options), *self.ask(cut.context, cut)]
        rest = self._speaking.unheard(cut)
        return self.say(rest, turn_id, cut.options) if rest.strip() else self.hang_up()

    def heard(self, item_id: str, text: str) -> None:
        """Keep of a reply what its client has played, unless it is to be forgotten."""
        self._speaking.truncated(item_id, text)

    def cancel(self, reply_id: str | None) -> list[Command]:
        """Stop the reply that is being made, at the client's request.

        Raises:
            ProtocolError: There is none, or it has another id.
        """
        if self.current is None or reply_id not in (None, self.current.reply_id):
            raise ProtocolError("no reply is in progress", "response_cancel_not_active")
        # What the client does not want is not said again.
        self._announced = None
        return self.interrupt("client_cancelled")

    def model_said(self, event: ModelSaid) -> list[Command]:
        """Speak what is complete of the model's text."""
        reply = self._open(event.reply_id)
        if reply is None:
            return []
        return self._speak_grounded(reply, reply.unsaid(reply.push(event.text)))

    def model_answered(self, event: ModelAnswered) -> list[Command]:
        """Speak the rest, then run what was called, or end the reply."""
        reply = self._open(event.reply_id)
        if reply is None:
            return []
        reply.input_tokens += event.input_tokens
        reply.output_tokens += event.output_tokens
        reply.cut = event.cut
        out = self._speak_grounded(reply, reply.unsaid(reply.flush()))
        if reply.closed:
            return out
        most = self._max_tool_calls - reply.calls_made
        calls = event.calls[: max(0, most if reply.options.parallel_calls else min(1, most))]
        if calls:
            return out + self._call(reply, calls)
        if not reply.wrote:
            message = "the model's answer is empty"
            return out + self.model_failed(ModelFailed(reply.reply_id, message, malformed=True))
        return out + self._close(reply)

    def model_failed(self, event: ModelFailed) -> list[Command]:
        """Try a malformed answer again, then in words alone; apologise for anything else."""
        reply = self._open(event.reply_id)
        if reply is None:
            return []
        reply.drop_rest()
        reply.retries += 1
        reply.said = reply.text[reply.round_at :]
        if event.malformed and reply.retries <= MALFORMED_TRIES:
            return [self._generate(words_only=reply.retries == MALFORMED_TRIES)]
        reply.failure = event.message
        failure = Emit(Failure(reply.turn_id, "llm", event.message))
        apology = self._speaking.speak(reply, [f" {WENT_WRONG}"])
        return [failure, *apology, *self._close(reply)]

    def tool_answered(self, event: ToolAnswered) -> list[Command]:
        """Keep the result, whatever became of the reply; go on once all tools have answered."""
        result = event.result
        self.calls.answered(result)
        reply = self._open(event.reply_id)
        if reply is None or result.call_id not in reply.pending:
            return []
        out: list[Command] = [Emit(ReplyToolResult(reply.reply_id, result))]
        reply.pending.discard(result.call_id)
        reply.results.append(result.content)
        if reply.pending:
            return out
        return out + (self._close(reply) if reply.handed_over else [self._generate()])

    def tool_slow(self, event: ToolSlow) -> list[Command]:
        """Ask for patience, once, where nothing has been said yet."""
        reply = self._open(event.reply_id)
        if reply is None or event.call_id not in reply.pending or reply.segments:
            return []
        return self._speaking.aside(reply, ONE_MOMENT)

    def tool_progressed(self, event: ToolProgressed) -> list[Command]:
        """Tell how far a tool is, while the answer waits for it."""
        reply = self._open(event.reply_id)
        if reply is None or event.call_id not in reply.pending:
            return []
        return self._speaking.aside(reply, event.text)

    def stop_tools(self, turn_id: int, options: SessionOptions) -> list[Command]:
        """Stop what runs and say so; nothing where no tool runs."""
        stopping = self.calls.stop()
        if stopping is None:
            return []
        return stopping + self.say(STOPPED if stopping else CANNOT_STOP, turn_id, options)

    def speech_failed(self, event: SpeechFailed) -> list[Command]:
        """End the reply without the sound it cannot have."""
        reply = self.current
        if reply is None or reply.reply_id != event.reply_id:
            return []
        reply.failure = event.message
        failure = Emit(Failure(reply.turn_id, "tts", event.message))
        return [StopGenerating(reply.reply_id), failure, *self.audio_sent(reply.reply_id)]

    def audio_sent(self, reply_id: str) -> list[Command]:
        """The reply is complete as far as the client is concerned; its sound may go on."""
        reply = self.current
        if reply is None or reply.reply_id != reply_id:
            return []
        self.current = None
        status, reason = ReplyStatus.COMPLETED, ""
        if reply.failure:
            status, reason = ReplyStatus.FAILED, reply.failure
        elif reply.cut:
            status, reason = ReplyStatus.INCOMPLETE, "max_output_tokens"
        self._speaking.sounds_on(reply)
        return [self._ended(reply, status, reason), *self.hang_up()]

    def audio_played(self, event: AudioPlayed) -> list[Command]:
        """The user has heard all of the reply that will sound."""
        if self._announced and self._announced.reply_id == event.reply_id:
            self._announced = None
        return self.hang_up() if self._speaking.played(event) else []

    def speaking_stopped(self, event: SpeakingStopped) -> None:
        """Keep of an interrupted reply what was heard."""
        self._speaking.stopped(event)

    def hang_up(self) -> list[Command]:
        """End the session if that was asked for and nothing is left to say."""
        return [HangUp(self.ending)] if self.ending and self.silent else []

    def _reply(self) -> Reply:
        assert self.current is not None
        return self.current

    def _open(self, reply_id: str) -> Reply | None:
        """The reply if it is the current one and still being made; what is stale ends here."""
        reply = self.current
        if reply is None or reply.reply_id != reply_id or reply.closed:
            return None
        return reply

    def _new(self, turn_id: int, options: SessionOptions) -> Command:
        reply_id, item_id = self._ids("resp"), self._ids("item")
        origin = self.calls.origin() or reply_id
        reply = Reply(reply_id, item_id, turn_id, options, origin)
        self.current = reply
        last = self._dialogue.last_id
        return Emit(ReplyStarted(reply.reply_id, reply.item_id, turn_id, last))

    def _generate(self, words_only: bool = False) -> Command:
        reply = self._reply()
        reply.asked_at, reply.wrote = len(reply.text), False
        if not reply.retries:
            reply.round_at, reply.said = reply.asked_at, ""
        options = reply.options
        choice = options.tool_choice
        if reply.calls_made:
            # What was required has been called; asking for it again would never end.
            choice = "auto"
        if words_only or reply.calls_made >= self._max_tool_calls:
            choice = "none"
        tools = [self._tools[name] for name in options.agent_tools if name in self._tools]
        prompt = reply.prompt(self._dialogue, tools, choice, self._max_history)
        return Generate(reply.reply_id, prompt)

    def _speak_grounded(self, reply: Reply, pieces: list[str]) -> list[Command]:
        """Speak pieces; from the first with a number nobody said, the tools' own words instead."""
        if not reply.results:
            return self._speaking.speak(reply, pieces)
        sources = [*reply.results, *(entry.message.content for entry in reply.seen(self._dialogue))]
        good = [piece for piece in pieces if is_grounded(piece, sources)]
        if len(good) == len(pieces):
            return self._speaking.speak(reply, pieces)
        reply.drop_rest()
        results = "".join(f" {aloud(result)}" for result in reply.results)
        instead = self._speaking.speak(reply, [results])
        return [StopGenerating(reply.reply_id), *instead, *self._close(reply)]

    def _close(self, reply: Reply) -> list[Command]:
        """Nothing more will be said; a reply without sound is over at once."""
        reply.closed = True
        if reply.options.speak and reply.segments:
            return [SpeakEnd(reply.reply_id)]
        return self.audio_sent(reply.reply_id)

    def _call(self, reply: Reply, calls: tuple[ToolCall, ...]) -> list[Command]:
        client_names = {tool.name for tool in reply.options.client_tools}
        reply.retries = 0
        reply.calls_made += len(calls)
        reply.handed_over = any(call.name in client_names for call in calls)
        out = self.calls.begin(reply, calls)
        return out if reply.pending else out + self._close(reply)

    def _ended(self, reply: Reply, status: ReplyStatus, reason: str) -> Command:
        tokens = reply.input_tokens, reply.output_tokens
        return Emit(ReplyEnded(reply.reply_id, status, reason, reply.text, *tokens))
