"""Where one conversation stands: which agent has it, in which step, and what is known.

By which rules it goes on is in `voice.dialogue.team`. It speaks to nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from voice.config.moments import Moments
from voice.dialogue.flow_words import ONE_MORE_THING, WELCOME, spoken
from voice.dialogue.step_messages import StepMessages
from voice.dialogue.team import Team
from voice.types import Confirmation, Position, ToolSpec
from voice.understanding.said_values import answer_to


class Flow:
    """Where one conversation stands, or one draft of a reply in it.

    Attributes:
        moment: Name of the fixed moment that lasts, such as an emergency; empty for none.
        offer: The agent to whom the words before have offered to hand over; empty for none.
        handed_over: Whether another agent has the conversation, and has not spoken yet.
        anew: Whether the flow has begun once more, or asks whose the kept thing is, and nothing
            was said since.
    """

    def __init__(self, team: Team, position: Position | None = None) -> None:
        self.team = team
        # The greeting asks the first question.
        self.position = position or team.question(team.enter(team.front.name))[0]
        self.moment = self.offer = self._offer = self._arrival = self._beside = ""
        self._hushed = False
        self.handed_over = self.anew = False
        self._changed: frozenset[str] = frozenset()

    def copy(self) -> Flow:
        """Another one that stands at the same place."""
        return copy(self)

    def messages(self, tools: Mapping[str, ToolSpec]) -> StepMessages:
        """What messages mean here, with the values of these tools."""
        return StepMessages(self.team, self.position, tools)

    @property
    def hushed(self) -> bool:
        """Whether nothing is asked until a value is said, but for what waits for a "yes" alone."""
        need = next(iter(self.team.missing(self.position)), "")
        deed = need and not self.team.step(self.position).needs[need].argument
        return self._hushed and not deed

    @property
    def asking(self) -> bool:
        """Whether the step needs anything: then the program drives, not the model."""
        return bool(self.team.step(self.position).needs)

    def go(self, to: Position) -> bool:
        """Stand elsewhere; whether that is somewhere else."""
        before, self.position = self.position, to
        self.handed_over = self.handed_over or before.agent != to.agent
        first = self.team.enter(to.agent).step
        # Where the message was taken for what its first question asks, it says no more.
        ended = self.team.over(before) or self.team.aside(before)
        begun = ended and to.step == first and not to.asked
        # Who is asked for a name may have said it with the wish.
        looks = to.step not in ("", before.step) and to.step == self.team.agent(to).kept.none
        self.anew = self.anew or begun or looks
        self._changed |= {name for name, _ in to.known.items() - before.known.items()}
        self._arrival = self.team.arrival(before, to) or self._arrival * (before.step == to.step)
        return (before.agent, before.step, before.known) != (to.agent, to.step, to.known)

    @property
    def reads_back(self) -> bool:
        """Whether the next question is for a deed, and has values that have changed since."""
        _, question = self.team.question(self.position)
        need = next(iter(self.team.missing(self.position)), "")
        if not need or self.team.step(self.position).needs[need].argument:
            return False
        return any(spoken(self.position.known.get(name, "")) in question for name in self._changed)

    def asking_first(self, tools: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
        """Tools of which those that do what the step asks about wait for a "yes"."""
        _, question = self.team.question(self.position)
        waiting = Confirmation(lambda _: question, lambda message: answer_to(message, ()) is True)
        steps = self.team.agent(self.position).steps.values()
        needs = (need for step in steps for need in step.needs.values())
        deeds = {need.tool for need in needs if not need.argument} & tools.keys()
        return {**tools, **{name: replace(tools[name], confirmation=waiting) for name in deeds}}

    def say_beside(self, text: str) -> None:
        """Say something, once, before what is asked next."""
        self._beside = text

    def words_for(self, moments: Moments, *readings: str) -> str:
        """What is said to a moment that a message is, or to what follows one that lasts."""
        before = self.moment
        says, self.moment = moments.lasting(before, *readings)
        self.offer, self._offer = self._offer, moments.offer(says)
        if before and not self.moment:
            # Who has an emergency behind them is not asked for a day.
            self.hush()
        return says

    def hush(self) -> None:
        """Ask nothing until a value is said, and take no remark for an answer."""
        self._hushed, self.position = True, replace(self.position, asked="", times=0)

    def aside(self) -> None:
        """Something else is said than what is asked."""
        self.position = self.team.unasked(self.position)

    def next_words(self) -> str:
        """What is said behind everything else: where it has arrived, once, and what is missing."""
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
        # A greeting asks its question itself, which is the first.
        asks = bool(arrival) and arrival == greeting and self.position.asked in ("", first)
        asked = "" if asks else question
        return " ".join(filter(None, (beside, arrival, asked)))
