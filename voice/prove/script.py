"""What a caller says next: a state machine over what the agent has said, without sound or clock."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from voice.prove.scenario import MARK, Scenario, TalkOver
from voice.prove.words import words

NOT_HEARD = re.compile(
    r"\b(?:(?:did not|didn't|could not|couldn't|cannot|can't) (?:quite )?"
    r"(?:catch|hear|understand|get)"
    r"|say (?:that|it) again|repeat (?:that|it)|pardon|are you (?:still )?there)\b"
)
"""An agent that says this is told the same once more."""
MOST_REPEATS = 2


def plain(text: str) -> str:
    """Words as patterns see them."""
    return " ".join(words(text))


@dataclass(frozen=True, slots=True)
class Script:
    """How far a caller has come.

    Attributes:
        said: How often each line was said, by its place in the scenario.
        last: What was said last.
        repeats: How often it was repeated, or the question put off, in a row.
        over: How many sounds were made over the agent's speech.
        turns: How often the caller has spoken.
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
        """Whether the caller has spoken as often as he will."""
        return self.turns >= self.scenario.turns

    @property
    def talk_over(self) -> TalkOver | None:
        """What is said over the agent's next reply, if its word for it comes."""
        return self.scenario.over[self.over] if self.over < len(self.scenario.over) else None

    def after(self, heard: str) -> tuple[Script, str | None]:
        """What is said when the agent has said something.

        Args:
            heard: The agent's words since the caller spoke; empty where it said nothing.

        Returns:
            The caller's new state, and the words; None where he hangs up.
        """
        told = plain(heard)
        if self.gave_up:
            return self, None
        for number, line in enumerate(self.scenario.lines):
            if line.hears and self.said[number] < line.times and re.search(line.hears, told):
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
        """The caller who says this next, whatever his lines are; and the words."""
        return replace(self, last=text, repeats=repeats, turns=self.turns + 1), text
