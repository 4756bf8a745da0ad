from __future__ import annotations

import pytest

from tests.tools.conftest import Call
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
    assert await call("transfer_call", to=to) == f"Transferring you to {name}."
    assert scope.transfer_to == name
    assert not scope.end_requested
