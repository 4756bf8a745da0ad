"""Intents of the utterance corpora as tools: other people's words for a few hundred purposes.

Each labelled intent becomes a tool, and its slots become parameters; the names are drawn anew for
each dialogue. A corpus has one name for an intent, but developers name the same tool in many ways,
mostly with words that its users say, so most names are taken from the sentences themselves. Intents
whose hash marks them as unseen occur only in the held-out split, and so do held-out rows. The
tables are in ``data/intents.toml``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from dlm.datagen.corpora import labelled_rows, spans
from dlm.datagen.corpora.spans import all_marked, from_markers
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.tables import read
from dlm.datagen.tools import descriptions
from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import capital

_TOLD = 0.6
"""Share of names and descriptions made from an intent's own sentences."""
_PLAIN_VERBS = ("", "", "", "handle", "get", "request", "check", "find", "help_with")

LONGEST = 3
"""Most words of a phrase."""
_LEAST = 0.18
"""Least weight of a word in a phrase: its share of the intent's sentences, times the logarithm of
all intents over those that use it. This excludes words of a single sentence and common words."""
_RARE = 0.01
"""An intent uses a word if at least this share of its sentences has it."""
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class _Name:
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    topics: dict[str, str]
    unfit: tuple[str, ...]
    not_tools: tuple[str, ...]
    small_words: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    purposes: dict[str, _Name]
    result: tuple[_Answer, ...]


_TABLE = read("intents", _Table)
TOPICS = _TABLE.topics
"""Intents that are talk → the topic that answers them."""
UNFIT = frozenset(_TABLE.unfit)
"""Intents that no tool of ours serves."""
_SMALL = frozenset(_TABLE.small_words)
"""Words that no tool is named after."""
SLOT_NAMES = {slot: names for slots, names in _TABLE.slots.items() for slot in slots.split()}
"""Slots of the corpora → names of the parameters made from them."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """An intent that may become a tool.

    Attributes:
        intent: Its name in the corpora.
        verbs: First halves of tool names.
        nouns: Second halves of tool names.
        rows: Its sentences, each with its slots as spans.
        phrases: Telling phrases of its sentences (`telling_phrases`). In training most tool names
            are made from them, so that many names lead to a purpose; empty in the held-out split.
        marked: Whether any of its sentences has slots.
    """

    intent: str
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    rows: list[tuple[str, spans.Spans]]
    phrases: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class IntentTool:
    """A tool made from a purpose for one dialogue.

    Attributes:
        keys: Slot → parameter.
        words: The nouns of its name and its description, with underscores.
    """

    spec: Spec
    purpose: Purpose
    keys: dict[str, str]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.spec["name"])

    @property
    def topic(self) -> frozenset[str]:
        """Words that tools of other purposes in the same dialogue must not share."""
        names = (*self.purpose.nouns, self.purpose.intent, *self.words)
        return frozenset(w for name in names for w in _cut(name))

    @property
    def ability(self) -> str:
        """Completes "I can't ..."."""
        return f"{self.purpose.verbs[0]} {self.purpose.nouns[0]}".replace("_", " ").strip()


def collect(rows: Iterable[dict[str, Any]], split: str) -> dict[str, Purpose]:
    """Purposes of a split, with their rows that are short and whose slots can be found.

    Args:
        split: "train" for seen intents, without held-out rows; "heldout" for unseen intents,
            without rows that our own tools serve.
    """
    wanted = split == "heldout"
    found: dict[str, Purpose] = {}
    for row in from_markers(rows):
        intent = row["intent"]
        if not intent or unseen(intent) != wanted or intent.startswith(_TABLE.not_tools):
            continue
        if intent.startswith("Hass") or (held_out(row["text"]) and not wanted):
            continue
        if not 2 <= len(row["text"].split()) <= 20 or (wanted and labelled_rows.request(row)):
            continue
        slots = _found(row)
        if slots is None:
            continue
        purpose = found.get(intent) or found.setdefault(
            intent, Purpose(intent, *_words(intent), [])
        )
        purpose.rows.append((row["text"], slots))
    whole = {name: _whole(purpose) for name, purpose in found.items()}
    return _with_phrases({name: p for name, p in whole.items() if len(p.rows) >= 10}, split)


def _whole(purpose: Purpose) -> Purpose:
    """A purpose without the rows that seem to leave a value unmarked."""
    cut = [(row, pieces) for row in purpose.rows if (pieces := spans.pieces(*row)) is not None]
    kept = all_marked([pieces for _, pieces in cut])
    rows = [row for (row, _), whole in zip(cut, kept, strict=True) if whole]
    return replace(purpose, rows=rows, marked=any(slots for _, slots in rows))


def _with_phrases(purposes: dict[str, Purpose], split: str) -> dict[str, Purpose]:
    if split == "heldout":
        return purposes
    sentences = {n: [_without(*row) for row in p.rows] for n, p in purposes.items()}
    told = telling_phrases(sentences)
    return {n: replace(p, phrases=told.get(n, ())) for n, p in purposes.items()}


def _without(text: str, slots: spans.Spans) -> str:
    """A sentence without the values of its slots."""
    taken = {i for start, end in slots.values() for i in range(start, end)}
    return " ".join(w for i, w in enumerate(spans.tokens(text)) if i not in taken)


def _cut(name: str) -> list[str]:
    parts = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")
    return [p.rstrip("s") for p in parts if len(p) > 3]


def _found(row: dict[str, Any]) -> spans.Spans | None:
    """Every slot's span; None if a value is not in the text exactly once, or two overlap."""
    found: spans.Spans = {}
    if not row["slots"]:
        return found
    words = spans.tokens(row["text"])
    for slot, value in row["slots"].items():
        if slot not in SLOT_NAMES:
            continue
        span = spans.find(words, value) if isinstance(value, str) else None
        if span is None:
            return None
        found[slot] = span
    taken = [i for start, end in found.values() for i in range(start, end)]
    return found if len(taken) == len(set(taken)) else None


def _words(intent: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if intent in _TABLE.purposes:
        return _TABLE.purposes[intent].verbs, _TABLE.purposes[intent].nouns
    plain = intent.replace(".", "_").replace("?", "").replace("-", "_").lower().strip("_")
    return ("", "", "handle", "get", "request"), (plain,)


def offer(
    purpose: Purpose, rng: Random, style: str, wanted: spans.Spans | None = None
) -> IntentTool:
    """Make a purpose into a tool.

    Args:
        wanted: Slots of the row that will ask for it, most of which become parameters.
    """
    named = _titled(purpose, rng)
    name = styled([w for w in "_".join(named).split("_") if w], style)
    slots = [s for s in wanted or () if rng.random() < 0.92]
    others = [s for _, found in rng.sample(purpose.rows, min(4, len(purpose.rows))) for s in found]
    slots += [s for s in dict.fromkeys(others) if s not in (wanted or ()) and rng.random() < 0.6]
    rng.shuffle(slots)
    keys: dict[str, str] = {}
    for slot in slots[:6]:
        options = [n for n in SLOT_NAMES[slot] if n not in keys.values()]
        if options:
            keys[slot] = rng.choice(options)
    described = _titled(purpose, rng)
    words = " ".join(described).replace("_", " ").strip()
    forms = ("{}.", "{}.", "To {}.", "Use it to {}.", "{} for the user.", "When the user asks: {}.")
    required = [k for s, k in keys.items() if s in (wanted or ()) and rng.random() < 0.3]
    properties = {k: {"type": "string"} for k in keys.values()}
    schema = {"type": "object", "properties": properties, "required": required}
    description = capital(rng.choice(forms).format(words))
    spec = {"name": name, "description": description, "parameters": schema}
    about = {key: descriptions.synonyms(SLOT_NAMES[slot], key) for slot, key in keys.items()}
    spec = descriptions.described(spec, about)
    return IntentTool(spec, purpose, keys, (named[1], described[1]))


def _titled(purpose: Purpose, rng: Random) -> tuple[str, str]:
    """A verb, perhaps empty, and a noun phrase, with underscores."""
    verb, noun = rng.choice(purpose.verbs), rng.choice(purpose.nouns)
    if not purpose.phrases or rng.random() > _TOLD:
        return verb, noun
    return rng.choice(_PLAIN_VERBS), rng.choice(purpose.phrases)


def asked(tool: IntentTool, text: str, slots: spans.Spans) -> list[Piece] | None:
    """A row in pieces whose slots are the tool's parameters; None if spans overlap."""
    return spans.pieces(text, {tool.keys[s]: span for s, span in slots.items() if s in tool.keys})


def answered(tool: IntentTool, arguments: dict[str, str], rng: Random) -> tuple[str, str]:
    """A result, and what the agent says about it."""
    words = tool.purpose.nouns[0].replace("_", " ")
    fields = {
        "Words": capital(words),
        "n": str(rng.choice((rng.randint(2, 60), rng.randint(100, 99999)))),
    }
    fields["v"] = rng.choice(list(arguments.values())) if arguments else words
    weights = (6, 3, 4, 3, 3, 4, 1, 2) if arguments else (6, 3, 4, 3, 0, 0, 1, 2)
    result = rng.choices(_TABLE.result, weights)[0]
    text = result.text.format(**fields)
    return text, capital(rng.choice(result.replies).format(**fields))


def telling_phrases(sentences: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """For each intent, phrases of at most `LONGEST` telling words from its sentences, in order.

    Args:
        sentences: Intent → its sentences, without the values of slots.

    Returns:
        Intent → distinct phrases with underscores between words, the commonest first; an intent
        without telling words is left out.
    """
    shares = {intent: _shares(texts) for intent, texts in sentences.items()}
    users = Counter(w for found in shares.values() for w, s in found.items() if s >= _RARE)
    told: dict[str, tuple[str, ...]] = {}
    for intent, texts in sentences.items():
        weights = {
            word: share * math.log(len(sentences) / users[word])
            for word, share in shares[intent].items()
            if share >= _RARE
        }
        found = Counter(filter(None, (_phrase(text, weights) for text in texts)))
        if found:
            told[intent] = tuple(phrase for phrase, _ in found.most_common())
    return told


def _shares(sentences: Iterable[str]) -> dict[str, float]:
    held = [set(_WORD.findall(text.lower())) for text in sentences]
    counts = Counter(w for h in held for w in h if w not in _SMALL)
    return {word: n / len(held) for word, n in counts.items()}


def _phrase(text: str, weights: Mapping[str, float]) -> str:
    said = [w for w in dict.fromkeys(_WORD.findall(text.lower())) if weights.get(w, 0.0) >= _LEAST]
    best = sorted(said, key=lambda w: -weights[w])[:LONGEST]
    return "_".join(w for w in said if w in best)
