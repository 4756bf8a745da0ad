"""Remarks beside what a message asks for: "I'm leaving in ten minutes, turn off the light".

A message is cut into clauses at punctuation and before a reason. A clause that tells something asks
for nothing, so a call with values from such clauses alone was not asked for: "wake me at seven
because work begins at eight" wants one alarm. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from voice.types import ToolCall, ToolSpec
from voice.understanding.english import NUMBERS, VERBS, asks, is_courteous, plain, word_set

_REASON = (
    r"(?:because|cause|cos|since (?:i|we|my|our|the|it|he|she|they|work|school)\b|as (?:i|we)\b)"
)
_CUT = re.compile(rf"[.!?;,]+\s+|\s+(?={_REASON})", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:in|at|on|by|with|for|from|to|until|and (?:i|my|we|the)|lol|haha)\b")
"""The beginning of a clause that belongs to the one before it."""
_OPENING = (
    r"(?:(?:oh|well|so|right|honestly|you know|hey|ah|ugh|wow|and|but|hmm+|okay|ok|yeah|no|wait) )*"
)
_TELLING = re.compile(
    rf"{_OPENING}"
    r"(?:i|i'm|i've|my|our|his|her|their|he|she|he's|she's|they|they're|they've|we|we're|we've|it"
    r"|it's|its|this|these|those|that|that's|there|there's|you|you're|you've|your|some(?:one|body)"
    r"|every(?:one|body)|no(?:body|thing)|mum|mom|dad|gran|grandad"
    r"|the \w+(?: \w+)? (?:is|are|was|were|has|have|had|keeps|won|lost|broke|went|came|did|just))\b"
)
_DOING = re.compile(
    rf"{_OPENING}(?!any|every|some|no|dur|shopp|stri|includ|start|end|morn|even|follow|br|r)"
    r"\w{2,}ing\b(?! list)"
)
"""Says what the speaker is doing: "ordering pizza"."""
_WANTING = re.compile(
    r"\b(?:needs?|wants?|\w+'(?:ll|d)|please|(?:can|could|will|would) (?:you|i|we)|instead|should"
    r"|too|as well|(?:the|that|this|another|small|large|medium) one|both|the rest|meant|mean|said"
    r"|only|wrong|without|don't|do not|wanna|would like"
    r"|prefer|looking for|wondering|(?<!is )asking|timers?|alarms?|lists?|reminders?|orders?)\b"
)
_SHORTEST_TALE = 4
"""Fewest words of a remark."""
_NUMBER = rf"(?:\d{{1,3}}|{'|'.join(sorted(NUMBERS - word_set('half quarter noon midnight')))})"
_AGE_OR_LENGTH = re.compile(
    rf"{_OPENING}(?:(?:he|she|they|i|we|my \w+)(?:'s|'re|'m| is| are| am)"
    rf" (?:(?:only|just|nearly|almost|about) )?{_NUMBER}(?: {_NUMBER})?"
    r"(?: (?:and a half|(?:years?|months?|weeks?)(?: old)?))*"
    r"|(?:(?:for|about|around|maybe|perhaps|nearly|almost|over|like) )*"
    rf"(?:{_NUMBER}|an?|a few|a couple of) (?:day|week|month|year)s?"
    r" (?:i'd say|i would say|i think|i guess|i suppose|or so|now|already|so far|ever since)\b.*)"
)
"""Somebody's age, or how long something has lasted: "she's nearly eight"."""
_SUPPOSING = re.compile(
    r"\b(?:if (?:some|any)thing|in case"
    r"|if (?:i|we|he|she|they) (?:have to|need to|can't|cannot)"
    r"|(?:can|could|may|possible for|am) (?:i|we) (?:\w+ )?(?:to )?"
    r"(?:change|cancel|move|swap|pay|call|ring|decide)\b(?! (?:\w+ )?to).* (?:later|afterwards))\b"
)
"""What may happen later: "can I cancel it if something comes up", "may I pay later"."""
_TOLD_AS_OVER = re.compile(
    r"\b(?:ago|yesterday|last (?:night|week|month|year|\w+day)|began|started|fell|happened|woke)\b",
    re.I,
)
_TOLD_TO_LAST = re.compile(
    r"\b(?:since|(?:has|had|i've|he's|she's) (?:\w+ )?(?:a|an|my|the|been|had)"
    r"|it's (?:\w+ )?(?:been|had)|for (?:\w+ )?(?:days?|weeks?|months?|years?))\b",
    re.I,
)
_BEFORE_ASKING = r"(?:(?:and|so|but|also|oh|hey|ok|okay|well|um|uh|sorry|wait|please|no|yes) )*"
_ASKS_ELSE = re.compile(
    rf"{_BEFORE_ASKING}(?:what(?:'s| is| are| was| were| will)|who|whose|why(?! not\b)|where"
    r"|how (?:long|much|many|far|old|often|do|does|did))\b"
    r"(?!.*\b(?:free|availab\w+|have|got|left|there|slots?|times?|earliest|latest|first|next|soonest"
    r"|openings?|appointments?|come|see|offer|possible|any\w*|fit|book|suit\w*|good|best|works?)\b)"
    r"|.*\b(?:do|does|are|is|will) (?:you|they|the \w+)"
    r" (?:(?!have\b|got\b|any)\w+ ){0,2}(?:open|closed?|shut)\b"
)
_ASKS_WHAT_WAS_SAID = re.compile(
    rf"{_BEFORE_ASKING}did you (?:\w+ )?(?:say|mean|hear|write|put|note)\b"
)
_ASKED_ABOUT = re.compile(rf"{_BEFORE_ASKING}(?:what|how)(?:'s| is| are| will)?(?: about)?")
"""Words before a value that is itself asked about: "what's Tuesday like"."""
_COMMANDS = VERBS - word_set("""
    are can could did do does don't figure have how i'd i'll is let look ring time what what's when
    where which who will work would
""")
_COMMANDING = re.compile(
    r"(?:(?:so|and|then|but|please|ok|okay|now|just|also|can you|could you|would you) )*"
    rf"(?:{'|'.join(sorted(_COMMANDS))})\b"
)
_COMMANDING_OF = re.compile(
    rf"(?:(?:hello|hi|i|we|can|could|may|would|like|love|want|need|have|to|i'd|we'd|i'm|i'll) )*"
    rf"{_COMMANDING.pattern}(?! (?:it|that|this|me|us|him|her|them|one)\b)"
)


def only_tells(message: str) -> bool:
    """Whether a message only tells something, and neither asks nor wants anything.

    >>> only_tells("the train was so packed I stood on one leg"), only_tells("my bread is ready")
    (True, True)
    >>> only_tells("I need the train times"), only_tells("turn it off, it was so loud")
    (False, False)
    >>> only_tells("I'm leaving in ten minutes, turn off the light")
    False
    """
    words = plain(message)
    if _AGE_OR_LENGTH.fullmatch(words):
        return True
    told = _TELLING.match(words) is not None and len(words.split()) >= _SHORTEST_TALE
    if not told or message.rstrip().endswith("?") or asks(words) or _WANTING.search(words):
        return False
    _, *others = (plain(message[start:end]) for start, end in _spans(message))
    return not any(_COMMANDING.match(one) or asks(one) for one in others)


def commands(clause: str) -> bool:
    """Whether a clause wants something done to a thing that it names.

    >>> commands("please book Thor in"), commands("make it Thor"), commands("under Thor")
    (True, False, False)
    """
    return _COMMANDING_OF.match(plain(clause)) is not None


def supposes(clause: str) -> bool:
    """Whether a clause is about what may happen later, and so is not yet a wish.

    >>> supposes("can I change it later if something comes up"), supposes("can we do it later")
    (True, False)
    """
    return _SUPPOSING.search(plain(clause)) is not None


def told_of_past(clause: str, lasting: bool) -> bool:
    """Whether a clause tells of the past; with ``lasting`` also of what has lasted until now.

    >>> told_of_past("it has been dripping", True), told_of_past("it has been dripping", False)
    (True, False)
    """
    over = _TOLD_AS_OVER.search(clause) is not None
    return over or (lasting and _TOLD_TO_LAST.search(clause) is not None)


def asks_else(clause: str, before: str) -> bool:
    """Whether a clause asks neither for nor about the value behind the words ``before``.

    >>> asks_else("what's the weather like on Friday", "what's the weather like")
    True
    >>> asks_else("what's Friday like", "what's"), asks_else("is Friday free", "is")
    (False, False)
    """
    if asks_what_was_said(clause):
        return True
    return _ASKS_ELSE.match(plain(clause)) is not None and not _ASKED_ABOUT.fullmatch(plain(before))


def asks_what_was_said(clause: str) -> bool:
    """Whether a clause asks what the agent said or heard: "did you say Friday"."""
    return _ASKS_WHAT_WAS_SAID.match(plain(clause)) is not None


def asking_sentence(message: str) -> str:
    """The only sentence of a message that is no remark or courtesy; otherwise the whole message.

    >>> asking_sentence("It's no secret. Remember that I like tea.")
    'Remember that I like tea.'
    """
    sentences = re.split(r"(?<=[.!?])\s+", message.strip())
    asking = [
        one
        for one in sentences
        if not (is_courteous(one) or all(tells for _, tells in clauses_told(one)))
    ]
    return asking[0] if len(asking) == 1 else message


def asked_for(
    request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """Drop the calls whose values all come from remarks beside the request.

    All calls are kept if none would be left. A remark may name what goes on a list ("we are out of
    milk, and add eggs"), so a call of a tool that is also called for the request itself is dropped
    only if the tool has readers for all it requires. Calls that gather or place an order are kept,
    because orders are often told ("her mum's having a tea", "it's for Murray"), unless another call
    says the same and more.
    """
    told, asked = "", ""
    for said, tells in clauses_told(request):
        clause = f" {plain(said)} "
        told, asked = (told + clause, asked) if tells else (told, asked + clause)
    beside = [
        call for call in calls if _is_said(call, told) and not _is_said(call, asked, some=True)
    ]
    names = {call.name for call in calls if call not in beside}
    dropped = [
        call
        for call in beside
        if (call.name not in names or _reads_all(tools.get(call.name)))
        and not (_is_ordered(tools.get(call.name)) and not _says_less(call, calls))
    ]
    return tuple(call for call in calls if call not in dropped) if names else tuple(calls)


def _is_ordered(spec: ToolSpec | None) -> bool:
    """Whether a tool gathers an order that is read back before it is placed, or places it."""
    return spec is not None and bool(spec.asks_next or spec.confirmation)


def _says_less(call: ToolCall, calls: Sequence[ToolCall]) -> bool:
    """Whether another call of the same tool has the same values and more."""
    return any(c.name == call.name and call.arguments.items() < c.arguments.items() for c in calls)


def _reads_all(spec: ToolSpec | None) -> bool:
    return spec is not None and {*spec.required} <= {*spec.readings}


def _is_said(call: ToolCall, text: str, some: bool = False) -> bool:
    """Whether all values of a call, or at least ``some``, are words of a text."""
    said = [f" {plain(str(value))} " in f" {text} " for value in call.arguments.values()]
    return bool(said) and (any(said) if some else all(said))


def _spans(message: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CUT.finditer(message):
        yield start, cut.start()
        start = cut.end()
    yield start, len(message)


def clauses_told(message: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a message, and for each whether it is a remark."""
    tells = False
    for start, end in _spans(message):
        words = plain(message[start:end])
        if not (tells and _GOES_ON.match(words)):
            tells = re.match(_REASON, words) is not None or (
                (_TELLING.match(words) or _DOING.match(words)) is not None
                and not (message[end : end + 1] == "?" or asks(words) or _WANTING.search(words))
            )
        yield message[start:end], tells
