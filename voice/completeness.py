"""Whether a transcript reads as if its speaker were done: words alone, no audio and no model.

It decides how long a silence must be before a turn is taken to be over, so its mistakes are cheap on
one side (waiting longer) and dear on the other (cutting the user off): in doubt it says neutral. It
knows English.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Completeness(StrEnum):
    """What the words say about the end of the turn."""

    COMPLETE = "complete"
    NEUTRAL = "neutral"
    INCOMPLETE = "incomplete"


_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|\d+)"
_NUMBER = (
    rf"(?:{_DIGIT}|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half)"
)
_SIZE = r"(?:small|medium|large|tall|grande|big|iced|hot|dark|light|single|double|triple)"

_DANGLING = frozenset(
    # conjunctions
    "and or but because if then plus minus times divided while unless "
    # prepositions that seldom end a request
    "to for at of from with by about into until till per than between in after before as like "
    # articles, possessives, quantifiers
    "a an the my your our their his some any many another every "
    # hesitation
    "um uh er erm hmm well so "
    # auxiliaries and verbs that want an object
    "is are was were what's who's where's that's it's i'm i'd i'll i've don't let's "
    "set add convert remind order want need give send make put tell have get "
    # spelling and addresses
    "dot dash underscore point living".split()
)

_INCOMPLETE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:do|does|did|can|could|would|will|should|are) (?:you|i|we|they)$",
        r"^(?:please )?(?:turn|switch)(?: (?:on|off|up|down))?$",
        r"^(?:can|could|would|will) (?:you )?(?:please )?(?:turn|switch)(?: (?:on|off))?$",
        r"^(?:hey|okay|ok) \w+$",
        r"\b(?:remind|give|tell|get|make|show) me$",
        r"\b(?:would|i'd) like$",
        rf"\btimer for (?:\w+ )?{_NUMBER}$",
        rf"\b{_NUMBER} (?:dollar|pound|degree|hour and {_NUMBER}|hours and {_NUMBER})$",
        r"^(?:please )?convert (?!.*\b(?:to|into|in)\b).*$",
        rf"\b(?:a|an|the|one|two|three|four) {_SIZE}$",
        r"(?:^| )(?!(?:a|p) m$)[b-hj-z] [a-z]$",
        r"^(?:what|how|when|where|who|which|why)$",
    )
)
_DIGIT_GROUP = re.compile(rf"(?:^| )({_DIGIT}(?: {_DIGIT})+)$")
_CLOCK = re.compile(r"\b(?:at|for|to) \w+ oh \w+$")

_SHORT_ANSWERS = frozenset(
    "yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|correct|exactly|stop|cancel|pause|resume|"
    "continue|quit|help|repeat|again|thanks|thank you|no thanks|no thank you|yes please|"
    "yes that's right|that's right|that's correct|that's it|that's all|that is all|that'll be all|"
    "nothing else|goodbye|good bye|bye|bye bye|hello|hi|hello there|hi there|never mind|nevermind|"
    "forget it|of course|go ahead|please do|not now|good morning|good evening|good night|i'm done|"
    "what time is it|today|tomorrow".split("|")
)

_TIME_END = (
    r"(?:seconds?|minutes?|hours?|half|quarter|o'clock|a m|p m|am|pm|noon|midnight|today|tonight"
    r"|tomorrow|morning|afternoon|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_COMPLETE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\w (?:please|thanks|thank you)$",
        rf"\b(?:timer|alarm|remind(?:er)?|wake)\b.* {_TIME_END}$",
        r"^(?:please |can you |could you |would you |will you )*(?:turn|switch)"
        r" (?:on|off) (?:the |my |all )*(?!kitchen$|bedroom$|bathroom$|office$|room$)\w.*$",
        r"^(?:please |can you |could you )*(?:turn|switch) .+ (?:on|off)$",
        r"^(?:please |can you |could you )*(?:add|put) .+ (?:to|on) .*\blist$",
        r"^(?:please |can you |could you )*(?:remove|take|delete) .+ (?:from|off) .*\blist$",
        r"^(?:please )?(?:cancel|stop|pause|resume|read|clear|show|list|check|close|open|lock"
        r"|unlock|confirm|repeat|delete) (?:the |my |all |that |it)\w*",
        r"^(?:please )?convert .+ (?:to|into|in) \w+",
        r"^(?:what|what's|who|who's|where|where's|when|when's|how|how's|which|why|is|are|do|does"
        r"|did|will|have|has) \w+ \w+",
        r"^(?:can|could|would|will) you \w+ \w+ \w+",
    )
)


def reads_complete(text: str) -> Completeness:
    """Judge a transcript by its words.

    Args:
        text: Interim or final transcript; case and punctuation do not matter.

    Returns:
        INCOMPLETE when it ends in mid-phrase, digits or spelling; COMPLETE for a short answer, or a
        question or request that has its object; else NEUTRAL. Empty text is NEUTRAL.
    """
    words = re.findall(r"[\w']+", text.lower().replace("’", "'"))
    if not words:
        return Completeness.NEUTRAL
    plain = " ".join(words)
    if plain in _SHORT_ANSWERS:
        return Completeness.COMPLETE
    if _is_incomplete(plain, words[-1]):
        return Completeness.INCOMPLETE
    if any(pattern.search(plain) for pattern in _COMPLETE):
        return Completeness.COMPLETE
    return Completeness.NEUTRAL


def _is_incomplete(plain: str, last_word: str) -> bool:
    if last_word == "on":
        return re.match(r".*\b(?:turn|switch|keep|leave) \w+ .*on$|.*\bgoing on$", plain) is None
    if last_word in _DANGLING:
        return True
    if any(pattern.search(plain) for pattern in _INCOMPLETE):
        return True
    digits = _DIGIT_GROUP.search(plain)
    return digits is not None and not _CLOCK.search(plain)
