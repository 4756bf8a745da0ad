"""Where one conversation stands: which agent has it, in which step, and what is known.

The rules by which it goes on are in `voice.dialogue.team`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from voice.config.moments import Moments
from voice.dialogue.flow_words import (
    ONE_MORE_THING,
    WELCOME,
    questions_of,
    spoken,
    without_questions,
)
from voice.dialogue.step_messages import StepMessages
from voice.dialogue.team import Team
from voice.types import Confirmation, Position, ToolSpec
from voice.understanding.farewell import SHALL_I_END, takes_leave
from voice.understanding.slot_values import answer_to


class Flow:
    """The state of one conversation's flow, or of a draft's.

    Attributes:
        moment: Name of the fixed moment that is in force, such as an emergency; empty for none.
        offer: The agent that the previous fixed words offered to hand over to; empty for none.
        handed_over: Whether another agent has taken over and has not spoken yet.
        anew: Whether the flow has just begun again, or has just entered the step that asks how to
            find the kept thing, and the agent has not spoken since.
    """

    def __init__(self, team: Team, position: Position | None = None) -> None:
        self.team = team
        # The greeting asks the first question.
        self.position = position or team.question(team.enter(team.front.name))[0]
        self.moment = self.offer = self._offer = self._arrival = self._beside = ""
        self._hushed = False
        self._met = frozenset({team.front.name})
        self.handed_over = self.anew = False
        self._changed: frozenset[str] = frozenset()

    def copy(self) -> Flow:
        """An independent flow in the same state."""
        return copy(self)

    def messages(self, tools: Mapping[str, ToolSpec]) -> StepMessages:
        """Interprets messages at this position, reading values as these tools do."""
        return StepMessages(self.team, self.position, tools)

    @property
    def hushed(self) -> bool:
        """Whether questions are held back until a value is said.

        A question that only a "yes" answers is asked all the same.
        """
        need = next(iter(self.team.missing(self.position)), "")
        deed = need and not self.team.step(self.position).needs[need].argument
        return self._hushed and not deed

    @property
    def asking(self) -> bool:
        """Whether the step needs anything; then the program leads, not the model."""
        return bool(self.team.step(self.position).needs)

    def go(self, to: Position) -> bool:
        """Move to a position; returns whether agent, step or known values changed."""
        before, self.position = self.position, to
        self.handed_over = self.handed_over or before.agent != to.agent
        first = self.team.enter(to.agent).step
        # If the message was already taken as the answer to the first question (``asked``), it holds
        # nothing more for the new flow.
        ended = self.team.over(before) or self.team.aside(before)
        begun = ended and to.step == first and not to.asked
        # A caller who is asked for a name may have given it along with the request.
        looks = to.step not in ("", before.step) and to.step == self.team.agent(to).kept.none
        self.anew = self.anew or begun or looks
        self._changed |= {name for name, _ in to.known.items() - before.known.items()}
        arrival = self.team.arrival(before, to)
        if before.agent != to.agent and to.agent in self._met and not to.path:
            # Who comes back is not greeted again; only an agent without steps asks what to do.
            arrival = questions_of(arrival) * (not to.step)
        self._arrival = arrival or self._arrival * (before.step == to.step)
        self._met |= {to.agent}
        return (before.agent, before.step, before.known) != (to.agent, to.step, to.known)

    @property
    def reads_back(self) -> bool:
        """Whether the next question asks before an action and repeats values that have changed."""
        _, question = self.team.question(self.position)
        need = next(iter(self.team.missing(self.position)), "")
        if not need or self.team.step(self.position).needs[need].argument:
            return False
        return any(spoken(self.position.known.get(name, "")) in question for name in self._changed)

    def asking_first(self, tools: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
        """The tools, with those that carry out the flow's actions made to wait for a "yes"."""
        _, question = self.team.question(self.position)
        waiting = Confirmation(lambda _: question, lambda message: answer_to(message, ()) is True)
        steps = self.team.agent(self.position).steps.values()
        needs = (need for step in steps for need in step.needs.values())
        deeds = {need.tool for need in needs if not need.argument} & tools.keys()
        asked = {name: replace(tools[name], confirmation=waiting) for name in deeds}
        if self.position.known and self.team.missing(self.position):
            # "That's it" may answer the flow's question, so in its middle only a goodbye ends it.
            leaving = Confirmation(lambda _: SHALL_I_END, takes_leave)
            ends = (spec for spec in tools.values() if spec.ends)
            asked |= {spec.name: replace(spec, confirmation=leaving) for spec in ends}
        return {**tools, **asked}

    def say_beside(self, text: str) -> None:
        """Say something, once, before the next question."""
        self._beside = text

    def words_for(self, moments: Moments, *readings: str) -> str:
        """The fixed words for a message that is a moment, or that follows one still in force."""
        before = self.moment
        says, self.moment = moments.lasting(before, *readings)
        self.offer, self._offer = self._offer, moments.offer(says)
        if before and not self.moment:
            # A caller who has just had an emergency is not asked for a day.
            self.hush()
        return says

    def hush(self) -> None:
        """Ask nothing until a value is said, and forget the question that was asked."""
        self._hushed, self.position = True, replace(self.position, asked="", times=0)

    def aside(self) -> None:
        """The agent says something other than its question: a "yes" no longer answers it."""
        self.position = self.team.unasked(self.position)

    def greet(self) -> str:
        """The greeting of the agent that has taken over, once, without its question.

        For a message in which that agent has understood something already.
        """
        if not self.handed_over:
            return ""
        arrival, self._arrival, self.handed_over = self._arrival, "", False
        return without_questions(arrival)

    def next_words(self) -> str:
        """The words that end a reply: those of a new step, once, and the next question."""
        arrival, self._arrival = self._arrival, ""
        self.handed_over = self.anew = False
        beside, self._beside = self._beside, ""
        changed, self._changed = self._changed, frozenset()
        self._hushed = self._hushed and not (arrival or changed)
        if self.hushed or (self._hushed and beside):
            self._hushed = bool(beside)
            return beside.replace(ONE_MORE_THING, WELCOME)
        self.position, question = self.team.question(self.position)
        greeting = self.team.agent(self.position).greeting
        needs = self.team.step(self.position).needs.items()
        first = next((name for name, need in needs if need.ask), "")
        if arrival and arrival == greeting:
            # A greeting already asks the first question, and must not ask for what is known.
            asks = self.position.asked in ("", first)
            arrival, question = (arrival, "") if asks else (without_questions(arrival), question)
        return " ".join(filter(None, (beside, arrival, question)))
