"""The rules of flows: how conversations move between agents and from step to step.

A step ends once its values are known; they come from calls of its tools. If a value changes later,
the flow goes back to that value's step. A hand-over passes on the reason and the known values, and
nothing else of the dialogue. All moves follow from tool results, each of which arrives once,
whatever becomes of the reply. Stateless: where a conversation stands is in `voice.dialogue.flow`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from voice.config.agent import AgentConfig
from voice.config.flow import NeedConfig, StepConfig, steps_from
from voice.dialogue.flow_words import spoken, with_values
from voice.inputs import SessionOptions
from voice.types import Position, ToolCall, ToolResult, ToolSpec

HAND_OVER = "hand_over_to_"
MOST_KNOWN = 64
"""Values; a flow that needs more than that is not for a voice."""


def hand_over_tool(agent: str) -> str:
    """Name of the tool that hands over to an agent."""
    return HAND_OVER + re.sub(r"\W", "_", agent)


class Team:
    """The agents of a conversation and their flows; the first agent begins."""

    def __init__(self, agents: Sequence[AgentConfig]) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self.front = agents[0]

    @property
    def agents(self) -> tuple[AgentConfig, ...]:
        """All agents, the one that begins first."""
        return tuple(self._agents.values())

    def named(self, agent: str) -> AgentConfig:
        """The agent with this name."""
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
        """Whether there is a flow at all: more than one agent, or a step."""
        return len(self._agents) > 1 or bool(self.front.steps)

    def agent(self, position: Position) -> AgentConfig:
        """The agent that has the conversation."""
        return self._agents[position.agent]

    def step(self, position: Position) -> StepConfig:
        """The step that the flow is in; an empty one if there is no flow."""
        return self.agent(position).steps.get(position.step, StepConfig())

    def missing(self, position: Position) -> list[str]:
        """Names of the values that are still missing before the step can end."""
        needs = self.step(position).needs
        return [name for name, one in needs.items() if one.ask and name not in position.known]

    def enter(
        self,
        agent: str,
        known: Mapping[str, str] | None = None,
        reason: str = "",
        hidden: frozenset[str] = frozenset(),
    ) -> Position:
        """The position in an agent's first step that still lacks a value."""
        first = next(iter(self._agents[agent].steps), "")
        known = known or {}
        position = Position(agent, first, known, (), reason, hidden, handed=tuple(known))
        return self._advanced(position)

    def learned(
        self, position: Position, call: ToolCall, result: ToolResult, said: str = ""
    ) -> Position:
        """The position after the result of a call.

        Args:
            position: The position before it.
            call: The call.
            result: Its result; an error brings no values.
            said: The user's message that led to the call.
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
        if call.name == kept.another:
            values = {name: one for name, one in result.values.items() if one}
            return self.enter(position.agent, values, position.reason, position.hidden)
        for other in self.agent(position).hand_over:
            if call.name == hand_over_tool(other):
                # A model that copies a word or two as the reason: the whole message says more.
                given = str(call.arguments.get("reason", ""))
                return self.enter(other, position.known, said if given in said else given)
        new = self._brought(position, call, result)
        known = {name: one for name, one in {**position.known, **new}.items() if one}
        if not new or len(known) > MOST_KNOWN:
            return position
        back = self._back(replace(position, known=known, asked="", times=0), new)
        return self._advanced(back, said)

    def _refused(self, position: Position, tool: str) -> Position:
        """The position after a tool refused a value.

        In the step that looks for the kept thing, that value then counts as asked for.
        """
        looks = position.step == self.agent(position).kept.none and not position.times
        for name, need in self.step(position).needs.items() if looks else ():
            if need.tool == tool:
                return replace(position, asked=name, times=1)
        return position

    def forgotten(self, position: Position, value: str) -> Position:
        """The position once a known value has been taken back."""
        back = self._back(position, {value: ""})
        known = {name: one for name, one in back.known.items() if name != value}
        return replace(back, known=known, asked="", times=0)

    def question(self, position: Position) -> tuple[Position, str]:
        """The agent's question for the first missing value, and the position once it is asked.

        The question is empty if nothing is missing.
        """
        value = next(iter(self.missing(position)), "")
        if not value:
            return position, ""
        ask = self.step(position).needs[value].questions(position.known)
        times = position.times if position.asked == value else 0
        text = with_values(ask[min(times, len(ask) - 1)], position.known)
        return replace(position, asked=value, times=times + 1), text

    def unasked(self, position: Position) -> Position:
        """The position once something else was said: a "yes" no longer answers a confirmation."""
        need = dict(self.open_values(position)).get(position.asked)
        aside = need is not None and not need.argument
        return replace(position, asked="", times=0) if aside else position

    def arrival(self, before: Position, now: Position) -> str:
        """What the agent says first on arriving at a new agent or step; otherwise empty."""
        if now.agent != before.agent and not now.path:
            return self.agent(now).greeting
        moved = (now.agent, now.step) != (before.agent, before.step)
        return with_values(self.step(now).says, now.known) if moved else ""

    def over(self, position: Position) -> bool:
        """Whether the flow has ended: it has steps, but this one needs nothing."""
        return bool(self.agent(position).steps) and not self.step(position).needs

    def aside(self, position: Position) -> bool:
        """Whether the position is in a side step, one that the first step does not lead to."""
        steps = self.agent(position).steps
        return bool(steps) and position.step not in steps_from(next(iter(steps)), steps)

    def for_kept(self, position: Position, tool: str, failed: bool) -> Position:
        """The position for a call on the kept thing.

        That is the step that asks for the tool's values, if there is one and the call has not
        ``failed``; otherwise the flow's end, unless something is being made.
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
        """The position after the user declined calls they were asked about."""
        kept = self.agent(position).kept.tools
        tool = next((call.name for call in calls if call.name in kept), "")
        return self.for_kept(position, tool, failed=True) if tool else position

    def offered(
        self, position: Position, tools: Mapping[str, ToolSpec], exact: bool
    ) -> tuple[str, ...]:
        """Names of the tools that the model may call here.

        If the program reads messages itself (``exact``), tools for what it can read are left out.
        """
        agent, step = self.agent(position), self.step(position)
        needs = dict(self.open_values(position))
        earlier = (needs[n].tool for p in position.path for n in agent.steps[p].needs if n in needs)
        others = (o for o in agent.hand_over if not (exact and self._agents[o].takes_over.patterns))
        hand_over = map(hand_over_tool, others)
        names = dict.fromkeys((*agent.tools, *step.tools, *earlier, *agent.kept.tools, *hand_over))
        # Tools that patterns call, and tools whose values the program reads.
        read = {*agent.calls, *step.calls, *agent.kept.tools} | {
            need.tool
            for need in needs.values()
            if not need.argument
            or (need.tool in tools and need.argument in tools[need.tool].readings)
        }
        return tuple(name for name in names if name in tools and not (exact and name in read))

    def leads(self, options: SessionOptions) -> bool:
        """Whether the flow is in force: not if the client added its own tools or removed ours."""
        return not options.client_tools and set(self.front.tools) <= set(options.agent_tools)

    def options_at(
        self, options: SessionOptions, position: Position, tools: Sequence[str]
    ) -> SessionOptions:
        """The options at this position; those that the client has changed stay as they are."""
        front, agent = self.front, self.agent(position)
        others = (name for name in options.agent_tools if name not in front.tools)
        own = {
            "instructions": (front.instructions, self.instructions(position)),
            "voice": (front.voice, agent.voice),
            # Only the first agent gets what is remembered.
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
        """The instructions of the agent and of its step."""
        told = self.agent(position).instructions, self.step(position).instructions
        return " ".join(filter(None, told))

    def note(self, position: Position) -> str:
        """What an agent is told about the conversation it was handed; empty for the first one.

        It does not grow with the values that the agent learns itself, which the dialogue shows: a
        prompt with another beginning would find nothing in the KV cache.
        """
        if not position.reason:
            return ""
        known = "; ".join(
            f"{name.replace('_', ' ')}: {spoken(position.known[name])}"
            for name in position.handed
            if name in position.known
        )
        return f"You were handed this conversation: {position.reason}" + (
            f" ({known})" * bool(known)
        )

    def saved(self, position: Position) -> str:
        """A position as JSON text for `restored`; empty if there is nothing to come back to."""
        unfinished = self.missing(position) and position.known
        if not unfinished and position.agent == self.front.name:
            return ""
        kept = asdict(replace(position, hidden=frozenset(), asked="", times=0))
        return json.dumps({**kept, "hidden": []})

    def restored(self, saved: str) -> Position | None:
        """A saved position; None if the text is invalid or names an unknown agent or step."""
        try:
            found = json.loads(saved)
            # The dialogue of the earlier conversation is gone.
            own = {"hidden": frozenset(), "handed": tuple(found["known"])}
            position = Position(**{**found, "path": tuple(found["path"]), **own})
            steps = self.agent(position).steps
            if {*position.path, position.step} - steps.keys() - {""}:
                return None
        except (ValueError, TypeError, KeyError):
            return None
        return self._advanced(position)

    def _brought(self, position: Position, call: ToolCall, result: ToolResult) -> dict[str, str]:
        """The values that a result changes; an empty value takes a known one back.

        What the tool reports as understood takes precedence over the call's arguments.
        """
        chosen = self._values_of(call, result, self.open_values(position))
        new = self._values_of(call, result, self.open_values(position, chosen))
        return {name: one for name, one in new.items() if one != position.known.get(name, "")}

    def _values_of(
        self, call: ToolCall, result: ToolResult, needs: Iterable[tuple[str, NeedConfig]]
    ) -> dict[str, str]:
        """The values of a call's result, by the names of the needs that it fills."""
        new: dict[str, str] = {}
        for value, need in needs:
            if need.tool != call.name:
                continue
            given = (result.values or call.arguments).get(need.argument)
            brought = str(given) if need.argument else result.content
            if given is not None or not need.argument:
                new[value] = brought
        return new

    def open_values(
        self, position: Position, told: Mapping[str, str] | None = None
    ) -> Iterator[tuple[str, NeedConfig]]:
        """The values that may be given here, and the action that may be confirmed.

        Values of all steps on the way count, since people answer early what is asked later, and
        correct late what they said. Actions (needs without an argument) count in their own step
        only. There are none once the flow is over. Where the branch is known, or is chosen by what
        is ``told``, the others are not on the way.
        """
        here, steps = self.step(position), self.agent(position).steps
        choosing = {branch.value for step in steps.values() for branch in step.branches}
        chosen = {name: one for name, one in (told or {}).items() if name in choosing}
        # A branch that is chosen anew may lead away from this step.
        start = next(iter(position.path), position.step) if chosen else position.step
        near = steps_from(start, steps, {**position.known, **chosen}) if here.needs else set()
        near |= set() if chosen else {*position.path}
        for step in (one for name, one in steps.items() if here.needs and name in near):
            for name, need in step.needs.items():
                if need.argument or step is here:
                    yield name, need

    def _back(self, position: Position, changed: Mapping[str, str]) -> Position:
        """Go back to the earliest step with a changed value; later actions have to be redone.

        Returns ``position`` itself if no earlier step has a changed value.
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
        """Move past all steps whose values are known; a step entered again in a loop asks anew."""
        steps = self.agent(position).steps
        while (step := self.step(position)).goes_to and not self.missing(position):
            known, path = position.known, (*position.path, position.step)
            to = step.chosen(known) or step.goes_to
            if to not in steps:
                return self.enter(to, known, said or position.reason or position.step)
            if to in path:
                again = {name for one in path[path.index(to) :] for name in steps[one].needs}
                known = {name: one for name, one in known.items() if name not in again}
                path = path[: path.index(to)]
            position = replace(position, step=to, path=path, known=known)
        return position
