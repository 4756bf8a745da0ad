"""Single requests, each behind the one tool that serves it, where the user's words are learned too.

From them the model learns how likely words are under a tool's declaration, by which
`dlm.decoding.tool_likelihood` chooses between tools. A reading has no system message and nothing
before the request. Its words weigh less than an answer's (`TrainConfig.reading_weight`): they are
hard to foretell, and learned in full they were half of the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from dlm.datagen import catalog, moves, strangers
from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.interruptions import interrupted
from dlm.datagen.rename import rename
from dlm.datagen.scene import Scene
from dlm.datagen.script import Script

_STRANGE = 0.75
"""Share of the readings whose tool is no agent's and no invention."""
_RENAMED = 0.6
"""Share of the others whose tool goes by another name."""


def taught(source: Source, share: float, seed: int) -> Iterator[dict[str, Any]]:
    """Our own dialogues with interruptions in some and readings among them, without end.

    Args:
        source: Where words come from.
        share: Of readings, at least 0 and below 1.
        seed: The same rows for the same seed.
    """
    rng = Random(f"{seed}/readings")
    chance = Random(f"{seed}/interruptions")
    for row in stream(Random(f"{seed}/{source.split}"), source, SHARES):
        while rng.random() < share:
            made = reading(source, rng)
            if made is not None:
                yield made
        yield interrupted(row, chance)


def reading(source: Source, rng: Random) -> dict[str, Any] | None:
    """A row of the training data, ``reading`` true; None where a draw does not fit.

    Args:
        source: Where words come from.
        rng: Source of chance.
    """
    if rng.random() < _STRANGE:
        purposes = source.corpora.purposes if source.corpora else {}
        found = strangers.single(Scene(rng, source.values, source.split, purposes))
        return None if found is None else row_of(*found)
    script = Script(rng, source.values, source.split, source.corpora)
    tool = rng.choice(list(catalog.SAY))
    try:
        moves.request(script, tool)
    except NothingHeldOutError:
        if source.split == "train":
            raise
        return None
    row = row_of(catalog.SPECS[tool], script.messages[:2])
    if rng.random() < _RENAMED:
        row |= rename(row, rng, source.split)
    return row


def row_of(spec: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The row of a tool, and of a request with the answer that calls it."""
    return {"system": "", "tools": [spec], "messages": messages, "reading": True}
