"""What a flow decides in the agent's replies: their options, fixed words and calls, and its moves.

For a single agent without a flow it decides nothing, so that replies need not check for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any

from voice.config.called_for import called_for
from voice.config.moments import AGENT, plain_words, who
from voice.dialogue.commands import Command, Emit
from voice.dialogue.flow import Flow
from voice.dialogue.flow_words import GREETING, I_SEE, NOT_UNDERSTOOD, at_a_loss
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.dialogue.requests import with_own_calls
from voice.dialogue.step_messages import objection
from voice.dialogue.team import HAND_OVER, hand_over_tool
from voice.events import FlowChanged
from voice.inputs import SessionOptions
from voice.tools.registry import ToolError
from voice.tools.spoken_numbers import amount, digits
from voice.types import Position, Role, ToolCall, ToolResult, ToolSpec
from voice.understanding.confirmation import WHAT_ELSE, HeldBack
from voice.understanding.english import (
    GRAMMAR,
    VERBS,
    asks,
    asks_of_the_agent,
    asks_what_was_done,
    bare,
    may_ask,
    says_only_yes,
)
from voice.understanding.remarks import asking_sentence, asks_what_was_said
from voice.understanding.slot_values import answer_to, clauses

FROM_THE_BEGINNING = "Okay, from the beginning."
WHAT_TO_CHANGE = "Okay. What would you like to change?"
_TO_AN_AGENT = GRAMMAR | VERBS | {"speak", "talk", "through"}
"""Words beside the name of an agent that ask for nothing else."""
_ASKS_FOR_A_NUMBER = re.compile(
    r"\b(?:digits?|(?:say|tell me|give me|i need) (?:\w+ ){0,4}number)\b[^.!?]*[.!?]?\s*$"
    r"|\b(?:which|how (?:many|much|long|old|far)|what\b[^.!?]*"
    r"\b(?:number|code|pin|id|room|table|flat|time|year|age|size|amount))\b[^.!?]*\?\s*$",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = re.compile(
    r"\b(?:(?:any|some)(?:thing)?|what) (?:else|more|other)\b[^.!?]*\?\s*$", re.IGNORECASE
)
"""A closing question, such as "Anything else?"."""


class Lead:
    """A conversation's flow, or a draft's.

    Args:
        flow: The flow's state; None if there is no flow.
        tools: The tools that run here, by name.
        rephrases: Whether the model extracts values itself and puts tool results in its own words.
    """

    def __init__(self, flow: Flow | None, tools: Mapping[str, ToolSpec], rephrases: bool) -> None:
        self._flow = flow
        self._tools = tools
        self._rephrases = rephrases

    def copy(self) -> Flow | None:
        """An independent flow in the same state; None if there is none."""
        return self._flow.copy() if self._flow else None

    def under(self, options: SessionOptions | None) -> Flow | None:
        """The flow if it is in force under these options, else None."""
        if self._flow is None or options is None:
            return None
        return self._flow if self._flow.team.leads(options) else None

    def here(self, options: SessionOptions) -> SessionOptions:
        """The options, adapted to the agent that has the conversation and to its step."""
        flow = self.under(options)
        if flow is None:
            return options
        exact = bool(flow.position.step) and not self._rephrases
        offered = flow.team.offered(flow.position, self._tools, exact)
        return flow.team.options_at(options, flow.position, offered)

    def wanted(
        self, options: SessionOptions, message: str, dialogue: History
    ) -> tuple[str, dict[str, Any]] | None:
        """The tool that a message calls by patterns, without the model, with its arguments.

        A tool is passed over if it cannot read its arguments or refuses the call, or if it must
        follow other tools (`ToolSpec.behind`) and the message before called none of them. So is one
        that changes something if the message asks what was done. None if no tool is left.
        """
        flow, found = self.under(options), self._found(options, message)
        # What was asked for beside another agent has been done by the one before.
        done = _called_now(dialogue) if flow and flow.handed_over else ()
        return self._first((one for one in found if one[0] not in done), message, dialogue)

    def _first(
        self, found: Iterable[tuple[str, dict[str, str]]], message: str, dialogue: History
    ) -> tuple[str, dict[str, Any]] | None:
        """The first of the calls found that can be made, with typed arguments."""
        past = asks_what_was_done(message)
        for name, values in found:
            spec = self._tools[name]
            fits = spec.read_only or not past
            if spec.behind:
                fits = fits and not spec.behind.isdisjoint(_called_before(dialogue))
            read = (spec.readings[n].read(v) for n, v in values.items() if n in spec.readings)
            if fits and None not in read:
                takes = spec.properties
                said = {**({"message": message} if "message" in takes else {}), **values}
                given = {n: _as_typed(words, takes.get(n, {})) for n, words in said.items()}
                if not objection(spec, given, message):
                    return name, given
        return None

    def called(
        self, options: SessionOptions, dialogue: History, words: str
    ) -> tuple[str, dict[str, Any]] | None:
        """As `wanted`, but without the whole message as an argument."""
        name, given = self.wanted(options, words, dialogue) or ("", {})
        return (name, {n: v for n, v in given.items() if n != "message"}) if name else None

    def not_known(self, options: SessionOptions, message: str) -> str:
        """What the tool for questions says if it has no answer to this one; otherwise empty."""
        if self.under(options) or options.client_tools or not _asks_for_facts(options, message):
            return ""
        return objection(self._tools[options.answers], {"message": message}, message)

    def looked_up(self, reply: Reply, message: str) -> tuple[str, dict[str, Any]] | None:
        """The tool that looks a question up if the model calls no other, with its arguments."""
        options = reply.options
        auto = options.tool_choice == "auto" and not options.client_tools
        question = may_ask(message) and not asks_of_the_agent(message)
        if self.drives(reply) or not (auto and question):
            return None
        return self._looking_up(options, message)

    def say_beside(self, reply: Reply, message: str, says: str) -> list[tuple[str, dict[str, Any]]]:
        """Have the answer to a message's side questions said before the flow's next question.

        Returns:
            The call that looks them up, if that finds more than the agent can say.
        """
        flow = self.under(reply.base)
        if flow is None:
            return []
        cannot_say = flow.team.agent(flow.position).cannot_say
        unanswered = bool(cannot_say) and cannot_say in says and not self._rephrases
        asked = ", ".join(filter(may_ask, clauses(message))) if unanswered else ""
        found = self._looking_up(reply.options, asked) if asked else None
        flow.say_beside(says.replace(cannot_say, "").strip() if found else says)
        if says == I_SEE or asks_what_was_said(message):
            # It may have been a correction, as what `at_a_loss` answers.
            flow.aside()
        if found:
            # Its result is told, whatever the next question reads back.
            reply.agree()
        return [found] if found else []

    def each_wanted(
        self, reply: Reply, message: str, first: tuple[str, dict[str, Any]]
    ) -> Sequence[tuple[str, dict[str, Any]]]:
        """The calls of all requests of a message in a flow, each by patterns; ``first`` if alone.

        What follows a hand-over is for the other agent.
        """
        flow = self.under(reply.base)
        if flow is None or self._rephrases or first[0].startswith(HAND_OVER):
            return (first,)
        messages = flow.messages(self._tools)

        def called(words: str) -> tuple[str, dict[str, Any]] | None:
            return self._first(messages.wanted(words), words, History())

        parts = with_own_calls(message, lambda words: (called(words) or ("",))[0])
        found = [call for call in map(called, parts) if call]
        names = {name for name, _ in found}
        return found if len(names) > 1 and first[0] in names else (first,)

    def left(self, reply: Reply, message: str) -> tuple[list[Command], str]:
        """Give up what a flow makes if a message says so before it asks for something else.

        Returns:
            The commands for that, and what is left of the message: all where it says no such thing.
        """
        flow = self.under(reply.base)
        rest = flow.messages(self._tools).left(message) if flow and self.drives(reply) else ""
        if flow is None or not rest:
            return [], message
        moved = self.move(flow.team.enter(flow.position.agent, None, flow.position.reason))
        flow.hush()
        return moved, rest

    def values_beside(
        self, reply: Reply, message: str, called: str
    ) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """The tools to call beside the one that is ``called`` by patterns.

        They are those for other values, and the one that looks up what else is asked. A hand-over
        leaves questions to the other agent, except for one that patterns answer.
        """
        flow = self.under(reply.base)
        if flow is None or self._rephrases:
            return ()
        messages = flow.messages(self._tools)
        rest = messages.not_called(message, called)
        if called.startswith(HAND_OVER):
            own = self._first(messages.called_beside(message), message, History())
            return (*messages.values(rest), *([own] if own else []))
        found = self.say_beside(reply, rest, messages.beside(rest)[0])
        return (*messages.values(rest), *found)

    def at_a_loss(self, reply: Reply, said: str) -> str:
        """What is said to a message in which nothing was understood, unless it is said later."""
        flow = self.under(reply.base)
        # Otherwise the flow's question alone is answer enough.
        needed = bare(said, GREETING) or (flow and (flow.hushed or not flow.asking))
        sorry = at_a_loss(said) if said and needed else ""
        if flow and sorry != NOT_UNDERSTOOD:
            flow.say_beside(sorry)
            return ""
        if flow and sorry:
            # It may have been a correction, so what a "yes" is for is read back once more.
            flow.aside()
        return sorry

    def _looking_up(
        self, options: SessionOptions, message: str
    ) -> tuple[str, dict[str, Any]] | None:
        for spec in (self._tools[name] for name in options.agent_tools if name in self._tools):
            if spec.looks_up:
                given = dict.fromkeys(spec.parameters["required"], message)
                return None if objection(spec, given, message) else (spec.name, given)
        return None

    def _found(self, options: SessionOptions, message: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The calls that patterns find, likeliest first; none if the client has its own tools."""
        if flow := self.under(options):
            offers = flow.offer in flow.team.agent(flow.position).hand_over
            if offers and answer_to(message, ()):
                yield hand_over_tool(flow.offer), {}
            for name, values in flow.messages(self._tools).wanted(message):
                # Whoever has just taken over does not hand on the message that led there.
                if not (flow.handed_over and name.startswith(HAND_OVER)):
                    yield name, values
        elif options.agent_tools and not options.client_tools:
            yield from called_for(message, options.calls)
            if (alone := asking_sentence(message)) != message:
                yield from called_for(alone, options.calls)
            if _asks_for_facts(options, message):
                yield options.answers, {}

    def drives(self, reply: Reply) -> bool:
        """Whether the flow decides what messages do, and the model only which tool to call."""
        flow = self.under(reply.base)
        if flow is None or self._rephrases or reply.options.tool_choice != "auto":
            return False
        return bool(flow.team.agent(flow.position).steps)

    def goes_on(self, reply: Reply) -> bool:
        """Whether the flow goes on after tool results without the model."""
        flow = self.under(reply.base)
        if flow is None:
            return False
        handed = flow.handed_over and not reply.handed
        return handed or (not self._rephrases and bool(flow.position.step))

    def misread(self, reply: Reply, message: str, calls: Sequence[ToolCall]) -> bool:
        """Whether a message asks for this agent alone, and calls have values that nobody can read.

        A model takes "the front desk" for a day.
        """
        flow = self.under(reply.base)
        asked = flow.team.agent(flow.position).takes_over.found if flow else None
        if asked is None or {*asked.sub(" ", plain_words(message)).split()} - _TO_AN_AGENT:
            return False
        given = (
            (self._tools[c.name].readings, *named) for c in calls for named in c.arguments.items()
        )
        return any(n in readings and readings[n].read(str(v)) is None for readings, n, v in given)

    def asking_first(self) -> Mapping[str, ToolSpec]:
        """The tools, with those that the flow asks about made to wait for a "yes"."""
        return self._flow.asking_first(self._tools) if self._flow else self._tools

    def held_beside(self, held: HeldBack) -> tuple[ToolCall, ...]:
        """The calls to ask about beside calls that are made; the flow asks about its own."""
        own, first = self._tools, self.asking_first()
        asked = (call for call in held.unconfirmed if first.get(call.name) is own.get(call.name))
        return tuple(asked) if held.made else ()

    def declined(self, calls: Sequence[ToolCall]) -> list[Command]:
        """Move on after the user has declined calls they were asked about."""
        if self._flow is None:
            return []
        return self.move(self._flow.team.declined(self._flow.position, calls))

    def aside(self) -> None:
        """The agent says something other than the flow's question."""
        if self._flow is not None:
            self._flow.aside()

    def words_for(self, options: SessionOptions, asked: str, *readings: str) -> str:
        """The fixed words for a message; empty for none.

        Args:
            options: Those of the reply.
            asked: What the agent said last. A bare number that it asked for, such as that of room
                112, calls nobody, nor does the end of a longer one. A bare "yes" to "Anything
                else?" says too little to do anything.
            readings: The message.
        """
        flow, moments = self._flow, options.moments
        before = _told_before(readings)
        if _ASKS_FOR_A_NUMBER.search(asked) or (before and not moments.words_for(before)):
            readings = tuple(one for one in readings if not _is_number(one))
        alone = flow is None and not self._rephrases
        if alone and _ASKS_FOR_MORE.search(asked) and any(map(says_only_yes, readings[:1])):
            return WHAT_ELSE
        says = flow.words_for(moments, *readings) if flow else moments.words_for(*readings)
        if AGENT not in says:
            return says
        # A model of many words knows from its instructions who it is.
        return "" if self._rephrases else says.replace(AGENT, who(options.instructions))

    def note(self) -> str:
        """What an agent is told about the conversation it was handed; otherwise empty.

        A small model without steps sees the message that led to it, and would be confused.
        """
        flow = self._flow
        alone = flow and not (self._rephrases or flow.team.agent(flow.position).steps)
        return flow.team.note(flow.position) if flow and not alone else ""

    def seen(self, dialogue: History) -> History:
        """The part of the dialogue that is for the agent that has the conversation."""
        return dialogue.without(self._flow.position.hidden) if self._flow else dialogue

    def resume(self, position: Position) -> list[Command]:
        """Resume where the caller stopped an earlier time; the client is told in any case."""
        if self._flow is None:
            return []
        self._flow.go(position)
        return [self._told(self._flow)]

    def learn(self, call: ToolCall | None, result: ToolResult, dialogue: History) -> list[Command]:
        """Take in the result of a call, but not a provisional one; a call of None brings none."""
        if self._flow is None or call is None or result.unfinished:
            return []
        before, said = self._flow.position, dialogue.newest_said
        after = self._flow.team.learned(before, call, result, said)
        if after.agent != before.agent:
            steps = self._flow.team.agent(after).steps
            # An agent without steps answers the message that led to it.
            own = {one.item_id for one in (() if steps else next(dialogue.said(), ()))}
            after = replace(after, hidden=frozenset(one.item_id for one in dialogue) - own)
        return self.move(after)

    def move(self, to: Position) -> list[Command]:
        """Move to a position, and tell the client if anything changes."""
        if self._flow is None or not self._flow.go(to):
            return []
        return [self._told(self._flow)]

    def _told(self, flow: Flow) -> Command:
        return Emit(FlowChanged(flow.position, tuple(flow.team.missing(flow.position))))


def _is_number(text: str) -> bool:
    with suppress(ToolError):  # The text is too long to be a number.
        return re.fullmatch(r"[\d ]+", digits(plain_words(text))) is not None
    return False


def _told_before(readings: Sequence[str]) -> str:
    """The digits before those of the first reading in a longer one; empty unless all are numbers.

    A number may be told in pieces: "four zero zero zero", "nine nine nine".
    """
    numbers = [digits(plain_words(one)).replace(" ", "") for one in readings if _is_number(one)]
    piece, *longer = numbers if numbers and len(numbers) == len(readings) else [""]
    return next((one.replace(piece, "") for one in longer), "")


def _asks_for_facts(options: SessionOptions, message: str) -> bool:
    """Whether a message is a question for the tool that answers questions."""
    return bool(options.answers) and asks(message) and not asks_of_the_agent(message)


def _as_typed(words: str, schema: Mapping[str, Any]) -> Any:
    """The words of an argument in its schema's type: "three" becomes 3 if that is a number."""
    types = {one.get("type") for one in (schema, *schema.get("anyOf", ()))}
    if "string" not in types and types & {"integer", "number"}:
        # If this fails, the tool itself says that it could not read them.
        with suppress(ToolError):
            value = amount(words)
            if value == int(value):
                return int(value)
            return float(value) if "number" in types else words
    return words


def _called_now(dialogue: History) -> set[str]:
    """Names of the tools that were called for the newest user message."""
    since = takewhile(lambda entry: entry.message.role is not Role.USER, reversed([*dialogue]))
    return {entry.message.name for entry in since}


def _called_before(dialogue: History) -> set[str]:
    """Names of the tools that were called for the user message before the newest."""
    newest = {entry.item_id for entry in next(dialogue.said(), ())}
    called: set[str] = set()
    behind = False
    for entry in reversed([*dialogue]):
        if entry.item_id in newest:
            behind = True
        elif behind and entry.message.role is Role.USER and entry.message.content.strip():
            break
        elif behind:
            called.add(entry.message.name)
    return called
