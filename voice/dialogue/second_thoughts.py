"""What a message that corrects, repeats or refuses earlier calls leads to, without the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from voice.dialogue.call_checks import CallChecks, Limits
from voice.dialogue.history import History
from voice.dialogue.lead import Lead
from voice.dialogue.reply import Reply
from voice.types import Message, ToolCall, ToolSpec
from voice.understanding.amendments import amended, with_details
from voice.understanding.confirmation import HeldBack, confirmed_ones
from voice.understanding.corrections import corrected, ended, repeated, unwanted
from voice.understanding.details import detailed, shared_out
from voice.understanding.english import as_read

DONE_ALREADY = "That is done already."
UNDO = "undo that"
CANNOT_UNDO = "That is done already, and I cannot take it back, sorry."


@dataclass(frozen=True, slots=True)
class SecondThoughts:
    """Finds what a message changes about calls that were made or asked about; runs none.

    Attributes are those of `CallChecks`, and ``checks``, which tells what part of a message is
    being answered, and with which tools.
    """

    dialogue: History
    tools: Mapping[str, ToolSpec]
    ids: Callable[[str], str]
    limits: Limits
    lead: Lead
    checks: CallChecks

    def calls(self, reply: Reply) -> HeldBack | None:
        """What a message that plainly corrects, repeats or refuses earlier calls leads to.

        A correction of a call that the user was asked about leads to the question about the new
        one. It is found without the model; None leaves the message to the model.
        """
        if reply.requests is None or reply.options.tool_choice != "auto":
            return None
        if amended := self._amended(reply):
            return confirmed_ones((amended,), self.tools, "")
        seen, tools = self.dialogue.view(self.limits.max_history), self.checks.own_tools(reply)
        calls = self._corrected(reply, seen, tools)
        asked = confirmed_ones(calls, self.tools, "").question
        held = HeldBack((), asked, calls) if asked else HeldBack(calls)
        return held if calls else self._undone(reply, seen[:-1])

    def _amended(self, reply: Reply) -> ToolCall | None:
        """The call that was asked about, with values that the answer gives; None if it has none."""
        call = reply.answers.calls[0] if len(reply.answers.calls) == 1 else None
        spec = self.tools.get(call.name) if call else None
        mild = reply.answers.mild(self.tools)
        if call is None or spec is None or not (mild or spec.confirmation):
            return None
        before = *self.dialogue.user_texts(2)[1:], self.dialogue.newest_reply
        change = with_details if mild else amended
        new = change(self.checks.request(reply), call, spec, " ".join(before))
        return new and replace(new, call_id=self.ids("call"))

    def _corrected(
        self, reply: Reply, seen: Sequence[Message], tools: Mapping[str, ToolSpec]
    ) -> tuple[ToolCall, ...]:
        """Calls by which the user's last message corrects or repeats earlier ones, if plain."""
        if reply.requests is None:
            return ()
        calls = corrected(as_read(reply.requests.first.text), seen[:-1], tools)
        if not calls:
            detail = repeated(seen, tools) or detailed(seen, tools)
            calls = (detail,) if detail else shared_out(seen, tools)
            if calls:
                reply.take_apart(replace(reply.requests, left=()))
        if not calls and reply.requests.left:
            first = replace(seen[-1], content=reply.requests.first.text)
            detail = detailed((*seen[:-1], first), tools)
            calls = (detail,) if detail else ()
        return tuple(replace(call, call_id=self.ids("call")) for call in calls)

    def _undone(self, reply: Reply, before: Sequence[Message]) -> HeldBack | None:
        """The calls that take back what was just done and is refused, or what is said instead.

        They are those of the tools' names, or that of the agent's pattern for "undo that". What has
        been ended can only be made again, so that is asked about. None for other messages.
        """
        own = {*reply.options.agent_tools, *reply.options.calls}
        tools = {name: one for name, one in self.tools.items() if name in own}
        # "Cancel it" points at the deed itself, so it is read as it was said.
        several = reply.requests is not None and reply.requests.left
        request = self.checks.request(reply) if several else self.dialogue.newest_said
        calls = unwanted(request, before, tools)
        if not calls and (gone := ended(request, before, tools)):
            made = tuple(replace(call, call_id=self.ids("call")) for call in gone[1:])
            again = f" Shall I {made[0].name.partition('_')[0]} it again?" if made else ""
            return HeldBack((), DONE_ALREADY + again, made)
        options = reply.base or reply.options
        if calls == () and (found := self.lead.wanted(options, UNDO, self.dialogue)):
            calls = (ToolCall("", *found),)
        if not calls:
            return None if calls is None else HeldBack((), CANNOT_UNDO)
        calls = tuple(replace(call, call_id=self.ids("call")) for call in calls)
        return confirmed_ones(calls, self.lead.asking_first(), request)
