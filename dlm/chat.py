"""Talk to a checkpoint and watch it denoise: ``python -m dlm.chat [CHECKPOINT] [--effort LEVEL]``.

Undecided positions are shown as ``░`` and are filled in while the model works. Reasoning is shown
above the answer, dimmed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING

from dlm import SHIPPED
from dlm.command_line import number
from dlm.effort import Effort
from dlm.language.answer_text import MASKED
from dlm.language.messages import Turn

if TYPE_CHECKING:
    from dlm.engine.engine import Engine
    from dlm.engine.request import Finished

HELP = "/effort instant|low|medium|high   /system TEXT   /new   /quit"


class Chat:
    """A dialogue without tools.

    Attributes:
        effort: The effort of the next answers.
        turns: The dialogue so far.
        thought: The reasoning before the last answer, if there was any.
    """

    def __init__(self, engine: Engine, effort: Effort, max_tokens: int) -> None:
        self.effort = effort
        self.turns: list[Turn] = []
        self.thought = ""
        self._engine = engine
        self._max_tokens = max_tokens

    def command(self, line: str) -> str:
        """Execute a line that begins with a slash, and return a message for the user.

        Raises:
            ValueError: There is no such command, or no such effort.
            EOFError: The dialogue is over.
        """
        name, _, rest = line[1:].partition(" ")
        match name:
            case "quit":
                raise EOFError
            case "help":
                return HELP
            case "new":
                self.turns.clear()
                return "A new dialogue."
            case "system":
                self.turns[:] = [Turn("system", rest)] if rest else []
                return "A new dialogue, with these instructions."
            case "effort":
                self.effort = Effort(rest.strip())
                return f"Effort {self.effort}."
        raise ValueError(f"/{name}: got no command; expected {HELP}")

    def say(self, text: str, show: Callable[[str], None]) -> Finished:
        """Answer a message; ``show`` is called with each state of the answer.

        Raises:
            ValueError: The dialogue has become too long; the message is not added to it.
            RuntimeError: The engine failed.
        """
        from dlm.engine.request import Finished, Reasoned, Request, Snapshot, TextDelta

        turns = (*self.turns, Turn("user", text))
        request = Request(turns, effort=self.effort, max_tokens=self._max_tokens)
        answer = self.thought = ""
        with closing(self._engine.events(request)) as events:
            for event in events:
                match event:
                    case Reasoned(thought):
                        self.thought = thought
                        show(answer)
                    case Snapshot(shown):
                        show(shown)
                    case TextDelta(piece):
                        answer += piece
                        show(answer)
        assert isinstance(event, Finished)
        self.turns[:] = [*turns, Turn("assistant", event.answer.content)]
        return event


def runs(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a shown answer, and whether each is undecided."""
    for undecided, letters in groupby(text, lambda letter: letter == MASKED):
        yield "".join(letters), undecided


def talk(chat: Chat, lines: Iterator[str]) -> None:
    """Answer lines until they end."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console()

    def drawn(text: str) -> Text:
        out = Text(f"{chat.thought}\n" if chat.thought else "", style="dim italic")
        for piece, undecided in runs(text):
            out.append(piece, style="bright_black" if undecided else "bold not dim not italic")
        return out

    for line in lines:
        try:
            if line.startswith("/"):
                console.print(chat.command(line), style="dim", markup=False)
            elif line.strip():
                started = time.perf_counter()
                with Live(console=console, auto_refresh=False) as live:

                    def show(text: str, live: Live = live) -> None:
                        live.update(drawn(text), refresh=True)

                    finished = chat.say(line, show)
                    show(finished.answer.content)
                console.print(cost(finished, time.perf_counter() - started), style="dim")
        except EOFError:
            return
        except (ValueError, RuntimeError) as error:
            console.print(str(error), style="red", markup=False)


def cost(finished: Finished, seconds: float) -> str:
    """The tokens, forwards and time of an answer, as text."""
    usage = finished.usage
    thought = f", {usage.reasoning_tokens} of them thought" if usage.reasoning_tokens else ""
    cut = ", cut for its length" if finished.reason == "length" else ""
    rate = usage.answer_tokens / max(usage.forwards, 1)
    return (
        f"{usage.answer_tokens} tokens{thought} in {usage.forwards} forwards ({rate:.1f} each), "
        f"{1000 * seconds:.0f} ms{cut}"
    )


def typed() -> Iterator[str]:
    """Lines from the keyboard, until it is closed."""
    while True:
        try:
            yield input("> ")
        except EOFError:
            return


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dlm.chat", description="Talk to a checkpoint.")
    parser.add_argument("checkpoint", nargs="?", default=str(SHIPPED), help="directory or hub name")
    parser.add_argument("--effort", type=Effort, choices=list(Effort), default=Effort.INSTANT)
    parser.add_argument("--max-tokens", type=number(int), default=256, help="longest answer")
    parser.add_argument("--device", help="such as cpu or cuda:0")
    given = parser.parse_args(arguments)
    # After the options, as torch takes seconds to import.
    from dlm.engine.engine import Engine

    try:
        engine = Engine.load(given.checkpoint, device=given.device)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    try:
        print(HELP)
        talk(Chat(engine, given.effort, given.max_tokens), typed())
    except KeyboardInterrupt:
        return 0
    finally:
        engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
