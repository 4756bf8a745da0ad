"""What a shop sells, at which prices, and what it says to its customers' questions."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cached_property

from pydantic import Field, field_validator

from voice.config.moments import found_anywhere, plain_words
from voice.config.options import Section


class AnswerConfig(Section):
    """What is said to a question that many customers ask."""

    asked: tuple[str, ...]
    """Regular expressions over plain words, each to be found anywhere, as in configs/moments."""
    say: str
    """The answer."""

    @cached_property
    def found(self) -> re.Pattern[str]:
        """Finds the patterns in plain words."""
        return found_anywhere("shop.answers", self.asked)

    @field_validator("asked")
    @classmethod
    def _check_asked(cls, asked: tuple[str, ...]) -> tuple[str, ...]:
        found_anywhere("shop.answers", asked)
        return asked


class ShopConfig(Section):
    """A shop, as an agent's file has it."""

    currency: str = "USD"
    """Of the prices, a code of ISO 4217."""
    prices: dict[str, Decimal] = Field(default_factory=dict)
    """Drink → its price; what is not here is not to be had. Empty where no prices are told."""
    more: dict[str, Decimal] = Field(default_factory=dict)
    """What a size or an addition costs, on top of the price: "large", "oat milk", "shot"."""
    answers: dict[str, AnswerConfig] = Field(default_factory=dict)
    """By topic, such as "hours"."""

    def told(self, message: str) -> list[str]:
        """The answers to all that a message asks."""
        words = plain_words(message)
        return [answer.say for answer in self.answers.values() if answer.found.search(words)]
