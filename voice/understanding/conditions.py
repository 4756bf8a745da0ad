"""Terms of a request that no call can keep: a time, a condition, an exception.

A tool that acts at once knows nothing of "in ten minutes", "unless it rains" or "except the hall",
and a call without them does what nobody has asked for. So the user is told, and asked, first. Words
in an argument of a call are left to its tool, and so is a time if the tool takes one. Remarks
beside a request ("I'll be there at six"), politeness ("if you can") and reasons are not terms.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from voice.tools.spoken_dates import is_day, is_moment
from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.english import ARTICLES, GRAMMAR, NUMBERS, VERBS, word_set
from voice.understanding.missed_requests import carriers

_LONGEST, _MOST = 7, 80
"""Most words of a time, and of a request that are read."""
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_ENDS = re.compile(r"[.!?;]+(?:\s|$)")
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_BEGINS = re.compile(
    rf"(?:in|at|on|by|until|till|after|before|tomorrow|tonight|next|later|{_DAY}s?|every|each"
    r"|this (?=morning|afternoon|evening)|for)\b"
)
_WHAT_FOR = re.compile(r"for (?!.*(?:\bat |o'clock|[ap]m\b))")
"""A time that says what a thing is for rather than when: "ice for Sunday"."""
_LENGTH = re.compile(
    rf"for (?:(?:{'|'.join(NUMBERS | ARTICLES)}|\d+|about|around|and|few|couple|of|good|little|long"
    r"|short|whole|next|another|more) ){1,5}(?:while|bit|(?:second|minute|hour|day|week)s?)"
)
_LEAD = re.compile(r"(?:until|till|after|before|for|by) ")
_VAGUE = re.compile(
    r"(?:in a (?:bit|while|moment|minute|second)|later(?: on| today)?"
    r"|at (?:sun(?:rise|set)|dusk|dawn)"
    rf"|(?:every|each) (?:day|week|month|hour|morning|afternoon|evening|night|weekday|{_DAY}))"
)
_TELLING = word_set("""
    i'm i'll i've we're we'll we've you're he's he she's she it's they're they there's that's is are
    are was were i we comes arrives arriving wants
""")
"""A time after such a word belongs to a statement; so does a time before most of them."""
_WISHING = word_set("i we want need would")
_SMALL = GRAMMAR | VERBS | {"only"}
_POLITE = (
    r"(?:you|possible|so|anything|any|only|need be|necessary|i (?:may|can|could|might|remember)"
    r"|(?:it|that)(?:'s| is| isn't|(?: would| wouldn't) be)"
    r" (?:(?:not|all|too|any|at all|really) )*(?:ok|okay|alright|right|fine|possible"
    r"|trouble|much|bother|convenient|available)"
    r"|(?:it|that)(?:'s|'s not| is not| isn't) (?:\w+ ){0,3}(?:already|yet|there))\b"
)
_SOMEBODY = (
    r"(?:i|i'm|i've|i'll|we|we're|we've|he|he's|she|she's|it|it's|they|they're|the|my|our|his|her"
    r"|there's|some(?:one|body)|every(?:one|body)|no(?:one|body)|mum|dad|\w+'s)\b"
)
_CONDITION = re.compile(
    r"(?<!\bsee )(?<!\bcheck )(?<!\bask )(?<!\bknow )(?<!\bwhat )(?<!\bas )(?<!\beven )"
    rf"(?<!\bsure )(?<!\btell me )(?<!\bout )\bif (?!{_POLITE})"
    r"|\bunless (?!you)"
    r"|(?<!\bfor )(?<!\btell me )(?<!\bknow )(?<!\bshout )(?<!\bask )(?<!\bsee )"
    rf"\b(?:when|whenever|once|as soon as) (?={_SOMEBODY})(?!i (?:said|say|asked|was)\b)"
    rf"|\b(?:until|till) (?={_SOMEBODY})"
    r"|\bby the time\b|\b(?:otherwise|or else) (?:an?|the|some|one|two)\b"
)
_ALTERNATIVE = re.compile(r"\bunless\b|\b(?:otherwise|or else)\b")
"""The only conditions that count in an order: "if there is any" and "if it's no bother" do not."""
_IN_TURN = re.compile(r"\bafter (?=(?:i|we|he|she|they|the|my|our)\b)")
"""Such words may be part of a free text, but a tool that acts at once cannot wait for them."""
_BUT = r"(?:except|apart from|excluding|aside from)"
_EXCEPTION = re.compile(
    # "Except the large one, make that decaf" corrects what was done for all.
    rf"(?:(?<!^)\b{_BUT}|^{_BUT}(?=.*\b(?:all|every))"
    r"|\b(?:all|every\w*)(?: \w+){0,3} (?:but(?! with| no\b)|other than))\b"
)
_NAMING = re.compile(r"(?:change|move|update|edit|cancel|remove|delete|clear)(?![a-z])")
"""Tools that use the time of a thing to name it."""
_DENYING = re.compile(r"\b(?:nothing|anything|not|no|none)\b|n't\b")


@dataclass(frozen=True, slots=True)
class _Said:
    """A request in lower case, its words, and for each word whether it is in an argument of a call.

    Such words are called taken.
    """

    text: str
    words: tuple[re.Match[str], ...]
    taken: tuple[bool, ...]

    @classmethod
    def of(cls, request: str, calls: Sequence[ToolCall]) -> _Said:
        text = request.lower().replace("’", "'")
        words = tuple(islice(_WORD.finditer(text), _MOST))
        has = carriers([word[0] for word in words], calls)
        return cls(text, words, tuple(number is not None for number in has))

    def sentences(self) -> Iterator[tuple[int, int]]:
        """The sentences with a taken word, as word ranges; all of them if no word is taken."""
        ends = [one.start() for one in _ENDS.finditer(self.text)] + [len(self.text)]
        first = 0
        for end in ends:
            last = sum(word.start() < end for word in self.words)
            if any(self.taken[first:last]) or (first < last and not any(self.taken)):
                yield first, last
            first = last

    def finds(self, pattern: re.Pattern[str], first: int, last: int) -> re.Match[str] | None:
        """The first match of a pattern in a sentence that is neither taken nor in a statement."""
        area = self.words[first].start(), self.words[last - 1].end()
        for found in pattern.finditer(self.text, *area):
            start, end = (
                sum(word.start() < at for word in self.words) for at in (found.start(), found.end())
            )
            if not (self.taken[end - 1] or self._is_told(first, start)):
                return found
        return None

    def times(self, first: int, last: int) -> Iterator[str]:
        """The times in a sentence that are neither taken nor in a statement, the longest first."""
        for start in range(first, last):
            if self.taken[start] or self._is_told(first, start) or self._behind_for(start):
                continue
            for end in range(min(start + _LONGEST, last), start, -1):
                said = self.text[self.words[start].start() : self.words[end - 1].end()]
                whole = not (any(self.taken[start:end]) or re.search(r"[,:]", said))
                if whole and self._is_closed(end, last) and _is_time(said):
                    yield said

    def _is_told(self, first: int, start: int) -> bool:
        """Whether a word is part of a statement, which begins after the last taken word.

        It also is if it is set apart by punctuation, with other words that mean something:
        ", Tom comes on Monday".
        """
        at = start
        while at > first and not self.taken[at - 1] and not self._parted(at):
            at -= 1
        before = {word[0] for word in self.words[at:start]}
        apart = at > first and self._parted(at)
        return bool(before & _TELLING) or (apart and bool(before - _SMALL))

    def _behind_for(self, at: int) -> bool:
        return at > 0 and not self.taken[at - 1] and self.words[at - 1][0] == "for"

    def _parted(self, at: int) -> bool:
        """Whether punctuation stands before a word."""
        return bool(self.text[self.words[at - 1].end() : self.words[at].start()].strip())

    def _is_closed(self, end: int, last: int) -> bool:
        """Whether a phrase ends here: no noun ("on the second floor") or statement follows."""
        if end == last:
            return True
        here, then = self.words[end][0], self.words[min(end + 1, last - 1)][0]
        told = here in _TELLING and not (here in _WISHING and then in _WISHING)
        return self._parted(end) or (not told and (self.taken[end] or here in _SMALL))


def days(request: str, calls: Sequence[ToolCall]) -> Iterator[str]:
    """The days in a request that no call carries, those of most words first.

    >>> [*days("alarm at six, but only on Fridays", [ToolCall("", "set_alarm", {"when": "six"})])]
    ['on fridays', 'fridays']
    """
    said = _Said.of(request, calls)
    for first, last in said.sentences():
        for time in said.times(first, last):
            day = _LEAD.sub("", time)
            if time.startswith(("every ", "each ")) or (is_day(day) and not day.startswith("in ")):
                yield day


def unkept(request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> str:
    """What the user is told and asked before calls that drop a term; empty if none is dropped.

    Calls that only read, or that end the conversation, have no terms.
    """
    specs = [tools[call.name] for call in calls if call.name in tools]
    if all(spec.read_only or spec.ends for spec in specs):
        return ""
    said = _Said.of(request, calls)
    # An order is gathered first and read back before it is placed.
    gathered = all(spec.asks_next for spec in specs)
    condition = _ALTERNATIVE if gathered else _CONDITION
    at_once = all(map(_is_bound, specs))
    waits = at_once and not gathered
    for first, last in said.sentences():
        if said.finds(condition, first, last) or (waits and said.finds(_IN_TURN, first, last)):
            return "Sorry, I can't make it depend on that. Shall I do it all the same?"
        left = said.finds(_EXCEPTION, first, last)
        if left and not _DENYING.search(said.text, said.words[first].start(), left.start()):
            return "Sorry, I can't leave anything out there. Shall I do it all the same?"
        named = any(spec.undoes or _NAMING.match(spec.name) for spec in specs)
        for time in () if named else said.times(first, last):
            if _WHAT_FOR.match(time) and not (at_once and _LENGTH.fullmatch(time)):
                continue
            if gathered and time.startswith(("every ", "each ")):
                continue
            if not any(tells_time(one) for spec in specs for one in spec.readings.values()):
                return f"Sorry, I can't do that {time}. Shall I do it now?"
    return ""


def _is_bound(spec: ToolSpec) -> bool:
    """Whether a tool has readers for all it requires: it acts at once, and notes no free text."""
    return bool(spec.readings) and {*spec.required} <= {*spec.readings}


def is_term(value: str, request: str, spec: ToolSpec) -> bool:
    """Whether a text in a call is a time that its tool does not take: the room "at midnight"."""
    said, lead = value.lower(), r"(?:in|at|on|until|till|by) "
    before = re.search(rf"\b{lead}(?={re.escape(said)}\b)", request.lower())
    time = f"{before[0]}{said}" if before else said
    stray = re.match(lead, time) is not None and _is_time(time)
    return stray and not (spec.undoes or spec.read_only or _NAMING.match(spec.name))


def tells_time(reading: Reading) -> bool:
    """Whether a parameter takes a time."""
    return not reading.free and reading.read("tomorrow at noon") is not None


def _is_time(said: str) -> bool:
    if _BEGINS.match(said) is None:
        return False
    if said.startswith("on ") and not re.search(r"\d|o'clock", said):
        return is_day(said.removeprefix("on "))
    vague = _VAGUE.fullmatch(said) or _LENGTH.fullmatch(said)
    return vague is not None or is_moment(_LEAD.sub("", said))
