"""Dialogues about tools that no agent ships: composed ones, and intents of the corpora.

What is to be learned here is reading: which of the tools offered is meant, and which words belong
to which of its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from dlm.train.composed_tools import Stranger
from dlm.train.intent_tools import Purpose
from dlm.train.scene import Scene
from dlm.train.schemas import Spec
from dlm.train.values import Values

_TURNS = {"train": (1, 2, 3, 4, 6, 8), "heldout": (1,)}


def write(
    rng: Random,
    values: Values,
    split: str,
    purposes: Mapping[str, Purpose],
    unasked: float = 0.0,
) -> tuple[list[Spec], list[dict[str, Any]]] | None:
    """A dialogue's tools and messages; None where a draw does not fit.

    Args:
        rng: Source of chance.
        values: Slot values.
        split: "train" or "heldout".
        purposes: Intents of the split.
        unasked: Share of turns that name a deed without asking for it.
    """
    scene = Scene(rng, values, split, purposes, unasked)
    scene.offer()
    for _ in range(rng.choice(_TURNS[split])):
        _turn(scene)
    if not scene.messages:
        return None
    return [t.spec for t in scene.tools], scene.messages


def single(
    rng: Random, values: Values, split: str, purposes: Mapping[str, Purpose]
) -> tuple[Spec, list[dict[str, Any]]] | None:
    """One tool, a request that it serves, and its call; None where a draw does not fit.

    Args:
        rng: Source of chance.
        values: Slot values.
        split: "train" or "heldout".
        purposes: Intents of the split.
    """
    scene = Scene(rng, values, split, purposes)
    scene.add()
    if not scene.request(scene.tools[0]):
        return None
    return scene.tools[0].spec, scene.messages[:2]


def named(
    rng: Random, values: Values, split: str, purposes: Mapping[str, Purpose]
) -> tuple[list[Spec], list[dict[str, Any]]] | None:
    """A dialogue of one turn that names what a tool does; None where a draw does not fit.

    Args:
        rng: Source of chance.
        values: Slot values.
        split: "train" or "heldout".
        purposes: Intents of the split.
    """
    scene = Scene(rng, values, split, purposes)
    scene.offer()
    if not scene.named(rng.choice(scene.tools)):
        return None
    return [t.spec for t in scene.tools], scene.messages


def _turn(scene: Scene) -> None:
    rng = scene.rng
    tool, other = rng.choice(scene.tools), rng.choice(scene.tools)
    if scene.unasked and rng.random() < scene.unasked and scene.named(tool):
        return
    roll = rng.random()
    if scene.absent and roll < 0.3:
        scene.decline(scene.absent[0])
        return
    if roll < 0.45 and isinstance(tool, Stranger) and scene.bare(tool):
        return
    if roll > 0.93 and tool is not other and scene.both(tool, other):
        return
    if not scene.request(tool) or not isinstance(tool, Stranger):
        return
    roll = rng.random()
    if roll < 0.13:
        scene.correct(tool)
    elif roll < 0.28 and scene.split == "train":
        scene.refine(tool)
