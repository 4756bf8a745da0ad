"""Orders that are mentioned but not given: "don't turn on the light", "how do I set a timer".

An order is put into a frame. With most frames it is no longer a request, and nothing is to be
called; some frames only look like that ("why don't you turn on the light"), so that no single word
decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from dlm.datagen.holdout import unseen
from dlm.datagen.language.phrases import Piece, fill
from dlm.datagen.language.tables import read

FRAME = "(frame)"
"""Slot of a frame's words, which belong to no tool; as they have a slot, noise spares most."""


@dataclass(frozen=True, slots=True)
class Group:
    """Frames that get the same answers.

    Attributes:
        weight: How often the group is drawn, relative to the others.
        frames: Templates; ``DO`` stands for the order, ``DOING`` and ``DID`` for its other forms.
        answers: What the agent says; none if the order is still to be carried out.
        of_user: Whether the frames may speak of the user doing it, so that orders with words like
            "me" and "my" do not fit.
        question: Whether the frames are questions.
    """

    weight: int
    frames: tuple[str, ...]
    answers: tuple[str, ...] = ()
    of_user: bool = False
    question: bool = False

    def of(self, split: str) -> tuple[str, ...]:
        """The frames in a split, "train" or "heldout"."""
        return _of_split(self.frames, split)


@cache
def _of_split(frames: tuple[str, ...], split: str) -> tuple[str, ...]:
    return tuple(frame for frame in frames if unseen(frame) == (split == "heldout"))


@dataclass(frozen=True, slots=True)
class _Table:
    verbs: tuple[str, ...]
    doubled: tuple[str, ...]
    past: dict[str, str]
    group: tuple[Group, ...]


_TABLE = read("mentions", _Table)
GROUPS = _TABLE.group
VERBS = frozenset(_TABLE.verbs)
_PAST, _DOUBLED = _TABLE.past, frozenset(_TABLE.doubled)
_SELF = {"me", "my", "i", "us", "our"}


def is_mentionable(pieces: list[Piece]) -> bool:
    """Whether pieces are an order that can be put into a frame."""
    if not pieces or pieces[0].slot:
        return False
    words = _words(pieces)
    return len(words) > 1 and words[0] in VERBS and "?" not in pieces[-1].text


def mentioned(rng: Random, pieces: list[Piece], split: str) -> tuple[list[Piece], str | None, bool]:
    """An order in a frame.

    Args:
        pieces: An order (`is_mentionable`) with its slots filled.

    Returns:
        What the user says, with the frame in the slot `FRAME`; what the agent answers, None if the
        order is to be carried out; and whether it is a question.
    """
    toward_user = not _SELF.isdisjoint(_words(pieces))
    fitting = [g for g in GROUPS if not (g.of_user and toward_user)]
    group = rng.choices(fitting, [g.weight for g in fitting])[0]
    frames = group.of(split)
    # A frame with many readings comes up more often.
    frame = rng.choices(frames, [1 + frame.count("|") for frame in frames])[0]
    before, form, after = _parted(fill(frame, rng, {}))
    verb, _, rest = pieces[0].text.lstrip().partition(" ")
    inside = [Piece(f"{formed(verb, form)} {rest}"), *pieces[1:]]
    said = [Piece(before, FRAME), Piece(" "), *inside, Piece(" "), Piece(after, FRAME)]
    answer = rng.choice(group.answers) if group.answers else None
    return [p for p in said if p.text], answer, group.question


def _words(pieces: list[Piece]) -> list[str]:
    return "".join(piece.text for piece in pieces).lower().split()


def _parted(frame: str) -> tuple[str, str, str]:
    for form in ("DOING", "DID", "DO"):
        if form in frame.split():
            before, _, after = f" {frame} ".partition(f" {form} ")
            return before.strip(), form, after.strip()
    raise ValueError(f"frame must hold DO, DOING or DID, got {frame!r}")


def formed(verb: str, form: str) -> str:
    """The form of a verb that replaces "DO", "DOING" or "DID"."""
    low = verb.lower()
    if form == "DO":
        return verb
    if form == "DOING":
        if low.endswith("e") and not low.endswith("ee"):
            return f"{low[:-1]}ing"
        return f"{low}{low[-1]}ing" if low in _DOUBLED else f"{low}ing"
    if low in _PAST:
        return _PAST[low]
    if low.endswith("e"):
        return f"{low}d"
    if low.endswith("y") and low[-2] not in "aeiou":
        return f"{low[:-1]}ied"
    return f"{low}{low[-1]}ed" if low in _DOUBLED else f"{low}ed"
