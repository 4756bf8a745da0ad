"""``python -m voice.wyoming``: the agent's ears, voice and mind for Home Assistant, over Wyoming.

Wyoming has no access control: the agent takes whoever reaches the address for this machine's user.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

from voice.config import Config
from voice.config.command_line import add_options, chosen
from voice.errors import ConfigError, VoiceError, to_install

DEFAULT_URI = "tcp://127.0.0.1:10700"
SERVICE = "_wyoming._tcp.local."
"""The service type that Home Assistant looks for on its network."""
_MULTICAST = ("224.0.0.251", 5353)


def address(uri: str) -> tuple[str, int]:
    """Host and port of ``tcp://host:port``.

    Raises:
        ConfigError: The address has another form.
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
        name: The name under which the server announces itself; None announces nothing.

    Raises:
        VoiceError: An option is wrong, the port is taken, a model cannot be loaded, or wyoming is
            not installed.
    """
    listen, dialled = address(uri), [address(one) for one in satellites]
    try:
        from voice.wyoming.server import WyomingServer
    except ImportError as error:
        raise ConfigError(f"wyoming is not installed: {to_install('wyoming')}") from error
    from voice.session.resources import Resources

    resources = await asyncio.to_thread(Resources.load, config)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(resources.close)
        await stack.enter_async_context(resources.toolbox.running())
        port = await stack.enter_async_context(WyomingServer(resources).running(*listen, dialled))
        for line in resources.describe():
            print(line)
        print(f"Serving {resources.agent.name} at tcp://{listen[0]}:{port}", flush=True)
        if name is not None:
            await stack.enter_async_context(announced(name, listen[0], port))
        await asyncio.Event().wait()


@asynccontextmanager
async def announced(name: str, host: str, port: int) -> AsyncGenerator[None]:
    """Announce the server on the network, and withdraw the announcement at the end.

    Args:
        name: The server's name there.
        host: Where it listens; for all interfaces, this machine's own network address is announced.
        port: The port at that address.

    Raises:
        ConfigError: Another server there has the name, it cannot be announced, or there is no
            network.
    """
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    try:
        told = _own_address() if host in ("0.0.0.0", "::") else socket.gethostbyname(host)
        full_name = f"{name}.{SERVICE}"
        service = AsyncServiceInfo(SERVICE, full_name, port, parsed_addresses=[told])
        zeroconf = AsyncZeroconf()
    except (Error, OSError) as error:
        raise ConfigError(f"--zeroconf: {name!r} at {host} cannot be announced: {error}") from error
    async with zeroconf:
        try:
            await zeroconf.async_register_service(service)
        except Error as error:
            why = f"got the name {name!r}, which another server in the network has or nobody may"
            raise ConfigError(f"--zeroconf: {why}") from error
        yield


def _own_address() -> str:
    """This machine's address on the network that multicasts go to; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(_MULTICAST)
        address: str = asked.getsockname()[0]
    return address


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.wyoming", description=__doc__)
    add_options(parser, "tts.engine=espeak", agent=True)
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
        config = chosen(given)
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
