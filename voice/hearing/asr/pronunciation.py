"""How English words sound, and how alike two sequences of sounds are.

Words are looked up in pocketsphinx's dictionary (CMU's). A word that it lacks, such as a name or
one that a recogniser made up, is read by the small network that comes with hibari.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from voice.errors import ModelError
from voice.hearing.asr.espeak_phonemes import arpabet
from voice.speech.tts.hibari import unknown_word_reader

Phones = tuple[int, ...]
"""Indices into `PHONES`."""
Costs = NDArray[np.float32]

# fmt: off
_CONSONANTS = {
    "P": (0, 0, 0), "B": (0, 0, 1), "T": (3, 0, 0), "D": (3, 0, 1), "K": (6, 0, 0), "G": (6, 0, 1),
    "M": (0, 1, 1), "N": (3, 1, 1), "NG": (6, 1, 1), "F": (1, 2, 0), "V": (1, 2, 1),
    "TH": (2, 2, 0), "DH": (2, 2, 1), "S": (3, 2, 0), "Z": (3, 2, 1), "SH": (4, 2, 0),
    "ZH": (4, 2, 1), "HH": (7, 2, 0), "CH": (4, 3, 0), "JH": (4, 3, 1), "L": (3, 4, 1),
    "R": (4, 4, 1), "Y": (5, 5, 1), "W": (0, 5, 1),
}
"""Place, from the lips to the throat; manner: stop, nasal, fricative, affricate, liquid or glide;
whether it is voiced."""
_VOWELS = {
    "IY": (0.0, 0.0), "IH": (0.15, 0.1), "EY": (0.3, 0.1), "EH": (0.5, 0.1), "AE": (0.8, 0.15),
    "AH": (0.55, 0.5), "ER": (0.5, 0.5), "AA": (0.95, 0.8), "AO": (0.7, 0.95), "OW": (0.4, 0.95),
    "UH": (0.15, 0.85), "UW": (0.0, 1.0), "AY": (0.8, 0.5), "AW": (0.85, 0.6), "OY": (0.6, 0.7),
}
"""How open and how far back each is; a diphthong counts as its beginning."""
_FAINT = {"AH": 0.5, "IH": 0.5, "HH": 0.5, "T": 0.6, "D": 0.6, "R": 0.6, "Y": 0.6, "N": 0.6}
"""Cost of leaving out sounds that are often dropped."""
_KINDS = (
    "IY IH EY EH AE AH ER AA AO OW UH UW AY AW OY", "P B", "F V", "T D", "TH DH", "K G", "S Z",
    "SH ZH CH JH", "M N NG", "L", "R", "W", "Y", "HH",
)
"""Sounds that may stand for one another."""
# fmt: on
_LEFT_OUT = 0.8
_GLIDING = frozenset(("Y", "IY", "IH", "W", "UW", "UH", "R", "ER", "L", "AH"))

PHONES = (*_CONSONANTS, *_VOWELS)
_NOTHING = len(PHONES)
"""Pads shorter sequences; it costs nothing."""
_MOST_OF_A_KIND = 6


def _replaced(sound: str, other: str) -> float:
    if sound == other:
        return 0.0
    if sound in _VOWELS and other in _VOWELS:
        apart = sum(abs(a - b) for a, b in zip(_VOWELS[sound], _VOWELS[other], strict=True))
        return min(0.7, 0.15 + 0.45 * apart)
    if sound in _CONSONANTS and other in _CONSONANTS:
        (place, manner, voiced), (place_2, manner_2, voiced_2) = (
            _CONSONANTS[sound],
            _CONSONANTS[other],
        )
        moved = 0.0 if place == place_2 else min(0.45, 0.2 + 0.08 * abs(place - place_2))
        return min(1.0, 0.25 * (voiced != voiced_2) + 0.35 * (manner != manner_2) + moved)
    return 0.6 if {sound, other} <= _GLIDING else 1.2


_REPLACED: Costs = np.array([[_replaced(a, b) for b in PHONES] + [9.0] for a in PHONES], np.float32)
_REPLACED = np.vstack([_REPLACED, np.full((1, len(PHONES) + 1), 9.0, np.float32)])
_DROPPED: Costs = np.array([*(_FAINT.get(sound, _LEFT_OUT) for sound in PHONES), 0.0], np.float32)
_KIND = {sound: kind for kind, sounds in enumerate(_KINDS) for sound in sounds.split()}


class Pronunciation:
    """Gives the sounds of words; may be used from any thread.

    Raises:
        ModelError: The dictionary or the network's weights are missing or not the expected ones.
    """

    def __init__(self) -> None:
        from pocketsphinx import get_model_path

        file = Path(get_model_path("en-us")) / "cmudict-en-us.dict"
        try:
            self._dictionary = b"\n" + file.read_bytes()
        except OSError as error:
            raise ModelError(f"{file}: cannot be read: {error}") from error
        firsts = [self._dictionary.find(f"\n{letter}".encode()) for letter in ascii_lowercase]
        blocks = pairwise((*firsts, len(self._dictionary)))
        self._block = dict(zip(ascii_lowercase, blocks, strict=True))
        self._guess: Callable[[str], str | None] = unknown_word_reader()
        self._of_word = lru_cache(20_000)(self._read)

    def of(self, words: Sequence[str]) -> Phones:
        """The sounds of lower-case words, concatenated; a word may have none."""
        return tuple(phone for word in words for phone in self._of_word(word))

    def _read(self, word: str) -> Phones:
        at = self._dictionary.find(f"\n{word} ".encode(), *self._block.get(word[:1], ()))
        if at >= 0:
            entry = self._dictionary[at + 1 : self._dictionary.index(b"\n", at + 1)].decode()
        else:
            guessed = self._guess(word.replace("'", "")) or ""
            entry = f"{word} {arpabet(guessed.translate(_IPA))}"
        return tuple(PHONES.index(sound) for sound in entry.split()[1:])


_IPA = str.maketrans(
    {
        "A": "eɪ",
        "I": "aɪ",
        "O": "oʊ",
        "W": "aʊ",
        "Y": "ɔɪ",
        "ʧ": "tʃ",
        "ʤ": "dʒ",
        "T": "ɾ",
        "ᵊ": "ə",
    }
)
"""hibari writes some sounds with one sign where IPA has two."""


def in_rows(sequences: Sequence[Phones]) -> NDArray[np.int16]:
    """Sequences as rows of one array (N, longest), padded."""
    rows = np.full((len(sequences), max(map(len, sequences), default=0)), _NOTHING, np.int16)
    for row, phones in zip(rows, sequences, strict=True):
        row[: len(phones)] = phones
    return rows


def in_common(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """How many sounds, by kind, each of N sequences shares with each of M others: (N, M).

    Both arguments come from `counted`.
    """
    return some @ others.T


def counted(sequences: Sequence[Phones]) -> NDArray[np.float32]:
    """Counts of sounds by kind in unary, (N, kinds times 6), so that products count shared ones."""
    table = np.zeros((len(sequences), len(_KINDS), _MOST_OF_A_KIND), np.float32)
    for row, phones in zip(table, sequences, strict=True):
        for phone in phones:
            of_kind = row[_KIND[PHONES[phone]]]
            of_kind[min(int(of_kind.sum()), _MOST_OF_A_KIND - 1)] = 1.0
    return table.reshape(len(sequences), len(_KINDS) * _MOST_OF_A_KIND)


def distances(some: NDArray[np.int16], others: NDArray[np.int16]) -> Costs:
    """Edit distance of each row from the other array's, weighted by how much sounds differ.

    Args:
        some: (N, T) phones from `in_rows`.
        others: (N, U) phones.

    Returns:
        (N,) float32; replacing a sound by one that is nothing like it costs 1.2.

    Source: Levenshtein, 1966; each array operation advances all pairs by one step.
    """
    targets = others.T
    dropped = np.zeros((targets.shape[0] + 1, targets.shape[1]), np.float32)
    np.cumsum(_DROPPED[targets], axis=0, out=dropped[1:])
    row = dropped
    for phones in some.T:
        step = row + _DROPPED[phones]
        step[1:] = np.minimum(step[1:], row[:-1] + _REPLACED[phones, targets])
        # The cheapest way to a place may come from one above, dropping the sounds in between.
        row = np.minimum.accumulate(step - dropped, axis=0) + dropped
    last: Costs = row[-1]
    return last
