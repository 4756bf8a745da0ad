"""``python -m voice.mcp``: an MCP server over standard input and output.

Another program starts it, and calls the agent's tools, `say` and `listen`. Only what a call needs
is loaded; standard output belongs to the protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voice.config import Config, load_agent
from voice.config.command_line import add_options, chosen
from voice.errors import ConfigError, VoiceError, to_install
from voice.tools import Toolbox

if TYPE_CHECKING:
    from voice.mcp.sound import Sound


async def serve(config: Config, sound: Sound) -> None:
    """Answer requests until standard input ends.

    Raises:
        VoiceError: The configuration is wrong, or mcp is not installed.
    """
    try:
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        raise ConfigError(f"mcp is not installed: {to_install('mcp')}") from error
    from voice.mcp.server import AgentServer

    toolbox = Toolbox(config.tools, config.turn, memory=config.memory)
    try:
        server = AgentServer(config, load_agent(config.agent), toolbox, sound).server()
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await toolbox.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.mcp", description=__doc__)
    add_options(parser, "tts.engine=espeak", agent=True)
    parser.add_argument("--microphone", type=Path, help="a WAV file in place of the microphone")
    parser.add_argument("--speaker", type=Path, help="a WAV file in place of the loudspeaker")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        if bool(given.microphone) != bool(given.speaker):
            raise ConfigError("expected --microphone and --speaker, or neither")
        config = chosen(given)
        from voice.mcp.sound import DeviceSound, FileSound

        sound: Sound = DeviceSound(config.local)
        if given.microphone:
            sound = FileSound(given.speaker, given.microphone)
        asyncio.run(serve(config, sound))
    except VoiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
