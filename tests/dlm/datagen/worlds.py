"""A world whose moment is known and in which no service ever fails."""

from __future__ import annotations

from datetime import datetime
from random import Random

from dlm.datagen.own_tools.simulated_tools import SIMULATED
from dlm.datagen.tools.world import World

NOW = datetime(2026, 11, 21, 15, 42)


class Calm(Random):
    """Chance without accidents: every draw of a share is near its top."""

    def random(self) -> float:
        """Always 0.999."""
        return 0.999


def world() -> World:
    """A fresh calm world on a Saturday afternoon."""
    return World(Calm(1), SIMULATED, NOW)


def told(tool: str, **arguments: str) -> str:
    """What a tool answers in a fresh calm world."""
    return world().call(tool, arguments).text
