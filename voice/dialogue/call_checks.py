"""Checks the calls of a model's answer against what the user's message asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile

from voice.dialogue.fillers import UNDER_WAY
from voice.dialogue.flow_words import NOT_UNDERSTOOD, at_a_loss
from voice.dialogue.history import Entry, History
from voice.dialogue.lead import WHAT_TO_CHANGE, Lead
from voice.dialogue.reply import Reply
from voice.dialogue.requests import Request, Requests, distinct, to_be_done
from voice.dialogue.tool_calls import signature, waiting
from voice.tools.spoken_results import spoken_result
from voice.types import Message, Role, ToolCall, ToolSpec
from voice.understanding.amendments import names_some, of_those_made, thing_of
from voice.understanding.conditions import unkept
from voice.understanding.confirmation import (
    HeldBack,
    Question,
    asks_plainly,
    confirmed_ones,
    readable_ones,
    replaces,
)
from voice.understanding.corrections import (
    corrects_one_of_several,
    on_the_same,
    taken_back,
    told_last,
)
from voice.understanding.english import as_read, asks, asks_what_was_done
from voice.understanding.low_confidence import (
    ANYTHING_TO_DO,
    I_SEE,
    claims,
    declines,
    denies,
    in_doubt,
    leaves_open,
    named,
    names_nothing,
    only_agrees,
)
from voice.understanding.missed_requests import LeftOut, carried, left_out
from voice.understanding.number_grounding import is_grounded
from voice.understanding.opposites import KEPT, Opposed, asks_to_end, ends, opposed, setters
from voice.understanding.optional_values import (
    completed,
    counted,
    filled,
    measured,
    taken_out,
    without_strays,
)
from voice.understanding.reference_resolution import (
    about_the_named,
    as_called,
    changed_instead,
    like_before,
    made_instead,
    on_the_named,
)
from voice.understanding.remarks import asked_for, only_tells
from voice.understanding.separate_items import HOW_MANY, counted_twice, with_own_details
from voice.understanding.tool_sentences import names_a_deed
from voice.understanding.unsaid_values import unsaid

STILL_WAITS = "the call that was required has been made before and waits for its output"

NOTHING_DONE = "I have not done anything yet."
MOST_ASKED = 3
"""How many times in a row a question is asked; then what it is about is left out."""
OR_LEAVE_IT = "To leave it, say: never mind."
_WHICH = re.compile(r"\b(?:which|what)\b.*\?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the model's part in a reply.

    Attributes:
        max_tool_calls: Most calls in one reply; after that the model must answer in words.
        max_history: Most messages that the model sees.
        rephrases: Whether the model puts tool results in its own words; otherwise the tools' own
            words are spoken.
        out_of_band: Whether the replies are outside the conversation.
    """

    max_tool_calls: int = 12
    max_history: int = 24
    rephrases: bool = False
    out_of_band: bool = False


@dataclass(frozen=True, slots=True)
class CallChecks:
    """Compares calls with what was said, and corrects, holds back or drops them; runs none.

    Attributes:
        dialogue: What was said.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        limits: Limits of the tool loop and of the history.
        lead: The flow's decisions.
    """

    dialogue: History
    tools: Mapping[str, ToolSpec]
    ids: Callable[[str], str]
    limits: Limits
    lead: Lead

    def request(self, reply: Reply) -> str:
        """The part of the user's last message that is being answered, through `as_read`."""
        if reply.requests:
            return as_read(reply.requests.current.text)
        return reply.seen(self.dialogue).newest_said

    def own_tools(self, reply: Reply) -> dict[str, ToolSpec]:
        """The tools that the model may call and that run here."""
        own = set(reply.options.agent_tools)
        return {name: tool for name, tool in self.tools.items() if name in own}

    def requests(self, reply: Reply, question: Question) -> Requests | None:
        """The requests of the user's last message; None if the model gets the message as it is."""
        if self.limits.rephrases:
            return None
        whole, tools = not self.takes_apart(reply), self.own_tools(reply)
        called = partial(self.lead.called, reply.base or reply.options, self.dialogue)
        return Requests.of(self.dialogue, whole, tools, question.to_what, called)

    def handed(self, reply: Reply) -> Requests | None:
        """The requests that another agent is handed: all, or the current one and those behind."""
        if self.limits.rephrases:
            return None
        apart = reply.requests
        if apart is None:
            asked = self.dialogue.without({one.item_id for one in self._since_asked()})
            apart = Requests.of(asked, not self.takes_apart(reply), self.own_tools(reply))
        return apart and apart.once_more()

    def passed_over(self, reply: Reply, question: Question) -> bool:
        """Whether the user's last message takes a "yes" to a question for granted."""
        said, tools = self.dialogue.newest_said, self.own_tools(reply)
        return self.takes_apart(reply) and question.passed_over(said, tools)

    def still_open(
        self, calls: Sequence[ToolCall], asked: Sequence[ToolCall]
    ) -> tuple[ToolCall, ...]:
        """The calls of an open question that other calls do not affect.

        "Scratch the medium one" says nothing about the large one that is still in question, and a
        tea nothing about a latte. What names nothing, such as "undo that", affects all of them.
        """
        specs = self.tools
        calls = [c for c in calls if not (c.name in specs and specs[c.name].read_only)]
        if any(call.name not in specs for call in calls):
            return ()
        things = {thing_of(call, specs[call.name]) for call in calls}
        if calls and (replaces(self.dialogue.newest_said) or frozenset() in things):
            return ()
        return tuple(one for one in asked if thing_of(one, specs[one.name]) not in things)

    def places(self, calls: Sequence[ToolCall]) -> bool:
        """Whether calls complete something, such as an order, which then goes without the rest."""
        return any(c.name in self.tools and self.tools[c.name].confirmation for c in calls)

    def beside_open(
        self, reply: Reply, instead: str, calls: tuple[ToolCall, ...]
    ) -> tuple[str, tuple[ToolCall, ...]]:
        """What is said where another question is open, which alone is asked.

        An order is not to be placed before it is known what is in it.
        """
        if not reply.open or (calls and not self.places(calls)):
            return instead, calls
        told = " ".join(one for one in re.split(r"(?<=[.!?]) ", instead) if not one.endswith("?"))
        return told if calls or told or not instead else NOT_UNDERSTOOD, ()

    def asked_enough(self, question: str) -> bool:
        """Whether a question was part of the agent's last three replies, not counting this one."""
        return self._asked(question, MOST_ASKED + 1) >= MOST_ASKED

    def takes_apart(self, reply: Reply) -> bool:
        """Whether a message is split into requests that the model gets one by one.

        Not if a client runs tools, since it may expect all calls at once, nor if a tool choice is
        required, since that means a single answer.
        """
        return reply.options.tool_choice == "auto" and not reply.options.client_tools

    def looked_up(self, reply: Reply) -> ToolCall | None:
        """The call that looks the question up if the model calls no tool for it."""
        found = None if self.limits.rephrases else self.lead.looked_up(reply, self.request(reply))
        return ToolCall(self.ids("call"), *found) if found else None

    def instead(self, reply: Reply, pieces: Sequence[str]) -> str:
        """What is said in place of pieces of the model's answer; empty if they may be spoken.

        If a number in them comes from nowhere, the tools' own words are said. A first piece that
        says "I cannot do that" gives way to "I see." if the user only told something. No piece may
        say that something has been done if nothing was.
        """
        if pieces and not (reply.segments or self.limits.rephrases):
            request = self.request(reply)
            if declines(pieces[0]) and only_tells(request):
                return I_SEE
            if told := self.lead.not_known(reply.options, request):
                return told
            past = asks_what_was_done(request) and names_a_deed(request, self.own_tools(reply))
            if past and (told := self._deeds()):
                return told
            answering = self.tools.get(reply.options.answers)
            if answering and denies(pieces[0], answering.knows):
                return NOT_UNDERSTOOD
        if any(map(claims, pieces)) and self._did_nothing(reply):
            return at_a_loss(self.request(reply))
        if not reply.own_words:
            return ""
        said = (entry.message.content for entry in reply.seen(self.dialogue))
        sources = [reply.own_words, *said]
        grounded = all(is_grounded(piece, sources) for piece in pieces)
        return "" if grounded else reply.own_words

    def _did_nothing(self, reply: Reply) -> bool:
        """Whether no call since the user's last message but one can have changed anything.

        False where the user asks about what was done before.
        """
        seen = [entry.message for entry in reply.seen(self.dialogue)]
        asked = [at for at, one in enumerate(seen) if one.role is Role.USER and one.content][-2:]
        called = (call.name for one in seen[asked[0] if asked else 0 :] for call in one.tool_calls)
        changed = any(n not in self.tools or not self.tools[n].read_only for n in called)
        return self.takes_apart(reply) and not changed and not asks(self.request(reply))

    def opposed(self, reply: Reply, calls: tuple[ToolCall, ...]) -> Opposed:
        """The calls that do the opposite of what the user asked for, or that the user has refused.

        To a question about what was done, they are all that change something.
        """
        newest = reply.seen(self.dialogue).newest_said
        if not newest or not calls or reply.options.tool_choice != "auto":
            return Opposed()
        whole = self.dialogue.newest_said
        seen = self.dialogue.view(self.limits.max_history)
        ending = any(ends(call.name) for call in calls)
        if ending and corrects_one_of_several(newest, seen[:-1], self.tools):
            return Opposed(calls, WHAT_TO_CHANGE)
        if refused := reply.answers.refused(whole, calls, self.tools):
            return Opposed(refused, WHAT_TO_CHANGE)
        if asks_what_was_done(newest):
            specs = [(call, self.tools.get(call.name)) for call in calls]
            wrong = tuple(call for call, spec in specs if spec and not spec.read_only)
            return Opposed(wrong, self._deeds() or NOTHING_DONE)
        values = setters([*self.tools.values(), *reply.options.client_tools])
        asked = (one.message.content for one in reversed([*self.dialogue]))
        choosing = bool(_WHICH.search(as_read(next(islice(filter(None, asked), 1, None), ""))))
        return opposed(newest, calls, values, choosing, whole)

    def _deeds(self) -> str:
        """What tools said of the last change in the whole conversation; empty if there was none."""
        return told_last([one.message for one in self.dialogue], self.tools)

    def taken_back(self, reply: Reply, refused: Opposed) -> tuple[ToolCall, ...]:
        """Calls that take back what the user had made and denies now: "no sandwich after all"."""
        if refused.answer != KEPT:
            return ()
        seen = self.dialogue.view(self.limits.max_history)
        back = taken_back(refused.calls, seen, self.own_tools(reply))
        return tuple(replace(call, call_id=self.ids("call")) for call in back)

    def with_a_way_out(self, question: str) -> str:
        """A question for a value; once it has been asked twice in a row, with a way out."""
        stuck = self._asked(question, 2) == 2
        return f"{NOT_UNDERSTOOD} {OR_LEAVE_IT} {question}" if stuck else question

    def _asked(self, question: str, replies: int) -> int:
        """How many of the newest replies, at most ``replies``, have a question."""
        return sum(question in one for one in self.dialogue.agent_texts(replies))

    def repeats(self, reply: Reply, calls: Sequence[ToolCall]) -> bool:
        """Whether calls only look up again what another request of the message has looked up."""
        if not reply.requests or not reply.requests.later:
            return False
        made = [(c.name, c.arguments) for e in self._since_asked() for c in e.message.tool_calls]
        own = self.own_tools(reply)
        return bool(calls) and all(
            one.name in own and own[one.name].read_only and (one.name, one.arguments) in made
            for one in calls
        )

    def held_back(self, reply: Reply, calls: tuple[ToolCall, ...]) -> HeldBack:
        """The calls that are made at once, and the question asked in place of the others.

        A call that the client has and has not answered is not made again. A model that rephrases is
        told by the tool what it could not read, and asks by itself.
        """
        waits = waiting(reply.options, self.dialogue, self.tools)
        if calls and not (calls := tuple(c for c in calls if signature(c) not in waits)):
            return HeldBack((), UNDER_WAY)
        most = self.limits.max_tool_calls - reply.calls_made
        calls = calls[: max(0, most if reply.options.parallel_calls else min(1, most))]
        if self.lead.under(reply.base):
            # Tools of other steps cannot be called here, whatever the model does.
            calls = tuple(call for call in calls if call.name in reply.options.agent_tools)
        misread = reply.handed and self.lead.misread(reply, self.dialogue.newest_said, calls)
        if misread or (reply.handed and self.like_nothing(reply, calls)):
            # "Reception, please" asks for nothing more.
            calls = ()
        if again := reply.again:
            calls = tuple(call for call in calls if again.served_by(call, self.tools))
        if not self.limits.rephrases:
            seen = reply.seen(self.dialogue).view(self.limits.max_history)
            calls = self._as_said(reply, calls, seen)
            if question := self._unsaid(reply, calls, seen):
                return HeldBack((), question)
            readable = readable_ones(calls, self.tools)
            if readable.question:
                return readable
            calls = readable.made
        offered = {*reply.options.agent_tools, *(call.name for call in calls)}
        tools = {n: one for n, one in self.lead.asking_first().items() if n in offered}
        return confirmed_ones(calls, tools, self.dialogue.newest_said)

    def _unsaid(self, reply: Reply, calls: tuple[ToolCall, ...], seen: Sequence[Message]) -> str:
        """The question for a required value that nobody said; empty for none.

        Also empty for calls unlike anything that was asked for: the question would make no sense.
        """
        specs = {**self.tools, **{one.name: one for one in reply.options.client_tools}}
        asked = (unsaid(call, specs[call.name], seen) for call in calls if call.name in specs)
        question = next(filter(None, asked), "")
        if counted_twice(self.request(reply), calls, specs):
            question = HOW_MANY
        own = tuple(call for call in calls if call.name in self.tools)
        riddle = bool(question and own) and self.like_nothing(reply, own)
        return "" if riddle or reply.options.tool_choice != "auto" else question

    def _as_said(
        self, reply: Reply, calls: tuple[ToolCall, ...], seen: Sequence[Message]
    ) -> tuple[ToolCall, ...]:
        """The calls, corrected to match the request; calls for the client stay as they are."""
        request, tools = self.request(reply), self.own_tools(reply)
        calls = asked_for(request, distinct(request, calls, tools), tools)
        # Beside a call that names a thing, one that names none ("both") is dropped.
        known = (c for c in calls if c.name not in tools or not names_nothing(c, tools[c.name]))
        calls = tuple(known) or calls
        # So is a change that changes nothing.
        calls = tuple(call for call in calls if not _changes_nothing(call, tools)) or calls
        # What is changed is not to be removed.
        changed = [c.arguments for c in calls if c.name.startswith("change_")]
        calls = tuple(
            call
            for call in calls
            if not (call.name in tools and tools[call.name].undoes)
            or not any(call.arguments.items() <= one.items() for one in changed)
        )
        calls = tuple(with_own_details(request, calls, tools))
        alone = len(calls) == 1 and reply.requests is not None
        before = (c for one in seen for c in one.tool_calls if c.name in tools)
        made = {thing_of(call, tools[call.name]) for call in before}
        calls = tuple(
            of_those_made(c, request, tools, made) if c.name in tools else c for c in calls
        )
        found = []
        for call in about_the_named(calls, tools, request, seen, self.dialogue.newest_said):
            if call.name in tools:
                call = changed_instead(made_instead(call, tools, request), tools, request)
                spec = tools[call.name]
                call = without_strays(taken_out(call, spec), request, spec)
                call = on_the_named(on_the_same(call, spec, seen), request)
                call = like_before(as_called(call, spec, request), spec, request, seen)
                if alone:
                    call = completed(filled(call, request, spec), request, spec)
                call = counted(measured(call, request, spec), request, spec)
            found.append(call)
        return tuple(found)

    def unkept(self, reply: Reply, calls: tuple[ToolCall, ...]) -> str:
        """The question if calls drop a condition, time or exception in the request, or empty."""
        ours = reply.options.tool_choice == "auto" and all(c.name in self.tools for c in calls)
        if not (calls and ours) or self.limits.rephrases or reply.own_words or reply.again:
            return ""
        if self.lead.under(reply.base) or self.like_nothing(reply, calls):
            return ""
        return unkept(self.request(reply), calls, self.tools)

    def doubts(self, reply: Reply, held: HeldBack, confidence: float | None) -> bool:
        """Whether calls are hardly what the user asks for; the client's own tools are not judged.

        Calls that the message plainly asks for (`asks_plainly`) are never in doubt.
        """
        calls = held.made or held.unconfirmed
        ours = reply.options.tool_choice == "auto" and all(c.name in self.tools for c in calls)
        if not (calls and ours) or self.limits.rephrases or reply.own_words:
            return False
        said = self.request(reply)
        if self.lead.under(reply.base) or all(
            asks_plainly(said, self.tools[call.name]) for call in calls
        ):
            return False
        changes = all(call.name.startswith("change_") for call in calls)
        if changes and names_some(said) and carried(said, calls, self.tools) == 1:
            return False
        unnamed = all(names_nothing(call, self.tools[call.name]) for call in calls)
        if held.made and (unnamed or only_agrees(said, calls, self.tools)):
            return True
        # Calls that would be confirmed anyway already have a better question.
        own = not held.made and not self.like_nothing(reply, calls)
        return not own and in_doubt(confidence, said, calls, self.tools)

    def like_nothing(self, reply: Reply, calls: tuple[ToolCall, ...]) -> bool:
        """Whether calls share no word with what the user asks for.

        Also whether they name or change nothing, or undo everything though no word asks for that.
        """
        said = self.request(reply)
        specs = [self.tools[call.name] for call in calls]
        if all(names_nothing(call, spec) for call, spec in zip(calls, specs, strict=True)):
            return True
        if all(_changes_nothing(call, self.tools) for call in calls):
            return True
        if only_agrees(said, calls, self.tools):
            return True
        undoes = all(one.undoes and not one.required for one in specs)
        return not carried(said, calls, self.tools) or (undoes and not asks_to_end(said))

    def fixed_words(self, reply: Reply) -> str:
        """The fixed words for the message, said without asking the model; none out of band."""
        seen = reply.seen(self.dialogue)
        readings = () if self.limits.out_of_band else (*seen.user_texts(1), seen.unanswered())
        return self.lead.words_for(reply.options, seen.newest_reply, *readings)

    def left_out(self, reply: Reply) -> LeftOut:
        """The parts of the current request that its calls do not carry."""
        seen = reply.seen(self.dialogue).view(self.limits.max_history)
        # What the user will be asked about has been understood.
        seen = *seen, Message(Role.AGENT, tool_calls=reply.unconfirmed)
        missing = left_out(seen, self.tools)
        calls = (call for entry in self._since_asked() for call in entry.message.tool_calls)
        # Those of the agent that had the conversation before are not in the request's view.
        values = [str(value) for call in calls for value in call.arguments.values()]
        parts = (one for one in missing.parts if not any(v and v in one for v in values))
        return replace(missing, parts=tuple(parts)) if reply.handed else missing

    def _since_asked(self) -> list[Entry]:
        """The entries since the user's last message, the newest first."""
        entries = reversed([*self.dialogue])
        return [*takewhile(lambda one: one.message.role is not Role.USER, entries)]

    def left_open(self, reply: Reply) -> str:
        """The question behind the model's words if they leave open whether anything was done."""
        if self.limits.rephrases or not leaves_open(reply.text, self.request(reply)):
            return ""
        told = self.not_to_be_had(reply, self.own_tools(reply), counted=True)
        return told or ("" if reply.text.rstrip().endswith("?") else ANYTHING_TO_DO)

    def at_a_loss(self, reply: Reply, calls: Sequence[ToolCall]) -> tuple[str, Question]:
        """What is said in place of calls like nothing that was asked for, and what it asks."""
        request = self.request(reply)
        to_what = to_be_done(request)
        told = self.lead.not_known(reply.options, request)
        told = told or self.not_to_be_had(reply, [call.name for call in calls])
        asked = f"Sorry, what shall I {to_what}?" if to_what else at_a_loss(request)
        return told or asked, Question(to_what=to_what)

    def not_to_be_had(self, reply: Reply, names: Iterable[str], counted: bool = False) -> str:
        """Why a thing that the request names cannot be had, in a tool's words; empty if it can.

        Asked for "a croissant", a model that knows no such drink takes one from before.
        """
        thing = named(self.request(reply), counted)
        for spec in (self.tools[name] for name in names if thing and name in self.tools):
            if any(one.read(thing) is not None for one in spec.readings.values()):
                continue
            for name in spec.required:
                reading = spec.readings.get(name)
                told = reading.question(thing) if reading else ""
                # A question that does not name the thing, such as "How long should the timer run?",
                # is asked for anything that cannot be read.
                if reading and thing in told and told != reading.question(""):
                    return told
        return ""

    def against(self, reply: Reply, again: Request) -> str:
        """Why words that no call carries cannot be had, in a called tool's words, or empty."""
        said = self.dialogue.newest_said
        # "My brain" or "whack a bit of cinnamon on it" name nothing that could be had.
        thing = re.search(rf"\b(?:an?|some) {re.escape(again.text)}", said, re.IGNORECASE)
        return self.not_to_be_had(reply, again.again) if thing else ""

    def refused(self, reply: Reply, calls: tuple[ToolCall, ...]) -> tuple[str, Question]:
        """What is said if all calls are refused by their tools, and the question that follows.

        Also said if the request names none of the calls' things but one that cannot be had. Empty
        if the calls may go on.
        """
        request = self.request(reply)
        said = request.casefold()
        if self.limits.rephrases or reply.again or not all(c.name in self.tools for c in calls):
            return "", Question()
        checks = ((call, self.tools[call.name].refusal) for call in calls)
        results = [(call, check(call, request) if check else None) for call, check in checks]
        refused = [(call, result) for call, result in results if result]
        if refused and len(refused) == len(calls):
            ((call, result), *_) = refused
            return spoken_result(result.content), Question.which(call, result.options, self.ids)
        # What is changed or removed is named by what it was, not by what can be had.
        making = [
            call
            for call in calls
            if not (self.tools[call.name].undoes or call.name.startswith("change_"))
        ]
        required = (
            str(call.arguments.get(name, "")).casefold()
            for call in making
            for name in self.tools[call.name].required
        )
        own = {word.removesuffix("s") for call in calls for word in call.name.split("_")}
        if not making or named(request, counted=True).removesuffix("s") in own:
            return "", Question()
        if any(all(w in said for w in value.split()) for value in required):
            return "", Question()
        return self.not_to_be_had(reply, self.own_tools(reply), counted=True), Question()


def _changes_nothing(call: ToolCall, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether a change has only values that already name its thing: "large" of "large ones"."""
    if not call.name.startswith("change_") or call.name not in tools:
        return False
    things = {str(call.arguments.get(name, "")).casefold() for name in tools[call.name].required}
    named = {word for thing in things for word in thing.split()}
    values = (str(v).casefold() for n, v in call.arguments.items()
              if n not in tools[call.name].required)  # fmt: skip
    return all({*value.split()} <= named for value in values)
