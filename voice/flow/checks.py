"""Checks the tools of flows, and makes the tools that hand over and those that note values.

The order of the steps is checked when a file is read, by `voice.config.flow`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from voice.config import AgentConfig
from voice.config.flow import Calls, NeedConfig, StepConfig, hint
from voice.dialogue.team import Team, hand_over_tool
from voice.errors import ConfigError
from voice.tools import Noted, SessionScope, Toolbox
from voice.tools import tool as as_marked
from voice.tools.kinds import KINDS, choice
from voice.tools.registry import Tool, as_tool
from voice.types import ToolSpec


def team_specs(
    team: Team, toolbox: Toolbox, scope: SessionScope | None = None
) -> dict[str, ToolSpec]:
    """Declarations of all tools of a team's agents and steps, by name.

    They include the tools made here, which hand over to another agent or note a step's values.

    Args:
        team: The agents.
        toolbox: The tools.
        scope: A conversation, which gets the tools that are made here.

    Raises:
        ConfigError: A step or an agent names an unknown tool, or needs a value that no tool learns.
    """
    made = {
        tool.spec.name: tool
        for tool in (*_noting_tools(team.agents), *_hand_over_tools(team.agents))
    }
    every = {spec.name: spec for spec in toolbox.specs((*toolbox.names, *made), None, made)}
    found: dict[str, ToolSpec] = {}
    for agent in team.agents:
        wrong = [f"tools: {_no_tool(one, every)}" for one in agent.tools if one not in every]
        wrong += [*tool_mistakes(agent.steps, every), *_call_mistakes(agent, every)]
        if wrong:
            raise ConfigError("\n".join(f"{agent.where}: {one}" for one in wrong))
        steps = agent.steps.values()
        called = [*agent.calls, *([agent.answers] if agent.answers else []), *agent.kept.tools]
        names = [*called, *(name for one in steps for name in (*one.tools, *one.calls))]
        specs = (*toolbox.specs_for(agent, scope), *toolbox.specs(names, scope, made))
        found |= {spec.name: spec for spec in specs}
    found |= {spec.name: spec for spec in toolbox.specs(made, scope, made)}
    if scope is not None:
        scope.tools = {**scope.tools, **made}
    return found


def tool_mistakes(steps: Mapping[str, StepConfig], tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    """Mistakes of steps: unknown tools, and values that no tool learns, each with its place."""
    for name, step in steps.items():
        for tool in step.tools:
            if tool not in tools:
                yield f"steps.{name}.tools: {_no_tool(tool, tools)}"
        for value, need in step.needs.items():
            where = f"steps.{name}.needs.{value}"
            if need.tool not in step.tools:
                expected = f"expected one of the step's tools, {list(step.tools)}"
                yield f"{where}.tool: got {need.tool!r}, so that no tool can learn it; {expected}"
            elif need.tool in tools:
                yield from _argument_mistakes(where, need, tools[need.tool])


def _call_mistakes(agent: AgentConfig, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    """Mistakes of patterns: unknown tools, unknown arguments, and required ones without a group."""
    steps = {f"steps.{name}.calls": step.calls for name, step in agent.steps.items()}
    answers: Calls = {agent.answers: ("",)} if agent.answers else {}
    kept: Calls = dict.fromkeys(agent.kept.tools, ("",))
    places: dict[str, Calls] = {"calls": agent.calls, "answers": answers, "kept": kept, **steps}
    for where, calls in places.items():
        for tool, patterns in calls.items():
            if tool not in tools:
                yield f"{where}: {_no_tool(tool, tools)}"
                continue
            spec = tools[tool]
            for pattern in patterns:
                given = {*re.compile(pattern).groupindex}
                if others := given - spec.properties.keys():
                    yield f"{where}: got the groups {sorted(others)}, no arguments of {tool!r}"
                if needs := {*spec.required} - given - {"message"}:
                    expected = f"groups of these names in {pattern!r}"
                    if not pattern:
                        groups = "".join(f"(?P<{one}>.+)" for one in sorted(needs))
                        expected = (
                            "a tool that needs none but 'message', or patterns under calls in its"
                            f" place: calls.{tool} = ['… {groups}']"
                        )
                    yield f"{where}: got {tool!r}, which needs {sorted(needs)}; expected {expected}"


def _no_tool(name: str, tools: Mapping[str, ToolSpec]) -> str:
    """The message for a name that no tool has."""
    expected = (
        "one that ships, or a function under @tool() in a module of tools.modules; a tool of an MCP"
        " server cannot be named here, the model alone calls it"
    )
    return f"got {name!r}, which is no tool; {hint(name, tools, expected)}"


def _argument_mistakes(where: str, need: NeedConfig, tool: ToolSpec) -> Iterator[str]:
    has, required = [*tool.properties], [*tool.required]
    if need.argument and need.argument not in has:
        got = (
            f"got {need.argument!r}, which {need.tool} does not have, so that no tool can learn it"
        )
        yield f"{where}.argument: {got}; {hint(need.argument, has)}"
    if not need.argument and required:
        got = f"got nothing, and {need.tool} cannot be called without {required}"
        yield f"{where}.argument: {got}; expected one of {has}"


def _noting_tools(agents: Sequence[AgentConfig]) -> list[Tool]:
    """The tools that note values of a kind, one for each name of a value.

    Raises:
        ConfigError: Steps give a value two kinds.
    """
    steps = [step for agent in agents for step in agent.steps.values()]
    needs: dict[str, NeedConfig] = {}
    for name, need in ((n, one) for step in steps for n, one in step.needs.items() if one.kind):
        before = needs.setdefault(name, need)
        if (before.kind, before.of) != (need.kind, need.of):
            raise ConfigError(f"needs.{name}: got the kinds {before.kind!r} and {need.kind!r}")
    return [_noting_tool(name, need) for name, need in needs.items()]


def _noting_tool(name: str, need: NeedConfig) -> Tool:
    reads = choice(need.of) if need.of else KINDS[need.kind]
    read = reads.hardly or reads.read

    async def note(*, scope: SessionScope, **given: str) -> Noted:
        return Noted(need.says, {name: str(read(given[name], scope.now()))})

    parameter = inspect.Parameter
    note.__name__, note.__doc__ = need.tool, f"Note the {name.replace('_', ' ')}."
    note.__annotations__ = {name: Annotated[str, reads], "scope": SessionScope, "return": Noted}
    note.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        parameter(name, parameter.POSITIONAL_OR_KEYWORD),
        parameter("scope", parameter.KEYWORD_ONLY),
    ])  # fmt: skip
    return as_tool(as_marked(read_only=True)(note))


def _hand_over_tools(agents: Sequence[AgentConfig]) -> list[Tool]:
    """A tool for each agent that another may hand over to.

    Its result is what is said then. It changes nothing itself: `voice.dialogue.team` switches the
    agent when it gets the result.
    """
    named = {name for agent in agents for name in agent.hand_over}
    return [_tool(agent) for agent in agents if agent.name in named]


def _tool(agent: AgentConfig) -> Tool:
    async def hand_over(reason: str = "") -> str:
        return agent.takes_over.say

    hand_over.__name__ = hand_over_tool(agent.name)
    hand_over.__doc__ = agent.takes_over.when
    return as_tool(hand_over)
