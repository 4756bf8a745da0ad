"""The options by which commands choose their configuration."""

from __future__ import annotations

import argparse

from voice.config import Config, load_config


def add_options(parser: argparse.ArgumentParser, example: str, agent: bool = False) -> None:
    """Give a command ``--config`` and ``--set``, and ``--agent`` where that is chosen apart.

    Args:
        example: Of what ``--set`` takes.
    """
    parser.add_argument("--config", help="a TOML file, or the name of one in configs/")
    if agent:
        parser.add_argument("--agent", help="an agent file, or the name of one in configs/agents/")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help=f"as {example}"
    )


def chosen(options: argparse.Namespace) -> Config:
    """The configuration that ``--config``, ``--set`` and ``--agent`` choose.

    Raises:
        ConfigError: As `load_config`.
    """
    typed = {"--agent": ("agent", options.agent)} if options.agent else {}
    return load_config(options.config, options.set, typed)
