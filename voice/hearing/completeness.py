"""Whether a transcript reads as if its speaker were done: words alone, no audio and no model.

It decides how long a silence must be before a turn is taken to be over, so its mistakes are cheap
on one side (waiting longer) and dear on the other (cutting the user off): in doubt it says neutral.
It knows English.
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


_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|\d+)"
_NUMBER = (
    rf"(?:{_DIGIT}|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half)"
)
_SIZE = r"(?:small|medium|large|tall|grande|big|iced|hot|dark|light|single|double|triple)"

_ROOM = (
    r"(?:kitchen|bedroom|bathroom|office|(?:living|dining|guest|laundry) room|garage|hallway"
    r"|basement|attic|front|back|guest|laundry|dining|ceiling|all)"
)

_TOP_LEVEL = r"(?:com|org|net|edu|gov|info|io|uk|us|de|fr|es|it|eu|ca|au|in)"

_POLITE = r"(?:please |can you |could you |would you |will you )*"

_DANGLING = _entries(
    # conjunctions
    "and or but because if plus minus times divided while unless "
    # prepositions that seldom end a request
    "to for at of from with by about into until till per than between in after before as "
    # articles, possessives, quantifiers
    "a an the my your our their his some any many another every "
    # hesitation
    "um uh er erm hmm "
    # auxiliaries that want a verb or an object
    "are was were what's who's where's that's it's i'm i'd i'll i've don't let's "
    # spelling and addresses, "living room"
    "on dot dash underscore living"
)

_INCOMPLETE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:do|does|did|can|could|would|will|should) (?:you|i|we|they)$",
        r"^are (?:you|we|they)$",
        r"^(?:please )?(?:turn|switch)(?: (?:on|off|up|down))?$",
        r"^(?:can|could|would|will) (?:you )?(?:please )?(?:turn|switch)(?: (?:on|off))?$",
        r"^(?:okay|ok) (?!thanks|bye|goodbye|great|good|cool)\w+$",
        r"\b(?:remind|give|tell|get|make|show) me$",
        r"\b(?:would|i'd|we'd)(?: also| really)? like$",
        r"^(?:i|we) (?:would|will|could|can|should|also|'d)(?: also)?$",
        r"\bhow do you (?:say|spell|pronounce|make|cook)$",
        r"^(?!what|how|who|which).*\b(?:i|we|you|to|please)"
        r" (?:want|need|have|get|add|set|buy|call)$",
        r"^(?:please )?(?:set|add|convert|remind|give|tell|put|make|get|start|order)$",
        r"(?<!\bit)(?<!\bthat)(?<!\bthis) is$|^(?:it|that|this) is$",
        rf"\b{_NUMBER} point$",
        rf"\btimer for (?:\w+ )?{_NUMBER}$",
        rf"\b{_NUMBER} (?:dollar|pound|degree|hour and {_NUMBER}|hours and {_NUMBER})$",
        r"^(?:please )?convert (?!.*\b(?:to|into|in)\b).*$",
        rf"^(?!.*\b(?:make|change)\b).*\b(?:a|an|the|one|two|three|four) {_SIZE}$",
        r"(?:^| )(?!(?:a|p) m$|t v$)[b-hj-z] [a-z]$",
        r"^(?:how|what|when|where|who|which)$",
        r"^(?:how|which|whose|what) (?!else$|now$|about it$|come$|is it$)\w+$",
        rf"^{_POLITE}(?:set|start) (?:a|an|the|another)(?: new)? (?:timer|alarm)$",
        rf"^(?:what is|what's|how much is)(?: {_NUMBER}| a| and)* {_NUMBER}(?: percent)?$",
        r"^how many \w+(?: \w+)?(?: (?:is|are|do|does|in))?$",
        rf"^(?:is|are) the {_ROOM}$",
        rf"\b(?:turn|switch) (?:on|off) (?:the |my |all )*{_ROOM}$",
        rf"^{_POLITE}(?:add|put) (?!me\b).+ (?:to|on) (?:the|my) (?!.*list$)\w+(?: do)?$",
        # An address of mail or web without its last part.
        r"\bat (?:gmail|yahoo|hotmail|outlook|icloud|proton)$",
        rf"\bdot (?!{_TOP_LEVEL}$)\w+$",
        r"\b(?:on|off|from|to) (?:the|my) (?:shopping|grocery|to do|packing|wish|christmas)$",
    )
)
_CLOSED_BY_PREPOSITION = re.compile(
    r"\b(?:turn|switch|keep|leave) \w+ .*on$|\b(?:going|hold|come|is \w+ \w+|are \w+ \w+) on$"
    r"|^(?:is|are) .+ on$|\b(?:set|speaking|talking|listening) to$|\b(?:trading|stock|is it) at$"
    r"|^lights on$|^\w+(?: \w+)? lights on$|^what .+ (?:in|for|about|of|with)$|\bthat'll be$"
)
TELEPHONE_DIGITS = 10
"""As many make a whole number; fewer may go on."""
# No more of them than it takes to tell: a search for all takes the square of the time.
_DIGIT_GROUP = re.compile(rf"(?:^| )({_DIGIT}(?: {_DIGIT}){{1,{TELEPHONE_DIGITS}}})$")
_CLOCK = re.compile(r"\b(?:at|for|to) \w+ oh \w+$")

_SHORT_ANSWERS = _entries(
    "yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|correct|exactly|stop|cancel|pause|resume|"
    "continue|quit|help|repeat|again|thanks|thank you|no thanks|no thank you|yes please|"
    "yes that's right|that's right|that's correct|that's it|that's all|that is all|that'll be all|"
    "nothing else|goodbye|good bye|bye|bye bye|hello|hi|hello there|hi there|never mind|nevermind|"
    "forget it|of course|go ahead|please do|not now|good morning|good evening|good night|i'm done|"
    "what time is it|today|tomorrow",
    "|",
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
        rf"^{_POLITE}(?:turn|switch)"
        rf" (?:on|off) (?!(?:the |my |all )*{_ROOM}?$)\w.*$",
        rf"^{_POLITE}(?:turn|switch) .+ (?:on|off)$",
        rf"^{_POLITE}(?:add|put) .+ (?:to|on) .*\blist$",
        rf"^{_POLITE}(?:remove|take|delete) .+ (?:from|off) .*\blist$",
        r"^(?:please )?(?:cancel|stop|pause|resume|read|clear|show|list|check|close|open|lock"
        r"|unlock|confirm|repeat|delete) (?:the |my |all |that |it)\w*",
        r"^(?:please )?convert .+ (?:to|into|in) \w+",
        r"^(?:what|what's|who|who's|where|where's|when|when's|how|how's|which|why|is|are|do|does"
        r"|did|will|have|has) \w+ \w+",
        r"^(?:can|could|would|will) you \w+ \w+ \w+",
    )
)


# Several ask about the same words, again at every frame of a pause.
@lru_cache(maxsize=64)
def reads_complete(text: str) -> Completeness:
    """Judge a transcript by its words.

    Args:
        text: Interim or final transcript; case and punctuation do not matter.

    Returns:
        INCOMPLETE when it ends in mid-phrase, digits or spelling; COMPLETE for a short answer, or a
        question or request that has its object; else NEUTRAL. Empty text is NEUTRAL.
    """
    words = _words(text)
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


def is_short_answer(text: str) -> bool:
    """Whether the text is an answer or a command of a word or two that wants nothing more."""
    return " ".join(_words(text)) in _SHORT_ANSWERS


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("’", "'"))


def _is_incomplete(plain: str, last_word: str) -> bool:
    if _CLOSED_BY_PREPOSITION.search(plain):
        return False
    if last_word in _DANGLING:
        return True
    if any(pattern.search(plain) for pattern in _INCOMPLETE):
        return True
    digits = _DIGIT_GROUP.search(plain)
    if digits is None or _CLOCK.search(plain):
        return False
    return len(digits[1].split()) < TELEPHONE_DIGITS
