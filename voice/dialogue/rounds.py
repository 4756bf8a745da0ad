"""The rounds of a reply: asking the model, making its calls, and saying the results.

Part of `voice.dialogue.reply_loop`: no I/O, no clock. Knows nothing of other replies, nor of
playback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from voice.dialogue.call_checks import STILL_WAITS, CallChecks, Limits
from voice.dialogue.commands import Command, Emit, Generate, SpeakEnd, StopGenerating
from voice.dialogue.fillers import ONE_MOMENT, UNDER_WAY
from voice.dialogue.flow import Flow
from voice.dialogue.flow_words import NOT_UNDERSTOOD, OKAY
from voice.dialogue.history import History
from voice.dialogue.lead import FROM_THE_BEGINNING, WHAT_TO_CHANGE, Lead
from voice.dialogue.prompts import Prompts
from voice.dialogue.reply import Phase, Reply
from voice.dialogue.reply_playback import ReplyPlayback
from voice.dialogue.requests import Request
from voice.dialogue.second_thoughts import second_thoughts
from voice.dialogue.tool_calls import ToolCalls
from voice.events import Failure, ReplyStatus, ReplyToolResult
from voice.inputs import (
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    ReplyInput,
    ToolAnswered,
    ToolProgressed,
    ToolSlow,
)
from voice.types import ToolCall, ToolResult, ToolSpec
from voice.understanding.confirmation import HeldBack, Question, confirmed_ones
from voice.understanding.corrections import followed, with_the_rest
from voice.understanding.english import written_out
from voice.understanding.farewell import says_goodbye
from voice.understanding.low_confidence import (
    I_SEE,
    NOT_SURE,
    asked_about,
    left_undone,
    wants_a_change,
    worth_asking,
)
from voice.understanding.missed_requests import not_understood
from voice.understanding.remarks import only_tells
from voice.understanding.tool_sentences import closing_question, own_words

WENT_WRONG = "Sorry, something went wrong."
MALFORMED_TRIES = 2
OUT_OF_BAND_PRIORITY = 0
"""Priority of out-of-band requests: after replies that somebody waits to hear, before drafts."""


class Rounds:
    """Decides what each reply says and which tools it calls.

    A reply that is complete and has no sound is over at once; the caller has to end it.

    Args:
        dialogue: Shared with the conversation; replies and tool results are written into it.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        limits: Limits of the tool loop and of the history.
        lead: The flow's decisions.
        playback: Speaks the replies.
        is_ending: Tells whether the session is to end once everything has been heard.

    Attributes:
        calls: The calls of tools that run here.
        prompts: Writes the prompts for the model.
    """

    def __init__(
        self,
        dialogue: History,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        limits: Limits,
        lead: Lead,
        playback: ReplyPlayback,
        is_ending: Callable[[], bool],
    ) -> None:
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._limits = limits
        self._lead = lead
        self._checks = CallChecks(dialogue, tools, ids, limits, lead)
        self._playback = playback
        self._is_ending = is_ending
        # The open question, as long as nothing else has been said.
        self._question = Question()
        self.calls = ToolCalls(dialogue, tools, ids)
        self.prompts = Prompts(tools, limits, lead)

    def begin(self, reply: Reply, context: History | None, known: frozenset[str]) -> list[Command]:
        """Answer the user's last message: without the model, or by asking it.

        Args:
            reply: A reply that has been begun.
            context: What the model sees in place of the dialogue's ``known`` entries; None for the
                dialogue itself.
            known: Ids of the entries that the context replaces.
        """
        newest = self._dialogue.newest_said
        if self._lead.drives(reply):
            newest = written_out(newest)
        question, self._question = self._question, Question()
        reply.answer_to(question)
        agreed = question.answered(newest, self._lead.asking_first())
        if agreed:
            reply.agree()
            return self.call(reply, agreed)
        if agreed is not None:
            if self._lead.drives(reply):
                moved = self._lead.declined(question.calls)
                return [*moved, *self._say_behind(reply, question.declined), *self._conclude(reply)]
            return self.answer(reply, question.declined)
        if question.stays(self._tools) and not question.at_parting:
            reply.leave_open(question.calls)
        if context is not None:
            reply.see(context, known)
        if fixed := self._checks.fixed_words(reply):
            again = reply.open and fixed.endswith("?")
            return self._conclude(reply, fixed) if again else self.answer_aside(reply, fixed)
        apart = self._checks.requests(reply, question) if context is None else None
        # Before any pattern takes the message: "send it" also says yes to the open question.
        if apart and self._checks.passed_over(reply, question):
            reply.take_apart(apart.behind_a_yes())
            return self.call(reply, question.calls)
        if context is None:
            left, said = self._lead.left(reply, newest)
            taken = self._take(reply, said, several=bool(apart and apart.left))
            if taken is not None or self._lead.drives(reply):
                return left + ([self._generate(reply)] if taken is None else taken)
        reply.take_apart(apart)
        if plain := second_thoughts(self._checks, reply):
            if not plain.made:
                return self._conclude(reply, plain.question, plain.unconfirmed)
            reply.hold(plain.question, plain.unconfirmed)
            reply.agree()
            return self.call(reply, plain.made)
        if reply.requests and reply.options.tool_choice == "auto":
            seen = self._dialogue.view(self._limits.max_history)
            reply.follow(followed(seen, self._checks.own_tools(reply)))
        return self._ask_request(reply)

    def learn(self, result: ToolResult, of_current: bool) -> list[Command]:
        """Take in a call's result; if it is of the current reply, its options become a question."""
        call = self.calls.answered(result)
        if call and of_current and result.options:
            self._question = Question.which(call, result.options, self._ids)
        return self._lead.learn(call, result, self._dialogue)

    @property
    def proposed(self) -> tuple[ToolCall, ...]:
        """The calls that a "yes" would now make."""
        return () if self._question.options else self._question.calls

    def reopen_question(self, reply: Reply) -> None:
        """Open the question before a withdrawn reply again, unless calls have answered it."""
        self._question = Question() if reply.calls_made else reply.answers

    def take_question(self, other: Rounds) -> None:
        """Take over the open question of another conversation, of which this is a draft."""
        self._question = other._question

    def forget_question(self) -> None:
        """Drop the open question: what the user says next is no answer to it."""
        self._question = Question()

    def take_in(self, reply: Reply, event: ReplyInput) -> list[Command]:
        """Advance a reply by one input; stale inputs change nothing."""
        match event:
            case ModelSaid(text=text):
                return self._said(reply, text)
            case ModelAnswered():
                return self._answered(reply, event)
            case ModelFailed(message=message, malformed=malformed):
                return self._failed(reply, message, malformed)
            case ToolAnswered(result=result) if result.call_id in reply.pending:
                return self._tool_answered(reply, result)
            case ToolSlow(call_id=call_id) if call_id in reply.pending and not reply.segments:
                return self._playback.speak_aside(reply, event.hint or ONE_MOMENT)
            case ToolProgressed(call_id=call_id, text=text) if call_id in reply.pending:
                return self._playback.speak_aside(reply, text)
        return []

    def answer(self, reply: Reply, text: str) -> list[Command]:
        """Answer with fixed words in a reply that was begun."""
        pieces = reply.push(text) + reply.flush()
        return self._playback.speak(reply, pieces) + self._close(reply)

    def answer_aside(self, reply: Reply, text: str) -> list[Command]:
        """Answer with something other than the flow's question, which must be asked again."""
        self._lead.aside()
        return self.answer(reply, text)

    def call(
        self, reply: Reply, calls: tuple[ToolCall, ...], approved: bool = False
    ) -> list[Command]:
        """Run calls. Calls that the client runs end the reply, unless the client has ``approved``.

        While a question is open, calls that would end the conversation are dropped. What completes
        an order takes in the things to be added that were asked about; changes are left out.
        """
        out: list[Command] = []
        if reply.open:
            calls = tuple(call for call in calls if not self._ends((call,)))
            if not calls:
                return self._conclude(reply)
            if not self._checks.places(calls):
                reply.leave_open(self._checks.still_open(calls, reply.open))
            elif Question(reply.open).adds(self._tools):
                calls = (*reply.open, *calls)
            else:
                out = self._say_behind(reply, left_undone(reply.open, self._tools))
            if self._checks.places(calls):
                reply.leave_open(())
        client_names = set() if approved else {tool.name for tool in reply.options.client_tools}
        handing_over = any(call.name in client_names for call in calls)
        reply.enter(Phase.HANDING_OVER if handing_over else Phase.TOOLS)
        reply.count_calls(len(calls))
        out += self._greet(reply) + self.calls.begin(reply, calls, client_names)
        return out if reply.pending else out + self._close(reply)

    def _take(self, reply: Reply, message: str, several: bool) -> list[Command] | None:
        """Act on a message by patterns and the flow's step; None leaves it to the model.

        A model that rephrases extracts the values itself, but "yes" and "no" are read here.
        """
        if reply.options.tool_choice != "auto" or reply.base is None:
            return None
        if (called := self._called_for(reply, message, True, several)) is not None:
            return called
        flow = self._lead.under(reply.base)
        if flow is None or (self._limits.rephrases and not flow.asking):
            return None
        readable = {} if self._limits.rephrases else self._tools
        taken = flow.messages(readable).taken(message)
        if taken is None:
            return None
        calls = self._made((*taken.calls, *self._lead.say_beside(reply, message, taken.says)))
        if taken.moves:
            moved = self._lead.move(taken.moves)
            if calls:
                return moved + self.call(reply, calls)
            if taken.hushes:
                flow.hush()
                return moved + self._conclude(reply)
            begins = not (taken.moves.known or flow.team.over(taken.moves))
            okay = FROM_THE_BEGINNING if begins else OKAY
            return moved + self._say_behind(reply, okay) + self._conclude(reply)
        if taken.refuses:
            return self.answer_aside(reply, WHAT_TO_CHANGE)
        if not calls:
            return self._conclude(reply)
        if taken.agrees:
            reply.also_call(ToolCall(self._ids("call"), taken.agrees, {}), flow.position)
        return self.call(reply, calls)

    def _made(self, calls: Iterable[tuple[str, Mapping[str, str]]]) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(self._ids("call"), name, {**given}) for name, given in calls)

    def _called_for(
        self, reply: Reply, message: str, whole: bool = False, several: bool = False
    ) -> list[Command] | None:
        """Call the tool whose pattern a message, or one of its requests, matches; None for none.

        Without steps it is also None for a ``whole`` message of ``several`` requests, or with words
        that become arguments, as in "remember that my car is red and set a timer": its requests are
        looked at one by one.
        """
        wanted = self._lead.wanted(reply.base or reply.options, message, self._dialogue)
        in_parts = whole and not (self._lead.drives(reply) or self._limits.rephrases)
        if wanted is None or (in_parts and (several or wanted[1].keys() - {"message"})):
            return None
        each = self._lead.each_wanted(reply, message, wanted) if whole else (wanted,)
        held = confirmed_ones(self._made(each), self._lead.asking_first(), message)
        if not held.made:
            return self._conclude(reply, held.question, held.unconfirmed)
        reply.hold(held.question, held.unconfirmed)
        reply.agree()
        if whole and (values := self._lead.values_beside(reply, message, wanted[0])):
            reply.also_call(held.made[-1])
            return self.call(reply, (*self._made(values), *held.made[:-1]))
        return self.call(reply, held.made)

    def _ask_request(self, reply: Reply) -> list[Command]:
        """Call the tool whose pattern the current request matches, or else ask the model."""
        apart = reply.requests if self._checks.takes_apart(reply) else None
        request = apart.current if apart else None
        called = self._called_for(reply, request.text) if request and not request.again else None
        if called is not None:
            return called
        reply.look_up(self._checks.looked_up(reply))
        return [self._generate(reply)]

    def _said(self, reply: Reply, text: str) -> list[Command]:
        """Speak the model's words, or the tools' own words in their place once it writes any."""
        if not self._replaces(reply):
            return self._speak_grounded(reply, reply.push(text))
        reply.hear_out(text)
        return self._playback.speak(reply, reply.tell() if reply.wrote else [])

    def _answered(self, reply: Reply, event: ModelAnswered) -> list[Command]:
        """Speak the rest of the answer, then run its calls, or say something in their place."""
        reply.count_tokens(event.input_tokens, event.output_tokens)
        if event.cut and not self._tells(reply):
            reply.end_as(ReplyStatus.INCOMPLETE, "max_output_tokens")
        else:
            reply.end_as(ReplyStatus.COMPLETED)
        answering = reply.requests
        out = self._speak_grounded(reply, reply.flush())
        if reply.phase is Phase.COMPLETE or reply.requests is not answering:
            return out
        if reply.insist(event.calls):
            return [*out, self._generate(reply)]
        calls = event.calls
        if reply.follows and not reply.calls_made:
            calls = tuple(with_the_rest(c, reply.follows, self._tools[c.name]) for c in calls)
        if self._checks.repeats(reply, calls):
            reply.miss([self._checks.request(reply)])
            return out + self._conclude(reply)
        refused = self._checks.opposed(reply, calls)
        kept = tuple(call for call in calls if call not in refused.calls)
        held = self._checks.held_back(reply, kept or self._checks.taken_back(reply, refused))
        doubted = self._checks.doubts(reply, held, event.confidence)
        told, question = self._checks.refused(reply, held.made)
        if told:
            self._question = question
            return out + self._conclude(reply, told)
        if asked := self._checks.unkept(reply, held.made):
            return out + self._conclude(reply, asked, held.made)
        reply.hold(held.question, self._lead.held_beside(held))
        if doubted:
            return out + self._in_doubt(reply, held.made or held.unconfirmed)
        if held.made:
            return out + self.call(reply, held.made)
        if refused.calls and not held.question and not reply.again:
            return out + self._conclude(reply, refused.answer)
        return out + self._without_calls(reply, held)

    def _without_calls(self, reply: Reply, held: HeldBack) -> list[Command]:
        """Go on after an answer without calls, or with calls that are not made."""
        if held.question == UNDER_WAY and reply.requires_call:
            reply.end_as(ReplyStatus.FAILED, STILL_WAITS)
            return self._close(reply)
        if self._tells(reply):
            return self._tell_all(reply)
        if reply.again:
            return self._miss(reply, reply.again)
        if reply.found and not held.question:
            reply.agree()
            return self.call(reply, (reply.found,))
        if held.question and not held.unconfirmed and only_tells(self._checks.request(reply)):
            return self._conclude(reply, I_SEE)
        if held.question and not (self._lead.drives(reply) and self._ends(held.unconfirmed)):
            question = self._checks.with_a_way_out(held.question)
            return self._conclude(reply, question, held.unconfirmed)
        elif self._lead.drives(reply):
            sorry = self._lead.at_a_loss(reply, written_out(self._dialogue.newest_said))
            return self._say_behind(reply, sorry) + self._conclude(reply)
        elif reply.handed:
            # Its greeting is answer enough, unless it has a better question.
            asks = reply.comment.rstrip().endswith("?")
            return self._conclude(reply, reply.comment if asks else "")
        elif not reply.wrote:
            return self._failed(reply, "the model's answer is empty", malformed=True)
        reply.ask_back(self._checks.left_open(reply))
        return self._conclude(reply)

    def _in_doubt(self, reply: Reply, calls: tuple[ToolCall, ...]) -> list[Command]:
        """Ask whether doubtful calls are wanted; read-only ones are made, with a caution."""
        if reply.again:
            return self._miss(reply, reply.again)
        if only_tells(self._checks.request(reply)):
            return self._conclude(reply, I_SEE)
        if all(self._tools[call.name].read_only for call in calls):
            if wants_a_change(self._checks.request(reply)):
                return self._conclude(reply, NOT_UNDERSTOOD)
            return self._say_behind(reply, NOT_SURE) + self.call(reply, calls)
        if self._checks.like_nothing(reply, calls):
            told, self._question = self._checks.at_a_loss(reply, calls)
            return self._conclude(reply, told)
        reply.doubt(calls)
        return self._conclude(reply)

    def _miss(self, reply: Reply, again: Request) -> list[Command]:
        """Say what tools have against words that no call carries, or that they were missed."""
        told = self._checks.against(reply, again)
        if not told:
            reply.miss([again.text])
        return self._say_behind(reply, told) + self._conclude(reply)

    def _ends(self, calls: tuple[ToolCall, ...]) -> bool:
        return any(call.name in self._tools and self._tools[call.name].ends for call in calls)

    def _conclude(
        self, reply: Reply, instead: str = "", calls: tuple[ToolCall, ...] = ()
    ) -> list[Command]:
        """Go on with the user's next request, or say what was missed and end the reply.

        Args:
            instead: What the agent says if no call is made.
            calls: Calls that need a "yes" to ``instead``, which is then said last.
        """
        instead = reply.hold(*self._checks.beside_open(reply, instead, calls))
        out: list[Command] = []
        if says := reply.asks_first or instead:
            self._lead.aside()
            out = self._greet(reply) + self._say_behind(reply, instead)
        if reply.next_request(self._dialogue):
            return out + self._ask_request(reply)
        asked = (*reply.doubted, *reply.unconfirmed)
        reply.doubt(self._checks.still_open(asked, reply.open))
        out += self._say_behind(reply, not_understood(reply.missed), reply.asks_first)
        if reply.asks_first:
            self._question = Question((*self.proposed, *reply.unconfirmed))
        ends = bool(says) and not reply.doubted
        return out + ([] if ends else self._ask_back(reply)) + self._close(reply)

    def _ask_back(self, reply: Reply) -> list[Command]:
        """Say the closing question: about doubtful calls, or the flow's, the model's or a tool's.

        After a hand-over the other agent says it.
        """
        left = ""
        if reply.doubted:
            doubted = worth_asking(reply.doubted, self._tools)
            if not doubted:
                return self._say_behind(reply, NOT_UNDERSTOOD)
            whether = asked_about(doubted, self._tools)
            if not (reply.open and self._checks.asked_enough(whether)):
                parting = bool(reply.open) and says_goodbye(self._dialogue.newest_said)
                self._question = Question((*self.proposed, *doubted), at_parting=parting)
                return self._say_behind(reply, whether)
            left = left_undone(doubted, self._tools)
        question = reply.question or reply.asks_next
        flow = self._lead.under(reply.base)
        if flow is None or reply.base is None:
            asked = Question.whether_all(question, self._tools, self._ids("call"))
            self._question = asked or self._question
            return self._say_behind(reply, left, question)
        reply.go_on_as(self._lead.here(reply.base))
        if self._is_ending():
            return []
        has_asked = self._limits.rephrases and reply.text.rstrip().endswith("?")
        return self._say_behind(reply, "" if has_asked else flow.next_words() or question)

    def _tell_at_once(self, reply: Reply) -> list[Command]:
        """Say what tools have answered and go on by the flow, without the model.

        A "yes" beside values that were already known still answers the question. Results that the
        next question reads back are not said twice.
        """
        reply.ask_again(self._told(reply))
        flow, (also, at) = self._lead.under(reply.base), reply.also
        if flow and also and (at is None or flow.position.known == at.known):
            reply.also_call(None)
            return self.call(reply, (also,))
        if reply.agreed and not flow and (back := self.calls.given_up()):
            return self.call(reply, back)
        if flow and flow.handed_over and not reply.carried:
            return self._playback.speak(reply, reply.tell()) + self._take_over(reply, flow)
        if flow and flow.anew and not reply.carried:
            # Values that come with the request for another thing may be for it.
            said = written_out(self._dialogue.newest_said)
            if values := flow.messages(self._tools).values_anew(said):
                reply.carry()
                return self.call(reply, self._made(values))
        if flow and flow.reads_back and not reply.agreed:
            return self._conclude(reply)
        return self._playback.speak(reply, reply.tell()) + self._conclude(reply)

    def _take_over(self, reply: Reply, flow: Flow) -> list[Command]:
        """Let the agent that takes over read the message that led to it."""
        requests = self._checks.handed(reply)
        reply.carry()
        if reply.base:
            reply.go_on_as(self._lead.here(reply.base))
        if not flow.team.agent(flow.position).steps:
            reply.take_apart(requests)
            return self._conclude(reply)
        left = requests.left if requests and reply.requests else ()
        said = written_out(" ".join(one.text for one in left) or self._dialogue.newest_said)
        reply.take_apart(None)
        called = self._called_for(reply, said, True)
        values = () if called else flow.messages(self._tools).values(said)
        return called or (self.call(reply, self._made(values)) if values else self._conclude(reply))

    def _greet(self, reply: Reply) -> list[Command]:
        """Say the new agent's greeting before what it has understood in the message."""
        flow = self._lead.under(reply.base)
        return self._say_behind(reply, flow.greet()) if flow and reply.carried else []

    def _say_behind(self, reply: Reply, *sentences: str) -> list[Command]:
        return self._playback.speak(reply, [f" {sentence}" for sentence in sentences if sentence])

    def _replaces(self, reply: Reply) -> bool:
        """Whether other words are spoken in place of the model's in this round."""
        follows = reply.follows is not None and not reply.calls_made
        again = reply.again is not None or reply.found is not None
        led = reply.handed or self._lead.drives(reply)
        return again or follows or led or self._tells(reply)

    def _tells(self, reply: Reply) -> bool:
        """Whether the tools' own words are spoken in this round."""
        return bool(reply.own_words) and not self._limits.rephrases

    def _tell_all(self, reply: Reply) -> list[Command]:
        """Say what tools have answered; ask once more about words that no call has carried."""
        missing = self._checks.left_out(reply)
        out = self._playback.speak(reply, reply.tell())
        reply.ask_back(closing_question(reply.comment))
        if reply.requests and not reply.again and self._checks.takes_apart(reply):
            reply.take_apart(reply.requests.leaving_out(missing.parts, missing.called))
        else:
            reply.miss(missing.parts)
        return out + self._conclude(reply)

    def _failed(self, reply: Reply, message: str, malformed: bool) -> list[Command]:
        """Retry after a malformed answer, the last time without tools; apologise otherwise."""
        reply.fail_round()
        if malformed and reply.retries <= MALFORMED_TRIES:
            return [self._generate(reply, words_only=reply.retries == MALFORMED_TRIES)]
        failure = Emit(Failure(reply.turn_id, "llm", message))
        if self._tells(reply):
            return [failure, *self._tell_all(reply)]
        reply.end_as(ReplyStatus.FAILED, message)
        apology = self._playback.speak(reply, [f" {WENT_WRONG}"])
        return [failure, *apology, *self._close(reply)]

    def _tool_answered(self, reply: Reply, result: ToolResult) -> list[Command]:
        """Take in a tool's result; go on once all tools have answered."""
        tool = None if result.error or self._limits.rephrases else self._tools.get(result.name)
        reply.settle(result.call_id, tool.asks_next if tool else "")
        out: list[Command] = [Emit(ReplyToolResult(reply.reply_id, result))]
        if reply.pending:
            return out
        if reply.phase is Phase.HANDING_OVER:
            return out + self._close(reply)
        if self._lead.goes_on(reply):
            return out + self._tell_at_once(reply)
        if reply.base:
            reply.go_on_as(self._lead.here(reply.base))
        if not reply.agreed:
            return out + self._tell_or_generate(reply)
        if self._limits.rephrases:
            return [*out, self._generate(reply, words_only=True)]
        # A call that was agreed to, or made by its pattern, completes this request.
        return out + self._tell_at_once(reply)

    def _tell_or_generate(self, reply: Reply) -> list[Command]:
        """Say what tools have answered, or ask the model if another call may follow.

        If the message was split into requests, each has all its calls in one answer, so none
        follows.
        """
        told = self._told(reply)
        if self._limits.rephrases or not (told and self._checks.takes_apart(reply)):
            return [self._generate(reply)]
        reply.ask_again(told)
        return self._tell_all(reply)

    def _told(self, reply: Reply) -> str:
        return own_words(reply.seen(self._dialogue).view(self._limits.max_history))

    def _generate(self, reply: Reply, words_only: bool = False) -> Command:
        # Once the required tool has been called, requiring it again would never end.
        asked = reply.follows.name if reply.follows and reply.insists else reply.options.tool_choice
        choice = "auto" if reply.calls_made else asked
        if words_only or reply.calls_made >= self._limits.max_tool_calls:
            choice = "none"
        # Told that it is putting the user through, a model would say so again.
        own = {reply.item_id} if reply.handed else set[str]()
        prompt = self.prompts.of(reply.options, reply.seen(self._dialogue).without(own), choice)
        told = [one for one in prompt.messages if one.content != UNDER_WAY]
        reply.ask_again("" if self._limits.out_of_band else own_words(told))
        if self._limits.out_of_band:
            prompt = replace(prompt, priority=OUT_OF_BAND_PRIORITY)
        return Generate(reply.reply_id, prompt, self._limits.out_of_band, not self._replaces(reply))

    def _speak_grounded(self, reply: Reply, pieces: list[str]) -> list[Command]:
        """Speak pieces of the model's answer, or what must be said in their place."""
        pieces = [p for p in reply.unrepeated(pieces) if not (reply.open and closing_question(p))]
        if told := self._checks.instead(reply, pieces):
            reply.drop_rest()
            return [StopGenerating(reply.reply_id), *self._conclude(reply, told)]
        return self._playback.speak(reply, pieces)

    def _close(self, reply: Reply) -> list[Command]:
        """Complete the reply; one without sound is over at once."""
        reply.enter(Phase.COMPLETE)
        return [SpeakEnd(reply.reply_id)] if reply.sounds else []
