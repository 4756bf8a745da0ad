"""Serve a checkpoint over HTTP: ``python -m dlm.serve [CHECKPOINT] [--host --port --name …]``.

A checkpoint is a directory in the Hugging Face layout, or the name of a repository on the hub.

The API is OpenAI's, with Mercury's additions. A key is read from the environment variable
``QUICKSILVER_API_KEY``; several keys, separated by commas, from ``QUICKSILVER_API_KEYS``.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlm import SHIPPED
from dlm.command_line import number

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from dlm.engine.engine import Engine

DRAIN_S = 30
DTYPES = ("float32", "bfloat16", "float16", "int8")
KERNELS = ("auto", "eager", "fused")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(prog="python -m dlm.serve", description="Serve a checkpoint.")
    out.add_argument("checkpoint", nargs="?", default=str(SHIPPED), help="directory or hub name")
    out.add_argument("--host", default="127.0.0.1", help="address to listen on; else 127.0.0.1")
    out.add_argument(
        "--port", type=number(int, 0, 65535), default=8000, help="TCP port, else 8000; 0 takes any"
    )
    out.add_argument(
        "--name",
        action="append",
        default=[],
        help="a name that clients may call the model by, beside its directory's; may be repeated",
    )
    out.add_argument(
        "--allowed-host", action="append", default=[], help="a further name of this server"
    )
    out.add_argument("--device", help="such as cpu or cuda:0; by default a GPU if there is one")
    out.add_argument("--dtype", help="such as float32; by default what is fast on the device")
    out.add_argument(
        "--threads",
        type=number(int, 0),
        default=0,
        help="of torch on the CPU; 0 takes what is fast",
    )
    out.add_argument(
        "--kernels",
        choices=KERNELS,
        default="auto",
        help="whether the project's kernels run the model: auto where the device is CUDA",
    )
    out.add_argument("--max-live", type=number(int), default=64, help="answers generated at a time")
    out.add_argument("--max-tokens", type=number(int), default=16_384, help="longest answer")
    out.add_argument(
        "--max-body", type=number(int), default=8 * 1024 * 1024, help="longest body in bytes"
    )
    return out


def load(given: argparse.Namespace) -> Engine:
    """The engine for a command line."""
    if given.dtype is not None and given.dtype not in DTYPES:
        raise ValueError(f"--dtype: got {given.dtype!r}, expected one of {', '.join(DTYPES)}")
    # After the options, as torch takes seconds to import; so it is with the imports below.
    import torch

    from dlm.engine.engine import Engine

    dtype = None if given.dtype is None else getattr(torch, given.dtype)
    engine = Engine.load(given.checkpoint, dtype, given.device, given.threads, given.kernels)
    engine.max_requests = given.max_live
    return engine


def name_of(checkpoint: str) -> str:
    """A checkpoint's name: that of its directory, or its name on the hub."""
    return Path(checkpoint).resolve().name if Path(checkpoint).is_dir() else checkpoint


def application(given: argparse.Namespace, engine: Engine) -> Starlette:
    """The application for a command line."""
    from dlm.server.access import KeyGate, keys_of
    from dlm.server.api import Limits, build_app
    from dlm.server.description import ModelCard

    gate = KeyGate(keys_of(os.environ), given.host, given.allowed_host)
    context = engine.model.config.max_position_embeddings
    names = tuple(dict.fromkeys((name_of(given.checkpoint), *given.name)))
    card = ModelCard(names, context, given.max_tokens, reasons=engine.model.config.reasons)
    limits = Limits(body_bytes=given.max_body, answer_tokens=given.max_tokens)
    return build_app(engine, card, gate, limits)


def serve(given: argparse.Namespace) -> None:
    """Load and serve until SIGINT or SIGTERM; running answers have `DRAIN_S` seconds to finish.

    Raises:
        OSError: A file is missing, or the port is taken.
        ValueError: The checkpoint or an option is wrong, or other machines would get in without a
            key.
    """
    import uvicorn

    from dlm.server.access import KeyGate, keys_of

    # Checked before the model is loaded, because loading takes long.
    KeyGate(keys_of(os.environ), given.host, given.allowed_host)
    engine = load(given)
    try:
        config = uvicorn.Config(
            application(given, engine),
            host=given.host,
            port=given.port,
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_level="warning",
            timeout_graceful_shutdown=DRAIN_S,
        )
        with config.bind_socket() as listener:
            # Before the address is printed, so that clients wait instead of being refused.
            listener.listen()
            host, port = listener.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"Serving {name_of(given.checkpoint)} at http://{shown}:{port}/v1", flush=True)
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        engine.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # uvicorn raises the signal again once it has shut down; that is the normal end.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        serve(parser().parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
