"""A tool that takes its time before it stores something."""

from __future__ import annotations

import asyncio

from voice.tools import tool
from voice.tools.store import Store


@tool()
async def note_late(what: str, *, store: Store) -> str:
    """Note something a little later."""
    await asyncio.sleep(0.05)
    store.add_item("late", what)
    assert store.items("late") == [what]
    return "Noted."
