"""The language model and dictionary that pocketsphinx reads, built once per agent and kept on disk.

They live under a name made from everything they depend on, so a change of phrases makes new ones
and two processes that build the same ones at once do no harm: each writes aside, and the first to
rename wins.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from voice.config import AgentConfig
from voice.errors import ModelError
from voice.hearing.asr.espeak_phonemes import pronounce
from voice.hearing.asr.language_model import arpa, expand

_LOG = logging.getLogger(__name__)
_FORMAT = 1
_BACKCHANNELS = ("uh huh", "mhm", "hmm", "i see", "oh", "wow")
"""What people say to listeners is expected by every agent, lest it be taken for something else."""
"""Raised when the files are built differently, so that old ones are not taken."""


@dataclass(frozen=True, slots=True)
class SphinxFiles:
    """What a decoder is made from."""

    language_model: Path
    dictionary: Path


def sphinx_files(agent: AgentConfig, cache_dir: str) -> SphinxFiles:
    """Find or build the files for an agent.

    Args:
        agent: Its phrases and values are what the recogniser will expect; with no phrases these are
            pocketsphinx's own files, for general English.
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
        Lines in the dictionary's order, then guessed ones; words that cannot even be guessed are
        left out with a warning, and so are the phrases that hold them.
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
