"""Whether a transcript reads as if the speaker were done, judged by the words alone.

It helps to decide how long a silence must last before a turn is taken to be over. A mistake is
cheap in one direction (waiting longer) and costly in the other (cutting the user off), so in doubt
the verdict is neutral. The words are English.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache


class Completeness(StrEnum):
    """What the words say about the end of the turn."""

    COMPLETE = "complete"
    NEUTRAL = "neutral"
    INCOMPLETE = "incomplete"


def _entries(text: str, separator: str = " ") -> frozenset[str]:
    return frozenset(text.split(separator))


_NUMBER = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundred|thousand|half|\d+)"
)
_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|\d+)"
_SIZE = r"(?:small|medium|large|tall|grande|big|iced|hot|dark|light|single|double|triple)"
_ROOM = (
    r"(?:kitchen|bedroom|bathroom|office|(?:living|dining|guest|laundry) room|garage|hallway"
    r"|basement|attic|front|back|guest|laundry|dining|ceiling|all)"
)
_POLITE = r"(?:please |can you |could you |would you |will you )*"

_DANGLING = _entries(
    # conjunctions
    "and or but because if plus minus times divided while unless "
    # prepositions that seldom end a request
    "to for at of from with by about into until till per than between in after before as on "
    # articles, possessives, quantifiers
    "a an the my your our their his some any many another every "
    # hesitation
    "um uh er erm hmm "
    # auxiliaries that need a verb or an object
    "are was were what's who's where's that's it's i'm i'd i'll i've don't let's "
    # e-mail and web addresses; "living" without "room"
    "dot dash underscore living"
)
_INCOMPLETE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:do|does|did|can|could|would|will|should) (?:you|i|we|they)$",
        r"^(?:please )?(?:turn|switch)(?: (?:on|off|up|down))?$",
        r"\b(?:remind|give|tell|get|make|show) me$",
        r"\b(?:would|i'd|we'd)(?: also| really)? like$",
        r"^(?:i|we) (?:would|will|could|can|should)(?: also)?$",
        r"^(?!what|how|who|which).*\b(?:i|we|you|to|please)"
        r" (?:want|need|have|get|add|set|buy|call)$",
        r"^(?:please )?(?:set|add|convert|remind|give|tell|put|make|get|start|order)$",
        r"(?<!\bit)(?<!\bthat)(?<!\bthis) is$",
        r"^(?:how|what|when|where|who|which)$",
        r"^(?:how|which|whose|what) \w+$",
        r"^how many \w+(?: \w+)?$",
        r"^how (?:do|can|did|would|should) (?:you|i|we) \w+$",
        rf"^{_POLITE}(?:set|start) (?:a|an|the|another)(?: new)? (?:timer|alarm)$",
        rf"\btimer for (?:\w+ )?{_NUMBER}$",
        # A word being spelled out: in no recording, but people complain of being cut off.
        r"(?:^| )(?!(?:a|p) m$|t v$)[b-hj-z] [a-z]$",
        rf"\b(?:a|an|the|one|two|three|four) {_SIZE}$",
        rf"\b(?:turn|switch) (?:on|off) (?:the |my |all )*{_ROOM}$",
        r"\b(?:on|off|from|to) (?:the|my) (?:shopping|grocery|to do|packing|wish|christmas)$",
    )
)
TELEPHONE_DIGITS = 10
"""Digits of a complete telephone number; after fewer, more may follow."""
# Bounded, because an unbounded search would take quadratic time.
_DIGIT_GROUP = re.compile(rf"(?:^| )({_DIGIT}(?: {_DIGIT}){{1,{TELEPHONE_DIGITS}}})$")

_SHORT_ANSWERS = _entries(
    "yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|correct|exactly|stop|cancel|pause|resume|"
    "continue|quit|help|repeat|again|thanks|thank you|no thanks|no thank you|yes please|"
    "yes that's right|that's right|that's correct|that's it|that's all|that is all|that'll be all|"
    "nothing else|goodbye|good bye|bye|bye bye|hello|hi|hello there|hi there|never mind|nevermind|"
    "forget it|of course|go ahead|please do|not now|good morning|good evening|good night|i'm done",
    "|",
)

# Checked before the dangling words, of which "on" is one.
_SWITCHED = re.compile(rf"^{_POLITE}(?:turn|switch) .+ (?:on|off)$")
_TIME_END = (
    r"(?:seconds?|minutes?|hours?|half|quarter|o'clock|a m|p m|am|pm|noon|midnight|today|tonight"
    r"|tomorrow|morning|afternoon|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_COMPLETE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\w (?:please|thanks|thank you)$",
        rf"\b(?:timer|alarm|remind(?:er)?|wake)\b.* {_TIME_END}$",
        rf"^{_POLITE}(?:turn|switch) (?:on|off) \w",
        rf"^{_POLITE}(?:add|put|remove|take|delete) .+ (?:to|on|from|off) .*\blist$",
        r"^(?:please )?(?:cancel|stop|pause|resume|read|clear|show|list|check|close|open|lock"
        r"|unlock|confirm|repeat|delete) (?:the |my |all |that |it)\w*",
        r"^(?:what|what's|who|who's|where|where's|when|when's|how|how's|which|why|is|are|do|does"
        r"|did|will|have|has) \w+ \w+ \w+",
        r"^(?:can|could|would|will) you \w+ \w+ \w+",
    )
)


# Cached because every frame of a pause asks about the same words.
@lru_cache(maxsize=64)
def reads_complete(text: str) -> Completeness:
    """Judge a transcript by its words.

    Args:
        text: Interim or final transcript; case and punctuation do not matter.

    Returns:
        INCOMPLETE if it ends mid-phrase, in a few digits or while spelling; COMPLETE for a short
        answer, or a question or request that has its object; otherwise, or if empty, NEUTRAL.
    """
    words = _words(text)
    if not words:
        return Completeness.NEUTRAL
    plain = " ".join(words)
    if plain in _SHORT_ANSWERS or _SWITCHED.search(plain):
        return Completeness.COMPLETE
    if _is_incomplete(plain, words[-1]):
        return Completeness.INCOMPLETE
    if any(pattern.search(plain) for pattern in _COMPLETE):
        return Completeness.COMPLETE
    return Completeness.NEUTRAL


def is_short_answer(text: str) -> bool:
    """Whether the text is a whole answer or command of a few words, such as "yes please"."""
    return " ".join(_words(text)) in _SHORT_ANSWERS


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("’", "'"))


def _is_incomplete(plain: str, last_word: str) -> bool:
    if last_word in _DANGLING or any(pattern.search(plain) for pattern in _INCOMPLETE):
        return True
    digits = _DIGIT_GROUP.search(plain)
    return digits is not None and len(digits[1].split()) < TELEPHONE_DIGITS
