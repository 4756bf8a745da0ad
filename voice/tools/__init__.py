"""The tools that the model may call, each a typed function, and the `Toolbox` that runs them."""

from voice.tools.registry import (
    Asked,
    Choose,
    Keeps,
    Known,
    Noted,
    Readable,
    ToolError,
    Unreadable,
    tool,
)
from voice.tools.ringer import Ringer
from voice.tools.scope import Progress, SessionScope, local_now
from voice.tools.toolbox import Toolbox

__all__ = [
    "Asked",
    "Choose",
    "Keeps",
    "Known",
    "Noted",
    "Progress",
    "Readable",
    "Ringer",
    "SessionScope",
    "ToolError",
    "Toolbox",
    "Unreadable",
    "local_now",
    "tool",
]
