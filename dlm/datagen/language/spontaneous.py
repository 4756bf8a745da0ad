"""Spontaneous speech: turns a request into what people say off the cuff.

They begin with an opener or a reason, correct themselves in the middle, name several things with
one verb, ask for two things in a breath, and sometimes take it all back. It works on the pieces of
any tool's request, so that a parameter's value stays one run of words. Tools are not known here.
The words are in ``data/spontaneous.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from dlm.datagen.holdout import members
from dlm.datagen.language.mentions import VERBS
from dlm.datagen.language.phrases import Piece, fill, template, tidy
from dlm.datagen.language.spoken_values import is_number_word
from dlm.datagen.language.tables import Lists, read
from dlm.language.spoken_numbers import number, words_of

SIDE = "(side)"
"""Slot of words that belong to no parameter; as they have a slot, noise spares most of them."""


SPEECH = read("spontaneous", Lists)


def speech(key: str, split: str) -> tuple[str, ...]:
    """The entries of a list that both splits share; for training, also those of training alone."""
    return SPEECH[key] + (SPEECH[f"{key}_in_training"] if split == "train" else ())


_FUNCTION_WORDS = frozenset((
    "a", "an", "the", "my", "our", "to", "for", "at", "in", "on", "of", "about", "called", "named",
    "with", "from", "by", "some", "any", "into", "onto", "off", "it", "that",
))  # fmt: skip
_NO_SHARED = frozenset(("am", "pm", "morning", "evening", "afternoon", "and", "of"))


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker: chance, and the sources of words, texts and other values.

    Attributes:
        split: "train" or "heldout"; phrasings are from it if a list has any.
        text: Returns a text for a symbol of the free-text grammar.
        other: Returns another value for a slot and its value; "" if there is none.
    """

    rng: Random
    split: str
    text: Callable[[str], str]
    other: Callable[[str, str], str]

    def words(self, options: Sequence[str], **fields: str) -> str:
        """One of some phrasings, with texts in its slots."""
        source = self.rng.choice(members(tuple(options), self.split) or options)
        if "{" not in source and "(" not in source and "[" not in source:
            return source
        slots = {
            slot: fields.get(slot) or self.text(slot) for slot in sorted(template(source).slots)
        }
        return fill(source, self.rng, slots)


def side(text: str) -> Piece:
    """Words around a request, with spaces."""
    return Piece(f" {text} ", SIDE)


def at_ease(speaker: Speaker, pieces: list[Piece], order: bool) -> list[Piece]:
    """A request with what people put around and into it; about half of the time unchanged.

    Args:
        order: Whether it begins with a verb, so that it can follow "could you".
    """
    rng = speaker.rng
    if rng.random() < 0.16:
        pieces = repaired(speaker, pieces)
    if rng.random() < 0.03:
        pieces = _sworn(rng, pieces)
    if order and rng.random() < 0.3:
        pieces = [side(speaker.words(SPEECH["asks"])), *pieces]
    roll = rng.random()
    if roll < 0.11:
        pieces = [side(speaker.words(speech("before", speaker.split))), *pieces]
    elif roll < 0.23:
        pieces = [*pieces, side(speaker.words(SPEECH["after"]))]
    if rng.random() < 0.2:
        pieces = [side(speaker.words(SPEECH["openers"])), *pieces]
    if rng.random() < 0.12:
        pieces = [*pieces, side(speaker.words(SPEECH["closers"]))]
    return pieces


def _sworn(rng: Random, pieces: list[Piece]) -> list[Piece]:
    """A swear word before a value that follows an article."""
    places = [
        i
        for i, piece in enumerate(pieces[1:], 1)
        if piece.slot and re.search(r"\b(?:the|a|my|some)$", pieces[i - 1].text.strip())
    ]
    if not places:
        return pieces
    at = rng.choice(places)
    return [*pieces[:at], side(rng.choice(SPEECH["swears"])), *pieces[at:]]


def repaired(speaker: Speaker, pieces: list[Piece]) -> list[Piece]:
    """A request with a self-repair: one value is wrong at first, and corrected at once or late."""
    rng = speaker.rng
    slots = [i for i, piece in enumerate(pieces) if piece.slot and piece.slot != SIDE]
    if not slots:
        return pieces
    at = rng.choice(slots)
    value = pieces[at]
    wrong = speaker.other(value.slot, value.text)
    if not wrong or wrong == value.text:
        return pieces
    if rng.random() < 0.3 and [p.slot for p in pieces].count(value.slot) == 1:
        return _repaired_late(speaker, pieces, at, wrong)
    edit = rng.choice(speech("edits", speaker.split))
    before = pieces[at - 1].text.split() if at and not pieces[at - 1].slot else []
    again = " ".join(before[-rng.choice((1, 1, 2, 3)) :]) if rng.random() < 0.45 else ""
    # Words at the end of both values are said once: "ten no fifteen minutes".
    wrong = wrong if again else _without_shared_end(rng, wrong, value.text)
    return [*pieces[:at], side(wrong), side(f"{edit} {again}"), *pieces[at:]]


def _without_shared_end(rng: Random, wrong: str, right: str) -> str:
    first, last = wrong.split(), right.split()
    while (
        len(first) > 1
        and len(last) > 1
        and first[-1] == last[-1]
        and first[-1] not in _NO_SHARED
        and rng.random() < 0.8
    ):
        first, last = first[:-1], last[:-1]
    return " ".join(first)


def _repaired_late(speaker: Speaker, pieces: list[Piece], at: int, wrong: str) -> list[Piece]:
    """The right value comes after the whole request: "at three ... no make it four"."""
    source = speaker.words(speech("late", speaker.split), new="\0", old=wrong)
    source = source.replace("EDIT", speaker.rng.choice(speech("edits", speaker.split)))
    first, _, last = source.partition("\0")
    behind = [side(first), pieces[at], side(last)]
    return [*pieces[:at], side(wrong), *pieces[at + 1 :], *(p for p in behind if p.text.strip())]


def shortened(rng: Random, new: str, old: str) -> str:
    """A value without the words that it shares with the old one: "fifteen"."""
    if rng.random() < 0.4:
        return new
    first, last = _without_shared_end(rng, new, old).split(), old.split()
    while len(first) > 1 and first[:1] == last[:1]:
        first, last = first[1:], last[1:]
    return new if first[0] in ("and", "of") else " ".join(first)


def varied(rng: Random, value: str) -> str:
    """A value with one of its numbers replaced by another; "" if it has none."""
    words = value.split()
    runs = [
        (start, end)
        for start in range(len(words))
        for end in range(len(words), start, -1)
        if all(map(is_number_word, words[start:end]))
        and not (start and is_number_word(words[start - 1]))
        and not (end < len(words) and is_number_word(words[end]))
    ]
    if not runs:
        return ""
    start, end = rng.choice(runs)
    was = number(" ".join(words[start:end]))
    if was is None or was % 1:
        return ""
    most = 12 if was <= 12 else 59 if was < 60 else 2 * int(was)
    now = rng.randint(1, most - 1)
    now += now >= was
    said = str(now) if words[start].isdigit() else words_of(now)
    return " ".join([*words[:start], said, *words[end:]])


def abandoned(speaker: Speaker, first: list[Piece], second: list[Piece]) -> list[Piece]:
    """A request that is broken off for another."""
    words = "".join(p.text for p in first).split()
    kept = words[: speaker.rng.randint(min(2, len(words)), len(words))]
    edit = speaker.rng.choice(speech("edits", speaker.split))
    return [side(" ".join(kept)), side(edit), *second]


def contrasted(speaker: Speaker, first: list[Piece], second: list[Piece]) -> list[Piece]:
    """A request that the speaker says they do not mean, and the one that they mean."""
    not_this, _, this = speaker.words(SPEECH["contrasts"]).partition(" ... ")
    words = " ".join("".join(p.text for p in first).split())
    return [side(not_this), side(words), side(this), *second]


def taken_back(speaker: Speaker, pieces: list[Piece]) -> list[Piece]:
    """A request that is withdrawn in the same breath: nothing is to be called."""
    return [*(side(p.text) for p in pieces), side(speaker.words(SPEECH["takes_back"]))]


_BEFORE_VERBS = (" you", " to", " could", " please")
"""Ends of joints that must be followed by a verb."""
_SECOND = "'"
"""Suffix of the slots of the second of several requests; those of the third have it twice."""


def joined(
    rng: Random, requests: Sequence[list[Piece]], joints: Sequence[str], last: Sequence[str]
) -> list[Piece]:
    """Requests in one breath; the slots of all but the first are marked for `parted`."""
    said = list(requests[0])
    for count, request in enumerate(requests[1:], 1):
        options = last if count == len(requests) - 1 else joints
        first = "".join(p.text for p in request).split()[:1]
        if not VERBS.intersection(first):
            options = [o for o in options if not o.endswith(_BEFORE_VERBS)]
        said.append(side(rng.choice(options)))
        said += [Piece(p.text, p.slot and f"{p.slot}{_SECOND * count}") for p in request]
    return [p for p in said if p.text]


def together(
    rng: Random, requests: Sequence[list[Piece]], split: str, at_ease: bool
) -> list[Piece]:
    """Different requests in one breath, marked as by `joined`."""
    if not at_ease:
        return joined(rng, requests, JOINED, JOINED)
    begun = [*map(unclosed, requests[:-1]), requests[-1]]
    return joined(rng, begun, speech("joints", split), speech("last_joints", split))


def parted(values: dict[str, str], count: int) -> list[dict[str, str]]:
    """The slots' values of each request, for as many requests as were `joined`."""
    found: list[dict[str, str]] = [{} for _ in range(count)]
    for slot, value in values.items():
        name = slot.rstrip(_SECOND)
        found[len(slot) - len(name)][name] = value
    return found


def gapped(pieces: list[Piece]) -> list[Piece]:
    """A request without its verb, to follow a similar one: "and the fan in the office".

    Function words directly before the first value are kept: "remind me to" → "to".
    """
    at = next((i for i, piece in enumerate(pieces) if piece.slot), None)
    if at is None:
        return pieces
    words = "".join(p.text for p in pieces[:at]).split()
    kept = len(words)
    while kept and words[kept - 1] in _FUNCTION_WORDS:
        kept -= 1
    lead = f"{' '.join(words[kept:])} " if words[kept:] else ""
    return [p for p in (Piece(lead), *pieces[at:]) if p.text]


def unclosed(pieces: list[Piece]) -> list[Piece]:
    """A request without the words after its last value, as another request follows."""
    last = max((i for i, piece in enumerate(pieces) if piece.slot), default=len(pieces) - 1)
    return pieces[: last + 1]


JOINED = ("and", "and then", "and also", "then")
"""Joints between requests of a user who speaks in whole sentences."""
AGAIN_JOINED = ("and", "and", "and", "", "and then", "also", "plus", "then")
"""Joints between values that share a verb."""


def enumerated(rng: Random, requests: Sequence[list[Piece]]) -> list[Piece]:
    """Similar requests in one breath, with the verb said once; marked as by `joined`."""
    first, *others, last = requests
    said = [unclosed(first), *(gapped(unclosed(request)) for request in others), gapped(last)]
    return joined(rng, said, AGAIN_JOINED, AGAIN_JOINED)


def is_gappable(pieces: list[Piece]) -> bool:
    """Whether a request begins with words of its own and has at least one value."""
    return bool(pieces) and not pieces[0].slot and sum(bool(p.slot) for p in pieces) > 0


def change(
    speaker: Speaker, options: Sequence[str], new: list[Piece], old: str, refusal: str
) -> list[Piece]:
    """The shortest way to change the previous call.

    Args:
        options: Phrasings such as ``SPEECH["fix"]`` or ``SPEECH["more"]``.
        new: The new value, with what belongs before and after it.
        old: The value that it replaces.
    """
    source = speaker.words(options, new="\0", old=old, no=refusal)
    first, _, last = source.partition("\0")
    return [p for p in (side(first), *new, side(last)) if p.text.strip()]


def remark(speaker: Speaker, symbol: str = "remark") -> tuple[list[Piece], str]:
    """A remark that asks for nothing, and an answer to it.

    Args:
        symbol: Symbol of the free-text grammar.
    """
    parts = [speaker.text(symbol)]
    if speaker.rng.random() < 0.3:
        parts.insert(0, speaker.words(SPEECH["openers"]))
    return [side(tidy(" ".join(parts)))], speaker.rng.choice(SPEECH["nothing"])
