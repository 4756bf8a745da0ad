"""The steps of a flow as an agent's file has them, and what is wrong with their order.

A step goes on once its values are known, of which each is of a kind, an argument of a tool of that
step, or the result of a tool without arguments. `voice.flow.checks` knows which tools there are,
and makes those of kinds.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from voice.config.moments import found_anywhere
from voice.config.options import AgentSection, listed

PLACE = re.compile(r"\{(\w+)\}")
"""In a sentence, a known value."""


def _checked(calls: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    for tool, patterns in calls.items():
        for pattern in patterns:
            found_anywhere(tool, (pattern,))
    return calls


Calls = Annotated[dict[str, tuple[str, ...]], AfterValidator(_checked)]
"""Tools by name → patterns over plain words, as in configs/moments."""


Kind = Literal[
    "",
    "person",
    "words",
    "phone number",
    "number of people",
    "birth date",
    "day",
    "part of day",
    "clock time",
    "choice",
]
"""What a value is, where no tool of its own reads it: `voice.tools.kinds`."""


class NeedConfig(AgentSection):
    """A value that has to be known before a step ends, and where it comes from."""

    kind: Kind = ""
    """Kind of the value. A tool is then made for it, named after the value, such as note_day for
    `day`, and you need not name one."""
    of: Calls = Field(default_factory=dict)
    """Options of a choice, each with patterns over lower case words."""
    says: str = "Thank you."
    """What is said once a value of a kind is known."""
    tool: str = ""
    """Tool of the step whose call brings the value."""
    argument: str = ""
    """Argument of the call that is the value. Empty means an action: the tool is called without
    arguments once the user has said "yes" to the question."""
    offers: str = ""
    """Another value of the flow, which holds what was offered for this one. A "yes" to a question
    that names it takes the offer."""
    ask: Annotated[tuple[str, ...], BeforeValidator(listed)]
    """The agent's question. Of several, the next one is asked if the one before brought nothing.
    {day} stands for the known value `day`. A question that names the offered value replaces the
    others while there is an offer. With an empty list the value is taken where it is said, and not
    asked for."""

    def questions(self, known: Mapping[str, str]) -> tuple[str, ...]:
        """Those that can be asked by what is known."""
        offering = f"{{{self.offers}}}"
        return tuple(one for one in self.ask if (offering in one) is (self.offers in known))


class BranchConfig(AgentSection):
    """Where a step goes instead, by a known value."""

    value: str
    """Name of the value."""
    equals: str
    """What the value must be, in upper or lower case."""
    goes_to: str
    """Name of a step, or of an agent of `hand_over`."""


class StepConfig(AgentSection):
    """A step of a flow."""

    instructions: str = ""
    """Added to the agent's instructions."""
    tools: tuple[str, ...] = ()
    """Names of the tools of this step, in addition to the agent's."""
    calls: Calls = Field(default_factory=dict)
    """As the agent's `calls`, for this step alone; they are tried before the agent's."""
    says: str = ""
    """Said when the flow arrives here. {day} stands for the known value `day`, and [, at {time}] is
    left out while that value is unknown."""
    needs: dict[str, NeedConfig] = Field(default_factory=dict)
    """Values that must be known before the step ends, by name, in the order in which they are asked
    for."""
    branches: tuple[BranchConfig, ...] = ()
    """The first branch that fits decides where the step goes when it ends."""
    goes_to: str = ""
    """Name of the next step, or of an agent of `hand_over`; empty ends the flow here."""

    @model_validator(mode="before")
    @classmethod
    def _make_tools(cls, given: Any) -> Any:
        """Name the tools of the values that are of a kind."""
        needs = given.get("needs") if isinstance(given, dict) else None
        tools = given.get("tools", ()) if isinstance(given, dict) else None
        if not isinstance(needs, dict) or not isinstance(tools, list | tuple):
            return given
        made = {}
        for name, need in needs.items():
            if isinstance(need, dict) and need.get("kind"):
                if need.get("tool"):
                    both = f"got both kind {need['kind']!r} and tool {need['tool']!r}"
                    raise ValueError(f"needs.{name}: {both}; expected one of them")
                made[name] = {**need, "tool": f"note_{name}", "argument": name}
        noting = (need["tool"] for need in made.values() if need["tool"] not in tools)
        return {**given, "tools": (*tools, *noting), "needs": {**needs, **made}}

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """Where it may go: key in the file → name of a step or agent."""
        branches = ((f"branches.{i}.goes_to", b.goes_to) for i, b in enumerate(self.branches))
        return (*branches, *([("goes_to", self.goes_to)] if self.goes_to else []))

    def chosen(self, known: Mapping[str, str]) -> str:
        """Where the first branch that fits what is known goes; empty if none fits."""
        fits = (b for b in self.branches if known.get(b.value, "").lower() == b.equals.lower())
        return next((branch.goes_to for branch in fits), "")


class KeptConfig(AgentSection):
    """A thing that a flow makes and that stays, such as an appointment, and what is done with it.

    What callers want is read by `voice.understanding.acts`, in every step.
    """

    things: tuple[str, ...] = ()
    """What it is called, in the singular; empty if nothing is kept."""
    tell: str = ""
    """Tool that says what there is."""
    change: str = ""
    """Tool that changes it, by values that it reads itself. A step that asks for these values is
    entered although no other step goes to it."""
    end: str = ""
    """Tool that cancels it."""
    another: str = ""
    """Tool that begins another one. Its argument `beside` says how the new one relates to the
    last."""
    none: str = ""
    """Step that is entered if none is found and nothing is known yet, such as who calls; the step
    asks for that."""
    wait: str = ""
    """Said to a caller who wants another one before the first is made."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of all."""
        return tuple(filter(None, (self.tell, self.change, self.end, self.another)))


NOTHING_KEPT = KeptConfig()


def mistakes(
    steps: Mapping[str, StepConfig], agents: Iterable[str], kept: KeptConfig = NOTHING_KEPT
) -> Iterator[str]:
    """What is wrong with the order of steps, each with its place.

    Args:
        steps: By name, the first one first.
        agents: Names of those that may be handed over to.
        kept: What the flow makes.
    """
    names = [*steps, *agents]
    values = [name for step in steps.values() for name in step.needs]
    for name, step in steps.items():
        where = f"steps.{name}"
        for key, target in step.targets:
            if target not in names:
                yield f"{where}.{key}: got {target!r}, which is no step; {hint(target, names)}"
        for index, branch in enumerate(step.branches):
            if branch.value not in values:
                what = f"got {branch.value!r}, which no step needs; {hint(branch.value, values)}"
                yield f"{where}.branches.{index}.value: {what}"
        if step.branches and not step.goes_to:
            yield f"{where}.goes_to: got nothing; expected where to go if no branch fits"
        yield from _unknown_places(f"{where}.says", step.says, values)
        for value, need in step.needs.items():
            if values.count(value) > 1:
                yield f"{where}.needs.{value}: got a second value of this name; expected one"
            yield from _need_mistakes(f"{where}.needs.{value}", need, values)
            for text in need.ask:
                yield from _unknown_places(f"{where}.needs.{value}.ask", text, values)
    yield from _unreached(steps, kept)
    yield from _endless(steps)


def _need_mistakes(where: str, need: NeedConfig, values: list[str]) -> Iterator[str]:
    if not need.tool:
        yield f"{where}: got neither tool nor kind; expected one of them"
    if not need.argument and not need.ask:
        yield f"{where}.ask: got none; expected a question, since what is done waits for a yes"
    if (need.kind == "choice") != bool(need.of):
        expected = "expected options for kind 'choice', and for no other kind"
        yield f"{where}.of: got the options {list(need.of)} for kind {need.kind!r}; {expected}"
    if need.offers and need.offers not in values:
        what = f"got {need.offers!r}, which no step needs; {hint(need.offers, values)}"
        yield f"{where}.offers: {what}"


def hint(name: str, names: Iterable[str], expected: str = "") -> str:
    """What may have been meant by a name that is none of these, else what is ``expected``."""
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected {expected or f'one of {names}'}"


def _unknown_places(where: str, text: str, values: list[str]) -> Iterator[str]:
    for name in PLACE.findall(text):
        if name not in values:
            yield f"{where}: got {{{name}}}, which no step needs; {hint(name, values)}"


def _unreached(steps: Mapping[str, StepConfig], kept: KeptConfig) -> Iterator[str]:
    entered = [n for n, step in steps.items() if kept.change in step.tools or n == kept.none]
    reached = {one for name in [*steps][:1] + entered for one in steps_from(name, steps)}
    for name in steps.keys() - reached:
        yield f"steps.{name}: nobody reaches it; expected another step's goes_to to name it"


def _endless(steps: Mapping[str, StepConfig]) -> Iterator[str]:
    """Loops that nothing leaves, and those that nobody is asked anything in."""
    for name, step in steps.items():
        reached = [steps[one] for one in steps_from(name, steps)]
        if not any(_ends(each, steps) for each in reached):
            yield f"steps.{name}.goes_to: got a loop without an exit; expected a way to its end"
        asked = {one: each for one, each in steps.items() if not each.needs}
        if name in asked and any(name in steps_from(to, asked) for _, to in step.targets):
            yield f"steps.{name}.needs: got a loop in which nothing is asked; expected a value"


def _ends(step: StepConfig, steps: Mapping[str, StepConfig]) -> bool:
    return not step.goes_to or any(target not in steps for _, target in step.targets)


def steps_from(
    name: str, steps: Mapping[str, StepConfig], known: Mapping[str, str] | None = None
) -> set[str]:
    """The steps that are reached from one, itself among them.

    Of a step's branches, only the one that the ``known`` values choose counts, if one fits.
    """
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here in steps and here not in reached:
            reached.add(here)
            chosen = steps[here].chosen(known or {})
            waiting += [chosen] if chosen else [target for _, target in steps[here].targets]
    return reached
