"""What a message means in a flow's current step, by rules: values, wishes, answers, side questions.

Where the conversation goes from there is decided in `voice.dialogue.team`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from voice.config.answers import answers_to
from voice.config.called_for import called_for
from voice.config.flow import NeedConfig
from voice.config.moments import plain_words
from voice.dialogue.flow_words import (
    CANNOT_CANCEL,
    GREETING,
    I_SEE,
    NOTHING_ELSE,
    NOTHING_THEN,
    ONE_MORE_THING,
    THANKS,
    WELCOME,
    with_values,
)
from voice.dialogue.requests import parted
from voice.dialogue.team import Team, hand_over_tool
from voice.tools.spoken_results import spoken_result
from voice.types import Position, ToolCall, ToolSpec
from voice.understanding.acts import Act, act_on, beside, refuses
from voice.understanding.english import (
    GRAMMAR,
    HESITATING,
    TAKING_BACK,
    VERBS,
    asks,
    asks_of_the_agent,
    bare,
    disagrees,
    is_courteous,
    may_ask,
)
from voice.understanding.giving_up import forgets, gives_up, starts_over
from voice.understanding.remarks import only_tells, supposes
from voice.understanding.slot_values import (
    Wanted,
    answer_among,
    clauses,
    ruled_out,
    said_values,
    says_again,
    taken_back,
)

RULED_OUT = "ruled_out"
"""Argument that gets the values a message rules out, separated by commas, if a tool has it."""
_REFUSED_FIRST = re.compile(
    r"\b(?:not|don't|dont) (?:want|need)\b.*?"
    r"(?= (?:i (?:want|need|would like)|i'd like|(?:can|could|may) (?:i|we))\b)",
    re.IGNORECASE,
)
"""What is refused before something else is wanted: "I don't want that I want to book a table"."""
_NO = re.compile(r"(?:no|nope|nah)\b", re.I)
_ABOUT = re.compile(rf"(?:(?:{TAKING_BACK}|{HESITATING}|it should be)\b\W*)*(about\b.+)", re.I)
"""Another subject, behind a question that reads one back: "no, about my knee"."""
_TO_SELF = re.compile(r"\b(?:was|were|called)\b[^?]*$")
"""In the middle of a message, a question to oneself: "oh, what was his name, anyway"."""
_LONGEST_ANSWER = 80
"""Characters; readers would report anything longer as too long."""
_WANTS_BACK = re.compile(r"(?<!not )\b(?:cancel|changed my mind)\b")
_THINGS = ("order", "booking", "reservation", "appointment", "request", "purchase")
"""What a flow without a kept thing may have made."""
_NOT_WANTED = re.compile(
    r"(?:(?:(?<!why )(?:do|did|would|will) not|never|no longer)(?: \w+)?"
    r"|\b(?:do|does|did|would|should|will) (?:i|we|he|she))(?: have to)? $"
)
"""Words before something that is not wished for: "I don't want …", "do I need …"."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a message does in a step, without the model.

    Attributes:
        calls: Tools to call, with their arguments, for the values in the message.
        agrees: The tool that the agent asked about, if the message also says "yes" to it.
        refuses: Whether the message says "no" to the question.
        says: Answer to the message's side questions.
        moves: New position if the message takes back a value or everything; the calls are made
            there.
        hushes: Whether to ask nothing until a value is said.
    """

    calls: tuple[tuple[str, Mapping[str, str]], ...] = ()
    agrees: str = ""
    refuses: bool = False
    says: str = ""
    moves: Position | None = None
    hushes: bool = False


class StepMessages:
    """Interprets messages at one position of a flow.

    Args:
        team: The agents and their flows.
        position: Where the conversation stands.
        tools: The tools whose values the program reads itself, by name.
    """

    def __init__(self, team: Team, position: Position, tools: Mapping[str, ToolSpec]) -> None:
        self._team = team
        self._at = position
        self._tools = tools
        self._agent = team.agent(position)
        self._step = team.step(position)
        self._fresh = team.enter(position.agent, None, position.reason, position.hidden)
        self._needs = dict(team.open_values(position))
        self._missing = team.missing(position)
        self._over = team.over(position)
        self._aside = team.aside(position)
        self._looking = position.step != "" and position.step == self._agent.kept.none

    def wanted(self, message: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The tools, with arguments, that a message calls by patterns or for the kept thing."""
        called = called_for(message, self._step.calls, self._agent.calls)
        others = ((hand_over_tool(other), dict[str, str]()) for other in self._others(message))
        # What is asked for beside another agent is done before the hand-over.
        yield from (*others, *called) if any(self.called_beside(message)) else (*called, *others)
        yield from self._kept(message)

    def called_beside(self, message: str) -> Iterator[tuple[str, dict[str, str]]]:
        """As `wanted`, for the clauses beside one that asks for another agent."""
        parts = clauses(message)
        own = [one for one in parts if not any(self._others(one))]
        if 0 < len(own) < len(parts):
            said = ", ".join(own)
            yield from called_for(said, self._step.calls, self._agent.calls)
            yield from self._kept(said)

    def _kept(self, message: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The tool that does what a message wants done with the kept thing."""
        act, kept = self._act(message), self._agent.kept
        if act is Act.CHANGE and kept.change:
            yield kept.change, self._told_of_kept(message, kept.change)
        elif act is Act.ANOTHER and kept.another:
            yield kept.another, self._another(message)
        elif act is Act.END and kept.end:
            yield kept.end, self._told_of_kept(message, kept.end)
        elif act is Act.TELL and kept.tell:
            yield kept.tell, {}

    def _others(self, message: str) -> Iterator[str]:
        """The agents that a message asks for by patterns."""
        words = plain_words(message)
        for other in self._agent.hand_over:
            found = self._team.named(other).takes_over.found.finditer(words)
            if not all(_NOT_WANTED.search(words[: one.start()]) for one in found):
                yield other

    def _act(self, message: str) -> Act | None:
        """What a message wants done with the kept thing; None for nothing.

        A bare "cancel" in one clause is enough to end it. Clauses that refuse to have one made, or
        that ask what could be done "in case", do not count.
        """
        begun = bool(self._at.known and self._missing) and not self._aside
        spoken_of = self._over or self._aside
        things = self._agent.kept.things
        refused = _REFUSED_FIRST.search(message)
        if refused and not any(thing in refused[0].lower() for thing in things):
            message = message.replace(refused[0], "")
        parts = [one for one in clauses(message) if not (refuses(one, things) or supposes(one))]
        if begun:
            # "Forget the room" is said of the one that is being made.
            parts = [one for one in parts if not forgets(one, things)]
        if act := act_on(", ".join(parts), things, spoken_of, begun):
            return act
        if not gives_up(message) and "cancel" in map(bare, parts):
            return Act.END
        return Act.CHANGE if self._over and self._aside and self._changes(message) else None

    def _changes(self, message: str) -> bool:
        """Whether a message consists of values of the tool that changes the kept thing."""
        tool = self._tools.get(self._agent.kept.change)
        return says_again(message, [Wanted(*one) for one in tool.readings.items()] if tool else ())

    def _told_of_kept(self, message: str, tool: str) -> dict[str, str]:
        """The arguments in a message for the tool that changes or ends the kept thing."""
        agent = self._agent
        needs = [need for step in agent.steps.values() for need in step.needs.values()]
        asked = next((one.argument for one in needs if one.tool == tool and one.offers), "")
        readings = self._tools[tool].readings if tool in self._tools else {}
        wanted = [Wanted(name, one) for name, one in readings.items()]
        parts = clauses(message)
        # Clauses before the wish describe what there is: "I'm booked on Friday, can we ...".
        wish = (at for at, one in enumerate(parts) if act_on(one, agent.kept.things, True))
        for first in (next(wish, 0), 0):
            if found := said_values(", ".join(parts[first:]), wanted, asked):
                return {**found}
        # "I can't come on Friday" means the one on Friday.
        out = ruled_out(message, wanted).items() if tool == agent.kept.end else ()
        return {name: words[0] for name, words in out}

    def _objection(self, message: str) -> str:
        """Why what a message wants done with the kept thing cannot be done; otherwise empty."""
        wanted, tools = self._kept(message), self._tools
        kept = ((tools[name], given) for name, given in wanted if name in tools)
        return next((objection(spec, given, message) for spec, given in kept), "")

    def _another(self, message: str) -> dict[str, str]:
        """How another one is to be like the last, unless the message says what it is for."""
        how = beside(message, self._agent.kept.things)
        return {"beside": how} if how and not self._fresh_values(message) else {}

    def values_anew(self, message: str) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The tools to call for values beside the wish to find or make a thing."""
        return self.values(message) if self._looking else self._fresh_values(message)

    def _fresh_values(self, message: str) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The tools to call for the values with which a message begins the flow again.

        The wish for another thing, courtesies and questions contain no values.
        """
        fresh, things = self._fresh, self._agent.kept.things
        told = [
            one
            for one in clauses(message)
            if not (is_courteous(one) or asks(one) or _is_bare_wish(one, things))
        ]
        first = next(iter(self._team.missing(fresh)), "")
        return self._from(replace(fresh, asked=first)).values(", ".join(told)) if told else ()

    def taken(self, message: str) -> Taken | None:
        """What a message does here without the model; None leaves it to the model."""
        needs = self._needs
        wanted = list(self._readable())
        asked = needs.get(self._at.asked)
        offered = self._at.known.get(asked.offers, "") if asked and asked.offers else ""
        none = any(refuses(one, self._agent.kept.things) for one in clauses(message))
        if says := self._objection(message):
            return Taken(says=says)
        if self._cancels_for_good(message):
            return Taken(says=CANNOT_CANCEL)
        if needs and starts_over(message) and not self._aside:
            return Taken(moves=self._fresh)
        if none or (needs and self._drops(message)):
            if self._aside:
                return Taken(moves=self._team.for_kept(self._at, "", failed=True))
            return Taken(says=NOTHING_THEN, moves=self._fresh if needs else self._at, hushes=True)
        if self._over or self._looking:
            anew = self._begins_anew(message)
            if self._over or (anew and anew.moves):
                return anew
        says, rest = self.beside(message, wanted)
        deed = asked.tool if asked and not asked.argument else ""
        # "Lovely, so when am I coming?" is a question and agrees to nothing yet.
        answer = answer_among(rest, wanted, bool(says)) if deed or offered else None
        if calls := self.values(rest):
            if asked and offered and answer and asked.tool not in dict(calls):
                calls = (*calls, (asked.tool, {asked.argument: offered}))
            return Taken(calls, agrees=deed if answer else "", says=says)
        says = says or self._cannot_say(rest) * bool(answer)
        if asked and offered and answer:
            return Taken(((asked.tool, {asked.argument: offered}),), says=says)
        if self._aside and not offered and self._is_all(message):
            return Taken(moves=self._team.for_kept(self._at, "", failed=True))
        about = _ABOUT.match(rest) if deed else None
        if about and (calls := self.values(f"it is {about[1]}")):
            return Taken(calls, says=says)
        known = [one.name for one in wanted if one.known is not None]
        if value := taken_back(rest, known):
            return Taken(moves=self._team.forgotten(self._at, value))
        if asked and offered and answer is False:
            return Taken(moves=self._team.forgotten(self._at, asked.offers))
        if answer is not None:
            return Taken(((deed, {}),), says=says) if answer else Taken(refuses=True)
        if says_again(rest, wanted):
            return Taken(says=says)
        if self._missing and self._only_wishes(message):
            return Taken(says=says)
        says = says or self._at_least(message)
        return Taken(says=says) if says else None

    def _only_wishes(self, message: str) -> bool:
        """Whether a message wants the thing that is made here, and says nothing else."""
        things, said = self._agent.kept.things, plain_words(bare(message, GREETING))
        wishes = act_on(said, things, spoken_of=True) is Act.ANOTHER
        known = GRAMMAR | VERBS | {word for one in things for word in one.split()}
        return wishes and known.issuperset(said.split()) and not (self._aside or self._looking)

    def _is_all(self, message: str) -> bool:
        """Whether a message says "no" and nothing else: it asks nothing and gives no value."""
        more = message.rstrip().endswith("?") or self._from(self._fresh).values(message)
        return disagrees(message) or (_NO.match(message) is not None and not more)

    def _begins_anew(self, message: str) -> Taken | None:
        """What a message does after the end of a flow.

        The value that the first step asks for begins the flow again. Courtesies do not, and side
        questions are answered.
        """
        says, rest = self.beside(message)
        calls = self._fresh_values(rest)
        missing = next(iter(self._team.missing(self._fresh)), "")
        first = self._team.step(self._fresh).needs.get(missing)
        # "No, ..." to "Is there anything else?" begins nothing, whatever was recognised after it.
        no = any(disagrees(one) for one in clauses(message)[:1])
        told = [one for one in self._from(self._fresh)._readable() if one.name == missing]
        tells = any(_begins(one, part) for one in told for part in clauses(rest))
        if first and not no and tells and first.tool in (name for name, _ in calls):
            # Marked as asked, so that the message is not read once more.
            return Taken(calls, says=says, moves=replace(self._fresh, asked=missing))
        says = says or self._at_least(message) or NOTHING_ELSE * no
        return Taken(says=says) if says else None

    def _cancels_for_good(self, message: str) -> bool:
        """Whether a message wants to undo what is done, though the flow cannot undo it."""
        steps = self._agent.steps.values()
        deeds = {n for step in steps for n, need in step.needs.items() if not need.argument}
        if self._agent.kept.end or deeds.isdisjoint(self._at.known):
            return False
        things = (*self._agent.kept.things, *_THINGS)
        if act_on(message, things, spoken_of=self._over) is Act.END:
            return True
        return _WANTS_BACK.search(plain_words(message)) is not None

    def _at_least(self, message: str) -> str:
        """What to say to a message that does nothing for the step; empty for nothing."""
        words = message.lower()
        if says := self._cannot_say(message):
            return says
        thanked = THANKS.search(words) is not None
        # If nothing was asked, thanks within a remark get the answer.
        heard = self._needs and self._tools and (self._at.asked or not thanked)
        if heard and only_tells(message):
            return I_SEE
        thanks = thanked and not bare(message, GREETING)
        if not thanks:
            return ""
        if self._missing:
            return ONE_MORE_THING
        return WELCOME if self._over and is_courteous(message) else ""

    def _cannot_say(self, message: str) -> str:
        """The agent's "cannot say" if any clause may be a question; otherwise empty."""
        asked = any(map(may_ask, clauses(message))) or message.rstrip().endswith("?")
        # "Hello?" is no question.
        return self._agent.cannot_say if asked and bare(message, GREETING) else ""

    def _drops(self, message: str) -> bool:
        """Whether a message gives up what is made here."""
        return gives_up(message) or forgets(message, (*self._agent.kept.things, *_THINGS))

    def left(self, message: str) -> str:
        """What a message asks for behind words that give up what is made here; empty for nothing.

        "Never mind, Tuesday then" gives nothing up.
        """
        first, *rest = clauses(message) or [""]
        said = ", ".join(rest)
        leaves = self._needs and self._drops(first) and not (self._act(message) or self._aside)
        asks_for = may_ask(said) or any(self.wanted(said))
        return said if leaves and asks_for and not self.values(said) else ""

    def values(self, message: str) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The tools to call, with arguments, for the values in a message."""
        calls: dict[str, dict[str, str]] = {}
        wanted = list(self._readable())
        found = self._found(message, wanted)
        told = {one.name: self._branch(one, found[one.name]) for one in wanted if one.name in found}
        needs = dict(self._team.open_values(self._at, told))
        if needs != self._needs:
            # The message itself chooses the branch that its other values belong to.
            wanted = list(self._readable(needs))
            found = self._found(message, wanted)
        branches = (branch for step in self._agent.steps.values() for branch in step.branches)
        choosing = {branch.value for branch in branches}
        # What chooses a branch comes first: the flow learns the others on the way there.
        for name, words in sorted(found.items(), key=lambda one: one[0] not in choosing):
            calls.setdefault(needs[name].tool, {})[needs[name].argument] = words
        for name, out in ruled_out(message, wanted).items():
            if RULED_OUT in self._tools[needs[name].tool].properties:
                given = calls.setdefault(needs[name].tool, {})
                given[RULED_OUT] = ", ".join(filter(None, (given.get(RULED_OUT), *out)))
        return tuple(calls.items())

    def _branch(self, one: Wanted, words: str) -> str:
        """The value of the branch that words choose; empty for none."""
        branches = (branch for step in self._agent.steps.values() for branch in step.branches)
        own = (branch.equals for branch in branches if branch.value == one.name)
        meant = one.reading.read(words)
        return next((equals for equals in own if one.reading.read(equals) == meant), "")

    def _found(self, message: str, wanted: Sequence[Wanted]) -> Mapping[str, str]:
        """The words of the values in a message, by name."""
        found = said_values(message, wanted, self._at.asked)
        return found or self._hardly_said(message, wanted) or self._whole(message, wanted)

    def _hardly_said(self, message: str, wanted: Sequence[Wanted]) -> dict[str, str]:
        """The whole message as the value asked for, if only its lenient reader can read it."""
        asked = next((one for one in wanted if one.name == self._at.asked), None)
        read = asked.reading.hardly if asked and len(message) <= _LONGEST_ANSWER else None
        return {asked.name: message} if asked and read and asked.answers(message, read) else {}

    def _whole(self, message: str, wanted: Sequence[Wanted]) -> dict[str, str]:
        """The whole message as the next missing value, if nothing was asked, as after a moment."""
        first = next(iter(self._missing), "") if not self._at.asked else ""
        words = message.strip(" .!")
        read = [one for one in wanted if one.name == first and not one.reading.free]
        return {one.name: words for one in read if one.reads(words)}

    def not_called(self, message: str, called: str) -> str:
        """A message without the clauses that call a tool by patterns, beside that of ``called``.

        Tools that must follow others are called alone.

        A request for another agent, and all behind it, is for that agent to read. Empty if the
        message acts on the kept thing.
        """
        agent, step, parts = self._agent, self._step, parted(message)
        if self._act(message):
            return ""
        until = (", ".join(parts[: at + 1]) for at in range(len(parts)))
        own = (c for c, said in zip(parts, until, strict=True) if not any(self._others(said)))
        alone = {n for n, spec in self._tools.items() if spec.behind} - {called}
        names = ((c, {n for n, _ in called_for(c, step.calls, agent.calls)} - alone) for c in own)
        return ", ".join(clause for clause, calls in names if not calls)

    def _readable(self, needs: Mapping[str, NeedConfig] | None = None) -> Iterator[Wanted]:
        """The values that may be given here and that the program can read.

        An argument that brings several values is read once, for the one that was asked for.
        """
        seen = set[tuple[str, str]]()
        named = (self._needs if needs is None else needs).items()
        for name, need in sorted(named, key=lambda one: one[0] != self._at.asked):
            readings = self._tools[need.tool].readings if need.tool in self._tools else {}
            reading, feeds = readings.get(need.argument), (need.tool, need.argument)
            if reading and feeds not in seen:
                seen.add(feeds)
                yield Wanted(name, reading, self._at.known.get(name))

    def beside(self, message: str, wanted: Sequence[Wanted] = ()) -> tuple[str, str]:
        """The answer to a message's side questions, and the message without their clauses."""
        agent, says, rest = self._agent, list[str](), list[str]()
        parts = clauses(message)
        for clause in parts:
            to_self = clause != parts[-1] and _TO_SELF.search(clause)
            asked = asks(clause) and not to_self
            answers = (with_values(one, self._at.known) for one in answers_to(agent.asides, clause))
            known = next(filter(None, answers), "")
            say = known or self._waits(clause)
            if not say and asked and not asks_of_the_agent(clause):
                say = agent.cannot_say
            given = say and said_values(clause, wanted, "")
            if say and (not given or (known and asked)):
                says.append(say)
            if given or not say:
                rest.append(clause)
        said = " ".join(dict.fromkeys(says))
        return said, ", ".join(rest) if said else message

    def _waits(self, clause: str) -> str:
        """The reply to a wish for another thing before this one is made; otherwise empty."""
        kept = self._agent.kept
        begun = self._at.known and self._missing and not self._aside
        another = begun and act_on(clause, kept.things, spoken_of=True) is Act.ANOTHER
        return kept.wait if another and beside(clause, kept.things) else ""

    def _from(self, position: Position) -> StepMessages:
        return StepMessages(self._team, position, self._tools)


def objection(spec: ToolSpec, given: Mapping[str, Any], message: str) -> str:
    """Why a tool refuses a call, as a sentence; empty if it does not."""
    result = spec.refusal(ToolCall("", spec.name, {**given}), message) if spec.refusal else None
    return spoken_result(result.content) if result else ""


def _begins(one: Wanted, clause: str) -> bool:
    """Whether a clause begins a flow with its first value; remarks do not: "so I write it down".

    A free value must be the whole clause; any other may stand anywhere in it.
    """
    if one.reads(clause):
        return True
    remark = is_courteous(clause) or only_tells(clause)
    return not (one.reading.free or remark) and bool(said_values(clause, [one], ""))


def _is_bare_wish(clause: str, things: Sequence[str]) -> bool:
    """Whether a clause wants another thing only in relation to the last: "one for my son too"."""
    wish = act_on(clause, things, spoken_of=True) is Act.ANOTHER
    return wish and bool(beside(clause, things))
