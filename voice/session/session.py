"""One conversation with real parts: audio and requests in, events out.

`voice.session.command_runner` executes what `voice.dialogue.conversation` decides. Everything here
runs on one event loop; computation runs in threads. Audio queued for the recogniser is bounded by
the longest turn. Events go to the transport as they happen; it bounds what waits for its client.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from voice.callers import Caller
from voice.dialogue.call_checks import Limits
from voice.dialogue.conversation import Context, Conversation
from voice.errors import ProtocolError
from voice.events import (
    RECENT_REPLIES,
    FlowChanged,
    ReplyEnded,
    ReplyStarted,
    ReplyToolResult,
    ServerListing,
    SessionEnded,
    SessionEvent,
)
from voice.hearing.asr.domain import Domain
from voice.hearing.audio_input import AudioInput
from voice.hearing.item_transcription import ItemTranscription
from voice.hearing.stream_gaps import CHECK_S, StreamGaps
from voice.inputs import Announce, IdleElapsed, Input, OptionsChanged, SessionOptions, with_changes
from voice.llm.base import new_call_id
from voice.session.command_runner import CommandRunner
from voice.session.live_backend import LiveBackend, SessionCallbacks
from voice.session.named_servers import NamedServers, check_address
from voice.session.preemptive_generation import DraftParts, PreemptiveGeneration
from voice.session.remembered import TOOLS as MEMORY_TOOLS
from voice.session.remembered import Remembered
from voice.session.resources import Resources
from voice.session.saved_flow import SavedFlow
from voice.session.tool_runs import ToolRuns
from voice.session.turn_latency import TurnLatency
from voice.speech.audio_output import AudioOutput
from voice.tools import SessionScope
from voice.tools.scope import Line
from voice.types import SAMPLE_RATE_HZ, Message, Samples, ToolCall, ToolSpec

IDLE_CHECK_S = 0.25
ALERTS_AFTER_S = 1.0
"""Delay before the first alert of a session, in which a client that wants none can turn them off.
"""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Session:
    """A conversation, which begins with `run`. All methods are for the event loop's thread.

    Args:
        resources: What all conversations share.
        options: Initial options; None takes those of the configuration and the agent.
        line: The telephone line, for tools; None if there is none.
        caller: The caller whose data tools may use; None for a stranger, whose data last as long as
            the conversation. A public agent (`AgentConfig.public`) recognises only named callers.
    """

    def __init__(
        self,
        resources: Resources,
        options: SessionOptions | None = None,
        line: Line | None = None,
        caller: Caller | None = None,
    ) -> None:
        self.session_id = f"sess_{uuid.uuid4().hex[:16]}"
        self._resources = resources
        self._scope = self._begin_scope(caller, line)
        self._latency = TurnLatency()
        self._take: Callable[[SessionEvent], None] | None = None
        self._refused: Exception | None = None
        self._group: asyncio.TaskGroup | None = None
        self._replies: dict[str, ReplyStarted] = {}
        self._closed = asyncio.Event()
        self._reason, self._greets = "", False
        self._ringing: asyncio.Task[None] | None = None
        # Pending announcements by key: whether it was heard, and that it was, or was stopped.
        self._announced: dict[str, tuple[asyncio.Future[bool], asyncio.Future[None]]] = {}
        self._flows = SavedFlow(resources.team, resources.toolbox, self._scope)
        self._remembered = Remembered(resources.agent, resources.toolbox, self._scope)
        self._servers = self._begin_servers()
        self._output = AudioOutput(
            resources.voice, resources.synthesis_threads, self._emit, self._feed
        )
        self._conversation = self._begin_conversation(options or resources.options())
        self._drafts = PreemptiveGeneration(
            self._conversation, self._draft_parts(), self._spawn, self._emit
        )
        self._runner = CommandRunner(self._conversation.feed, self._backend(), self._spawn)
        self._input = AudioInput(
            resources.recognizer,
            resources.vad(),
            resources.config.endpointing,
            resources.recognition_threads,
            self._runner.feed,
            self._latency.decoded,
            ended=self._latency.ended,
            end_of_message=self._expect_end,
            telephone_vad=resources.telephone_vad,
            decode=resources.load_monitor.decode,
            allows_partial=partial(
                resources.load_monitor.allows_partial, resources.config.drafting
            ),
        )
        self._input.configure(self.options)
        threads = resources.recognition_threads
        self._items = ItemTranscription(resources.recognizer, threads, self._runner.feed)
        self._expect(resources.domain)

    def _begin_scope(self, caller: Caller | None, line: Line | None) -> SessionScope:
        agent = self._resources.agent
        if agent.public and caller and not caller.kind.named:
            caller = None
        clock = self._resources.toolbox.clock
        return SessionScope(self.session_id, agent.name, caller, agent.shop, clock, line=line)

    def _begin_servers(self) -> NamedServers:
        had = self._resources
        return NamedServers(
            had.toolbox,
            lambda tools: had.model.check_tools(tools, "tool"),
            self._scope,
            had.team_specs(self._scope),
            self._server_changed,
        )

    def _begin_conversation(self, options: SessionOptions) -> Conversation:
        had = self._resources
        turn = had.config.turn
        return Conversation(
            options,
            self._servers.specs,
            _unique_ids(self.session_id[-8:]),
            Limits(turn.max_tool_calls, turn.max_history_messages, had.config.llm.rephrases),
            had.draft_words,
            self._output.heard,
            self._flows.begin(),
        )

    @property
    def options(self) -> SessionOptions:
        """The current options."""
        return self._conversation.options

    @property
    def proposed(self) -> tuple[ToolCall, ...]:
        """The calls that the agent has asked the user to confirm; a "yes" would make them."""
        return self._conversation.proposed

    @property
    def scope(self) -> SessionScope:
        """What tools may read and change of this conversation."""
        return self._scope

    async def run(self, take: Callable[[SessionEvent], None]) -> None:
        """Hold the conversation until `close`. Tools still running then are left to finish.

        Args:
            take: Called with each event as it happens; `SessionEnded` is the last. The only method
                of the session it may call is `truncate`. An exception from it ends the session, and
                is raised here in an exception group.
        """
        self._take = take
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                group.create_task(self._input.run())
                group.create_task(self._output.run())
                if self._greets:
                    self.greet()
                self._ring_if_wanted()
                group.create_task(self._flows.run(self._runner.feed))
                group.create_task(self._remember())
                group.create_task(self._learn(self.options.client_tools))
                group.create_task(self._watch_idle())
                group.create_task(self._fill_gaps())
                self._ask_servers()
                await self._closed.wait()
                raise self._refused or _Over
        except* _Over:
            _log.debug("session %s closed", self.session_id)
        finally:
            self._group = None
            self.close("failed")
            self._servers.close()
            self._resources.toolbox.end(self._scope)
            self._give(SessionEnded(self._reason))

    def close(self, reason: str = "closed") -> None:
        """End the conversation; the first reason counts."""
        if not self._closed.is_set():
            self._reason = reason
            # Tasks that wait to know what was heard are told before they are cancelled.
            self._runner.execute(self._conversation.leave())
            self._closed.set()
            self._runner.close()
            self._drafts.drop()

    @property
    def closed(self) -> bool:
        """Whether `close` was called, by a tool or the user's goodbye for example."""
        return self._closed.is_set()

    @property
    def _runs(self) -> bool:
        """Whether new work can be started: only after `run` and before `close`."""
        return self._group is not None and not self._closed.is_set()

    def append_audio(self, samples: Samples, rate_hz: int) -> None:
        """Take the user's audio: (T,) int16 mono of any rate and length."""
        self._input.append(samples, rate_hz)

    def commit_audio(self) -> None:
        """End the user's turn now.

        Raises:
            ProtocolError: There is less than 100 ms of audio.
        """
        self._input.commit()

    def clear_audio(self) -> None:
        """Drop the audio of an unfinished turn."""
        self._input.clear()
        self._forget_turn()

    def update(self, **changes: Any) -> None:
        """Change options. A change of who marks the turns drops an unfinished turn.

        Raises:
            ProtocolError: The model cannot call one of the client's tools, one of its MCP servers
                is not allowed, or the recogniser does not know its language.
            ValueError: There is no such option.
        """
        options, before = with_changes(self.options, **changes), self.options
        had = self._resources
        hosts = had.config.tools.mcp_hosts if had.toolbox.named_servers else ()
        for server in set(options.servers) - set(before.servers):
            check_address(server, hosts)
        self._servers.check_names(options, "session.tools")
        options = self._servers.with_tools(options)
        self._check_tools(options, "session.tools")
        self._check_language(options.language)
        self._runner.feed(OptionsChanged(options))
        self._ask_servers()
        self._input.configure(options)
        self._ring_if_wanted()
        expected = options.client_tools, options.language
        changed = expected != (before.client_tools, before.language)
        if changed and self._runs:
            self._spawn(self._learn(options.client_tools))
        if options.voice != before.voice:
            # Start loading the voice now, if needed, to shorten the next reply's wait for it.
            self._resources.synthesis_threads.submit(self._resources.voice, options.voice)
        if options.turn_detection != before.turn_detection:
            # The input has dropped the open turn, so nothing may wait for its end.
            self._forget_turn()

    def _ask_servers(self) -> None:
        if self._runs:
            for server in self._servers.unknown(self.options):
                self._servers.ask(server)

    def _server_changed(self, listing: ServerListing) -> None:
        if not self._closed.is_set():
            options = self._servers.with_tools(self.options)
            self._runner.feed(OptionsChanged(options))
            self._emit(listing)

    def _expect(self, domain: Domain) -> None:
        domain = replace(domain, language=self.options.language)
        self._input.expect(domain)
        self._items.expect(domain)

    async def _learn(self, tools: tuple[ToolSpec, ...]) -> None:
        # In a thread: a client may declare so much that reading it would block the event loop.
        loop, threads = asyncio.get_running_loop(), self._resources.recognition_threads
        domain = await loop.run_in_executor(threads, self._resources.domain.including, tools)
        if self.options.client_tools == tools:
            self._expect(domain)

    def _forget_turn(self) -> None:
        # What the turn's drafts have read would be out of date by the next turn. The end of a reply
        # drops them as well; until then it may be reading one.
        if self._conversation.active_reply is None:
            self._drafts.drop()
        self._runner.execute(self._conversation.forget_turn())

    def add_item(self, item_id: str, message: Message, previous_item_id: str | None) -> None:
        """See `History.add`."""
        self._conversation.dialogue.add(item_id, message, previous_item_id)

    def hear_item(self, item_id: str, samples: Samples, rate_hz: int, following: int = 0) -> None:
        """Recognise (T,) int16 mono audio and add the words to an item; replies wait for them.

        See `Conversation.await_item` for ``following``.
        """
        if self._closed.is_set():
            return
        self._conversation.await_item(item_id, following)
        self._spawn(self._items.transcribe(item_id, samples, rate_hz))

    def delete_item(self, item_id: str) -> None:
        """See `History.delete`."""
        self._conversation.dialogue.delete(item_id)

    def item(self, item_id: str) -> Message:
        """See `History.get`."""
        return self._conversation.dialogue.get(item_id)

    def create_response(
        self,
        overrides: Mapping[str, Any] | None = None,
        context: Context | None = None,
        out_of_band: bool = False,
    ) -> str:
        """Begin a reply; the model is asked once everything said so far has been recognised.

        Args:
            overrides: Options for this reply alone.
            context: What the model sees in place of the dialogue.
            out_of_band: Whether the reply stays out of the dialogue.

        Returns:
            The reply's id.

        Raises:
            ProtocolError: As `Conversation.create_response` and `update`.
            ValueError: There is no such option.
        """
        options = with_changes(self.options, **(overrides or {}))
        self._servers.check_names(options, "response.tools")
        options = self._servers.with_tools(options)
        if not set(options.servers) <= set(self.options.servers):
            raise ProtocolError(
                "response.tools: expected MCP servers that session.tools has",
                param="response.tools",
            )
        self._check_tools(options, "response.tools")
        reply_id, commands = self._conversation.create_response(options, context, out_of_band)
        self._runner.execute(commands)
        return reply_id

    def approve(self, call: ToolCall) -> str:
        """Run, in a new reply, a call of an MCP server's tool that the client has approved.

        Returns:
            The reply's id.

        Raises:
            ProtocolError: Another reply is being made, or the tool no longer exists.
        """
        if call.name not in self._scope.tools:
            raise ProtocolError(f"there is no tool {call.name} any more", "item_not_found")
        again = replace(call, call_id=new_call_id())
        reply_id, commands = self._conversation.carry_out(again, self.options)
        self._runner.execute(commands)
        return reply_id

    def decline(self, call: ToolCall, item_id: str) -> str:
        """Reply to a call that the client has declined.

        Raises:
            ProtocolError: Another reply is being made.
        """
        reply_id, commands = self._conversation.decline(call, item_id, self.options)
        self._runner.execute(commands)
        return reply_id

    def cancel_response(self, reply_id: str | None) -> None:
        """See `Conversation.cancel`."""
        self._runner.execute(self._conversation.cancel(reply_id))

    def interrupt(self) -> None:
        """See `Conversation.interrupt`."""
        self._runner.execute(self._conversation.interrupt())

    def greet(self) -> None:
        """Say the agent's greeting, if any, or resume a flow, as soon as `run` has begun."""
        if self._runs:
            self._spawn(self._greet())
        else:
            self._greets = True

    async def _greet(self) -> None:
        greeting = await self._remembered.greeting(await self._flows.greeting())
        if greeting:
            self._runner.feed(Announce(greeting))

    async def _remember(self) -> None:
        told = await self._remembered.read()
        if told != self.options.remembered and not self._closed.is_set():
            self._runner.feed(OptionsChanged(replace(self.options, remembered=told)))

    def truncate(self, reply_id: str, played_ms: float) -> None:
        """Take a transport's report of where it stopped playing; the dialogue keeps what was heard.

        Raises:
            ProtocolError: There is no such recent reply, or that much was never sent.
        """
        reply = self._replies.get(reply_id)
        if reply is None:
            raise ProtocolError("the item is not a recent reply", "invalid_value", "item_id")
        self._conversation.dialogue.get(reply.item_id)
        self._conversation.truncate(reply.item_id, self._output.truncate(reply_id, played_ms))

    def played(self, reply_id: str, played_ms: float) -> None:
        """Take a transport's report of how much of a reply it has played."""
        self._output.played(reply_id, played_ms)

    def _check_tools(self, options: SessionOptions, path: str) -> None:
        if options.client_tools != self.options.client_tools:
            self._resources.model.check_tools(options.client_tools, path)

    def _check_language(self, language: str) -> None:
        if language == self.options.language:
            return
        heard = self._resources.recognizer.languages
        if language and language not in heard:
            got = f"got {language[:20]!r}; this server hears {', '.join(heard[:9])}"
            path = "session.audio.input.transcription.language"
            raise ProtocolError(f"{path}: {got}", "invalid_value", path)

    def _backend(self) -> LiveBackend:
        had = self._resources
        slow_s = had.config.turn.filler_after_ms / 1000
        tools = ToolRuns(had.toolbox, self._scope, self._drafts, slow_s)
        callbacks = SessionCallbacks(self._emit, self._latency, self.close, self._settle)
        return LiveBackend(had.model, self._drafts, tools, self._output, callbacks)

    def _draft_parts(self) -> DraftParts:
        had = self._resources
        config, load = had.config.drafting, had.load_monitor
        return DraftParts(had.model, had.toolbox, self._scope, self._output, config, load)

    async def _expect_end(self, words: str) -> float | None:
        """The model's probability that the user's message ends after these words."""
        return await self._resources.model.end_of_message(self._conversation.prompt_for(words))

    def _feed(self, event: Input) -> None:
        self._runner.feed(event)

    def _emit(self, event: SessionEvent) -> None:
        match event:
            case ReplyStarted(reply_id, out_of_band=False):
                self._replies[reply_id] = event
                if len(self._replies) > RECENT_REPLIES:
                    del self._replies[next(iter(self._replies))]
            case FlowChanged(position):
                self._flows.changed(position)
            case ReplyToolResult(result=result) if result.name in MEMORY_TOOLS:
                self._spawn(self._remember())
        self._latency.observe(event)
        self._give(event)
        if isinstance(event, ReplyEnded):
            if event.reply_id in self._replies:
                self._drafts.drop()
            for measured in self._latency.over(event):
                self._give(measured)

    def _give(self, event: SessionEvent) -> None:
        if self._take is None:
            raise RuntimeError("the session is not running")
        if self._refused is None:
            try:
                self._take(event)
            except Exception as error:
                # Raised here, it would look like a failure of the part that emitted the event.
                self._refused = error
                self.close("failed")

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        if self._group is None:
            work.close()
            raise RuntimeError("the session is not running")
        return self._group.create_task(work)

    def _ring_if_wanted(self) -> None:
        """Start or stop alerts, which ring only if the agent has a tool that sets some."""
        if not self._runs:
            return
        wanted = self._resources.toolbox.can_ring(self.options.agent_tools)
        if wanted and self._ringing is None:
            self._ringing = self._spawn(self._ring())
        elif not wanted and self._ringing is not None:
            self._ringing.cancel()
            self._ringing = None

    async def _ring(self) -> None:
        """Announce what is due, each once the one before was heard or the client has stopped it."""
        await asyncio.sleep(ALERTS_AFTER_S)
        ringer = self._resources.toolbox.ringer
        async with aclosing(ringer.announcements(self._scope)) as alerts:
            text = await anext(alerts)
            while True:
                text = await alerts.asend(await self._is_heard(text))

    async def _is_heard(self, text: str) -> bool | asyncio.Future[bool]:
        """Announce something; return whether it was heard, once known or the client stops it."""
        loop, key = asyncio.get_running_loop(), uuid.uuid4().hex
        heard, over = self._announced[key] = loop.create_future(), loop.create_future()
        heard.add_done_callback(lambda _: self._announced.pop(key))
        self._runner.feed(Announce(text, again=True, key=key))
        try:
            await over
        except asyncio.CancelledError:
            heard.cancel()
            raise
        return heard.result() if heard.done() else heard

    def _settle(self, key: str, heard: bool | None) -> None:
        # The task that waited for it may just have been cancelled.
        told, over = self._announced.get(key, (None, None))
        if told is not None and not told.done() and heard is not None:
            told.set_result(heard)
        if over is not None and not over.done():
            over.set_result(None)

    async def _watch_idle(self) -> None:
        quiet_s, since = 0.0, 0
        loop = asyncio.get_running_loop()
        while True:
            due_s, before = loop.time() + IDLE_CHECK_S, self._input.position
            await asyncio.sleep(IDLE_CHECK_S)
            self._resources.load_monitor.woke((loop.time() - due_s) * 1000)
            # A client that marks its own turns sends audio while its user speaks.
            speaks = not self.options.turn_detection and self._input.position != before
            if speaks or not self._conversation.quiet:
                quiet_s, since = 0.0, self._input.position
                continue
            quiet_s += IDLE_CHECK_S
            if 0 < self.options.idle_timeout_s <= quiet_s:
                self._runner.feed(IdleElapsed(since, self._input.position))
                quiet_s, since = 0.0, self._input.position

    async def _fill_gaps(self) -> None:
        """Feed silence when a stream that has begun stops."""
        gaps, heard = StreamGaps(), 0
        while True:
            await asyncio.sleep(CHECK_S)
            missing_s = gaps.check((self._input.position - heard) / SAMPLE_RATE_HZ)
            if missing_s and self.options.turn_detection:
                rate_hz = self._input.rate_hz
                self.append_audio(np.zeros(round(missing_s * rate_hz), np.int16), rate_hz)
            heard = self._input.position


class _Over(Exception):
    """Ends the session's task group."""


def _unique_ids(session: str) -> Callable[[str], str]:
    numbers = itertools.count(1)
    return lambda prefix: f"{prefix}_{session}_{next(numbers)}"
