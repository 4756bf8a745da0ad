"""No text holds up the server by a regular expression that tries again and again.

A document of `# ` and 1,500 blanks once stopped it for ten seconds, one of 400 dictated line breaks
for 17.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.patterns import Found, patterns_of, slow_text
from voice.config.moments import ShippedMoments, found_anywhere, plain_words
from voice.tools.registry import LONGEST_VALUE
from voice.understanding.english import as_read

LONGEST_RECORDED = 8000
"""Characters of what is recognised of a turn of two minutes."""


def _value(text: str) -> str:
    return text[:LONGEST_VALUE]


OURS = ("dlm.datagen", "dlm.evaluate", "dlm.teach", "dlm.train", "voice.finetune", "voice.prove")
"""Commands that read files of ours, or of whoever runs them, who waits and may stop them."""
BOUNDED: dict[str, Callable[[str], str]] = {
    # A message comes through `History.user_texts`, or is cut where it is read.
    "voice.dialogue": as_read,
    "voice.understanding": as_read,
    # Values are cut by `voice.tools.registry`, and messages come as above.
    "voice.tools.builtin": _value,
    "voice.tools.kinds": _value,
    "voice.tools.spoken_dates": _value,
    "voice.tools.spoken_times": _value,
    "voice.tools.spoken_numbers": lambda text: text[:300],
    "voice.hearing.completeness": lambda text: text[:LONGEST_RECORDED],
    "voice.config.moments": plain_words,
    "dlm.language.enumerations._NAMES_BEFORE": lambda text: text[:200],
}
"""By module or room, what its texts come through; so short ones may take quadratic time."""
AT_RUN_TIME = {
    "dlm.grammar.schemas": "of literals, escaped",
    "dlm.language.chat_template": "of literals",
    "dlm.language.enumerations": "of a span of the text, escaped",
    "voice.flow.checks": "an operator's, which is compiled and not used",
    # What these functions have made are values of modules.
    "voice.dialogue.controls": "alternatives of words",
    "voice.speech.normalization.dates": "",
    "voice.tools.builtin.memory": "",
    "voice.tools.kinds": "",
    "voice.understanding.conditions": "of a word of the message, escaped",
}
"""Modules with patterns that are made of anything, and why that is no harm."""
PACKAGES = {
    package: patterns_of(Path(__file__).parents[1], package) for package in ("voice", "dlm")
}
FOUND = [one for found, _ in PACKAGES.values() for one in found if not one.where.startswith(OURS)]


def test_patterns_are_known_but_for_a_few() -> None:
    unknown = {one.partition(":")[0] for _, made in PACKAGES.values() for one in made}
    assert {one for one in unknown if not one.startswith(OURS)} == AT_RUN_TIME.keys()


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.where)
def test_no_text_takes_longer_than_it_is_long(found: Found) -> None:
    bounded = next((cut for room, cut in BOUNDED.items() if found.where.startswith(room)), None)
    assert slow_text(found, bounded) == ""


def _moments(root: Path) -> Iterator[Found]:
    shipped = tomllib.loads((root / "configs/moments/english.toml").read_text(encoding="utf-8"))
    for name, moment in ShippedMoments.model_validate(shipped).under({}).items():
        for one in (*moment.patterns, *moment.but_not, *moment.over):
            yield Found(f"{name}: {one}", found_anywhere(name, (one,)))


def test_no_message_takes_longer_than_it_is_long(repo_root: Path) -> None:
    slow = {found.where: slow_text(found, plain_words) for found in _moments(repo_root)}
    assert len(slow) > 200
    assert {where: text for where, text in slow.items() if text} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(?:\w+ ?)*!",
        r"\s+$",
        r"^#{1,6}\s+(.*?)\s*#*\s*$",
        r"\s*\n+\s*- +",
        r"[a-z]+(?=[ ,;!?\n]|:(?!/)|$)",
        r"\b(?:was|were)\b[^?]*$",
        r"(?:(?:very|really) )*late",
    ],
)
def test_a_pattern_that_tries_again_is_found(pattern: str) -> None:
    assert slow_text(Found("", re.compile(pattern))) != ""


@pytest.mark.parametrize(
    "pattern", [r"(?<!\s)\s+$", r"(?<![a-z])[a-z]++\d", r"(?<!\w)(?>\w+)!", r"\w{1,40}!"]
)
def test_a_pattern_that_does_not_is_not(pattern: str) -> None:
    assert slow_text(Found("", re.compile(pattern))) == ""
