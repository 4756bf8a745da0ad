"""Dialogues about tools that no agent ships: composed ones, and intents of the corpora.

What is to be learned here is reading: which of the tools offered is meant, and which words belong
to which of its parameters.
"""

from __future__ import annotations

from typing import Any

from dlm.datagen.composed_tools import Stranger
from dlm.datagen.scene import Scene
from dlm.datagen.schemas import Spec

_TURNS = {"train": (1, 2, 3, 4, 6, 8), "heldout": (1,)}


Written = tuple[list[Spec], list[dict[str, Any]]]
"""A dialogue's tools and messages."""


def write(scene: Scene, unasked: float = 0.0) -> Written | None:
    """A dialogue; None where a draw does not fit.

    Args:
        scene: A new one.
        unasked: Share of turns that name a deed without asking for it.
    """
    scene.offer()
    for _ in range(scene.rng.choice(_TURNS[scene.split])):
        _turn(scene, unasked)
    return _written(scene) if scene.messages else None


def single(scene: Scene) -> tuple[Spec, list[dict[str, Any]]] | None:
    """One tool, a request that it serves, and its call; None where a draw does not fit."""
    scene.add()
    if not scene.request(scene.tools[0]):
        return None
    return scene.tools[0].spec, scene.messages[:2]


def named(scene: Scene) -> Written | None:
    """A dialogue of one turn that names what a tool does; None where a draw does not fit."""
    scene.offer()
    return _written(scene) if scene.named(scene.rng.choice(scene.tools)) else None


def _written(scene: Scene) -> Written:
    return [t.spec for t in scene.tools], scene.messages


def _turn(scene: Scene, unasked: float) -> None:
    rng = scene.rng
    tool, other = rng.choice(scene.tools), rng.choice(scene.tools)
    if unasked and rng.random() < unasked and scene.named(tool):
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
