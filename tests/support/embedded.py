"""The parts as they ship, with nothing to download: real models, real voices, nothing kept."""

from __future__ import annotations

from voice.config import Config, load_config
from voice.demo.server import EMBEDDED


def embedded_config(*overrides: str) -> Config:
    """The default configuration with the embedded parts and further overrides."""
    return load_config(None, [*EMBEDDED, *overrides])
