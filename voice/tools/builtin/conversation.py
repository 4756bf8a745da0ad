"""Ends a conversation or hands a call over, after the reply was spoken; presses keys."""

from __future__ import annotations

from voice.tools.registry import ToolError, Unreadable, tool
from voice.tools.scope import SessionScope


@tool(ends=True)
async def end_conversation(*, scope: SessionScope) -> str:
    """End the conversation."""
    scope.request_end()
    return "Goodbye."


@tool()
async def transfer_call(to: str = "", *, scope: SessionScope) -> str:
    """Hand over to a person."""
    said = to.strip().lower() or "a person"
    if said.split()[0] not in ("a", "an", "the", "my", "your", "some", "someone", "somebody"):
        said = f"the {said}"
    if scope.line is None or not scope.line.transfer(said):
        raise ToolError(f"I cannot transfer this call to {said}.")
    scope.request_transfer(said)
    return f"Transferring you to {said}."


@tool()
async def send_digits(digits: str, *, scope: SessionScope) -> str:
    """Press keys on the telephone."""
    keys = "".join(_KEYS.get(word, word) for word in digits.lower().split())
    if not keys or not set(keys) <= set("0123456789*#"):
        raise Unreadable("digits", digits)
    if scope.line is None or not scope.line.send_digits(keys):
        raise ToolError("I cannot press keys on this line.")
    return f"Pressed {keys}."


_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_KEYS = {name: str(key) for key, name in enumerate(_NAMES)}
_KEYS |= {"oh": "0", "star": "*", "hash": "#", "pound": "#"}
