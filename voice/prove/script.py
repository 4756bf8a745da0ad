"""Decides what a caller says next: a state machine over the agent's words, without audio."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from voice.prove.scenario import MARK, Scenario, TalkOver
from voice.prove.words import plain

NOT_HEARD = re.compile(
    r"\b(?:(?:did not|didn't|could not|couldn't|cannot|can't) (?:quite )?"
    r"(?:catch|hear|understand|get)"
    r"|say (?:that|it) again|repeat (?:that|it)|pardon|are you (?:still )?there)\b"
)
"""If the agent says this, the caller repeats the last words."""
MOST_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Script:
    """How far a caller has come.

    Attributes:
        said: How often each line was said, by its number in the scenario.
        last: What the caller said last.
        repeats: How often in a row it was repeated, or `otherwise` was said.
        over: How many of the scenario's `over` have been said.
        turns: How often the caller has taken a turn.
    """

    scenario: Scenario
    seed: int
    said: Counter[int] = field(default_factory=Counter)
    last: str = ""
    repeats: int = 0
    over: int = 0
    turns: int = 0

    @property
    def gave_up(self) -> bool:
        """Whether there was more to say than the scenario has turns for."""
        return self.turns > self.scenario.turns

    @property
    def talk_over(self) -> TalkOver | None:
        """What to say over the agent's next reply, if the word for it comes."""
        return self.scenario.over[self.over] if self.over < len(self.scenario.over) else None

    def after(self, heard: str) -> tuple[Script, str | None]:
        """What the caller says after the agent has said something.

        Args:
            heard: The agent's words since the caller spoke; empty if it said nothing.

        Returns:
            The caller's new state, and the words; None to hang up.
        """
        told = plain(heard)
        for number, line in enumerate(self.scenario.lines):
            if (
                line.hears
                and self.said[number] < line.times
                and re.search(line.hears, told, re.IGNORECASE)
            ):
                return self._line(number)
        spoke = MARK.sub("", self.last).strip()
        if spoke and (not told or NOT_HEARD.search(told)) and self.repeats < MOST_REPEATS:
            return self.saying(self.last, self.repeats + 1)
        for number, line in enumerate(self.scenario.lines):
            if not line.hears and not self.said[number]:
                return self._line(number)
        asked = heard.rstrip().endswith("?") and self.last != self.scenario.goodbye
        if asked and self.repeats < MOST_REPEATS and not self._all_said:
            return self.saying(self.scenario.otherwise, self.repeats + 1)
        if self.scenario.goodbye and self.last != self.scenario.goodbye:
            return self.saying(self.scenario.goodbye, 0)
        return self, None

    @property
    def _all_said(self) -> bool:
        return all(self.said[number] for number in range(len(self.scenario.lines)))

    def _line(self, number: int) -> tuple[Script, str]:
        said = self.said + Counter([number])
        choice = random.Random(f"{self.seed} {number} {said[number]}")
        text = choice.choice(self.scenario.lines[number].says)
        script, text = self.saying(text, 0)
        return replace(script, said=said), text

    def saying(self, text: str, repeats: int = 0) -> tuple[Script, str]:
        """The state after the caller says these words, whatever the lines are; and the words."""
        return replace(self, last=text, repeats=repeats, turns=self.turns + 1), text
