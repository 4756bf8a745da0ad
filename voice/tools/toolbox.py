"""Runs the tools that the model calls: checked, once, within a time, and never with a surprise.

Whatever happens, a call is answered by a short text that can be spoken; what fails begins with
"Error: ". A call of a tool with side effects that has begun is finished even if nobody waits for it
any more, and its id answers with the same result from then on: an interruption neither loses nor
repeats it.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from voice.config import ToolsConfig, TurnConfig, secret
from voice.errors import ConfigError
from voice.store import Store
from voice.tools import (
    arithmetic,
    clock,
    coffee,
    conversation,
    documents,
    house,
    lists,
    money,
    timers,
    units,
    weather,
)
from voice.tools.documents import Documents
from voice.tools.home_assistant import HomeAssistant
from voice.tools.house import House, MemoryHouse
from voice.tools.registry import Tool, ToolError, checked, tools_in
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope, local_now
from voice.tools.web import Web
from voice.types import ToolCall, ToolResult, ToolSpec

logger = logging.getLogger(__name__)

_MODULES = (
    clock, timers, lists, arithmetic, units, money, weather, house, documents, conversation, coffee,
)  # fmt: skip
# A synchronous tool that hangs keeps its thread; the others then wait for one until they time out.
_THREADS = 4
_KEPT_RESULTS = 1024


class Toolbox:
    """All tools, shared by all conversations.

    Args:
        config: What the tools work with; ``modules`` add theirs.
        turn: For the longest time that a tool may take.
        now: The clock of what rings; tests put their own here.
        house: The devices; None makes what the config says.

    Raises:
        ConfigError: A module cannot be imported, two tools share a name, or an option is wrong.
    """

    def __init__(
        self,
        config: ToolsConfig,
        turn: TurnConfig,
        now: Callable[[], datetime] = local_now,
        house: House | None = None,
    ) -> None:
        self._config = config
        self._timeout_s = turn.tool_timeout_s
        self._tools = _gathered(_extra_modules(config.modules))
        self.store = Store(config.database)
        self.ringer = Ringer(self.store, now)
        self._web = Web(config.http_timeout_s)
        self.house: House = house or _house(config, self._web)
        self._documents = Documents(_folder(config.documents_dir))
        self._provided: dict[type, object] = {
            ToolsConfig: config, Store: self.store, Ringer: self.ringer, Web: self._web,
            House: self.house, Documents: self._documents,
        }  # fmt: skip
        self._check_provided()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="tool")
        # (session, call) → the one run of it. The oldest finished one is dropped beyond the limit.
        self._runs: OrderedDict[tuple[str, str], asyncio.Task[ToolResult]] = OrderedDict()

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool's name."""
        return tuple(self._tools)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """What the model is told of some tools, in the order of ``names``.

        Raises:
            ConfigError: There is no such tool.
        """
        return tuple(self._named(name).spec for name in names)

    def warm_up(self) -> None:
        """Load what the first calls would otherwise wait for; blocks."""
        units.warm_up()

    async def run(self, call: ToolCall, session: SessionScope) -> ToolResult:
        """Run a call; failure is a result as well.

        Args:
            call: As the model made it. A tool with side effects runs once for each ``call_id``.
            session: The conversation that calls.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolResult(
                call.call_id, call.name, f"Error: There is no tool {call.name}.", error=True
            )
        if tool.spec.read_only:
            return await self._answer(tool, call, session)
        key = (session.session_id, call.call_id)
        run = self._runs.get(key)
        if run is None:
            # Not of the caller's task group: it has to be finished when the caller is cancelled.
            run = asyncio.create_task(self._answer(tool, call, session))
            self._runs[key] = run
            self._forget_oldest()
        return await asyncio.shield(run)

    async def close(self) -> None:
        """Finish what has begun and let go of everything; may be called again."""
        running = [run for run in self._runs.values() if not run.done()]
        if running:
            await asyncio.wait(running)
        await self._web.close()
        await self.house.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._documents.close()
        self.store.close()

    async def _answer(self, tool: Tool, call: ToolCall, session: SessionScope) -> ToolResult:
        started = time.perf_counter()
        spoken_name = call.name.replace("_", " ")
        content, error = "", True
        try:
            async with asyncio.timeout(self._timeout_s):
                content, error = await self._call(tool, call.arguments, session), False
        except ToolError as failure:
            content = f"Error: {failure}"
        except TimeoutError:
            content = f"Error: The {spoken_name} tool took too long."
        except Exception as failure:
            # Neither the arguments nor the message: they may hold the user's words.
            where = traceback.extract_tb(failure.__traceback__)[-1]
            kind = type(failure).__name__
            logger.error("tool %s: %s at %s:%s", call.name, kind, where.filename, where.lineno)
            content = f"Error: The {spoken_name} tool failed."
        duration_ms = (time.perf_counter() - started) * 1000
        content = _cut(content, self._config.result_max_chars)
        return ToolResult(call.call_id, call.name, content, error, duration_ms)

    async def _call(self, tool: Tool, arguments: Mapping[str, Any], session: SessionScope) -> str:
        given = checked(tool, arguments)
        for name, kind in tool.provided.items():
            given[name] = session if kind is SessionScope else self._provided[kind]
        if inspect.iscoroutinefunction(tool.function):
            return str(await tool.function(**given))
        loop = asyncio.get_running_loop()
        return str(await loop.run_in_executor(self._threads, lambda: tool.function(**given)))

    def _named(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        close = get_close_matches(name, self._tools, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of {sorted(self._tools)}"
        raise ConfigError(f"tools: got {name!r}, which is no tool; {hint}")

    def _check_provided(self) -> None:
        for tool in self._tools.values():
            for parameter, kind in tool.provided.items():
                if kind is not SessionScope and kind not in self._provided:
                    raise ConfigError(
                        f"tool {tool.spec.name}: {parameter}: got the type {kind}; expected one of"
                        f" {sorted(known.__name__ for known in (SessionScope, *self._provided))}"
                    )

    def _forget_oldest(self) -> None:
        if len(self._runs) > _KEPT_RESULTS:
            oldest = next((key for key, run in self._runs.items() if run.done()), None)
            if oldest is not None:
                del self._runs[oldest]


def _gathered(modules: Iterable[ModuleType]) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    for module in (*_MODULES, *modules):
        for tool in tools_in(module):
            name = tool.spec.name
            if name in tools:
                raise ConfigError(
                    f"tools.modules: {module.__name__}: got a second tool named {name!r}; the"
                    f" first is in {tools[name].function.__module__}"
                )
            tools[name] = tool
    return tools


def _extra_modules(names: Iterable[str]) -> list[ModuleType]:
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError as error:
            raise ConfigError(f"tools.modules: cannot import {name!r}: {error}") from error
    return modules


def _house(config: ToolsConfig, web: Web) -> House:
    if not config.home_assistant_url:
        return MemoryHouse()
    token = secret(config.home_assistant_token_env)
    return HomeAssistant(config.home_assistant_url, token, web)


def _folder(documents_dir: str) -> Path | None:
    if not documents_dir:
        return None
    folder = Path(documents_dir).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"tools.documents_dir: got {documents_dir!r}, which is no folder")
    return folder


def _cut(content: str, most: int) -> str:
    return content if len(content) <= most else f"{content[: most - 1].rsplit(' ', 1)[0]}…"
