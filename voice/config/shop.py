"""What a shop sells, at which prices, and what it says to its customers' questions."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from voice.config.answers import AnswerConfig
from voice.config.options import AgentSection


class ShopConfig(AgentSection):
    """A shop, as an agent's file has it."""

    currency: str = "USD"
    """ISO 4217 code of the currency of the prices."""
    prices: dict[str, Decimal] = Field(default_factory=dict)
    """Drink → its price; a drink that is not listed is not sold. If empty, all drinks are sold and
    no prices are told."""
    more: dict[str, Decimal] = Field(default_factory=dict)
    """Size or addition → what it costs on top of the price: "large", "oat milk", "shot"."""
    ready_min: int = Field(default=0, ge=0)
    """Minutes until an order is ready; 0 means unknown."""
    change_min: int = Field(default=3, ge=0)
    """Minutes during which a placed order can still be changed."""
    answers: dict[str, AnswerConfig] = Field(default_factory=dict)
    """Customers' questions by topic, such as "hours"."""
