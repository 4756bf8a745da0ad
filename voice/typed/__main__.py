"""Converse with an agent by keyboard: ``python -m voice.typed [--agent FILE]``.

A line is a message, also from a file or a pipe; the calls that it brings stand before the reply.
Nothing is heard or spoken, and nothing is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence

from voice.config.command_line import add_options, chosen
from voice.demo.server import EMBEDDED
from voice.errors import VoiceError
from voice.session.resources import Resources
from voice.session.typed import TypedTurn, typing
from voice.tools.scope import MachineClock

PROMPT = "> "


def told(turn: TypedTurn) -> str:
    """What became of a message: a line for each call, those that a "yes" would make, the reply."""
    calls = [("called", call) for call in turn.calls] + [("asks for", c) for c in turn.proposed]
    lines = [
        f"  [{what} {call.name} {json.dumps(call.arguments, ensure_ascii=False)}]"
        for what, call in calls
    ]
    return "\n".join([*lines, *([turn.reply] if turn.reply else [])])


async def converse(resources: Resources) -> None:
    """Answer lines of standard input until they or the conversation end."""
    if resources.agent.greeting:
        print(resources.agent.greeting)
    async with typing(resources, MachineClock()) as conversation:
        while not conversation.ended:
            print(PROMPT, end="", flush=True)
            line = await asyncio.to_thread(sys.stdin.readline)
            if not sys.stdin.isatty():
                print(line.rstrip("\n"))
            if not line:
                return
            if line.strip():
                print(told(await conversation.say(line.strip())))


async def run(arguments: Sequence[str] | None = None) -> None:
    """Load an agent and converse with it.

    Raises:
        VoiceError: The configuration is wrong, or a model cannot be loaded.
    """
    parser = argparse.ArgumentParser(
        prog="python -m voice.typed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, 'tools.modules=["shop"]', agent=True)
    options = parser.parse_args(arguments)
    options.set = [*EMBEDDED, *options.set]
    print("Loading …", file=sys.stderr, flush=True)
    resources = Resources.load(chosen(options))
    try:
        await converse(resources)
    finally:
        await resources.close()


def main() -> int:
    """Run the command line; returns the exit status."""
    # A thread that waits for a line cannot be cancelled; nothing is kept, so nothing can be lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(run())
    except VoiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
