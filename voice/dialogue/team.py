"""The rules by which conversations go on: between agents, from step to step, with what is known.

A step goes on once its values are known, which calls of its tools bring; a value that changes later
goes back to its step; a hand-over takes along the reason and what is known, and nothing else of the
dialogue. All of it follows from results of calls, each of which comes once, whatever becomes of the
reply. Where one conversation stands is no matter of it: `voice.dialogue.flow`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from voice.config.agent import AgentConfig
from voice.config.answers import answers_to
from voice.config.called_for import called_for
from voice.config.flow import NeedConfig, StepConfig, steps_from
from voice.config.moments import plain_words
from voice.dialogue.flow_words import (
    GREETING,
    NOTHING_ELSE,
    NOTHING_THEN,
    ONE_MORE_THING,
    THANKS,
    WELCOME,
    filled,
    spoken,
)
from voice.inputs import SessionOptions
from voice.types import Position, ToolCall, ToolResult, ToolSpec
from voice.understanding.acts import Act, act_on, beside, refuses
from voice.understanding.english import (
    asks,
    asks_of_the_agent,
    bare,
    disagrees,
    is_courteous,
    may_ask,
)
from voice.understanding.said_values import (
    Wanted,
    answer_among,
    clauses,
    gives_up,
    ruled_out,
    said_values,
    says_again,
    starts_over,
    taken_back,
)

HAND_OVER = "hand_over_to_"
START_OVER = "start_over"
RULED_OUT = "ruled_out"
"""Argument of a tool that gets, of its values, those that a message does not want, with commas."""
_NO = re.compile(r"(?:no|nope|nah)\b", re.I)
_TO_SELF = re.compile(r"\b(?:was|were|called)\b[^?]*$")
"""In the midst of a message, what talkers ask themselves: "oh, what was his name, anyway"."""
_NOT_WANTED = re.compile(r"(?:(?<!why )(?:do|did|would|will) not|never|no longer)(?: \w+)? $")
"""Before a wish that is none: "I don't want an appointment"."""
MOST_KNOWN = 64
"""Values; a file with more steps than that is no flow for a voice."""


def hand_over_tool(agent: str) -> str:
    """Name of the tool that hands over to an agent."""
    return HAND_OVER + re.sub(r"\W", "_", agent)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a message does in a step, without the model.

    Attributes:
        calls: Tools and their arguments, for the values that it says.
        agrees: The tool that the agent has asked about, where it says "yes" beside that.
        refuses: Whether it says "no" to the question.
        says: What there is to say to its questions beside the step.
        moves: Where the conversation stands, once a value is taken back, or everything; the calls
            are made there.
        hushes: Whether nothing is asked until a value is said.
    """

    calls: tuple[tuple[str, Mapping[str, str]], ...] = ()
    agrees: str = ""
    refuses: bool = False
    says: str = ""
    moves: Position | None = None
    hushes: bool = False


class Team:
    """The agents of a conversation and their flows; the first one begins."""

    def __init__(self, agents: Sequence[AgentConfig]) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self.front = agents[0]

    @property
    def agents(self) -> tuple[AgentConfig, ...]:
        """All, the first one first."""
        return tuple(self._agents.values())

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools of all agents and steps."""
        named = [agent.tools for agent in self.agents]
        named += [step.tools for agent in self.agents for step in agent.steps.values()]
        named += [agent.kept.tools for agent in self.agents]
        return tuple(dict.fromkeys(name for names in named for name in names))

    @property
    def flows(self) -> bool:
        """Whether there is anything to follow: another agent, or a step."""
        return len(self._agents) > 1 or bool(self.front.steps)

    def agent(self, position: Position) -> AgentConfig:
        """The one that has the conversation."""
        return self._agents[position.agent]

    def step(self, position: Position) -> StepConfig:
        """The one that the flow is in; empty where there is no flow."""
        return self.agent(position).steps.get(position.step, StepConfig())

    def missing(self, position: Position) -> list[str]:
        """What has to be known yet before the step ends."""
        needs = self.step(position).needs
        return [name for name, one in needs.items() if one.ask and name not in position.known]

    def enter(
        self,
        agent: str,
        known: Mapping[str, str] | None = None,
        reason: str = "",
        hidden: frozenset[str] = frozenset(),
    ) -> Position:
        """The first step of an agent's flow of which not all is known."""
        first = next(iter(self._agents[agent].steps), "")
        return self._advanced(Position(agent, first, known or {}, (), reason, hidden))

    def learned(
        self, position: Position, call: ToolCall, result: ToolResult, said: str = ""
    ) -> Position:
        """Where the conversation stands behind the result of a call.

        Args:
            position: Before.
            call: The call.
            result: Its result; an error brings nothing.
            said: The user's message, which is why it was made.
        """
        kept = self.agent(position).kept
        if call.name in kept.tools and call.name != kept.another:
            ends = call.name == kept.end and not self.over(position)
            if result.error and kept.none and (ends or not position.known):
                if position.step == kept.none:
                    return position
                return replace(position, step=kept.none, path=(), known={}, asked="", times=0)
            position = self._for_kept(position, call.name, result.error)
        if result.error:
            return position
        if call.name == START_OVER:
            values = {name: one for name, one in result.values.items() if one}
            return self.enter(position.agent, values, position.reason, position.hidden)
        for other in self.agent(position).hand_over:
            if call.name == hand_over_tool(other):
                # A model that copies gives a word or two of the message, which says more.
                given = str(call.arguments.get("reason", ""))
                return self.enter(other, position.known, said if given in said else given)
        new = self._brought(position, call, result)
        known = {name: one for name, one in {**position.known, **new}.items() if one}
        if not new or len(known) > MOST_KNOWN:
            return position
        back = self._back(replace(position, known=known, asked="", times=0), new)
        return self._advanced(back, said)

    def forgotten(self, position: Position, value: str) -> Position:
        """Where it stands once a known value is not known any more."""
        back = self._back(position, {value: ""})
        known = {name: one for name, one in back.known.items() if name != value}
        return replace(back, known=known, asked="", times=0)

    def question(self, position: Position) -> tuple[Position, str]:
        """The agent's own question for what is missing, which counts as asked; may be empty."""
        value = next(iter(self.missing(position)), "")
        if not value:
            return position, ""
        ask = self.step(position).needs[value].questions(position.known)
        times = position.times if position.asked == value else 0
        text = filled(ask[min(times, len(ask) - 1)], position.known)
        return replace(position, asked=value, times=times + 1), text

    def unasked(self, position: Position) -> Position:
        """Something else was said since: a "yes" answers no question for a deed any more."""
        need = dict(self._open(position)).get(position.asked)
        aside = need is not None and not need.argument
        return replace(position, asked="", times=0) if aside else position

    def arrival(self, before: Position, now: Position) -> str:
        """What the agent says first where it has arrived; empty where it has been before."""
        if now.agent != before.agent and not now.path:
            return self.agent(now).greeting
        moved = (now.agent, now.step) != (before.agent, before.step)
        return filled(self.step(now).says, now.known) if moved else ""

    def over(self, position: Position) -> bool:
        """Whether a flow stands where nothing more is asked."""
        return bool(self.agent(position).steps) and not self.step(position).needs

    def wanted(
        self, position: Position, message: str, tools: Mapping[str, ToolSpec] | None = None
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """The tools that a message calls by patterns, or for what is kept, with arguments."""
        agent = self.agent(position)
        yield from called_for(message, self.step(position).calls, agent.calls)
        words = plain_words(message)
        for other in agent.hand_over:
            found = self._agents[other].takes_over.found.finditer(words)
            if not all(_NOT_WANTED.search(words[: one.start()]) for one in found):
                yield hand_over_tool(other), {}
        act, kept = self._act(position, message), agent.kept
        if act is Act.CHANGE and kept.change:
            yield kept.change, self._told_of_kept(position, message, kept.change, tools or {})
        elif act is Act.ANOTHER and kept.another:
            yield kept.another, self._another(position, message, tools or {})
        elif act is Act.END and kept.end:
            yield kept.end, self._told_of_kept(position, message, kept.end, tools or {})
        elif act is Act.TELL and kept.tell:
            yield kept.tell, {}

    def _act(self, position: Position, message: str) -> Act | None:
        """What a message wants done with what is kept, or a clause of it with its end.

        Who wants none made wants none ended.
        """
        begun = bool(position.known and self.missing(position)) and not self._aside(position)
        spoken_of = self.over(position) or self._aside(position)
        things = self.agent(position).kept.things
        parts = [one for one in clauses(message) if not refuses(one, things)]
        if act := act_on(", ".join(parts), things, spoken_of, begun):
            return act
        ends = not gives_up(message) and "cancel" in map(bare, parts)
        return Act.END if ends else None

    def _aside(self, position: Position) -> bool:
        """Whether it stands in a step to which no other goes."""
        steps = self.agent(position).steps
        return bool(steps) and position.step not in steps_from(next(iter(steps)), steps)

    def _told_of_kept(
        self, position: Position, message: str, tool: str, tools: Mapping[str, ToolSpec]
    ) -> dict[str, str]:
        """What a message has of the arguments by which a tool changes or ends the kept thing."""
        agent = self.agent(position)
        needs = [need for step in agent.steps.values() for need in step.needs.values()]
        asked = next((one.argument for one in needs if one.tool == tool and one.offers), "")
        readings = tools[tool].readings if tool in tools else {}
        wanted = [Wanted(name, one) for name, one in readings.items()]
        parts = clauses(message)
        # What stands before the wish tells of what there is: "I'm booked on Friday, can we ...".
        wish = (at for at, one in enumerate(parts) if act_on(one, agent.kept.things, True))
        for first in (next(wish, 0), 0):
            if found := said_values(", ".join(parts[first:]), wanted, asked):
                return {**found}
        # Who cannot come on Friday means the one on Friday.
        out = ruled_out(message, wanted).items() if tool == agent.kept.end else ()
        return {name: words[0] for name, words in out}

    def _another(
        self, position: Position, message: str, tools: Mapping[str, ToolSpec]
    ) -> dict[str, str]:
        """How another one is to be like the last: not where the message says what it is for."""
        how = beside(message)
        return {"beside": how} if how and not self.values_anew(position, message, tools) else {}

    def values_anew(
        self, position: Position, message: str, tools: Mapping[str, ToolSpec]
    ) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The tools to call for the values by which a message begins the flow anew.

        The wish for another thing is no value, nor are courtesies and questions.
        """
        fresh, kept = self.enter(position.agent), self.agent(position).kept
        told = [
            one
            for one in clauses(message)
            if not (is_courteous(one) or asks(one) or self._is_bare_wish(one, kept.things))
        ]
        first = next(iter(self.missing(fresh)), "")
        return self.values(replace(fresh, asked=first), ", ".join(told), tools) if told else ()

    def _is_bare_wish(self, clause: str, things: Sequence[str]) -> bool:
        """Whether a clause wants another thing like the last, and does not say what for."""
        return act_on(clause, things, spoken_of=True) is Act.ANOTHER and bool(beside(clause))

    def _for_kept(self, position: Position, tool: str, failed: bool) -> Position:
        """Where it stands for a call on what is kept.

        That is the step that asks for its values, or else where the flow is over, unless something
        is being made.
        """
        steps = self.agent(position).steps
        if any(need.tool == tool for need in self.step(position).needs.values()):
            return position
        needing = (n for n, s in steps.items() if any(d.tool == tool for d in s.needs.values()))
        end = (name for name, step in steps.items() if not (step.needs or step.goes_to))
        to = "" if failed else next(needing, "")
        if not to and (self.over(position) or (position.known and self.missing(position))):
            return position
        to = to or next(end, position.step)
        known = {n: one for n, one in position.known.items() if n not in steps[to].needs}
        return replace(position, step=to, path=(), known=known, asked="", times=0)

    def taken(
        self, position: Position, message: str, tools: Mapping[str, ToolSpec]
    ) -> Taken | None:
        """What a message does here without the model; None is for the model."""
        needs = dict(self._open(position))
        wanted = list(self._readable(position, tools))
        fresh = self.enter(position.agent, None, position.reason, position.hidden)
        asked = needs.get(position.asked)
        offered = position.known.get(asked.offers, "") if asked and asked.offers else ""
        none = any(refuses(one, self.agent(position).kept.things) for one in clauses(message))
        if needs and starts_over(message) and not self._aside(position):
            return Taken(moves=fresh)
        if none or (needs and gives_up(message)):
            if self._aside(position):
                return Taken(moves=self._for_kept(position, "", failed=True))
            return Taken(says=NOTHING_THEN, moves=fresh if needs else position, hushes=True)
        looking = position.step == self.agent(position).kept.none
        if self.over(position) or looking:
            anew = self._begins_anew(position, fresh, message, tools)
            if self.over(position) or (anew and anew.moves):
                return anew
        says, rest = self._beside(position, message, wanted)
        deed = asked.tool if asked and not asked.argument else ""
        # "Lovely, so when am I coming?" asks, and agrees to nothing yet.
        answer = answer_among(rest, wanted, bool(says)) if deed or offered else None
        if calls := self.values(position, rest, tools):
            if asked and offered and answer and asked.tool not in dict(calls):
                calls = (*calls, (asked.tool, {asked.argument: offered}))
            return Taken(calls, agrees=deed if answer else "", says=says)
        says = says or self._cannot_say(position, rest) * bool(answer)
        if asked and offered and answer:
            return Taken(((asked.tool, {asked.argument: offered}),), says=says)
        if self._aside(position) and not offered and (disagrees(message) or _NO.match(message)):
            return Taken(moves=self._for_kept(position, "", failed=True))
        known = [one.name for one in wanted if one.known is not None]
        if value := taken_back(rest, known):
            return Taken(moves=self.forgotten(position, value))
        if asked and offered and answer is False:
            return Taken(moves=self.forgotten(position, asked.offers))
        if answer is not None:
            return Taken(((deed, {}),), says=says) if answer else Taken(refuses=True)
        if says_again(rest, wanted):
            return Taken(says=says)
        says = says or self._at_least(position, message)
        return Taken(says=says) if says else None

    def _begins_anew(
        self, position: Position, fresh: Position, message: str, tools: Mapping[str, ToolSpec]
    ) -> Taken | None:
        """What a message does behind the end of a flow: what a first step asks for begins it anew.

        Courtesies do not, and what asks something is answered.
        """
        says, rest = self._beside(position, message, ())
        calls = self.values_anew(position, rest, tools)
        first = self.step(fresh).needs.get(next(iter(self.missing(fresh)), ""))
        # "No, ..." to "Is there anything else?" begins nothing, however its rest was heard.
        no = any(disagrees(one) for one in clauses(message)[:1])
        told = [one for one in self._readable(fresh, tools) if one.name in self.missing(fresh)[:1]]
        # A remark begins nothing: "so I write it down".
        tells = any(one.reads(part) for one in told for part in clauses(rest))
        if first and not no and tells and first.tool in (name for name, _ in calls):
            return Taken(calls, says=says, moves=fresh)
        says = says or self._at_least(position, message) or NOTHING_ELSE * no
        return Taken(says=says) if says else None

    def declined(self, position: Position, calls: Sequence[ToolCall]) -> Position:
        """Where it stands once calls are not wanted that were asked about."""
        kept = self.agent(position).kept.tools
        tool = next((call.name for call in calls if call.name in kept), "")
        return self._for_kept(position, tool, failed=True) if tool else position

    def _at_least(self, position: Position, message: str) -> str:
        """What there is to say to a message that brings the step nothing; empty for nothing."""
        words = message.lower()
        if says := self._cannot_say(position, message):
            return says
        thanks = THANKS.search(words) and not bare(message, GREETING)
        if not thanks:
            return ""
        if self.missing(position):
            return ONE_MORE_THING
        return WELCOME if self.over(position) and is_courteous(message) else ""

    def _cannot_say(self, position: Position, message: str) -> str:
        """What is said to a message of which any clause may ask something; empty for others."""
        asked = any(map(may_ask, clauses(message))) or message.rstrip().endswith("?")
        return self.agent(position).cannot_say if asked else ""

    def values(
        self, position: Position, message: str, tools: Mapping[str, ToolSpec]
    ) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The tools to call, with arguments, for the values that a message says."""
        needs = dict(self._open(position))
        calls: dict[str, dict[str, str]] = {}
        wanted = list(self._readable(position, tools))
        for name, words in said_values(message, wanted, position.asked).items():
            calls.setdefault(needs[name].tool, {})[needs[name].argument] = words
        for name, out in ruled_out(message, wanted).items():
            if RULED_OUT in tools[needs[name].tool].parameters.get("properties", {}):
                given = calls.setdefault(needs[name].tool, {})
                given[RULED_OUT] = ", ".join(filter(None, (given.get(RULED_OUT), *out)))
        return tuple(calls.items())

    def not_called(self, position: Position, message: str) -> str:
        """A message without what calls a tool: clauses by patterns, all for what is kept."""
        agent, step = self.agent(position), self.step(position)
        if self._act(position, message):
            return ""
        left = (c for c in clauses(message) if not any(called_for(c, step.calls, agent.calls)))
        return ", ".join(left)

    def _readable(self, position: Position, tools: Mapping[str, ToolSpec]) -> Iterator[Wanted]:
        """The values that may be said here, as far as the program can read them."""
        for name, need in self._open(position):
            readings = tools[need.tool].readings if need.tool in tools else {}
            if reading := readings.get(need.argument):
                yield Wanted(name, reading, position.known.get(name))

    def _beside(
        self, position: Position, message: str, wanted: Sequence[Wanted]
    ) -> tuple[str, str]:
        """What there is to say to the questions of a message, and the message without them."""
        agent, says, rest = self.agent(position), list[str](), list[str]()
        parts = clauses(message)
        for clause in parts:
            to_self = clause != parts[-1] and _TO_SELF.search(clause)
            asked = asks(clause) and not to_self
            answers = (filled(one, position.known) for one in answers_to(agent.asides, clause))
            say = next(filter(None, answers), "") or self._waits(position, clause)
            if not say and asked and not asks_of_the_agent(clause):
                say = agent.cannot_say
            if say and not said_values(clause, wanted, ""):
                says.append(say)
            else:
                rest.append(clause)
        said = " ".join(dict.fromkeys(says))
        return said, ", ".join(rest) if said else message

    def _waits(self, position: Position, clause: str) -> str:
        """What is said to who wants another thing made before this one is; else empty."""
        kept = self.agent(position).kept
        begun = position.known and self.missing(position) and not self._aside(position)
        another = begun and act_on(clause, kept.things, spoken_of=True) is Act.ANOTHER
        return kept.wait if another and beside(clause) else ""

    def offered(
        self, position: Position, tools: Mapping[str, ToolSpec], exact: bool
    ) -> tuple[str, ...]:
        """Names of the tools that the model may call here.

        Where the program reads messages (``exact``) it needs the model for none of what it reads.
        """
        agent, step = self.agent(position), self.step(position)
        needs = dict(self._open(position))
        earlier = (needs[n].tool for p in position.path for n in agent.steps[p].needs if n in needs)
        others = (o for o in agent.hand_over if not (exact and self._agents[o].takes_over.patterns))
        hand_over = map(hand_over_tool, others)
        names = dict.fromkeys((*agent.tools, *step.tools, *earlier, *agent.kept.tools, *hand_over))
        # What patterns call, and what is read.
        read = {*agent.calls, *step.calls, *agent.kept.tools} | {
            need.tool
            for need in needs.values()
            if not need.argument
            or (need.tool in tools and need.argument in tools[need.tool].readings)
        }
        return tuple(name for name in names if name in tools and not (exact and name in read))

    def leads(self, options: SessionOptions) -> bool:
        """Whether the flow is in force: not where a client leads the talk with tools of its own."""
        return not options.client_tools and set(self.front.tools) <= set(options.agent_tools)

    def options_at(
        self, options: SessionOptions, position: Position, tools: Sequence[str]
    ) -> SessionOptions:
        """Options as they are here; what the client has changed stays as it is."""
        front, agent = self.front, self.agent(position)
        others = (name for name in options.agent_tools if name not in front.tools)
        own = {
            "instructions": (front.instructions, self.instructions(position)),
            "voice": (front.voice, agent.voice),
            # What is remembered is the first agent's.
            "remembered": (options.remembered, options.remembered * (agent is front)),
            "moments": (front.fixed_words, agent.fixed_words),
            "agent_tools": (options.agent_tools, (*tools, *others)),
        }
        changed = {
            name: here
            for name, (at_first, here) in own.items()
            if getattr(options, name) == at_first
        }
        return replace(options, **changed)  # type: ignore[arg-type]

    def instructions(self, position: Position) -> str:
        """The agent's, and its step's."""
        told = self.agent(position).instructions, self.step(position).instructions
        return " ".join(filter(None, told))

    def note(self, position: Position) -> str:
        """What an agent is told that was handed the conversation; it does not change there."""
        if not position.reason:
            return ""
        known = "; ".join(
            f"{name.replace('_', ' ')}: {spoken(one)}" for name, one in position.known.items()
        )
        return f"You were handed this conversation: {position.reason}" + (
            f" ({known})" * bool(known)
        )

    def saved(self, position: Position) -> str:
        """A position as a text, for `restored`; empty where there is nothing to come back to."""
        unfinished = self.missing(position) and position.known
        if not unfinished and position.agent == self.front.name:
            return ""
        kept = asdict(replace(position, hidden=frozenset(), asked="", times=0))
        return json.dumps({**kept, "hidden": []})

    def restored(self, saved: str) -> Position | None:
        """A position that was saved, where the files still have its agent and steps."""
        try:
            found = json.loads(saved)
            position = Position(**{**found, "path": tuple(found["path"]), "hidden": frozenset()})
            steps = self.agent(position).steps
            if {*position.path, position.step} - steps.keys() - {""}:
                return None
        except (ValueError, TypeError, KeyError):
            return None
        return self._advanced(position)

    def _brought(self, position: Position, call: ToolCall, result: ToolResult) -> dict[str, str]:
        """Values that a result changes; one that is empty is none any more.

        What the tool says that it has understood counts before what was given to it.
        """
        new: dict[str, str] = {}
        for value, need in self._open(position):
            if need.tool != call.name:
                continue
            given = (result.values or call.arguments).get(need.argument)
            brought = str(given) if need.argument else result.content
            if given is not None or not need.argument:
                new[value] = brought
        return {name: one for name, one in new.items() if one != position.known.get(name, "")}

    def _open(self, position: Position) -> Iterator[tuple[str, NeedConfig]]:
        """The values that may be said or done here.

        All of the flow that are arguments, since people say early what they are asked later, and
        correct late what they said; of deeds that of this step alone. None once it is over, nor of
        steps that are not on the way.
        """
        here, steps = self.step(position), self.agent(position).steps
        near = {*position.path, *(steps_from(position.step, steps) if here.needs else ())}
        for step in (one for name, one in steps.items() if here.needs and name in near):
            for name, need in step.needs.items():
                if need.argument or step is here:
                    yield name, need

    def _back(self, position: Position, changed: Mapping[str, str]) -> Position:
        """Back at the earliest step that has a changed value; what was done since is to be redone.

        ``position`` is the same where none of the steps before has one.
        """
        steps = self.agent(position).steps
        for index, name in enumerate(position.path):
            if steps[name].needs.keys() & changed.keys():
                later = [*position.path[index:], position.step]
                done = {
                    n for one in later for n, need in steps[one].needs.items() if not need.argument
                }
                known = {n: value for n, value in position.known.items() if n not in done}
                return replace(position, step=name, path=position.path[:index], known=known)
        return position

    def _advanced(self, position: Position, said: str = "") -> Position:
        """Behind all steps of which everything is known; a loop asks anew."""
        steps = self.agent(position).steps
        while (step := self.step(position)).goes_to and not self.missing(position):
            known, path = position.known, (*position.path, position.step)
            fits = (b for b in step.branches if known.get(b.value, "").lower() == b.equals.lower())
            to = next((branch.goes_to for branch in fits), step.goes_to)
            if to not in steps:
                return self.enter(to, known, said or position.reason or position.step)
            if to in path:
                again = {name for one in path[path.index(to) :] for name in steps[one].needs}
                known = {name: one for name, one in known.items() if name not in again}
                path = path[: path.index(to)]
            position = replace(position, step=to, path=path, known=known)
        return position
