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
from dataclasses import asdict, replace

from voice.config.agent import AgentConfig
from voice.config.flow import NeedConfig, StepConfig, steps_from
from voice.dialogue.flow_words import spoken, with_values
from voice.inputs import SessionOptions
from voice.types import Position, ToolCall, ToolResult, ToolSpec

HAND_OVER = "hand_over_to_"
START_OVER = "start_over"
MOST_KNOWN = 64
"""Values; a file with more steps than that is no flow for a voice."""


def hand_over_tool(agent: str) -> str:
    """Name of the tool that hands over to an agent."""
    return HAND_OVER + re.sub(r"\W", "_", agent)


class Team:
    """The agents of a conversation and their flows; the first one begins."""

    def __init__(self, agents: Sequence[AgentConfig]) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self.front = agents[0]

    @property
    def agents(self) -> tuple[AgentConfig, ...]:
        """All, the first one first."""
        return tuple(self._agents.values())

    def named(self, agent: str) -> AgentConfig:
        """One of them."""
        return self._agents[agent]

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
            position = self.for_kept(position, call.name, result.error)
        if result.error:
            return self._refused(position, call.name)
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

    def _refused(self, position: Position, tool: str) -> Position:
        """Where it stands once a value is refused: that of the kept thing counts as asked for."""
        looks = position.step == self.agent(position).kept.none and not position.times
        for name, need in self.step(position).needs.items() if looks else ():
            if need.tool == tool:
                return replace(position, asked=name, times=1)
        return position

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
        text = with_values(ask[min(times, len(ask) - 1)], position.known)
        return replace(position, asked=value, times=times + 1), text

    def unasked(self, position: Position) -> Position:
        """Something else was said since: a "yes" answers no question for a deed any more."""
        need = dict(self.open_values(position)).get(position.asked)
        aside = need is not None and not need.argument
        return replace(position, asked="", times=0) if aside else position

    def arrival(self, before: Position, now: Position) -> str:
        """What the agent says first where it has arrived; empty where it has been before."""
        if now.agent != before.agent and not now.path:
            return self.agent(now).greeting
        moved = (now.agent, now.step) != (before.agent, before.step)
        return with_values(self.step(now).says, now.known) if moved else ""

    def over(self, position: Position) -> bool:
        """Whether a flow stands where nothing more is asked."""
        return bool(self.agent(position).steps) and not self.step(position).needs

    def aside(self, position: Position) -> bool:
        """Whether it stands in a step to which no other goes."""
        steps = self.agent(position).steps
        return bool(steps) and position.step not in steps_from(next(iter(steps)), steps)

    def for_kept(self, position: Position, tool: str, failed: bool) -> Position:
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

    def declined(self, position: Position, calls: Sequence[ToolCall]) -> Position:
        """Where it stands once calls are not wanted that were asked about."""
        kept = self.agent(position).kept.tools
        tool = next((call.name for call in calls if call.name in kept), "")
        return self.for_kept(position, tool, failed=True) if tool else position

    def offered(
        self, position: Position, tools: Mapping[str, ToolSpec], exact: bool
    ) -> tuple[str, ...]:
        """Names of the tools that the model may call here.

        Where the program reads messages (``exact``) it needs the model for none of what it reads.
        """
        agent, step = self.agent(position), self.step(position)
        needs = dict(self.open_values(position))
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
        for value, need in self.open_values(position):
            if need.tool != call.name:
                continue
            given = (result.values or call.arguments).get(need.argument)
            brought = str(given) if need.argument else result.content
            if given is not None or not need.argument:
                new[value] = brought
        return {name: one for name, one in new.items() if one != position.known.get(name, "")}

    def open_values(self, position: Position) -> Iterator[tuple[str, NeedConfig]]:
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
