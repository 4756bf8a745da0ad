"""Whether a call does the opposite of what was asked: the last guard before a tool runs.

The first word of a tool's name says what it does (``cancel_alarm``), and the verbs of the message
say what is asked: both must begin something, or both end something. Words of arguments are not
verbs of the request ("remind me to cancel the subscription"). A question for facts changes nothing,
nor does "do not cancel it"; a thing named only to be denied is not made. Nothing is known of tools
whose names have no such verb, and they are not refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from voice.types import ToolCall, ToolSpec
from voice.understanding.english import asks, without_article

UNSURE = "Sorry, I am not sure what to do there, so I did nothing."
LEFT_ALONE = "All right, I won't."
NOTHING_INSTEAD = "Sorry, I did not get what to put in its place, so I did nothing."
KEPT = "All right, I'll leave it."
_LONGEST_NAME = 3
"""Most words of a question's subject that are repeated in the answer."""

_BEGINNING = frozenset(("set", "add", "create", "make", "start", "begin", "order", "book", "new"))
ENDING = frozenset((
    "cancel", "delete", "remove", "clear", "erase", "stop", "end", "drop", "dismiss", "disable",
    "empty", "undo",
))  # fmt: skip
_CHANGING = frozenset((
    "change", "update", "move", "rename", "reschedule", "place", "confirm", "send", "transfer",
    "buy", "pay", "lock", "unlock", "open", "close", "turn", "switch", "play", "call", "forget",
    "write",
))  # fmt: skip
_ENDS = re.compile(
    r"\b(?:cancel|delete|remove|clear|erase|stop|kill|scrap|scratch|(?<!a )drop(?! of)|dismiss"
    r"|abort|disable|wipe|empty|undo|quit|get rid of|never ?mind (?:the|my|that|about))\b"
    r"|\b(?:turn|switch|shut|take|cross|strike|tick|check|call)"
    r"(?: (?!(?:and|then|on)\b)[\w']+){0,5} (?:off|out)\b"
    r"|\b(?:don't|do not|won't|no longer|never|not)(?: [\w']+)? (?:need(?:ed)?|want)\b"
    r"|(?<!n't )(?<!not )(?<!never )(?<!me )(?<!to )\bforget (?:the|my|that|about)\b"
)
_NOT_TO_END = re.compile(
    r"(?<!why )(?:\b(?:do|must|should|could|would|can)(?:n't| not)|\bnever|\bnot to|\bwithout)"
    r"(?: (?:you|please|ever|just|yet|have to|need to|want you to|dare|to)){0,3}"
    r" (?:cancel|delete|remove|clear|erase|stop|kill|drop|disable|wipe|empty|turn(?: \w+){0,4} off"
    r"|switch(?: \w+){0,4} off)\w*"
)
_BEGINS = re.compile(
    r"\b(?:set|add|put|create|start|begin|schedule|order|book|note|remember|remind|wake|buy|have"
    r"|get|bring|give|need|want|like|take|make)\b"
)
_SETS = re.compile(
    r"\b(?:set|add|create|schedule|remind|wake"
    r"|(?:start|begin)(?! .*\b(?:over|new|again|fresh)\b))\b"
)
"""Verbs that cannot be part of a request to end something, unlike "make sure it is off"."""
_REPLACES = re.compile(r"\b(?:instead|swap|replace|exchange|rather than)\b")
_MAKES = re.compile(r"\bmake (?!sure\b|.* go\b)")
_IS_NOT = re.compile(r" (?:is|was|are|were)(?:n't| not) (?!needed|wanted)")
"""Behind a thing, says what it is not, and so does not take it away: "the tea wasn't decaf"."""
_TAG = re.compile(r"\b(?:is|was|are|were|do|does|did|has|have)n't (?:it|that|they|there)\W*$")
"""Ends a remark like a question: "that's a lot of sugar, isn't it"."""
_KEEPS = (
    r"\b(?:keep|leave|stick with|stay with) (?:it|that|this|them|the|my|all|everything)\b"
    r"(?! (?:call|chat|conversation|session)\b|.* out\b)"
)
_NO_MORE = r"\b(?:just|only) (?:the|my|that|those|this)\b"
_HYPOTHETICAL = re.compile(
    r"\bif .*\b(?:what|how (?:long|much|many)) (?:would|will|do|does|happens)\b"
    r"|^(?:does|did) \w+ing\b"
)
_DENIED = (
    r"(?:(?<!why )(?<!if )\bnot|\b(?:don't|do not|didn't|did not) (?:want|need|order|add|mean|say)"
    r"|\b(?:instead of|rather than)) (?:(?:an?|the|any|some) )?"
)
_NOT = re.compile(r"n't\b|\b(?:not|never|no)\b")


class _Aim(Enum):
    """What a request asks for, or what a tool does.

    Attributes:
        BEGIN: Something is begun or made.
        END: Something is ended or removed.
        SET: Something is set to a value, which may begin or end it.
        LEARN: Facts are asked for.
        REST: Something is not to be ended ("do not cancel it").
        KEEP: Something is to stay as it is.
    """

    BEGIN = auto()
    END = auto()
    SET = auto()
    LEARN = auto()
    REST = auto()
    KEEP = auto()


@dataclass(frozen=True, slots=True)
class Opposed:
    """Calls that are not to be made, and what the agent says if no other call is made."""

    calls: tuple[ToolCall, ...] = ()
    answer: str = UNSURE


def opposed(
    message: str,
    calls: Sequence[ToolCall],
    setters: frozenset[str] = frozenset(),
    choosing: bool = False,
    whole: str = "",
) -> Opposed:
    """The calls of an answer that do the opposite of what the user's message asks.

    There are none if another call of the answer does what is asked: then the message asks for both.

    Args:
        message: What is asked.
        calls: The calls of the answer.
        setters: Names of tools that set something to a value, and so may end it as well.
        choosing: Whether the user was asked which thing is meant: then "just the milk" may name
            what is to go, and does not mean that it is to stay.
        whole: The whole message, if ``message`` is a part of it.
    """
    denied = tuple(call for call in calls if _is_denied(_plain(message), call, setters))
    if denied:
        return Opposed(denied, KEPT)
    said = _plain(whole or message)
    gone = [call for call in calls if _verb(call.name) in ENDING]
    # What is made again, and no different, is in its own place.
    again = [one for one in calls if any(one.arguments == two.arguments for two in gone)]
    if gone and len(again) == len(calls) and not asks_to_end(message):
        if _REPLACES.search(said) or _MAKES.search(_plain(message)):
            return Opposed(tuple(calls), NOTHING_INSTEAD)
        things = (_plain(str(value)) for call in gone for value in call.arguments.values())
        if any(_IS_NOT.match(said.partition(thing)[2]) for thing in things if thing):
            return Opposed(tuple(calls))
    aims = [_Aim.SET if call.name in setters else _aim_of_tool(call.name) for call in calls]
    arguments = [str(value) for call in calls for value in call.arguments.values()]
    asked = _aim_of_request(_plain(message), arguments)
    keeps = re.search(_KEEPS if choosing else rf"{_KEEPS}|{_NO_MORE}", _plain(message))
    if asked is None and keeps and not _REPLACES.search(_plain(message)):
        asked = _Aim.KEEP
    if asked is _Aim.LEARN:
        wrong = [call for call in calls if _verb(call.name) in _BEGINNING | ENDING | _CHANGING]
        remark = _TAG.search(_plain(message))
        return Opposed(tuple(wrong), UNSURE if remark else _unknown(message, wrong))
    if asked is None or asked in aims:
        return Opposed()
    fine = {None, asked} | ({_Aim.SET} if asked in (_Aim.BEGIN, _Aim.END) else set())
    fine |= {_Aim.BEGIN, _Aim.SET} if asked is _Aim.KEEP else set()
    others = (call for call, aim in zip(calls, aims, strict=True) if aim not in fine)
    answers = {_Aim.REST: LEFT_ALONE, _Aim.KEEP: KEPT}
    return Opposed(tuple(others), answers.get(asked, UNSURE))


def _is_denied(said: str, call: ToolCall, setters: frozenset[str]) -> bool:
    """Whether a message names what a call makes only to say that it is not wanted."""
    if _verb(call.name) not in _BEGINNING or call.name in setters or not call.arguments:
        return False
    value = _plain(str(next(iter(call.arguments.values()))))
    thing = re.escape(without_article(value))
    # On a list "no milk" says that milk is needed; otherwise it says that it is not wanted.
    no = "" if call.name.startswith("add") else r"\bno |"
    rest, count = re.subn(rf"(?:{no}{_DENIED}){thing}\b", " ", said)
    return count > 0 and re.search(rf"\b{thing}\b", rest) is None


def ends(tool: str) -> bool:
    """Whether a tool ends something, by its name.

    >>> ends("cancelAlarm"), ends("set_alarm")
    (True, False)
    """
    return _verb(tool) in ENDING


def asks_to_end(message: str) -> bool:
    """Whether a message has words for ending something."""
    return _ENDS.search(_plain(message)) is not None


def _unknown(message: str, calls: Iterable[ToolCall]) -> str:
    """The answer to a question that the model took for a request; names its subject if short."""
    values = (str(value) for call in calls for value in call.arguments.values())
    named = (one for one in values if one and one.lower() in message.lower())
    thing = re.sub(r"^(?:the|an?|my|in) ", "", next(named, ""), flags=re.I)
    about = f" about the {thing}" if 0 < len(thing.split()) <= _LONGEST_NAME else ""
    return f"Sorry, I do not know that{about}."


def setters(tools: Iterable[ToolSpec]) -> frozenset[str]:
    """Names of the tools that set a thing to a value, and so require both."""
    return frozenset(
        tool.name
        for tool in tools
        if re.match("set(?![a-z])", tool.name) and len(tool.required) > 1
    )


def _aim_of_tool(name: str) -> _Aim | None:
    if _verb(name) in ENDING:
        return _Aim.END
    return _Aim.BEGIN if _verb(name) in _BEGINNING else None


def _verb(name: str) -> str:
    """The first word of a tool's name: "cancel" for ``cancelAlarm``."""
    return next(iter(re.findall(r"[A-Z]?[a-z]+", name)), "").lower()


def _aim_of_request(said: str, arguments: Sequence[str]) -> _Aim | None:
    """What a request is for; None if its verbs do not tell, or tell both."""
    rest = said
    for argument in sorted(map(_plain, arguments), key=len, reverse=True):
        rest = re.sub(rf"\b{re.escape(argument)}(?!\w)", " ", rest, count=1)
    rest = " ".join(rest.split())
    if _HYPOTHETICAL.search(said) or _TAG.search(said):
        return _Aim.LEARN
    forbidden = _NOT_TO_END.sub(" ", rest)
    if forbidden != rest:
        plain = not _ENDS.search(forbidden) and not _SETS.search(forbidden)
        return _Aim.REST if plain else None
    left = _ENDS.sub(" ", rest)
    if left != rest:
        return None if _BEGINS.search(left) else _Aim.END
    if _asks(said, arguments) and not _SETS.search(rest):
        return _Aim.LEARN
    return _Aim.BEGIN if _SETS.search(rest) and not _NOT.search(rest) else None


def _asks(said: str, arguments: Iterable[str]) -> bool:
    """Whether a message asks for facts, in all sentences that contain an argument.

    "Where was I? Yes, milk" does not: the sentence with "milk" is no question.
    """
    values = [*map(_plain, arguments)]
    sentences = re.split(r"[.!?]+\s+", said)
    about = [one for one in sentences if any(value in one for value in values)]
    return asks(said) and all(map(asks, about))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")
