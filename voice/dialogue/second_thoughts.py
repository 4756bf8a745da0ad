"""What a message that corrects or refuses earlier calls leads to, without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from voice.dialogue.call_checks import CallChecks
from voice.dialogue.reply import Reply
from voice.types import Message, ToolCall, ToolSpec
from voice.understanding.amendments import amended, with_details
from voice.understanding.confirmation import HeldBack, Question, confirmed_ones
from voice.understanding.corrections import corrected, ended, restated, unwanted
from voice.understanding.english import as_read
from voice.understanding.low_confidence import asked_about

DONE_ALREADY = "That is done already."
UNDO = "undo that"
CANNOT_UNDO = "That is done already, and I cannot take it back, sorry."


def second_thoughts(checks: CallChecks, reply: Reply) -> HeldBack | None:
    """What a message that plainly corrects or refuses earlier calls leads to.

    A correction of a call that the user was asked about leads to the question about the new
    one. It is found without the model; None leaves the message to the model.
    """
    if reply.requests is None or reply.options.tool_choice != "auto":
        return None
    if new := _amended(checks, reply):
        if _still_doubted(new, reply.answers, checks.tools):
            return HeldBack((), asked_about((new,), checks.tools), (new,))
        return confirmed_ones((new,), checks.tools, "")
    seen, tools = checks.dialogue.view(checks.limits.max_history), checks.own_tools(reply)
    calls = tuple(
        replace(call, call_id=checks.ids("call"))
        for call in corrected(as_read(reply.requests.first.text), seen[:-1], tools)
    )
    asked = confirmed_ones(calls, checks.tools, "").question
    held = HeldBack((), asked, calls) if asked else HeldBack(calls)
    return held if calls else _undone(checks, reply, seen[:-1])


def _amended(checks: CallChecks, reply: Reply) -> ToolCall | None:
    """The call that was asked about, with values that the answer gives; None if it has none."""
    call = reply.answers.calls[0] if len(reply.answers.calls) == 1 else None
    spec = checks.tools.get(call.name) if call else None
    mild = reply.answers.mild(checks.tools)
    if call is None or spec is None or not (mild or spec.confirmation):
        return None
    before = *checks.dialogue.user_texts(2)[1:], checks.dialogue.newest_reply
    change = with_details if mild else amended
    request = checks.request(reply)
    new = change(request, call, spec, " ".join(before)) or restated(request, call, checks.tools)
    return new and replace(new, call_id=checks.ids("call"))


def _still_doubted(new: ToolCall, asked: Question, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether an amended change has values that were asked about and are not confirmed yet."""
    if not asked.mild(tools) or asked.adds(tools):
        return False
    given = asked.calls[0].arguments.items() & new.arguments.items()
    return any(name not in tools[new.name].required for name, _ in given)


def _undone(checks: CallChecks, reply: Reply, before: Sequence[Message]) -> HeldBack | None:
    """The calls that take back what was just done and is refused, or what is said instead.

    They are those of the tools' names, or that of the agent's pattern for "undo that". What has
    been ended can only be made again, so that is asked about. None for other messages.
    """
    own = {*reply.options.agent_tools, *reply.options.calls}
    tools = {name: one for name, one in checks.tools.items() if name in own}
    # "Cancel it" points at the deed itself, so it is read as it was said.
    several = reply.requests is not None and reply.requests.left
    request = checks.request(reply) if several else checks.dialogue.newest_said
    calls = unwanted(request, before, tools)
    if not calls and (gone := ended(request, before, tools)):
        made = tuple(replace(call, call_id=checks.ids("call")) for call in gone[1:])
        again = f" Shall I {made[0].name.partition('_')[0]} it again?" if made else ""
        return HeldBack((), DONE_ALREADY + again, made)
    options = reply.base or reply.options
    if calls == () and (found := checks.lead.wanted(options, UNDO, checks.dialogue)):
        calls = (ToolCall("", *found),)
    if not calls:
        return None if calls is None else HeldBack((), CANNOT_UNDO)
    calls = tuple(replace(call, call_id=checks.ids("call")) for call in calls)
    return confirmed_ones(calls, checks.lead.asking_first(), request)
