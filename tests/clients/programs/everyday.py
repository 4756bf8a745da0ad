"""Everyday schemas as pydantic models, each with a text that has its values."""

from collections.abc import Callable
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


class Address(BaseModel):
    street: str
    city: str


class Customer(BaseModel):
    name: str
    address: Address


class Fault(BaseModel):
    device: str
    urgency: Literal["low", "high"]


class Shopping(BaseModel):
    items: list[str]


class Invoice(BaseModel):
    number: str
    due: date | None = None


TEXTS: dict[type[BaseModel], str] = {
    Person: "Anna is 34",
    Customer: "Tom Baker lives at 12 Oak Street in Leeds.",
    Fault: "The printer burns, this is of high urgency!",
    Shopping: "Please buy milk, eggs and bread.",
    Invoice: "Invoice B20 has no date.",
}


def extracted(ask: Callable[[type[BaseModel], str], BaseModel]) -> dict[str, Any]:
    """What a client makes of each text, by the model's name."""
    return {
        model.__name__: ask(model, text).model_dump(mode="json") for model, text in TEXTS.items()
    }
