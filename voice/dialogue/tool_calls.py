"""The tools that a reply calls: each call once, its result beside it in the dialogue.

Part of `voice.dialogue.reply_loop`: no I/O, no clock. A call's key says which request of the user's
it serves, so that it is carried out once however often it is made: by a reply that was tried again,
by the one behind a reply that was interrupted before a word of it was heard, by a model that
repeats itself. What identifies a request are the user's words and the tool: asked for again in the
same words, a call is the same though the model adds or leaves out an optional argument.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from voice.dialogue.commands import CancelTool, Command, Emit, RunTool
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.events import ReplyStatus, ReplyToolCall
from voice.types import Message, Role, ToolCall, ToolResult, ToolSpec
from voice.understanding.english import agrees, normalised

SAID_MESSAGES = 3
"""Of the user's, which a tool may look at."""
STILL_WAITS = "the call that was required has been made before and waits for its output"


@dataclass(frozen=True, slots=True)
class _Running:
    """A call that was made; ``words`` are the user's newest ones by then."""

    call: ToolCall
    words: str
    key: str
    reply_id: str
    item_id: str
    stoppable: bool

    def repeated_by(self, call: ToolCall, words: str) -> bool:
        """Whether a call of another reply's asks for the same once more."""
        ours, theirs = self.call.arguments, call.arguments
        if self.call.name != call.name or words != self.words:
            return signature(call) == signature(self.call)
        return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


class ToolCalls:
    """Calls that run here, over all replies; the dialogue has them and their results."""

    def __init__(
        self, dialogue: History, tools: Mapping[str, ToolSpec], ids: Callable[[str], str]
    ) -> None:
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._running: dict[str, _Running] = {}
        # Calls that were answered for because they took too long, and their results' entries.
        self._unfinished: dict[str, tuple[_Running, str]] = {}
        self._called_off: set[str] = set()
        # Of the newest request: its own keys → those of the runs that its calls have joined, and
        # the calls that were made for it.
        self._origin = ""
        self._joined: dict[str, str] = {}
        self._made: deque[_Running] = deque(maxlen=64)

    @property
    def unfinished(self) -> bool:
        """Whether a tool still runs whose call was answered for, because it took too long."""
        return bool(self._unfinished)

    def origin(self) -> str | None:
        """The first of the user's messages since the user last heard the agent; None if none."""
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
        """Write the calls of one answer down, emit them, and run those that run here."""
        texts = self._dialogue.user_texts(2 * SAID_MESSAGES)
        # "Yes" to a question about a call says nothing of what the call is to do.
        said = tuple(text for text in texts if not agrees(text))[:SAID_MESSAGES]
        words = normalised(" ".join(texts[:1]))
        made: Counter[str] = Counter()
        taken: set[str] = set()
        emitted: list[Command] = []
        runs: list[Command] = []
        waiting = self._waiting(reply.origin)
        for call in calls:
            client_side = call.name in client_names
            if client_side and signature(call) in waiting:
                continue
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
        silent = not (emitted or reply.text or reply.calls_made > len(calls))
        if silent and reply.options.tool_choice not in ("auto", "none"):
            # A client that insists on a call would not know why it got none.
            reply.end_as(ReplyStatus.FAILED, STILL_WAITS)
        return emitted + runs

    def answered(self, result: ToolResult) -> ToolCall | None:
        """Write a result beside its call, whatever became of the reply; returns the call.

        None where it has been answered already.
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

    def late(self, call_id: str) -> ToolCall | None:
        """A call that was answered for because it took too long; None where it is none."""
        found = self._unfinished.get(call_id)
        return found[0].call if found else None

    def finished(self, result: ToolResult) -> bool:
        """Put what was done in the place of what was said for want of it; whether that is news.

        It is none where a call repeats another, where a reply waits for it, and where the user has
        called it off.
        """
        if result.call_id not in self._unfinished:
            return False
        key = self._unfinished[result.call_id][0].key
        self._settle(key, result.content)
        news = key not in self._called_off and key not in {r.key for r in self._running.values()}
        self._called_off.discard(key)
        return news

    def _waiting(self, origin: str) -> set[str]:
        """Signatures of the calls that were made for a request and have no answer yet.

        The model does not see them, so it makes them again; a client must not get them twice.
        """
        made: dict[str, str] = {}
        answered = set()
        for entry in reversed(list(self._dialogue)):
            message = entry.message
            if entry.item_id == origin or (message.role is Role.AGENT and message.content.strip()):
                break
            answered.add(message.call_id)
            made |= {call.call_id: signature(call) for call in message.tool_calls}
        settled = {told for call_id, told in made.items() if call_id in answered}
        return {*made.values()} - settled

    def _settle(self, key: str, content: str) -> None:
        """What a run brought goes to all calls that were answered for without it."""
        same = [call_id for call_id, (run, _) in self._unfinished.items() if run.key == key]
        known = {entry.item_id for entry in self._dialogue}
        for call_id in same:
            _, item_id = self._unfinished.pop(call_id)
            if item_id in known:
                self._dialogue.say(item_id, content)

    def stop(self) -> list[Command] | None:
        """Stop what can be stopped; None when no tool runs, and nothing when none lets itself."""
        late = [run for run, _ in self._unfinished.values() if run.stoppable]
        if not self._running and not late:
            return None
        self._called_off.update(run.key for run in late)
        stoppable = [run for run in self._running.values() if run.stoppable]
        return [CancelTool(key) for key in dict.fromkeys(run.key for run in stoppable + late)]

    def _key(self, own: str, reply: Reply, repeated: Iterable[str]) -> str:
        """The key of the run that a call joins, or its own; the same however often it is made."""
        if reply.origin != self._origin:
            self._origin, self._joined = reply.origin, {}
            self._made.clear()
        if own not in self._joined:
            self._joined[own] = next(iter(repeated), own)
        return self._joined[own]

    def _repeated(self, call: ToolCall, words: str, reply: Reply) -> list[str]:
        """Keys of calls that other replies have made of the same, those exactly like it first.

        The model does not see calls without an answer, so it makes them again; and so does a user
        who was told that it takes too long.
        """
        runs = [*self._running.values(), *(run for run, _ in self._unfinished.values())]
        runs += self._made if reply.origin == self._origin else []
        same = [r for r in runs if r.reply_id != reply.reply_id and r.repeated_by(call, words)]
        same.sort(key=lambda run: signature(run.call) != signature(call))
        return list(dict.fromkeys(run.key for run in same))


def signature(call: ToolCall) -> str:
    """What is called, and with what: the same for calls that are alike."""
    return f"{call.name}{json.dumps(call.arguments, sort_keys=True)}"
