"""What a shop sells, at which prices, and what it says to its customers' questions."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from voice.config.answers import AnswerConfig
from voice.config.options import Section


class ShopConfig(Section):
    """A shop, as an agent's file has it."""

    currency: str = "USD"
    """Of the prices, a code of ISO 4217."""
    prices: dict[str, Decimal] = Field(default_factory=dict)
    """Drink → its price; what is not here is not to be had. Empty where no prices are told."""
    more: dict[str, Decimal] = Field(default_factory=dict)
    """What a size or an addition costs, on top of the price: "large", "oat milk", "shot"."""
    ready_min: int = Field(default=0, ge=0)
    """Minutes that an order takes; 0 is unknown."""
    change_min: int = Field(default=3, ge=0)
    """Minutes for which an order that is placed can still be changed."""
    answers: dict[str, AnswerConfig] = Field(default_factory=dict)
    """Questions of customers by topic, such as "hours"."""
