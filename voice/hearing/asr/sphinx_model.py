"""Builds the language model and the dictionary with which pocketsphinx hears an agent's users.

The language model is a trigram model of the agent's example phrases. All phrases count equally,
because a slot's values share the phrase's weight. That gives fractional counts, so smoothing is
Witten-Bell, which stays sound on them.

The files are built once per agent. Their folder is named by a hash of everything they depend on, so
changed phrases get new files. Two processes may build the same files at once: each writes to a
temporary folder, and the first to rename it wins.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import logging
import math
import os
import random
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voice.config import AgentConfig
from voice.errors import ModelError
from voice.hearing.asr.espeak_phonemes import pronounce

Gram = tuple[str, ...]

_PHRASE_WEIGHT = 12.0
_EXPANSIONS = 120
_SLOT = re.compile(r"\{(\w+)\}")

_LOG = logging.getLogger(__name__)
_FORMAT = 1
"""Increased when the way the files are built changes, so that old ones are not used."""
_BACKCHANNELS = ("uh huh", "mhm", "hmm", "i see", "oh", "wow")
"""Expected by every agent, so that they are not recognised as something else."""


@dataclass(frozen=True, slots=True)
class SphinxFiles:
    """The files that a decoder is made from."""

    language_model: Path
    dictionary: Path


def sphinx_files(agent: AgentConfig, cache_dir: str) -> SphinxFiles:
    """Find or build the files for an agent.

    Args:
        agent: Its phrases and values are what the recogniser will expect. Without phrases,
            pocketsphinx's own files for general English are returned.
        cache_dir: Where built files are kept; "" means the user's cache directory.

    Raises:
        ModelError: pocketsphinx's own files are missing, or a phrase names an unknown slot.
    """
    from pocketsphinx import get_model_path

    english = Path(get_model_path("en-us"))
    general = english / "cmudict-en-us.dict"
    if not general.is_file():
        raise ModelError(f"{general}: not found; expected it in pocketsphinx's package")
    if not agent.phrases:
        return SphinxFiles(english / "en-us.lm.bin", general)
    home = _writable(Path(cache_dir) if cache_dir else _user_cache())
    directory = home / _fingerprint(agent)
    if not directory.is_dir():
        _build(agent, general, directory)
    return SphinxFiles(directory / "words.arpa", directory / "words.dict")


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "quicksilver-voice" / "sphinx"


def _writable(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if os.access(directory, os.W_OK):
            return directory
        problem = "it is not writable"
    except OSError as error:
        problem = str(error)
    instead = Path(tempfile.gettempdir()) / f"quicksilver-voice-sphinx-{getpass.getuser()}"
    instead.mkdir(mode=0o700, exist_ok=True)
    _LOG.warning("%s: %s; keeping language models in %s", directory, problem, instead)
    return instead


def _fingerprint(agent: AgentConfig) -> str:
    content = json.dumps([_FORMAT, agent.phrases, agent.values, _BACKCHANNELS], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _build(agent: AgentConfig, general: Path, directory: Path) -> None:
    try:
        sentences = [*expand([*agent.phrases, *_BACKCHANNELS], agent.values)]
    except ValueError as error:
        raise ModelError(f"agent {agent.name}: {error}") from error
    entries = dictionary({word for words, _ in sentences for word in words}, general)
    known = {entry.split(None, 1)[0] for entry in entries}
    spoken = [(words, weight) for words, weight in sentences if known.issuperset(words)]
    if not spoken:
        raise ModelError(f"agent {agent.name}: no phrase can be pronounced")
    aside = Path(tempfile.mkdtemp(dir=directory.parent, prefix="building-"))
    (aside / "words.arpa").write_text(arpa(spoken), encoding="utf-8")
    (aside / "words.dict").write_text("\n".join(entries) + "\n", encoding="utf-8")
    try:
        aside.rename(directory)
    except OSError:
        if not directory.is_dir():
            raise
        shutil.rmtree(aside)


def dictionary(words: Iterable[str], general: Path) -> list[str]:
    """Dictionary lines, ``word PH PH``, for the words that can be pronounced.

    Args:
        words: Lower-case words.
        general: A dictionary of general English, in CMU's format; further pronunciations of a word
            are listed as ``word(2)``.

    Returns:
        Lines in the dictionary's order, then guessed ones. Words that cannot be guessed either are
        left out with a warning that their phrases will not be recognised.
    """
    wanted = set(words)
    entries = []
    known = set()
    with general.open(encoding="utf-8") as lines:
        for line in lines:
            word = line.split(None, 1)[0].split("(", 1)[0]
            if word in wanted:
                entries.append(line.strip())
                known.add(word)
    unknown = sorted(wanted - known)
    guessed = pronounce(unknown)
    silent = [word for word in unknown if word not in guessed]
    if silent:
        _LOG.warning(
            "no pronunciation for %s; phrases with them will not be recognised", ", ".join(silent)
        )
    return entries + [f"{word} {phones}" for word, phones in guessed.items()]


def words_of(text: str) -> list[str]:
    """Lower-case words of a phrase, with apostrophes but no other punctuation."""
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)*'?", text.lower().replace("’", "'"))


def expand(
    phrases: Sequence[str], values: Mapping[str, Sequence[str]]
) -> Iterator[tuple[list[str], float]]:
    """Fill the slots of each phrase.

    Args:
        phrases: Phrases with ``{slot}`` places.
        values: Slot → its values.

    Yields:
        The words of a filled phrase, and its weight. The same input always gives the same output.

    Raises:
        ValueError: A phrase names a slot that has no values.
    """
    chosen = random.Random(0)
    for phrase in phrases:
        slots = _SLOT.findall(phrase)
        missing = [slot for slot in slots if not values.get(slot)]
        if missing:
            raise ValueError(f"phrase {phrase!r}: got slot {missing[0]!r}; expected one of values")
        decks = [_Deck(values[slot], chosen) for slot in slots]
        count = min(_EXPANSIONS, math.prod(len(values[slot]) for slot in slots))
        count = max(count, *(len(values[slot]) for slot in slots), 1) if slots else 1
        for _ in range(count):
            filled = iter([deck.draw() for deck in decks])
            words = words_of(_SLOT.sub(lambda _match, it=filled: next(it), phrase))  # type: ignore[misc]
            if words:
                yield words, _PHRASE_WEIGHT / count


class _Deck:
    """Draws values in random order, each once before any is repeated."""

    def __init__(self, values: Sequence[str], chosen: random.Random) -> None:
        self._values = values
        self._chosen = chosen
        self._left: list[str] = []

    def draw(self) -> str:
        if not self._left:
            self._left = list(self._values)
            self._chosen.shuffle(self._left)
        return self._left.pop()


def arpa(sentences: Iterable[tuple[Sequence[str], float]]) -> str:
    """An ARPA trigram model of weighted sentences, with interpolated Witten-Bell smoothing.

    Args:
        sentences: Words and weight of each sentence.

    Returns:
        The text of an ARPA file.

    Raises:
        ValueError: There are no sentences.

    Source:
        Witten and Bell 1991; Chen and Goodman 1998, section 2.5.
    """
    counts: list[Counter[Gram]] = [Counter(), Counter(), Counter()]
    for words, weight in sentences:
        padded = ("<s>", *words, "</s>")
        for order in (1, 2, 3):
            for start in range(len(padded) - order + 1):
                counts[order - 1][padded[start : start + order]] += weight  # type: ignore[assignment]
    if not counts[0]:
        raise ValueError("got no sentences; expected at least one phrase")
    probabilities, backoffs = _smooth(counts)
    return _format(probabilities, backoffs)


def _smooth(
    counts: list[Counter[Gram]],
) -> tuple[list[dict[Gram, float]], dict[Gram, float]]:
    """The probability of each n-gram seen, and each history's back-off weight for unseen ones."""
    del counts[0][("<s>",)]
    total = sum(counts[0].values())
    probabilities: list[dict[Gram, float]] = [
        {gram: count / total for gram, count in counts[0].items()}
    ]
    backoffs: dict[Gram, float] = {}
    for order in (2, 3):
        mass: defaultdict[Gram, float] = defaultdict(float)
        types: Counter[Gram] = Counter()
        for gram, count in counts[order - 1].items():
            mass[gram[:-1]] += count
            types[gram[:-1]] += 1
        lower = probabilities[-1]
        here = {}
        for gram, count in counts[order - 1].items():
            history = gram[:-1]
            backoffs[history] = types[history] / (mass[history] + types[history])
            here[gram] = (
                count / (mass[history] + types[history]) + backoffs[history] * lower[gram[1:]]
            )
        probabilities.append(here)
    return probabilities, backoffs


def _format(probabilities: list[dict[Gram, float]], backoffs: dict[Gram, float]) -> str:
    lines = ["\\data\\"]
    probabilities[0][("<s>",)] = 1e-99
    lines += [f"ngram {order}={len(grams)}" for order, grams in enumerate(probabilities, 1)]
    for order, grams in enumerate(probabilities, 1):
        lines += ["", f"\\{order}-grams:"]
        for gram, probability in sorted(grams.items()):
            line = f"{math.log10(probability):.4f} {' '.join(gram)}"
            if order < 3:
                line += f" {math.log10(backoffs.get(gram, 1.0)):.4f}"
            lines.append(line)
    return "\n".join([*lines, "", "\\end\\", ""])
