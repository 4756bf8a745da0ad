"""A conversation on a terminal: turns, tool calls, and the line being spoken now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

STYLES = {"user": "bold cyan", "agent": "bold green", "tool": "yellow", "error": "bold red"}


def line(role: str, text: str, *, unheard: str = "", style: str = "") -> Text:
    """One line of the conversation.

    Args:
        role: A key of `STYLES`.
        text: The words.
        unheard: Words after them that were cut off before they were heard.
        style: Style of the words, in rich's notation.
    """
    shown = Text.assemble((f"{role:>6}  ", STYLES[role]), (text, style))
    return shown.append(unheard, "dim strike") if unheard else shown


def tool_line(name: str, arguments: Mapping[str, Any], result: str = "") -> Text:
    """A tool call, with its result once that is known."""
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    shown = line("tool", f"{name}({given})", style="dim")
    return shown.append(f" → {result}", "dim") if result else shown


class Terminal:
    """Finished lines, and below them one that changes during speech; a context manager.

    Without a terminal only finished lines are written.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live = Live(console=console, transient=True, auto_refresh=False)

    def __enter__(self) -> Terminal:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing; the finished lines stay."""
        self._live.stop()

    def keep(self, text: Text | str) -> None:
        """Write a finished line in place of the changing one."""
        self._live.update(Text(""))
        self.console.print(text, soft_wrap=True)

    def change(self, text: Text) -> None:
        """Replace the changing line."""
        self._live.update(text, refresh=True)
