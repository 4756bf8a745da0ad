"""Injects faults into turns, and compares how often a tool with side effects ran and should have.

Some turns run on virtual time, with the real session, toolbox and Realtime protocol and a model
that repeats its calls. Others are spoken over real sockets: to a server that is started here, with
tools that run in the server or at the caller, or to any other (``--url``), with tools at the
caller.
"""

from __future__ import annotations

import asyncio
import functools
import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.report import Program
from tests.support import virtual_time
from tests.support.virtual_door import virtual_site
from voice.config import Config, load_config, secret
from voice.demo.server import EMBEDDED, as_arguments, free_port, serving
from voice.prove.doors import AnyDoor, OurDoor
from voice.prove.ledger import (
    OUTCOMES,
    Entry,
    Errand,
    Fault,
    Kind,
    Site,
    faults,
    put,
    table,
    trouble,
)
from voice.prove.scenario import Behaviour
from voice.prove.sound import Speaker

ERRANDS = (
    Errand("set a timer for ten minutes", "set_timer", "alerts", {"kind": "timer"}),
    Errand("add milk to my shopping list", "add_to_list", "list_items", {"item": "milk"}),
)
AT_SERVER = tuple(Kind)
AT_CALLER = tuple(kind for kind in Kind if kind is not Kind.RESTART)
LONGEST_S = 90.0
"""Most seconds of a turn; if it takes longer, its tool counts as never called."""
A_LOOP_OF = 50
"""How many turns on virtual time share an event loop and a server."""


class Server:
    """A server of ours that keeps its address and its database when it is restarted."""

    def __init__(self, folder: Path) -> None:
        self.port, self.key = free_port(), secrets.token_hex(16)
        self.url = f"ws://127.0.0.1:{self.port}/v1/realtime"
        database = f'tools.database="{folder / "voice.sqlite3"}"'
        settings = as_arguments([*EMBEDDED, database])
        self._arguments = ["--agent", "assistant", *settings]
        self._running = AsyncExitStack()

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        environ = {**os.environ, "QUICKSILVER_API_KEY": self.key}
        await self._running.enter_async_context(serving(self._arguments, environ, self.port))

    async def stop(self) -> None:
        """Stop it, and wait until it has ended."""
        await self._running.aclose()

    async def restart(self) -> None:
        """Stop it and start it again."""
        await self.stop()
        await self.start()


def site(url: str, key: str | None, config: Config, server: Server | None) -> Site:
    """The caller of a server; tools run in ``server``, or without one at the caller."""
    speaker = Speaker(Behaviour())

    def door(fault: Fault) -> OurDoor | AnyDoor:
        if server:
            return OurDoor(url, key, greet=False)
        return AnyDoor(url, config, key, trouble(fault))

    return Site(
        door=door,
        agent="assistant",
        errands=ERRANDS,
        other="what time is it",
        speak=functools.cache(speaker.say),
        background=speaker.background(),
        restart=server.restart if server else None,
        ours=server is not None,
    )


async def entered(fault: Fault, where: Site) -> list[Entry]:
    """Inject a fault, and print every entry that is not as it should be."""
    try:
        async with asyncio.timeout(LONGEST_S):
            entries = await put(fault, where)
    except TimeoutError:
        entries = [Entry(fault, 0, 0)]
    for entry in entries:
        if entry.outcome != OUTCOMES[0]:
            print(f"{entry.outcome}: {entry}", flush=True)
    return entries


def virtual(turns: int, minutes: float) -> dict[str, list[Entry]]:
    """Faulted turns on virtual time, as many as there is time for."""
    until = time.monotonic() + 60 * minutes

    async def some(wanted: Iterable[Fault], where: Site) -> list[Entry]:
        told: list[Entry] = []
        for fault in wanted:
            told += await entered(fault, where) if time.monotonic() < until else []
        return told

    told: dict[str, list[Entry]] = {"tools at the server": [], "tools at the caller": []}
    each = {
        "tools at the server": faults(AT_SERVER, turns // 2),
        "tools at the caller": faults(AT_CALLER, turns - turns // 2),
    }
    for at in range(0, turns, A_LOOP_OF):
        for where, wanted in each.items():
            if time.monotonic() > until:
                return told
            known = virtual_site(at, where == "tools at the server")
            told[where] += virtual_time.run(some(wanted[at : at + A_LOOP_OF], known))
    return told


async def spoken(wanted: Sequence[Fault], where: Site) -> list[Entry]:
    """Faulted turns in real time, one after the other."""
    return [entry for fault in wanted for entry in await entered(fault, where)]


async def over_sockets(turns: int, url: str, config: Config) -> dict[str, list[Entry]]:
    """Faulted turns in real time, with the server at ``url``, or one that is started here."""
    if url:
        theirs = site(url, secret("QUICKSILVER_API_KEY"), config, None)
        return {"tools at the caller": await spoken(faults(AT_CALLER, turns), theirs)}
    # The tools of a server as installed are neither slow nor failing, so these faults are left out.
    kinds = [kind for kind in AT_SERVER if kind not in (Kind.SLOW, Kind.FAILING)]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        await server.start()
        try:
            ours = site(server.url, server.key, config, server)
            theirs = site(server.url, server.key, config, None)
            return {
                "tools at the server": await spoken(faults(kinds, turns // 2), ours),
                "tools at the caller": await spoken(faults(AT_CALLER, turns - turns // 2), theirs),
            }
        finally:
            await server.stop()


def tables(told: dict[str, list[Entry]]) -> dict[str, Any]:
    """A table for each place where the tools run."""
    return {where: table(entries) for where, entries in told.items() if entries}


def main() -> None:
    """Inject the faults, and write the tables."""
    program = Program("benchmarks.voice.faults", __doc__, "name", "set")
    program.add_argument("--virtual", type=int, default=10_000, help="turns on virtual time")
    program.add_argument("--sockets", type=int, default=300, help="turns over sockets, by voice")
    program.add_argument("--minutes", type=float, default=1e6, help="most, for virtual time")
    program.add_argument("--url", default="", help="ws://… of another server, for the sockets")
    options = program.parse_args()
    config = load_config(None, options.set)
    figures = {"virtual time": tables(virtual(options.virtual, options.minutes))}
    if options.sockets:
        figures["sockets"] = tables(asyncio.run(over_sockets(options.sockets, options.url, config)))
    for clock, places in figures.items():
        for where, rows in places.items():
            for kind, row in rows.items():
                print(f"{clock}, {where}, {kind:18}", row)
    program.write(figures, options.name)


if __name__ == "__main__":
    main()
