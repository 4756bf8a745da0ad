"""Questions whose answers an agent's file has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from pydantic import field_validator

from voice.config.moments import found_anywhere, plain_words
from voice.config.options import AgentSection


class AnswerConfig(AgentSection):
    """A question that many ask, and what is said to it."""

    asked: tuple[str, ...]
    """Regular expressions over plain words, each found anywhere in a message, as in
    configs/moments."""
    say: str
    """The answer. {day} stands for a known value of the flow, and a part in [...] is left out while
    its value is unknown. If nothing is left, the next question that matches counts."""

    @cached_property
    def found(self) -> re.Pattern[str]:
        """Finds the patterns in plain words."""
        return found_anywhere("asked", self.asked)

    @field_validator("asked")
    @classmethod
    def _check_asked(cls, asked: tuple[str, ...]) -> tuple[str, ...]:
        found_anywhere("asked", asked)
        return asked


def answers_to(answers: Mapping[str, AnswerConfig], message: str) -> list[str]:
    """The answers, of some by topic, to all that a message asks."""
    words = plain_words(message)
    return [answer.say for answer in answers.values() if answer.found.search(words)]
