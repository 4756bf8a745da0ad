"""``python -m voice.wyoming``: the agent's ears, voice and mind for Home Assistant, over Wyoming.

Wyoming has no access control: whoever reaches the address is this machine's user to the agent.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from voice.config import Config, load_config
from voice.errors import ConfigError, VoiceError

DEFAULT_URI = "tcp://127.0.0.1:10700"


def address(uri: str) -> tuple[str, int]:
    """Host and port of ``tcp://host:port``.

    Raises:
        ConfigError: It is something else.
    """
    try:
        split = urlsplit(uri)
        if split.scheme == "tcp" and split.hostname and split.port is not None:
            return split.hostname, split.port
    except ValueError:
        pass
    raise ConfigError(f"got the address {uri!r}; expected tcp://HOST:PORT")


async def serve(config: Config, uri: str, satellites: Sequence[str], name: str | None) -> None:
    """Serve until cancelled.

    Args:
        config: All options.
        uri: Where to listen.
        satellites: Addresses of satellites to connect to.
        name: What the server is called where it announces itself; None announces nothing.

    Raises:
        VoiceError: An option is wrong, the port is taken, a model cannot be loaded, or wyoming is
            not installed.
    """
    listen, dialled = address(uri), [address(one) for one in satellites]
    try:
        from wyoming.zeroconf import HomeAssistantZeroconf

        from voice.wyoming.server import WyomingServer
    except ImportError as error:
        hint = "pip install 'quicksilver-voice[wyoming]'"
        raise ConfigError(f"wyoming is not installed: {hint}") from error
    from voice.session.resources import Resources

    resources = await asyncio.to_thread(Resources.load, config)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(resources.close)
        await stack.enter_async_context(resources.toolbox.sweeping())
        port = await stack.enter_async_context(WyomingServer(resources).running(*listen, dialled))
        for line in resources.describe():
            print(line)
        print(f"Serving {resources.agent.name} at tcp://{listen[0]}:{port}", flush=True)
        if name is not None:
            # Where it listens everywhere, the address of this machine in its network is told.
            told = None if listen[0] in ("0.0.0.0", "::") else listen[0]
            await HomeAssistantZeroconf(port, name, told).register_server()
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.wyoming", description=__doc__)
    parser.add_argument("--config", help="a TOML file, or the name of one in configs/")
    parser.add_argument("--agent", help="an agent file, or the name of one in configs/agents/")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="as tts.engine=espeak"
    )
    parser.add_argument("--uri", default=DEFAULT_URI, help=f"where to listen ({DEFAULT_URI})")
    parser.add_argument(
        "--satellite", action="append", default=[], metavar="URI", help="a satellite to connect to"
    )
    parser.add_argument("--zeroconf", metavar="NAME", help="announce the server on the network")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    status = 0
    try:
        typed = {"--agent": ("agent", given.agent)} if given.agent else {}
        config = load_config(given.config, given.set, typed)
        asyncio.run(serve(config, given.uri, given.satellite, given.zeroconf))
    except* VoiceError as failed:
        for error in failed.exceptions:
            print(f"error: {error}", file=sys.stderr)
        status = 1
    except* KeyboardInterrupt:
        pass
    return status


if __name__ == "__main__":
    sys.exit(main())
