"""Tools for calls on virtual time: what they did is in `LEDGER`, and they take seconds."""

from __future__ import annotations

import asyncio

from voice.tools import Progress, SessionScope, tool

NAMES = (
    "look_up", "slow_look_up", "book", "slow_book", "count", "dig", "end_conversation",
)  # fmt: skip
LEDGER: list[str] = []


@tool(read_only=True)
async def look_up(topic: str) -> str:
    """Look something up."""
    LEDGER.append(f"look_up {topic}")
    await asyncio.sleep(0.1)
    return f"{topic} is fine."


@tool(read_only=True)
async def slow_look_up(topic: str) -> str:
    """Look something up slowly."""
    LEDGER.append(f"slow_look_up {topic}")
    await asyncio.sleep(3)
    return f"{topic} is fine."


@tool(read_only=True)
async def repeat(*, scope: SessionScope) -> str:
    """Repeat what was said."""
    return f"{scope.said[0]}, you said." if scope.said else "Nothing was said."


@tool()
async def book(what: str) -> str:
    """Book something."""
    await asyncio.sleep(0.1)
    LEDGER.append(f"book {what}")
    return f"Booked {what}."


@tool()
async def slow_book(what: str) -> str:
    """Book something slowly."""
    await asyncio.sleep(3)
    LEDGER.append(f"slow_book {what}")
    return f"Booked {what}."


@tool()
async def count(up_to: str, *, progress: Progress) -> str:
    """Count slowly."""
    for number in range(1, int(up_to)):
        await asyncio.sleep(0.6)
        progress.report(f"{number} of {up_to}.")
    await asyncio.sleep(0.6)
    return f"Counted to {up_to}."


@tool(cancellable=True)
async def dig(where: str) -> str:
    """Dig for a long time."""
    LEDGER.append(f"dig {where}")
    await asyncio.sleep(20)
    LEDGER.append(f"dug {where}")
    return f"Dug in {where}."
