from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.voice.tools.conftest import Call
from voice.tools import SessionScope


async def test_the_conversation_is_asked_to_end(call: Call, scope: SessionScope) -> None:
    assert await call("end_conversation") == "Goodbye."
    assert scope.end_requested


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("", "a person"),
        ("a person", "a person"),
        ("manager", "the manager"),
        ("the manager", "the manager"),
        ("someone", "someone"),
    ],
)
async def test_a_call_is_asked_to_be_transferred(
    call: Call, scope: SessionScope, to: str, name: str
) -> None:
    scope.line = FakeLine(known=name)
    assert await call("transfer_call", to=to) == f"Transferring you to {name}."
    assert scope.transfer_to == name
    assert not scope.end_requested


async def test_without_a_line_nobody_is_transferred(call: Call, scope: SessionScope) -> None:
    wanted = "Error: I cannot transfer this call to a person."
    assert await call("transfer_call") == wanted
    assert scope.transfer_to is None
    assert not scope.end_requested


@dataclass
class FakeLine:
    """A line that can do what a test says.

    Attributes:
        pressed: Keys so far; None where the line cannot.
    """

    known: str = ""
    pressed: str | None = None

    def transfer(self, to: str) -> bool:
        return to == self.known

    def send_digits(self, digits: str) -> bool:
        if self.pressed is None:
            return False
        self.pressed += digits
        return True


async def test_a_line_that_can_transfers_and_another_refuses(
    call: Call, scope: SessionScope
) -> None:
    scope.line = FakeLine(known="the manager")
    assert await call("transfer_call", to="owner") == (
        "Error: I cannot transfer this call to the owner."
    )
    assert scope.transfer_to is None
    assert await call("transfer_call", to="manager") == "Transferring you to the manager."
    assert scope.transfer_to == "the manager"


async def test_keys_are_pressed_on_a_line_that_can(call: Call, scope: SessionScope) -> None:
    assert await call("send_digits", digits="1") == "Error: I cannot press keys on this line."
    scope.line = FakeLine()
    assert await call("send_digits", digits="1") == "Error: I cannot press keys on this line."
    scope.line = line = FakeLine(pressed="")
    assert await call("send_digits", digits="four 5 oh star pound") == "Pressed 450*#."
    assert line.pressed == "450*#"
    assert await call("send_digits", digits="blue") == "Error: I could not read the digits blue."
