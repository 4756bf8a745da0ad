"""Start the server: ``python -m voice.serve [--config X] [--agent Y] [--set k=v] [--host --port]``.

Loads the models, says which are used and why, prints the page's address, and serves until it is
interrupted.
"""

from __future__ import annotations

import argparse
import gc
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from voice.access.keys import check_exposure
from voice.config import Config, load_config, secret
from voice.config.server import ServerConfig
from voice.config.telephony import TelephonyConfig
from voice.errors import ConfigError, VoiceError
from voice.server.seldom import Seldom

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

_SHUTDOWN_S = 3
_OTHER_FILES = 128
"""Open files besides connections: models, the database, documents, and requests by tools."""
_BACKLOG = 128
"""Most connections that wait to be accepted; all may be accepted at once before some are closed."""


def parse_arguments(
    arguments: Sequence[str] | None = None,
    program: str = "voice.serve",
    description: str = "Serve the agent.",
) -> Config:
    """The configuration that a command line asks for; the others are for its help.

    Raises:
        ConfigError: As `voice.config.load_config`.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--config", help="TOML file, or the name of one in configs/")
    parser.add_argument("--agent", help="agent file, or the name of one in configs/agents/")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="override an option; may be repeated",
    )
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="TCP port; 0 takes a free one")
    given = parser.parse_args(arguments)
    named = {
        "--agent": ("agent", given.agent),
        "--host": ("server.host", given.host),
        "--port": ("server.port", given.port),
    }
    typed = {name: option for name, option in named.items() if option[1] is not None}
    return load_config(given.config, given.set, typed)


def listen(config: ServerConfig) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigError: The address cannot be used, or the port is taken.
    """
    return _listener("server.", config.host, config.port)


def listen_for_audiosocket(config: TelephonyConfig) -> socket.socket | None:
    """As `listen`, for AudioSocket's calls; None when the option is off."""
    if not config.audiosocket_port:
        return None
    option = "telephony.audiosocket_"
    return _listener(option, config.audiosocket_host, config.audiosocket_port)


def _listener(option: str, host: str, port: int) -> socket.socket:
    """A listening socket; ``option`` is the prefix of its host and port options' names."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, ValueError) as error:
        # Names that DNS cannot carry raise UnicodeError, a ValueError.
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{option}host: cannot use {host!r}: {why}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"{option}port: cannot listen on {host}:{port}: {error.strerror}"
        ) from error
    return listener


def make_room_for(max_connections: int) -> None:
    """Raise the limit on open files to what all connections and the process itself need.

    A server that cannot accept a connection for want of files logs an error for each attempt, which
    takes time from its conversations.

    Raises:
        ConfigError: The system does not allow that many.
    """
    if sys.platform == "win32":  # has no such limit on sockets
        return
    import resource

    needed = max_connections + 2 * _BACKLOG + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ConfigError(
            f"server.max_connections: got {max_connections}; with {hard} open files (ulimit -Hn) "
            f"expected at most {max(0, hard - 2 * _BACKLOG - _OTHER_FILES)}"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def url_of(listener: socket.socket) -> str:
    """The page's URL for a browser on this machine."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def uvicorn_config(app: ASGIApp, config: ServerConfig) -> uvicorn.Config:
    """The server's configuration for uvicorn.

    Compression is off: audio does not shrink, and a small message must not unpack into a large one.
    So is the access log, which would repeat what clients send. Forwarded addresses are taken only
    from `ServerConfig.trusted_proxies`.
    """
    import uvicorn

    from voice.server.uvicorn_limits import forwarded_clients, limited_protocols

    http, websocket = limited_protocols(config)
    return uvicorn.Config(
        forwarded_clients(app, config),
        http=http,
        ws=websocket,
        ws_max_size=config.max_message_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=config.ping_s,
        ws_ping_timeout=config.ping_s,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=_uvicorns_log(),
        log_level="warning",
        timeout_graceful_shutdown=_SHUTDOWN_S,
        backlog=_BACKLOG,
    )


def _uvicorns_log() -> dict[str, Any]:
    from uvicorn.config import LOGGING_CONFIG

    written = deepcopy(LOGGING_CONFIG)
    written["filters"] = {"seldom": {"()": Seldom}}
    written["handlers"]["default"]["filters"] = ["seldom"]
    return written


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep objects made in this context out of garbage collection, now and later.

    It is for objects that live as long as the process.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _patience(what: str) -> Iterator[None]:
    """In a terminal, print what is being done, and every second how long it has taken."""
    done = threading.Event()

    def count() -> None:
        seconds = 0
        while not done.wait(1.0):
            seconds += 1
            print(f"\r{what}, {seconds} s", end="", flush=True)
        print(flush=True)

    counting = threading.Thread(target=count, name="patience", daemon=True)
    if sys.stdout.isatty():
        print(what, end="", flush=True)
        counting.start()
    try:
        yield
    finally:
        done.set()
        if counting.ident is not None:
            counting.join()


def serve(config: Config) -> None:
    """Load the models and serve until SIGINT or SIGTERM.

    Raises:
        VoiceError: The configuration is wrong, the port is taken, or a model cannot be loaded.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(listen(config.server))
        check_exposure(config.server, secret(config.server.api_key_env))
        make_room_for(config.server.max_connections)
        audiosocket = listen_for_audiosocket(config.telephony)
        if audiosocket is not None:
            stack.enter_context(audiosocket)
        with _uncollected(), _patience("Loading the models"):
            # These imports take a second, during which the terminal should already show something.
            import uvicorn

            from voice.server.app import build_app
            from voice.session.resources import Resources

            resources = Resources.load(config)
        app = build_app(resources, config, audiosocket)
        for line in [*resources.describe(), *config.telemetry.describe()]:
            print(line)
        print(f"Serving {resources.agent.name} at {url_of(listener)}", flush=True)
        uvicorn.Server(uvicorn_config(app, config.server)).run(sockets=[listener])


def main(
    arguments: Sequence[str] | None = None,
    run: Callable[[Config], None] = serve,
    **described: str,
) -> int:
    """Run the server, or another program with the same arguments; returns its exit status.

    Args:
        described: ``program`` and ``description`` of another program, as `parse_arguments` takes.
    """
    shown = logging.StreamHandler()
    shown.addFilter(Seldom())
    layout = "%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.WARNING, format=layout, handlers=[shown])
    # uvicorn raises the signal again after its shutdown; that is the normal end.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run(parse_arguments(arguments, **described))
    except VoiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
