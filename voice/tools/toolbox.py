"""Runs the tools that the model calls: checks the arguments, limits the time, reports failures.

Every call is answered by a short text that can be spoken; a failure begins with "Error: ". Once
begun, a call with side effects is finished even if nobody waits for it any more, and its key always
returns the same result: an interruption neither loses nor repeats it.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from voice.config import AgentConfig, MemoryConfig, ToolsConfig, TurnConfig, secret
from voice.errors import ConfigError, StoreError, to_install
from voice.tools import results
from voice.tools.builtin import (
    agenda,
    alarms,
    appointments,
    arithmetic,
    clock,
    coffee,
    coffee_questions,
    conversation,
    documents,
    house,
    lists,
    memory,
    money,
    reminders,
    timers,
    units,
    weather,
)
from voice.tools.builtin.documents import Documents
from voice.tools.builtin.home_assistant import HomeAssistant
from voice.tools.builtin.house import House, MemoryHouse
from voice.tools.database import Database
from voice.tools.execution import Cancelled, NotCarried, Runs, Threads
from voice.tools.registry import (
    Known,
    Noted,
    Readable,
    Tool,
    ToolError,
    check_lengths,
    checked,
    complaint,
    guarded,
    meaning,
    provided_to,
    tools_in,
)
from voice.tools.ringer import Ringer
from voice.tools.scope import Clock, Done, Inverses, MachineClock, Progress, SessionScope
from voice.tools.spoken_results import spoken_result
from voice.tools.store import Glance, Store
from voice.tools.web import Web
from voice.types import Confirmation, Reading, ToolCall, ToolResult, ToolSpec

if TYPE_CHECKING:
    from voice.tools.mcp.servers import ConfiguredServers, Offers, Servers

_MODULES = (
    clock, timers, alarms, reminders, lists, arithmetic, units, money, weather, house, documents,
    conversation, memory, coffee, coffee_questions, appointments, agenda,
)  # fmt: skip
_SWEEP_S = 3600.0
_GLANCE_S = 1.0
"""Changes by other processes are seen within this time; those by this process, at once."""
_BREAK_OFF_S = 3.0
"""When the toolbox closes, calls of MCP servers that take longer are broken off."""
_THREADS = 4
"""Threads for blocking tools; one that hangs keeps its thread, and others wait for a free one."""


class Toolbox:
    """All tools, shared by all conversations.

    Args:
        config: Options of the tools; ``modules`` adds modules of tools.
        turn: Has the time limits of tools.
        now: The clock of all conversations; None is this machine's.
        memory: Options for facts that callers ask to be remembered.

    Raises:
        ConfigError: A module cannot be imported, two tools share a name, or an option is wrong.

    Attributes:
        clock: The clock of all conversations.
        flow_thread: Reads and writes callers' positions in their flows, one at a time and in order.
        named_servers: Connects MCP servers that clients name; None if they may not name any, and
            before `connect`.
    """

    def __init__(
        self,
        config: ToolsConfig,
        turn: TurnConfig,
        now: Clock | None = None,
        memory: MemoryConfig = MemoryConfig(),  # noqa: B008
    ) -> None:
        self._config = config
        self._memory = memory
        self._finish_s = turn.tool_finish_s
        self._tools = _gathered(_extra_modules(config.modules))
        self.clock: Clock = now or MachineClock()
        self.database = Database(config.database, self.clock)
        self.ringer = Ringer(self.database, self.clock)
        self._glance = lru_cache(256)(lambda owner, moment: Glance(self.database, owner))
        self._web = Web(config.http_timeout_s)
        self.house = _house(config, self._web)
        self._documents = Documents(_folder(config.documents_dir))
        self._provided: dict[type, object] = {
            ToolsConfig: config, MemoryConfig: memory, Ringer: self.ringer, Web: self._web,
            House: self.house, Documents: self._documents,
        }  # fmt: skip
        self._check_provided()
        self._mcp: ConfiguredServers | None = None
        self.named_servers: Servers | None = None
        # Server → names of its tools.
        self._offered: dict[str, tuple[str, ...]] = {}
        self._ends: set[asyncio.Task[None]] = set()
        self._threads = Threads(_THREADS)
        # One thread, so that a caller who comes back reads what was written before.
        self.flow_thread = ThreadPoolExecutor(1, thread_name_prefix="flow")
        self._runs = Runs(turn.tool_timeout_s)

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool's name."""
        return tuple(self._tools)

    @property
    def flows_kept_s(self) -> float:
        """How long after hanging up a caller can go on with a flow."""
        return self._config.keep_flows_minutes * 60

    def specs(
        self,
        names: Iterable[str],
        session: SessionScope | None = None,
        made: Mapping[str, Tool] = MappingProxyType({}),
    ) -> tuple[ToolSpec, ...]:
        """Declarations of some tools for the model, in the order of ``names``.

        For a session they can read values and make the questions to the user, and the session
        gets what they keep. ``made`` has tools made for a flow, which are not among those of the
        toolbox.

        Raises:
            ConfigError: A tool does not exist.
        """
        tools = [made.get(name) or self._named(name) for name in names]
        return tuple(self._spec_for(tool, session) if session else tool.spec for tool in tools)

    def specs_for(
        self, agent: AgentConfig, session: SessionScope | None = None
    ) -> tuple[ToolSpec, ...]:
        """Like `specs`, for the agent's tools and those of MCP servers that it may use.

        Raises:
            ConfigError: The agent names a tool that does not exist.
        """
        # Both as they are now: a server may change its tools meanwhile.
        tools, offered = self._tools, self._offered
        found = {spec.name: spec for spec in self.specs(agent.tools, session)}
        for server, names in offered.items():
            agents = self._config.mcp[server].agents
            if not agents or agent.name in agents:
                found |= {name: tools[name].spec for name in names if name in tools}
        return tuple(found.values())

    def connect(self, check: Callable[[Sequence[ToolSpec]], None]) -> list[str]:
        """Connect the MCP servers of the configuration, and prepare for those of clients; blocks.

        Args:
            check: Raises `ProtocolError` if the model could not call some tools.

        Returns:
            A line for each server.

        Raises:
            ConfigError: The package is missing, or an environment variable is.
        """
        if not self._config.mcp and not self._config.mcp_hosts:
            return []
        _require_mcp()
        from voice.tools.mcp.servers import ConfiguredServers, Servers

        most = self._config.result_max_chars
        if self._config.mcp_hosts:
            self.named_servers = Servers(most)
        if not self._config.mcp:
            return []
        self._mcp = ConfiguredServers(self._config.mcp, check, self._names_beside, self._put, most)
        self._mcp.wait()
        return [
            f"mcp {name}: {', '.join(self._offered.get(name, ())) or 'no tools'}"
            for name in self._config.mcp
        ]

    def _names_beside(self, server: str) -> set[str]:
        return self._tools.keys() - set(self._offered.get(server, ()))

    def _put(self, server: str, offers: Offers) -> None:
        """Replace a server's tools; called in the servers' thread."""
        kept = {name: self._tools[name] for name in self._names_beside(server)}
        added = {offer.tool.spec.name: offer.tool for offer in offers}
        # New objects: the event loop may be reading the old ones.
        self._tools = {name: kept[name] for name in self._tools if name in kept} | added
        self._offered = {**self._offered, server: tuple(added)}

    def warm_up(self) -> None:
        """Load what the first calls would wait for; blocks."""
        units.warm_up()
        # In the background: a search also reads changed files itself, for a limited time.
        Thread(target=self._documents.read, name="documents", daemon=True).start()

    def is_read_only(self, name: str, session: SessionScope | None = None) -> bool:
        """Whether a tool, of the ``session`` or of all, changes nothing; False for an unknown."""
        return (tool := self._found(name, session)) is not None and tool.spec.read_only

    def sees_words(self, name: str, session: SessionScope) -> bool:
        """Whether a tool gets the `SessionScope`, and with it the user's words."""
        found = self._found(name, session)
        return found is not None and SessionScope in found.provided.values()

    def can_ring(self, names: Iterable[str]) -> bool:
        """Whether one of these tools sets something that is announced later."""
        tools = (self._tools[name] for name in names if name in self._tools)
        return any(Ringer in tool.provided.values() for tool in tools)

    async def devices(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names of the devices that these tools can see.

        Raises:
            ToolError: The house cannot be asked.
        """
        tools = (self._tools[name] for name in names if name in self._tools)
        if not any(House in tool.provided.values() for tool in tools):
            return ()
        return tuple(device.name for device in await self.house.devices())

    async def run(
        self,
        call: ToolCall,
        session: SessionScope,
        key: str = "",
        progress: Progress | None = None,
        beside: Sequence[ToolCall] = (),
    ) -> ToolResult:
        """Run a call and return its result; a failure is a result as well.

        Args:
            call: The model's call.
            session: The conversation that calls.
            key: A tool with side effects runs once for each key; if empty, the key is the call's
                id.
            progress: Passed to a tool that has a parameter of that type.
            beside: The other calls of the same answer.

        Returns:
            The result. It is ``unfinished`` if a tool with side effects took too long: then
            `outcome` has its result later.
        """
        tool = self._found(call.name, session)
        if tool is None:
            return results.failed(call, f"There is no tool {call.name}.")
        if tool.spec.undoes and not all(self._can_read(other, session) for other in beside):
            return results.failed(call, "I have not changed anything.")
        if not any(self._undoes(other) for other in (call, *beside)):
            session.removed = None
        full, read_only = (session.session_id, key or call.call_id), tool.spec.read_only
        run = self._runs.read_only if read_only else self._runs.once
        # `Runs.read_only` cancels at its own time limit.
        limit_s = None if read_only else self._finish_s
        provided = {**self._provided_to(session), Progress: progress or Progress()}
        # A call waiting for its turn could not be stopped, so cancellable ones do not wait.
        in_order = bool(beside) and not (read_only or tool.spec.cancellable)

        async def work() -> ToolResult:
            async with session.in_order if in_order else nullcontext():
                return await self._answer(tool, call, provided, limit_s)

        try:
            result = await run(full, work)
        except Cancelled:
            return results.stopped(call)
        if result is None:
            return results.too_long(call) if read_only else results.under_way(call)
        return replace(result, call_id=call.call_id)

    async def outcome(self, call: ToolCall, session: SessionScope, key: str = "") -> ToolResult:
        """Wait for an unfinished run, however long it takes, and return its result.

        Raises:
            KeyError: No such run has begun.
        """
        try:
            result = await self._runs.outcome((session.session_id, key or call.call_id))
        except Cancelled:
            return results.stopped(call)
        return replace(result, call_id=call.call_id)

    def cancel(self, session: SessionScope, key: str) -> None:
        """Stop a run; its `run` then returns an error. No effect on a finished run."""
        self._runs.cancel((session.session_id, key))

    def end(self, session: SessionScope) -> None:
        """End a conversation; a stranger's entries are deleted after the calls that still run."""
        if session.caller is None:
            end = asyncio.create_task(self._delete_stranger(session))
            self._ends.add(end)
            end.add_done_callback(self._ends.discard)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Delete entries that were kept long enough, every hour while the context lasts.

        In the background it also loads what the first calls would wait for.
        """
        tasks = [
            asyncio.create_task(each) for each in (asyncio.to_thread(self.warm_up), self._sweep())
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def drain(self) -> None:
        """Wait until every call with side effects that has begun is finished."""
        await self._runs.drain()
        if self._ends:
            await asyncio.wait(self._ends)

    async def close(self) -> None:
        """Finish begun calls, then release files and connections; may be called again."""
        draining = asyncio.create_task(self.drain())
        servers = [one for one in (self._mcp, self.named_servers) if one is not None]
        if servers:
            # An MCP server may take any time, so its calls are broken off.
            await asyncio.wait({draining}, timeout=_BREAK_OFF_S)
        for each in servers:
            await each.close()
        await draining
        await self._web.close()
        await self.house.close()
        await self._threads.close()
        self.flow_thread.shutdown()
        self._documents.close()
        await self.ringer.tell_heard()
        self.database.close()

    async def _delete_stranger(self, session: SessionScope) -> None:
        await self._runs.drain(session.session_id)
        # If this fails, a sweep deletes the entries later.
        with suppress(StoreError):
            loop = asyncio.get_running_loop()
            # In the flow thread, after any position in a flow that is still to be written.
            delete, caller = self.database.delete_stranger, session.owner.caller
            await loop.run_in_executor(self.flow_thread, delete, caller)

    async def _sweep(self) -> None:
        while True:
            now_s = self.clock().timestamp()
            with suppress(StoreError):
                await asyncio.to_thread(self.database.sweep, self._config, now_s, self._memory)
            await asyncio.sleep(_SWEEP_S)

    def _spec_for(self, tool: Tool, session: SessionScope) -> ToolSpec:
        readings = {name: self._reading(value, session) for name, value in tool.values.items()}
        confirmation = None
        if tool.keeps and tool.keeps not in session.keeps:
            session.keeps.append(tool.keeps)
        if tool.asked is not None:
            # If the question fails, another is asked: unasked, nothing is done.
            question = guarded(self._given(tool.asked.question, session), "Shall I do that?")
            plainly = guarded(tool.asked.plainly, False)
            confirmation = Confirmation(question, plainly, tool.asked.always)
        refuses = tool.refuses and self._given(tool.refuses, session)

        def refusal(call: ToolCall, message: str) -> ToolResult | None:
            try:
                check_lengths(tool, call.arguments)
                return refuses(call.arguments, message) if refuses else None
            except ToolError as failure:
                return results.refused(call, failure, str(failure))
            except Exception as failure:
                return results.broken(call, failure)

        return replace(
            tool.spec, readings=readings, confirmation=confirmation, refusal=refuses and refusal
        )

    def _reading(self, value: Readable | Known, session: SessionScope) -> Reading:
        if isinstance(value, Readable):
            return _read(value)
        find = self._given(value.find, session)

        def question(said: str) -> str:
            missing = complaint(find, said)
            if missing and value.names is not None and not complaint(value.names, said):
                return missing
            return missing and value.question

        def found(said: str) -> bool | None:
            return True if value.binds and not complaint(find, said) else None

        def there(said: str) -> bool:
            # While nothing is known yet, `find` refuses no name, not even an empty one.
            return bool(complaint(find, "")) and not complaint(find, said)

        return Reading(found, question, anywhere=True, there=there)

    def _given(self, function: Callable[..., Any], session: SessionScope) -> Callable[..., Any]:
        """A function with its keyword-only parameters provided."""
        kinds = provided_to(function)

        def ask(*said: Any) -> Any:
            # At each call, because the owner of the data depends on the current agent.
            moment = self.database.changes, int(time.monotonic() / _GLANCE_S)
            provided = self._provided_to(session)
            provided[Store] = self._glance(session.owner, moment)
            return function(*said, **{name: provided[kind] for name, kind in kinds.items()})

        return ask

    def _provided_to(self, session: SessionScope) -> dict[type, object]:
        inverses = Inverses()
        store = Store(self.database, session.owner, inverses)
        return {**self._provided, SessionScope: session, Store: store, Inverses: inverses}

    async def _answer(
        self, tool: Tool, call: ToolCall, provided: Mapping[type, object], limit_s: float | None
    ) -> ToolResult:
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        scope, inverses = provided[SessionScope], provided[Inverses]
        assert isinstance(scope, SessionScope) and isinstance(inverses, Inverses)
        ordered = scope.kept_order()
        try:
            async with asyncio.timeout(limit_s):
                noted = await self._call(tool, call.arguments, provided)
            content = self._cut(noted.said)
            if scope.kept_order() != ordered:
                inverses.append(partial(scope.put_order, *ordered))
            if not tool.spec.read_only:
                # A call that the user was asked about cannot be undone, nor can an undo.
                final = tool.asked or tool.function is conversation.undo_last
                scope.note(Done(call.name, content, () if final else (*inverses,)))
            result = ToolResult(call.call_id, call.name, content, values=noted.values)
        except (ToolError, StoreError) as failure:
            result = results.refused(call, failure, self._cut(str(failure)))
        except TimeoutError:
            result = results.too_long(call)
        # A tool that calls `sys.exit` must not end the program.
        except (Exception, SystemExit, KeyboardInterrupt) as failure:
            cause = failure.__cause__ if isinstance(failure, NotCarried) else None
            result = results.broken(call, cause or failure)
        return replace(result, duration_ms=(loop.time() - started_s) * 1000)

    async def _call(
        self, tool: Tool, arguments: Mapping[str, Any], provided: Mapping[type, object]
    ) -> Noted:
        scope = provided[SessionScope]
        assert isinstance(scope, SessionScope)
        given = checked(tool, arguments, scope.now())
        given |= {name: provided[kind] for name, kind in tool.provided.items()}
        if inspect.iscoroutinefunction(tool.function):
            return results.content(tool, await tool.function(**given))
        return await self._threads.run(
            tool.spec.name, lambda: results.content(tool, tool.function(**given))
        )

    def _found(self, name: str, session: SessionScope | None) -> Tool | None:
        return (session.tools.get(name) if session else None) or self._tools.get(name)

    def _undoes(self, call: ToolCall) -> bool:
        return call.name in self._tools and self._tools[call.name].spec.undoes

    def _can_read(self, call: ToolCall, session: SessionScope) -> bool:
        """Whether a call's arguments can be read; False for an unknown tool."""
        try:
            checked(self._tools[call.name], call.arguments, session.now())
        except (KeyError, ToolError):
            return False
        return True

    def _named(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        close = get_close_matches(name, self._tools, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of {sorted(self._tools)}"
        raise ConfigError(f"tools: got {name!r}, which is no tool; {hint}")

    def _check_provided(self) -> None:
        for tool in self._tools.values():
            finds = (one.find for one in tool.values.values() if isinstance(one, Known))
            checks = (tool.asked.question if tool.asked else None, tool.refuses, *finds)
            wanted = [one for check in checks if check for one in provided_to(check).items()]
            for parameter, kind in (*tool.provided.items(), *wanted):
                known = (SessionScope, Store, Progress, Inverses, *self._provided)
                if kind not in known:
                    raise ConfigError(
                        f"tool {tool.spec.name}: {parameter}: got the type {kind}; expected one of"
                        f" {sorted(one.__name__ for one in known)}"
                    )

    def _cut(self, content: str) -> str:
        most = self._config.result_max_chars
        # A lone surrogate cannot be encoded: every later prompt would fail with it.
        content = content.encode("utf-8", "replace").decode("utf-8")
        if len(content) > most:
            # A JSON text cut short is no longer JSON, so it is put into words first.
            content = spoken_result(content, most)
        return content if len(content) <= most else f"{content[: most - 1].rsplit(' ', 1)[0]}…"


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
        # A module may raise anything when imported; one that is a program may exit.
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise ConfigError(f"tools.modules: cannot import {name!r}: {reason}") from error
    return modules


def _read(value: Readable) -> Reading:
    hardly = value.hardly and partial(meaning, value.hardly)
    read = partial(meaning, value.read)
    any_way, asked = hardly or read, value.question
    ask = asked if callable(asked) else lambda _: asked
    return Reading(
        read,
        lambda said: ask(said) if any_way(said) is None else "",
        hardly,
        value.whole,
        free=value.free,
        outright=value.outright and partial(meaning, value.outright),
        unasked=value.unasked and partial(meaning, value.unasked),
        counts=value.counts,
    )


def _require_mcp() -> None:
    try:
        importlib.import_module("mcp")
    except ImportError as error:
        raise ConfigError(f"tools.mcp: mcp is not installed: {to_install('mcp')}") from error


def _house(config: ToolsConfig, web: Web) -> House:
    if not config.home_assistant_url:
        return MemoryHouse()
    token = secret(config.home_assistant_token_env)
    return HomeAssistant(config.home_assistant_url, token, web)


def _folder(documents_dir: str) -> Path | None:
    if not documents_dir:
        return None
    try:
        folder = Path(documents_dir).expanduser()
        found = folder.is_dir()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"tools.documents_dir: cannot use {documents_dir!r}: {error}") from error
    if not found:
        raise ConfigError(f"tools.documents_dir: {folder.absolute()} is no folder")
    return folder
