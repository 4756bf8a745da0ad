"""What a caller wants done with a thing that is kept for them, such as an appointment.

There are four acts: tell about it, change it, end it, and begin another one. They are read from
words that are the same for all things: "call it off" ends an appointment as well as a delivery. A
pronoun stands for the thing only if it was just spoken of; "I cannot come" means the existing
appointment. Does not know what is kept. English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from voice.config.moments import plain_words
from voice.understanding.english import asks_what_was_done


class Act(StrEnum):
    """What is to be done with a kept thing."""

    TELL = "tell"
    CHANGE = "change"
    END = "end"
    ANOTHER = "another"


_THING = "THING"
"""Stands for the thing in patterns for words in which its names have been replaced."""
_POINTING = r"it|that|this|one|them|those|mine"
_WORDS = r"(?:\w+ ){0,3}"
_NOT_ABLE = r"(?:can not|could not|(?:not|be) (?:\w+ )?able to|unable to|not going to)"
_SOMEONE = r"(?:i|we|he|she|they|my \w+)"
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|that day)"
_COMING = rf"(?:come|attend|be there|get there|manage it|(?:make|do) (?:it|that|this|then|{_DAY}))"
_ABSENT = (
    rf"{_NOT_ABLE} (?:\w+ )?{_COMING}"
    rf"(?= (?:{_DAY}|in|on|at|for|this|next|any more|after all|because|since|then|and|but)\b|$)"
    rf"|\b{_SOMEONE} (?:will|am|are|is) not (?:be )?(?:coming|attending)\b"
    r"(?! (?:up|out|back|off|down|round|to terms)\b)"
    r"|\btake (?:me|us|him|her|my \w+) off(?= the (?:list|book|diary|calendar|schedule)|$)"
    rf"|\b(?:cancel(?:ling)?|call off)(?= (?:\w+ ){{0,3}}?(?:on|for|{_DAY})\b|$)"
)
"""Says by itself that somebody will not come to what is arranged; a symptom does not say so."""
_MISSING = rf"{_NOT_ABLE} {_WORDS}?(?:make|keep|manage|attend)\b|\b(?:have|has|going) to miss\b"
"""Says so if the thing is named."""
_MY_DIARY = re.compile(
    r"\b(?:is|was) there (?:any|some)thing .*\b(?:for|under) (?:me|us|my)\b"
    r"|\b(?:have|do) (?:i|you|we) (?:got |have )?(?:(?:any|some)thing|me|us)"
    r" (?:\w+ ){0,2}?(?:booked|down|in the (?:book|diary|system)|for (?:me|us))\b"
    r"|\b(?:am|are) (?:i|we) (?:\w+ )?(?:booked|down for|expected)\b"
    r"|\bwhat (?:\w+ ){0,2}?(?:i|we|you) (?:have |got )*(?:booked|ordered|reserved|arranged|down)\b"
)
"""Questions about the kept thing that need not name it."""
_ENDING = (
    rf"\b(?:cancel\w*|call(?:ing)? {_WORDS}?off|scrap|scratch|drop|delete|remove|forget|bin"
    rf"|get(?:ting)? rid of|give up|take {_WORDS}?off|no longer (?:need|want)\w*"
    rf"|not (?:\w+ ){{0,2}}?(?:need|want|require)\w*)\b"
)
_MOVING = (
    r"\b(?:mov(?:e|ed|ing)|chang(?:e|ed|ing)|reschedul\w+|re ?arrang\w+|shift\w*|postpon\w+"
    r"|push(?:ed|ing)?|swap\w*|switch\w*|rebook\w*|delay\w*|alter"
    rf"|put {_WORDS}?(?:off|back)|bring {_WORDS}?(?:forward|back|up))\b"
)
_MOVED_HOUSE = re.compile(
    r"\b(?:i|we|he|she|they)(?: have| has| had| am| are| is)?(?: \w+)? mov(?:ed|ing)"
    r" (?:here|house|home|flat|away|in|into|to|from)\b"
)
"""Moving house or the like, which moves nothing that is kept."""
_OTHER = r"(?:another|(?:an?|some) (?:different|other|earlier|later|sooner|new|better))"
_OTHER_TIME = (
    r"\b(?:reschedul\w+|re ?arrang\w+|rebook\w*|postpon\w+)\b"
    r"|\b(?:need|want|like|prefer|get|find|choose|pick|suggest|(?:can|could|may) (?:i|we|you)"
    rf" (?:have|do|say|try))(?: \w+)? {_OTHER}"
    rf" (?:day|time|date|slot|hour|(?<!another ){_THING})\b"
    r"(?! (?:off?|for my|for our)\b)"
)
_OTHERWISE = (
    r"\b(?:instead|rather|later|earlier|sooner|forward)\b"
    rf"|\b{_OTHER} (?:day|time|date|week)\b"
    r"|\b(?:would be|is|works|suits)(?: \w+){0,2} (?:better|best|easier)\b"
    r"|\bmake (?:it|that|this)\b|\b(?:can|could) (?:we|you|i) (?:do|say|have)\b"
)
_ANOTHER_DAY = rf"\b{_DAY}\b.*\b(?:instead|rather)\b|\b(?:instead|rather)\b.*\b{_DAY}\b"
"""A change of the thing that was just spoken of, which then need not be named."""
_MINE = r"(?:my|our|the|his|her|that|this|it|mine)"
_TELLING = (
    r"\b(?:when|what time|what day|what date|which day|which time)(?: is| was| are| were)?"
    rf" {_MINE}\b"
    r"|\b(?:do|did|have|had|am|are|was|is) (?:i|we|he|she|they|there) (?:\w+ ){0,2}?"
    r"(?:have|got|booked|book|made|make|down|any|an?)\b(?!.* (?:see|get|come|free|available)\b)"
    r"|\b(?:if|whether|think|believe|sure|said|forgotten|forgot|remember) (?:that )?(?:i|we)"
    rf" (?:am|are|have|had|was)(?: got)?(?: an?)? ?(?:\w+ )?(?:booked|down|{_THING}|coming)\b"
    r"|\b(?:check|confirm|look up|find|remind me(?: of| about)?|tell me(?: about)?|details of)"
    rf" {_MINE}"
    rf"|\bwhat (?:did|have) you (?:book|got down|down)\b|\bwhich {_THING}|\b(?:what|how many)"
    rf" {_THING}s (?:have i|do i|are|i)\b"
)
_STATE = re.compile(
    rf"(?:^|\b(?:so|and|but|then|wait|sorry) )(?:is|was|has) {_MINE}(?: \w+)? (?:been )?"
    r"(?:moved|changed|cancell?ed|booked|made|rescheduled|postponed|confirmed)\b"
)
"""Asks for the state of the thing: "is it moved now or not"."""
_TELLING_AGAIN = (
    r"\bwhat (?:is|was|were) (?:the|my) (?:\w+ )?(?:day|date|time|details)\b"
    rf"|\b(?:repeat|give me|(?:can|could|will|would) you (?:say|read)) {_MINE}\b"
    r"|^(?:when|what (?:day|date|time)) (?:is|was) (?:it|that)\b"
    r"|\b(?:when|(?:what|which) (?:day|date|time)) (?:is|are|will)"
    r" (?:you|they|he|she|some\w+|the \w+) (?:be )?(?:com(?:e|ing)|arriv\w+|due|here)\b"
    r"|\bwhat (?:have |had |did )?we (?:\w+ )?(?:agreed?|arranged?|settled?|decided?)\b"
)
"""Asks for what was just said, which then need not be named."""
_GETTING = (
    r"\b(?:book|make|arrange|schedule|give|need|needs|want|wants|like|get|see|fit"
    r"|(?:can|could|may) (?:i|we) (?:\w+ )?have|(?<!\bi )(?<!\bwe )have(?! (?:i|we)\b)|has)\b"
    r"(?: \w+){0,5}?"
)
_NEXT_ONE = (
    rf"{_GETTING} (?:another|a second|one|the same|an? {_THING}|a new|an?other one)\b"
    rf"|{_GETTING} (?:be seen|seen|see (?:an?|the|some\w+) ?\w*)\b"
    rf"|\b(?:one|another|the same)(?: one| {_THING})? for (?:my|our|the|me|him|her)\b"
    rf"|\b(?:another|second) (?:one|{_THING})\b"
    r"|\b(?:book|make|arrange|schedule) (?:one|an?|it|that|something)\b"
)
_BESIDE = re.compile(
    r"\b(?:as well|too|also|same time|next to|beside|after (?:it|that|me)|(?:one|another|the same)"
    rf"(?: one| {_THING})? for (?:my|our|me|him|her|the \w+))\b"
)
_NOT_DO = re.compile(rf"\b(?:do|should|must|please) not (?:{_ENDING}|{_MOVING})")
_AVAILABLE = re.compile(
    r"\b(?:do you have|have you got|you got|can i (?:get|have|see|come)|free|available"
    r"|next opening)\b"
)


def act_on(
    message: str, things: Sequence[str], spoken_of: bool = False, begun: bool = False
) -> Act | None:
    """What a message wants done with a kept thing; None for anything else.

    Args:
        message: What was said.
        things: Names of the thing, in the singular.
        spoken_of: Whether the thing was just spoken of, so that "it" stands for it.
        begun: Whether another one is being arranged, so that only messages that name it count.

    >>> act_on("can you call off my visit on Friday", ("appointment", "visit"))
    <Act.END: 'end'>
    >>> act_on("do you have a visit free on Friday", ("appointment", "visit"))
    """
    words = plain_words(message)
    if not words or not things or _NOT_DO.search(words):
        return None
    alike = _alike(words, things)
    kept = _THING in alike
    booked = kept or re.search(r"\bbooked (?:in|for|on)\b", words) is not None
    named = booked or (spoken_of and re.search(rf"\b(?:{_POINTING})\b", words) is not None)
    if _MY_DIARY.search(words) or (named and _STATE.search(words)):
        return Act.TELL
    if asks_what_was_done(message):
        return Act.TELL if named else None
    if begun:
        return _named_act(alike) if kept else None
    absent = re.search(f"{_ABSENT}|{_MISSING}" if named else _ABSENT, words) is not None
    moving = re.search(_MOVING, _MOVED_HOUSE.sub("", words)) is not None
    # A slot may be a name of the thing, but "another slot" is another time.
    other_time = re.search(_OTHER_TIME, words) or re.search(_OTHER_TIME, alike)
    if (named and moving) or (other_time and not _AVAILABLE.search(words)):
        return Act.CHANGE
    if absent or (named and re.search(_ENDING, words)):
        return Act.END
    another = re.search(_NEXT_ONE, alike) and not re.search(r"\bnot (?:\w+ )?have\b", words)
    if spoken_of and another and (kept or _BESIDE.search(alike) or _no_pronoun(words)):
        return Act.ANOTHER
    otherwise = (named and re.search(_OTHERWISE, words)) or (
        spoken_of and re.search(_ANOTHER_DAY, words)
    )
    if otherwise and not _AVAILABLE.search(words):
        return Act.CHANGE
    again = spoken_of and re.search(_TELLING_AGAIN, words)
    if (again or (named and re.search(_TELLING, alike))) and not _AVAILABLE.search(words):
        return Act.TELL
    return None


def refuses(clause: str, things: Sequence[str]) -> bool:
    """Whether a clause says that no such thing is to be made: "I don't want to book".

    >>> refuses("no, I don't need an appointment", ("appointment",))
    True
    >>> refuses("I don't need the appointment", ("appointment",))
    False
    """
    one = rf"(?:an?|any|another)(?: \w+)? (?:{'|'.join(things)})"
    what = rf"(?: to (?:book|make|schedule|arrange)(?: (?:it|that|one|anything|{one}))?| {one})"
    refused = re.search(
        rf"(?:\b(?:do|did) not (?:\w+ )?(?:want|need|require){what}"
        rf"|^(?:no )+(?:{'|'.join(things)})(?: needed)?)"
        r"(?: any more| today| yet| at all| at the moment)?$",
        plain_words(clause),
    )
    return bool(things) and refused is not None


def beside(message: str, things: Sequence[str]) -> str:
    """The words that relate another thing to the last, such as "as well"; empty for none."""
    found = _BESIDE.search(_alike(plain_words(message), things))
    return found[0].replace(_THING, things[0]) if found else ""


def _named_act(words: str) -> Act | None:
    """The act of a message that names the thing while another one is being arranged."""
    if re.search(_ENDING, words):
        return Act.END
    told = re.search(_TELLING, words) and not _AVAILABLE.search(words)
    return Act.TELL if told else None


def _alike(words: str, things: Sequence[str]) -> str:
    """The words, with `_THING` in place of every name of the thing."""
    return re.sub(rf"\b(?:{'|'.join(things)})(?=s?\b)", _THING, words)


def _no_pronoun(words: str) -> bool:
    return re.search(r"\b(?:it|that|this)\b", words) is None
