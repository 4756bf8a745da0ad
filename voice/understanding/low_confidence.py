"""Whether an answer is likely to fit what was said, and what the agent says if it is not.

A small model makes calls for words that ask for nothing of the kind. Two signs give such calls
away: the model was not sure of them, and they carry little of what was said. So a doubtful call
that changes something becomes a question, and the result of one that only reads comes with a word
of caution. If a call carries none of the words, the agent asks what was meant rather than offer the
call. A bare "I see" answers a remark, but not a request, so a question follows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from voice.tools import phrasing
from voice.tools.registry import ToolError
from voice.types import ToolCall, ToolSpec
from voice.understanding.corrections import MAKING
from voice.understanding.english import (
    ARTICLES,
    GRAMMAR,
    NUMBERS,
    VERBS,
    bare,
    disagrees,
    plain,
    says_only_yes,
    without_article,
    word_set,
)
from voice.understanding.missed_requests import carried
from voice.understanding.tool_sentences import closing_question

NOT_SURE = "I am not sure that this is what you mean."
ANYTHING_TO_DO = "Is there anything you want me to do?"
I_SEE = f"I see. {ANYTHING_TO_DO}"

LEAST_SURE = 0.84
"""Lowest score of a call that is not in doubt: 9/10 the model's confidence, 1/10 the share of the
request's words that are carried. Chosen in docs/LOG.md (2026-11-26)."""

LEAST_SURE_OF_NAMED = 0.75
"""The same for a single call that carries every word and whose thing is named: "a reminder: …"."""

_CHANGING = re.compile(r"(?:make|put|set|turn|switch) (?:it|this|that|them|the|my)\b")
_ACKNOWLEDGING = word_set("""
    ah alright good got great i it know lovely nice oh ok okay right see sounds sure that
    that's to well
""")
_COUNTING = NUMBERS | word_set("a an another some")
_MOST_ASKED = 2
"""Most calls in one question; with more, nobody would know what a "yes" does."""
_LONGEST_THING = 3
"""Most words of the thing that a request names."""
_LONGEST_PHRASE = 10
"""Most words of a tool's description that are spoken."""
_CLAIMING = re.compile(
    r"\bi(?:'ve| have) (?:(?:just|now|already) )*(?:\w{2,}ed|done|made|put|sent|set)\b"
    r"|(?:\w's|\b(?:is|are|all)) (?:(?:all|been|now) )*(?:added|booked|cancelled|changed|deleted"
    r"|done|moved|ordered|removed|saved|sent|set|sorted|taken care of)\b"
    r"|^(?:\w+ )?done$"
)
_DECLINING = re.compile(r"\b(?:can't|cannot|no tool|not good at|won't|did not get|not sure)\b")


def in_doubt(
    confidence: float | None,
    request: str,
    calls: Sequence[ToolCall],
    tools: Mapping[str, ToolSpec],
) -> bool:
    """Whether the calls of an answer are hardly what was asked for.

    Never if the model's confidence is unknown.
    """
    if confidence is None:
        return False
    share = carried(request, calls, tools)
    plainly = share == 1 and len(calls) == 1 and _is_named(calls[0], request)
    return (9 * confidence + share) / 10 < (LEAST_SURE_OF_NAMED if plainly else LEAST_SURE)


def asked_about(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> str:
    """The question whether calls are wanted, in the tools' own words or from their descriptions."""
    meant = [in_words(call, tools[call.name]) for call in calls]
    if all(meant):
        return f"{phrasing.sentence(phrasing.joined(meant))}, is that right?"
    wanted = dict.fromkeys(_phrase(call, tools[call.name]) for call in calls)
    return f"Do you want me to {', and to '.join(wanted)}?"


def left_undone(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> str:
    """What is said where calls that were asked about are not made: "I left this out: a latte."."""
    return f"I left this out: {phrasing.joined([in_words(c, tools[c.name]) for c in calls])}."


def _is_named(call: ToolCall, request: str) -> bool:
    """Whether a request names what a call makes: "remind me", "an alarm"."""
    thing = re.escape(call.name.rpartition("_")[2])
    return (
        re.search(rf"\b(?:{thing}s?|{thing.removesuffix('er')} me)\b", plain(request)) is not None
    )


def wants_a_change(request: str) -> bool:
    """Whether a request asks to change a thing, which no read-only tool does.

    >>> wants_a_change("please make it warmer"), wants_a_change("make five euros pounds")
    (True, False)
    """
    return _CHANGING.match(bare(request)) is not None


def worth_asking(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> tuple[ToolCall, ...]:
    """The doubtful calls that a person could have meant; none if they are too many.

    Left out are calls that say a thing twice ("put camping on a list: camping"), calls that repeat
    another, and read-only calls beside ones that change something. If the tools have words of their
    own for all the calls, as for drinks, all are asked about.
    """
    if all(in_words(call, tools[call.name]) for call in calls):
        return tuple(calls)
    kept: dict[tuple[str, str], ToolCall] = {}
    for call in calls:
        values = [without_article(plain(str(value))) for value in call.arguments.values()]
        if len({*values}) == len(values):
            kept.setdefault((call.name, next(iter(values), "")), call)
    changing = [call for call in kept.values() if not tools[call.name].read_only]
    return tuple(changing or kept.values()) if len(changing or kept) <= _MOST_ASKED else ()


def named(request: str, counted: bool = False) -> str:
    """The thing that a request names, if it says nothing else: "oh and a croissant".

    Args:
        counted: Whether an article or a number has to stand before it.
    """
    small = GRAMMAR | NUMBERS
    words = re.split(r"\b(?:to|for|on|at|in)\b", bare(request))[0].split()
    before = ""
    while words and words[0] in small:
        before = words.pop(0)
    while words and words[-1] in small:
        words.pop()
    short = len(words) <= _LONGEST_THING and VERBS.isdisjoint(words)
    return " ".join(words) if short and (not counted or before in _COUNTING) else ""


def names_nothing(call: ToolCall, spec: ToolSpec) -> bool:
    """Whether a call makes something of a text that names nothing: "both", "put it on the"."""
    given = call.arguments
    values = [plain(str(given[name])).split() for name in spec.free_texts if name in given]
    made = call.name.partition("_")[0] in MAKING
    small = (GRAMMAR | NUMBERS | ARTICLES | {"all"}) - {"half"}
    return made and any(small.issuperset(words) for words in values)


def only_agrees(said: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> bool:
    """Whether calls confirm something for a bare "yes", which no open question asked for."""
    confirm = (bool(tools[one.name].confirmation) and not one.arguments for one in calls)
    return says_only_yes(said) and all(confirm)


def leaves_open(reply: str, message: str) -> bool:
    """Whether a reply only acknowledges a message that asks for something.

    >>> leaves_open("I see.", "bin the gravy one"), leaves_open("Okay.", "no, stop")
    (True, False)
    """
    said = reply.removesuffix(closing_question(reply))
    answered = set(plain(said).split()) - _ACKNOWLEDGING
    asked = set(bare(message).split()) - GRAMMAR
    return bool(reply) and not answered and bool(asked) and not disagrees(message)


def in_words(call: ToolCall, spec: ToolSpec) -> str:
    """What a call is about, in its tool's own words, "a large latte"; empty if it has none."""
    try:
        return spec.meant(call.arguments) if spec.meant else ""
    except ToolError:
        return ""


def declines(reply: str) -> bool:
    """Whether a reply says that the agent cannot do what was asked, or has not understood."""
    return _DECLINING.search(plain(reply)) is not None


def claims(reply: str) -> bool:
    """Whether a reply says that something has been done.

    >>> claims("Good, that's done."), claims("Is that done?"), claims("It is not booked.")
    (True, False, False)
    """
    told = (one for one in re.split(r"(?<=[.!?])\s+", reply) if not one.rstrip().endswith("?"))
    return any(_CLAIMING.search(plain(one)) for one in told)


def denies(reply: str, things: Sequence[str]) -> bool:
    """Whether a reply claims that it does not know one of some things, given in the singular.

    >>> denies("Sorry, I don't know the prices.", ("menu", "price")), denies("Sorry!", ("menu",))
    (True, False)
    """
    said = plain(reply)
    denied = declines(reply) or re.search(r"\bdon't (?:know|have)\b", said)
    named = (re.search(rf"\b{re.escape(one)}s?\b", said) for one in things)
    return bool(denied) and any(named)


def _phrase(call: ToolCall, spec: ToolSpec) -> str:
    """What a call does, in words: "put milk on a list", "delete an alarm: seven"."""
    words = re.split(r"[.;:(\n]", spec.description, maxsplit=1)[0].split()
    if not 0 < len(words) <= _LONGEST_PHRASE or words[0].endswith("s"):
        # Too long to be said, or no imperative: "Gets the weather".
        words = ["use", *re.findall(r"[A-Za-z][a-z]*|\d+", call.name)]
    text = " ".join([words[0].lower(), *words[1:]])
    text = text.replace("the user's", "your").replace("the user", "you")
    values = [str(value) for value in call.arguments.values()]
    thing = re.escape(next(iter(call.arguments), "").replace("_", " "))
    if thing and (found := re.search(rf"\b(?:an?|some) {thing}\b", text)):
        text = text[: found.start()] + values.pop(0) + text[found.end() :]
    return f"{text}: {', '.join(values)}" if values else text
