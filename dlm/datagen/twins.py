"""Simulated twins of all the agents' tools.

A twin answers a call with the sentence that the real tool would give, from its arguments, as said,
and a random world. Values it cannot read give the same speakable error as the real tool's.
"""

from __future__ import annotations

from dlm.datagen import twins_coffee, twins_home, twins_time
from dlm.datagen.world import Twin

TWINS: dict[str, Twin] = {**twins_time.TWINS, **twins_home.TWINS, **twins_coffee.TWINS}
"""By the tool's own name."""
