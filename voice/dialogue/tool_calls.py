"""The calls of tools that run here: each runs once, and its result follows it in the dialogue.

Part of `voice.dialogue.reply_loop`: no I/O, no clock. A call's key names the user's request that it
serves, so that the call is carried out once however often it is made: by a retry, by the reply
after one that was interrupted before any of it was heard, or by a model that repeats itself. A
request is identified by the user's words and the tool: asked for again in the same words, a call
counts as the same even if the model adds or omits an optional argument.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from voice.dialogue.commands import CancelTool, Command, Emit, RunTool
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.events import ReplyToolCall
from voice.inputs import SessionOptions
from voice.types import Message, Role, ToolCall, ToolResult, ToolSpec
from voice.understanding.corrections import given_up
from voice.understanding.english import agrees, normalised

SAID_MESSAGES = 3
"""How many of the user's messages a tool may look at."""
_LOOKED_AT = 24
"""Messages in which a call that was taken back is searched for."""


@dataclass(frozen=True, slots=True)
class _Running:
    """A call that was made; ``words`` is the user's last message at that time."""

    call: ToolCall
    words: str
    key: str
    reply_id: str
    item_id: str
    stoppable: bool

    def repeated_by(self, call: ToolCall, words: str) -> bool:
        """Whether a call by another reply asks for the same again."""
        ours, theirs = self.call.arguments, call.arguments
        if self.call.name != call.name or words != self.words:
            return signature(call) == signature(self.call)
        return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


class ToolCalls:
    """The calls that run here, over all replies; writes calls and results to the dialogue."""

    def __init__(
        self, dialogue: History, tools: Mapping[str, ToolSpec], ids: Callable[[str], str]
    ) -> None:
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._running: dict[str, _Running] = {}
        # Calls that took too long and got a provisional result, with the ids of those entries.
        self._unfinished: dict[str, tuple[_Running, str]] = {}
        self._called_off: set[str] = set()
        # For the newest request: a map from each call's own key to the key of the run that it
        # joined, and the calls that were made.
        self._origin = ""
        self._joined: dict[str, str] = {}
        self._made: deque[_Running] = deque(maxlen=64)

    @property
    def unfinished(self) -> bool:
        """Whether a tool that took too long, and got a provisional result, is still running."""
        return bool(self._unfinished)

    def origin(self) -> str | None:
        """Id of the user's first message since the agent was last heard; None if there is none."""
        origin = None
        for entry in reversed(list(self._dialogue)):
            message = entry.message
            if message.role is Role.USER:
                origin = entry.item_id
            elif message.role is Role.AGENT and message.content.strip():
                break
        return origin

    def begin(
        self, reply: Reply, calls: tuple[ToolCall, ...], client_names: Collection[str]
    ) -> list[Command]:
        """Add the calls of one answer to the dialogue, emit them, and run those that run here."""
        texts = self._dialogue.user_texts(2 * SAID_MESSAGES)
        # A "yes" says nothing about what the call is to do.
        said = tuple(text for text in texts if not agrees(text))[:SAID_MESSAGES]
        words = normalised(" ".join(texts[:1]))
        made: Counter[str] = Counter()
        taken: set[str] = set()
        emitted: list[Command] = []
        runs: list[Command] = []
        for call in calls:
            client_side = call.name in client_names
            item_id = self._ids("item")
            if not emitted:
                self._dialogue.break_off(reply.item_id, item_id)
            self._dialogue.add(item_id, Message(Role.AGENT, tool_calls=(call,)))
            emitted.append(Emit(ReplyToolCall(reply.reply_id, item_id, call, client_side)))
            if client_side:
                continue
            what = signature(call)
            # The same call twice in one answer is meant twice.
            own = f"{reply.origin}/{what}/{made[what]}"
            made[what] += 1
            repeated = self._repeated(call, words, reply)
            key = self._key(own, reply, (one for one in repeated if one not in taken))
            taken.add(key)
            spec = self._tools.get(call.name)
            stoppable = spec is not None and (spec.read_only or spec.cancellable)
            running = _Running(call, words, key, reply.reply_id, item_id, stoppable)
            self._running[call.call_id] = running
            self._made.append(running)
            reply.pending.add(call.call_id)
            beside = tuple(c for c in calls if c is not call and c.name not in client_names)
            runs.append(RunTool(reply.reply_id, call, key, beside, said))
        return emitted + runs

    def answered(self, result: ToolResult) -> ToolCall | None:
        """Add a result after its call, whatever became of the reply; returns the call.

        None if the call has already been answered.
        """
        running = self._running.pop(result.call_id, None)
        if running is None:
            return None
        if running.item_id not in {e.item_id for e in self._dialogue}:
            return running.call
        item_id = self._ids("item")
        message = Message(Role.TOOL, result.content, call_id=result.call_id, name=result.name)
        self._dialogue.add(item_id, message, self._dialogue.behind_calls(running.item_id))
        if result.unfinished:
            self._unfinished[result.call_id] = (running, item_id)
        else:
            self._settle(running.key, result.content)
        return running.call

    def given_up(self) -> tuple[ToolCall, ...]:
        """The call to be made again, since a correction took it back for one that has failed."""
        back = given_up(self._dialogue.view(_LOOKED_AT), self._tools)
        return (replace(back, call_id=self._ids("call")),) if back else ()

    def late(self, call_id: str) -> ToolCall | None:
        """The call with this id if it took too long and got a provisional result, else None."""
        found = self._unfinished.get(call_id)
        return found[0].call if found else None

    def finished(self, result: ToolResult) -> bool:
        """Replace a provisional result by the real one; returns whether that is news to the user.

        It is not if the result is known already, if a running call of the same key will report it,
        or if the user has called the tool off.
        """
        if result.call_id not in self._unfinished:
            return False
        key = self._unfinished[result.call_id][0].key
        self._settle(key, result.content)
        news = key not in self._called_off and key not in {r.key for r in self._running.values()}
        self._called_off.discard(key)
        return news

    def _settle(self, key: str, content: str) -> None:
        """Give the result of a run to all its calls that got a provisional one."""
        same = [call_id for call_id, (run, _) in self._unfinished.items() if run.key == key]
        known = {entry.item_id for entry in self._dialogue}
        for call_id in same:
            _, item_id = self._unfinished.pop(call_id)
            if item_id in known:
                self._dialogue.say(item_id, content)

    def stop(self) -> list[Command] | None:
        """Stop the tools that can be stopped, which may be none; None if no tool is running."""
        late = [run for run, _ in self._unfinished.values() if run.stoppable]
        if not self._running and not late:
            return None
        self._called_off.update(run.key for run in late)
        stoppable = [run for run in self._running.values() if run.stoppable]
        return [CancelTool(key) for key in dict.fromkeys(run.key for run in stoppable + late)]

    def _key(self, own: str, reply: Reply, repeated: Iterable[str]) -> str:
        """The key of the run that a call joins, else its own; stable if the call is made again."""
        if reply.origin != self._origin:
            self._origin, self._joined = reply.origin, {}
            self._made.clear()
        if own not in self._joined:
            self._joined[own] = next(iter(repeated), own)
        return self._joined[own]

    def _repeated(self, call: ToolCall, words: str, reply: Reply) -> list[str]:
        """Keys of calls by other replies that ask for the same, exact matches first.

        The model does not see calls that are running, so it makes them again; a user who was told
        that it takes longer may also ask again.
        """
        runs = [*self._running.values(), *(run for run, _ in self._unfinished.values())]
        runs += self._made if reply.origin == self._origin else []
        same = [r for r in runs if r.reply_id != reply.reply_id and r.repeated_by(call, words)]
        same.sort(key=lambda run: signature(run.call) != signature(call))
        return list(dict.fromkeys(run.key for run in same))


def waiting(
    options: SessionOptions, seen: History, tools: Mapping[str, ToolSpec]
) -> dict[str, str]:
    """The client's calls that have no output yet: signature → call id, of the newest such call.

    An approved call runs here under another id, and so replaces the one that was asked about.
    """
    client_names = {tool.name for tool in options.client_tools}
    waits: dict[str, str] = {}
    for entry in seen:
        for call in entry.message.tool_calls:
            if call.name in client_names or call.name not in tools:
                waits[signature(call)] = call.call_id
        if (answered := entry.message.call_id) in waits.values():
            waits = {what: one for what, one in waits.items() if one != answered}
    return waits


def signature(call: ToolCall) -> str:
    """The tool's name and arguments as a string, equal for equal calls."""
    return f"{call.name}{json.dumps(call.arguments, sort_keys=True)}"
