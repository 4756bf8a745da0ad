"""Calls that the client approves before they run here."""

from __future__ import annotations

import pytest

from tests.support.script import CLIENT_TOOL, Script
from voice.dialogue.commands import Generate, RunTool
from voice.errors import ProtocolError
from voice.events import ReplyEnded, ReplyToolCall
from voice.types import Role, ToolCall

ASKED = ToolCall("c1", CLIENT_TOOL.name, {})
AGAIN = ToolCall("c2", CLIENT_TOOL.name, {})


def asked() -> Script:
    """The model has called what is to be approved, and the reply is over."""
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open the door")
    script.model("", ASKED)
    assert script.of(RunTool) == []
    assert len(script.events(ReplyEnded)) == 1
    return script


def test_an_approved_call_runs_in_a_new_reply_and_no_other() -> None:
    script = asked()
    options = script.conversation.options
    _, commands = script.conversation.carry_out(AGAIN, options)
    script.took(commands)
    assert [run.call for run in script.of(RunTool)] == [AGAIN]
    assert [call.client_side for call in script.events(ReplyToolCall)] == [True, False]
    with pytest.raises(ProtocolError, match="in progress"):
        script.conversation.carry_out(AGAIN, options)
    script.tool(AGAIN, "The door is open.")
    seen = script.last(Generate).prompt.messages
    assert [message.call_id for message in seen if message.role is Role.TOOL] == ["c2"]
    # The approval was for one call: another of the same reply is asked about.
    script.model("", ToolCall("c3", CLIENT_TOOL.name, {}))
    assert len(script.of(RunTool)) == 1
    assert script.events(ReplyToolCall)[-1].client_side


def test_a_declined_call_is_answered_and_does_not_run() -> None:
    script = asked()
    _, commands = script.conversation.decline(ASKED, "no", script.conversation.options)
    script.took(commands)
    assert script.of(RunTool) == []
    newest = script.last(Generate).prompt.messages[-1]
    assert (newest.role, newest.content) == (Role.TOOL, "Error: This was not approved.")
