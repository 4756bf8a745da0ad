"""Makes the result of a tool call: its content, or a failure that can be spoken.

A failure begins with "Error: ".
"""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

from pydantic_core import to_json

from voice.tools.registry import Choose, Noted, Tool
from voice.types import ToolCall, ToolResult

logger = logging.getLogger(__name__)


def content(tool: Tool, value: object) -> Noted:
    """A tool's return value as text: a string as it is, None as "", anything else as JSON."""
    if isinstance(value, Noted):
        has = tool.spec.properties
        if wrong := sorted(value.values.keys() - has):
            text = "tool %s: Noted has %s, which no flow learns; expected arguments of it, %s"
            logger.error(text, tool.spec.name, wrong, [*has])
        return value
    if value is None or isinstance(value, str):
        return Noted(value or "", {})
    return Noted(to_json(value, serialize_unknown=True).decode(), {})


def _spoken_name(call: ToolCall) -> str:
    return call.name.replace("_", " ")


def failed(call: ToolCall, reason: str) -> ToolResult:
    """A failure; the reason is spoken."""
    return ToolResult(call.call_id, call.name, f"Error: {reason}", error=True)


def refused(call: ToolCall, failure: Exception, reason: str) -> ToolResult:
    """A failure of the request, with the values that are possible instead."""
    options = failure.options if isinstance(failure, Choose) else {}
    return replace(failed(call, reason), options=options)


def broken(call: ToolCall, failure: BaseException) -> ToolResult:
    """A failure of the tool itself, which is logged."""
    # Log neither the arguments nor the error's message: they may hold the user's words.
    where = traceback.extract_tb(failure.__traceback__)[-1]
    kind = type(failure).__name__
    logger.error("tool %s: %s at %s:%s", call.name, kind, where.filename, where.lineno)
    return failed(call, f"The {_spoken_name(call)} tool failed.")


def stopped(call: ToolCall) -> ToolResult:
    """The result of a call that was stopped."""
    return failed(call, f"The {_spoken_name(call)} tool was stopped.")


def too_long(call: ToolCall) -> ToolResult:
    """The result of a call that took longer than the time limit."""
    return failed(call, f"The {_spoken_name(call)} tool took too long.")


def under_way(call: ToolCall) -> ToolResult:
    """The provisional result of a call that goes on behind the time limit."""
    told = f"The {_spoken_name(call)} tool is still at work. I will tell you when it is done."
    return ToolResult(call.call_id, call.name, told, unfinished=True)
