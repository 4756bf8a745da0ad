"""Ending a conversation and handing a call over: both happen once the reply has been spoken."""

from __future__ import annotations

from voice.tools.registry import tool
from voice.tools.scope import SessionScope


@tool()
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
    scope.request_transfer(said)
    return f"Transferring you to {said}."
