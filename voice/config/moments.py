"""Moments at which the agent's words are fixed: an emergency, or "are you a person".

A file says how people speak of each: regular expressions over plain words, which is what was said
in lower case, without marks and hedges and with contractions written out ("He's still not
breathing!" is "he is not breathing"). Its examples and counterexamples are checked when it is read.
Where no pattern finds anything, `moment_weights` may know the words of a shipped kind. It does not
know who speaks the words, nor when.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from pydantic import Field, PrivateAttr

from voice.config.moment_weights import likely_kind, taken_off
from voice.config.options import AgentSection

OATHS = r"fuckin|fucking|freaking|frigging|bloody|(?:god)?damn"
"""Words that add nothing to what they stand before."""
_RULES = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"([a-z])\1{2,}", r"\1"),
        (r"[^\w' ]+|_|(?<!\w)'|'(?!\w)", " "),
        # Contractions, those that are typed without an apostrophe first.
        (r"\b(do|ca|wo|is|are|was|were|does|did|have|has|had|could|would|should)nt\b", r"\1n't"),
        (r"\b(he|she|it|that|there|what|who|someone|somebody)s\b", r"\1's"),
        (r"\b(?:(i)(m)|(you|they)(re)|(i|you|they)(ve))\b", r"\1\3\5'\2\4\6"),
        (r"\b(?:can't|cannot|canny|cannae)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bain't\b|\baint\b", "is not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"'s\b", " is"),
        (r"\bis (?=had\b|been\b|got\b)", "has "),
        # Other spellings, as they are said in other places.
        (r"\b(beat|bleed|break|breath|burn|chok|com|do|dy|go|hitt|kill|liv|shoot)in\b", r"\1ing"),
        (r"\b(speak|talk|think|try)in\b", r"\1ing"),
        (r"\bg[ou]nna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "got to"),
        (r"\b(?:u|ya|ye)\b", "you"),
        (r"\b(?:ur|yer)\b", "your"),
        (r"\br\b", "are"),
        (r"\b(?:mum|mam|mama|mummy|mommy)\b", "mom"),
        (r"\b(?:da|daddy|papa)\b", "dad"),
        (r"\b(?:nobody|noone)\b", "no one"),
        (r"\b(some|every)body\b", r"\1one"),
        (r"\bmeself\b", "myself"),
        (r"\banymore\b", "any more"),
        # Hedges and oaths.
        (r"\b(?:um|uh|erm?|hmm|oh|ah|ooh|aw|god|omg|please|pls|really|very|literally)\b", ""),
        (r"\b(?:actually|honestly|basically|so|still|even|already|again|totally)\b", ""),
        (r"\b(?:completely|quite|pretty|probably|definitely|seriously|fully|now)\b", ""),
        (rf"\b(?:suddenly|{OATHS})\b", ""),
    )
)
_PARTS = re.compile(r"(?<=[.!?])\s+|,\s*|(?<!\s)\s+(?=(?:and|but|so) )", re.I)
_QUESTION = re.compile(
    r".*\?|(?:(?:and|but|so|or|ok|okay|oh|well|please|sorry|then|now|no|yes)\b[ ,]*)*"
    r"(?:how|what|when|where|which|who|why|should|shall|may|must"
    r"|(?:can|could|will|would|do|does|did|is|are|was|were|has|have|am)"
    r" (?:i|we|you|he|she|it|they|there|that|this|the|my|your|(?:some|any)(?:one|body))\b).*",
    re.I | re.S,
)
_NO_LETTERS = re.compile(r"\\.|\(\?P[<=]\w+|\(\?[a-z]*i[a-z]*[:)].*", re.S)
"""In a pattern, what stands for no letter itself, and all of one that ignores capitals."""
_CAPITAL = re.compile("[A-Z]+")
AGENT = "{agent}"
"""In the words of a moment: who the agent is by its instructions."""
_WHO = re.compile(
    r"\b[Yy]ou are ((?:an?|the) [^.,;:\n]+?|[A-Z][^.,;:\n]*?)"
    r"(?: (?:that|who|which|and)\b|[.,;:\n]|$)"
)
LONGEST_TEXT = 2000
"""Characters, the last ones: of a longer text nobody waits for an answer at once."""


def plain_words(text: str) -> str:
    """What was said in the words that patterns are written in.

    >>> plain_words("Oh God, he's STILL not breathing!")
    'he is not breathing'
    """
    words = text[-LONGEST_TEXT:].lower().replace("’", "'")
    for pattern, instead in _RULES:
        words = pattern.sub(instead, words)
    return " ".join(words.split())


def who(instructions: str) -> str:
    """Who an agent is by its instructions.

    >>> who("You are the front desk of the Heron Hotel. Be brief."), who("Be brief.")
    ('the front desk of the Heron Hotel', 'a computer program')
    """
    found = _WHO.search(instructions)
    return found[1] if found else "a computer program"


def is_question(text: str) -> bool:
    """Whether words ask something, which is no news.

    >>> is_question("How long will it take"), is_question("will be there in a minute")
    (True, False)
    """
    return _QUESTION.fullmatch(text.strip()) is not None


def _without_questions(text: str) -> str:
    """A text in which a word stands for each question: "okay, what now?" is no mere "okay"."""
    return " ".join("question" if is_question(one) else one for one in _PARTS.split(text))


class Moment(AgentSection):
    """One kind of moment, and the words for it."""

    _shipped: tuple[str, ...] = PrivateAttr(())
    say: str = ""
    """Said at once, without asking the model; empty leaves this kind of moment to the model."""
    patterns: tuple[str, ...] = ()
    """Regular expressions over plain words, each found anywhere in a message; {name} is one of
    `lists`."""
    but_not: tuple[str, ...] = ()
    """Patterns of phrases that only sound like it; they are removed before `patterns` are looked
    for."""
    about: tuple[str, ...] = ()
    """Patterns of which one must be in a message that only its words make one of this kind; none
    are needed where this is empty."""
    stays: str = ""
    """Said to every following message until the user says that it is over; empty ends the moment at
    once."""
    over: tuple[str, ...] = ()
    """Patterns, like `patterns`, by which users say that it is over."""
    ends: str = ""
    """Said when it is over."""
    offers: str = ""
    """An agent of `hand_over`: a "yes" to these words hands over to it."""
    examples: tuple[str, ...] = ()
    """Sentences that are of this kind."""
    counterexamples: tuple[str, ...] = ()
    """Sentences that are of no kind, and so is what is said in nearly the same words."""


class ShippedMoments(AgentSection):
    """configs/moments/english.toml: how people speak of the moments that every agent knows."""

    lists: dict[str, str] = Field(default_factory=dict)
    """Parts of patterns by their names; one may name those before it."""
    moments: dict[str, Moment] = Field(default_factory=dict)
    """By name; the first that fits counts."""
    over: tuple[str, ...] = ()
    """Patterns by which users say that any moment is over, or was none."""

    def under(self, own: Mapping[str, Moment]) -> dict[str, Moment]:
        """An agent's moments: what its file says, over what is shipped, with all lists filled in.

        Its texts replace the shipped ones. Its patterns and sentences are added, so that an agent
        that knows an emergency of its own misses none of the others.

        Raises:
            ValueError: A pattern names a list that there is not.
        """
        lists: dict[str, str] = {}
        for name, part in self.lists.items():
            lists[name] = f"(?:{_filled(part, lists)})".replace("\n", "")
        merged = {}
        for name in {**self.moments, **own}:
            moment = self.moments.get(name, Moment())
            changed = own[name].model_dump(exclude_unset=True) if name in own else {}
            shipped = (*moment.examples, *moment.counterexamples)
            for part, said in changed.items():
                if not isinstance(said, str):
                    changed[part] = (*getattr(moment, part), *said)
            changed["over"] = (*changed.get("over", moment.over), *self.over)
            moment = moment.model_copy(update=changed)
            merged[name] = moment.model_copy(
                update={
                    part: tuple(_filled(one, lists) for one in getattr(moment, part))
                    for part in ("patterns", "but_not", "about", "over")
                }
            )
            merged[name]._shipped = shipped
        return merged


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    say: str
    found: re.Pattern[str]
    taken_out: re.Pattern[str]
    about: re.Pattern[str]
    stays: str
    over: re.Pattern[str]
    ends: str
    offers: str


class Moments:
    """Finds the moment that a message is.

    Args:
        moments: By name, the first that fits counts; those without words are left out.

    Raises:
        ValueError: A moment has no patterns, a pattern is malformed, or an example fails.
    """

    def __init__(self, moments: Mapping[str, Moment] = MappingProxyType({})) -> None:
        self._kinds = tuple(
            _Kind(
                name,
                moment.say,
                found_anywhere(f"moments.{name}.patterns", moment.patterns),
                found_anywhere(f"moments.{name}.but_not", moment.but_not),
                found_anywhere(f"moments.{name}.about", moment.about or (".*",)),
                moment.stays,
                found_anywhere(f"moments.{name}.over", moment.over),
                moment.ends,
                moment.offers,
            )
            for name, moment in moments.items()
            if moment.say
        )
        calm = (one for moment in moments.values() for one in moment.counterexamples)
        self._taken_off = taken_off(map(plain_words, calm))
        for kind in self._kinds:
            self._check(kind.name, moments[kind.name])

    def words_for(self, *readings: str) -> str:
        """What is said to a message, of which there may be several readings; empty for nothing."""
        return self.lasting("", *readings)[0]

    def lasting(self, name: str, *readings: str) -> tuple[str, str]:
        """As `words_for` where the moment ``name`` lasts, or none; with that which lasts then."""
        before = next((kind for kind in self._kinds if kind.name == name), None)
        over = before is not None and any(
            before.over.search(plain_words(_without_questions(text))) for text in readings
        )
        # "The ambulance is coming" has the words of an emergency, and ends one.
        find = (lambda text: self._found(plain_words(text))) if over else self._kind_of
        if kind := next(filter(None, map(find, dict.fromkeys(readings))), None):
            return kind.say, kind.name if kind.stays else ""
        if before is None:
            return "", ""
        return (before.ends, "") if over else (before.stays, name)

    def offer(self, says: str) -> str:
        """The agent that these words of a moment offer to hand over to; empty for none."""
        return next((kind.offers for kind in self._kinds if kind.say == says), "")

    def name_of(self, text: str) -> str:
        """Name of the moment that a message is; empty if it is none."""
        kind = self._kind_of(text)
        return kind.name if kind else ""

    def may_be(self, name: str, text: str) -> bool:
        """Whether a message that no pattern finds has what the moment ``name`` is `about`."""
        kind = next((kind for kind in self._kinds if kind.name == name), None)
        return kind is None or kind.about.search(plain_words(text)) is not None

    def by_pattern(self, text: str) -> str:
        """The same by patterns alone."""
        kind = self._found(plain_words(text))
        return kind.name if kind else ""

    def _kind_of(self, text: str) -> _Kind | None:
        words = plain_words(text)
        if (found := self._found(words)) is not None:
            return found
        name = likely_kind(words, self._taken_off)
        kind = next((kind for kind in self._kinds if kind.name == name), None)
        return kind if kind and kind.about.search(words) else None

    def _found(self, words: str) -> _Kind | None:
        return next((k for k in self._kinds if k.found.search(k.taken_out.sub("|", words))), None)

    def _check(self, name: str, moment: Moment) -> None:
        if not moment.patterns:
            raise ValueError(f'moments.{name}: got no patterns; expected some, or say = ""')
        for sentence in moment.examples:
            found = self.by_pattern(sentence)
            # An agent may have other words for a shipped example, taken out by its `but_not`.
            if found != name and not (found and sentence in moment._shipped):
                raise ValueError(_misfit(name, moment, "examples", sentence, found or "nothing"))
        for sentence in moment.counterexamples:
            if found := self.by_pattern(sentence):
                raise ValueError(_misfit(name, moment, "counterexamples", sentence, found))


def _misfit(name: str, moment: Moment, part: str, sentence: str, fits: str) -> str:
    where = " of configs/moments/english.toml" if sentence in moment._shipped else ""
    return f"moments.{name}.{part}: {sentence!r}{where} fits {fits}"


def _filled(pattern: str, lists: Mapping[str, str]) -> str:
    def part(name: re.Match[str]) -> str:
        if name[1] not in lists:
            raise ValueError(f"moments: got {name[0]} in a pattern; expected one of {list(lists)}")
        return lists[name[1]]

    return re.sub(r"\{([a-z_]+)\}", part, pattern)


@lru_cache(maxsize=1024)
def found_anywhere(where: str, patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern that finds any of these in plain words, at whole words.

    Raises:
        ValueError: One is malformed; the text begins with ``where``.
    """
    one_of = "|".join(f"(?:{pattern})" for pattern in patterns)
    # Some are well alone and not together: those of two groups of one name.
    for pattern in (*patterns, one_of):
        try:
            re.compile(f"(?:{pattern})")
        except re.error as error:
            raise ValueError(f"{where}: got {pattern!r}, which is malformed: {error}") from error
        if capital := _CAPITAL.search(_NO_LETTERS.sub("", pattern)):
            what = f"got {pattern!r}, which finds nothing, since words are in lower case"
            raise ValueError(f"{where}: {what}; expected {capital[0].lower()!r}")
    return re.compile(rf"(?<!\S)(?:{one_of})(?!\S)" if patterns else r"(?!)")
