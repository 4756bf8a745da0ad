"""Finds the values of a flow in a message, without a model: "no, Tuesday at ten".

A value is the longest span of the message that its tool can read. A bare number counts only as the
whole answer, after "at" or beside another value: "one moment" is no time. A free value, which
nearly any words can be (a name, a complaint), is what an answer to its question leaves beside other
values, what follows the value's name, or what says outright that it is one. A clause about the
past, "since Monday", gives only the value that was asked for. Does not know what the values are
for. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, dropwhile, groupby, islice, product

from voice.types import Reading
from voice.understanding.english import (
    ANY_YES,
    ARTICLES,
    GRAMMAR,
    HESITATING,
    NUMBERS,
    PLAIN_YES,
    TAKING_BACK,
    agrees,
    asks,
    disagrees,
    is_courteous,
    may_ask,
    plain,
    word_set,
)
from voice.understanding.remarks import asks_else, commands, supposes, told_of_past
from voice.understanding.spelling import mended, misheard_digits, with_spelling, without_remarks

_LONGEST, _MOST = 12, 60
"""Most words of a value, and of a message that are looked at."""
_LONGEST_NUMBER = 24
"""The same for a value of which half the words are numbers: a telephone number digit by digit."""
_LONG = 5
"""Digits, or words for them, from which on a number is a value by itself, as a telephone's is."""
_WORD = re.compile(r"[^\s,;!?]+")
_CORRECTS = re.compile(rf"(?:{TAKING_BACK}|{HESITATING}|not|change|that's wrong)\b|.*\bwrong\b")
_ASKS = re.compile(r"(?:what|when|where|which|who|how|why|is|are|was|did|will|would|has)\b")
_WRONG = re.compile(
    r"(?:(?:that's|it's|that is|it is|is) )?(?:wrong|not (?:right|correct)|incorrect)"
)
_DENYING = word_set("wrong incorrect don't isn't change")
_JOINING = word_set("and at by for in on the to")
_BESIDE_IT = _JOINING | {"please"}
_POLITE = word_set("thanks thank you well then now so whatever hurry quick quickly fast")
_SURE = re.compile(r"(?:yes|yeah|yep|yup|sure)\b", re.I)
_JOINT = re.compile(
    r"(?<=[.?!;])\s+|,\s*|\s+(?=(?:and|but|so|or|because|also)\s+(?:i|i'd|i'm|i've|we|you|he|she|it|they"
    r"|let|please|my|is|are|do|does|did|how|what|when|where|who|which|why|can|could|may|would|will|should"
    r"|also)\b)",
    re.I,
)
_GREETS = re.compile(r"\bgood (?:morning|afternoon|evening|day)\b[ ,.!]*", re.I)
_OF_TIME = re.compile(
    r"\d|day|morning|noon|night|evening|week|month|year|hour|minute|tomorrow|o'clock", re.I
)
"""Words of values that stand also in clauses about the past, of which they say when it was."""
_REPLACES = re.compile(
    rf"\b(?:{TAKING_BACK}|actually)(?: (?:{TAKING_BACK}|{HESITATING}|and|at|on|in|for|the|it"
    r"|it's|is|to|about|say|let's|do|can|could|i|we|you|make|maybe|perhaps|please))*$"
)
"""Words between a value and the one that is meant instead: "Tuesday, no, Wednesday"."""
_TODAY = re.compile(r"tonight|this (?:morning|afternoon|evening)", re.I)
"""Words that name a day even as part of another value: "at seven tonight"."""
_NUMBER_OF = re.compile(r"(\S+) (number\b.*)")
_HANGS_ON = word_set("the a an my our in")
"""Words that are not left alone: "the tap in the [kitchen] drips"."""
_EXCLUDING = word_set("not except isn't")
_RULING_OUT = (
    r"\b(?:(?<!why )(?<!if )(?:not|nor|except(?: for)?|apart from|other than|isn't|instead of)"
    r"|(?<!later )(?<!rlier )(?<!more )(?<!less )(?<!other )than"
    r"|(?:any|every)(?: ?\w+)? but|(?:can't|cannot|couldn't|won't) (?:do|make|manage|come)"
    r"|(?:i'm|i am|we're|we are) (?:away|busy|out|working)|i work)"
    r"(?: (?:on|at|in|for|the|any|that))*"
)
_RULED_OUT = (
    r"(?:(?:mornings?|afternoons?|evenings?) )?"
    r"(?:(?:i|we|he|she)(?:'m| am| is|'ve| have| has| work| go| play| can't| cannot)\b"
    r"(?!.*\b(?:free|time|off|nothing)\b)"
    r"|(?:is|are) (?:\w+ )?(?:no|not|out|bad|impossible|difficult|hard|tricky|awkward)\b"
    r"|(?:isn't|aren't|doesn't|don't|does not|do not|won't|wouldn't) (?!bad|mind))"
)
"""Words before and after a value that is not wanted: "not Mondays, Fridays I have choir"."""
_PART_BEHIND = re.compile(r"(?:morning|afternoon|evening)s?", re.I)
_TOO = r"(?:(?:is|are|would be|seems) )?(?:\w+ )?too (?:early|late|soon)\b"
_MAY_RULE_OUT = re.compile(f"{_RULING_OUT}|\\b{_RULED_OUT}|\\b{_TOO}")
_ONE = re.compile(
    r"(?:that|this|the|which|other|first|second|last|same|an?|new|another|different|any"
    r"|earlier|later|earliest|latest) one"
    r"(?: please)?",
    re.I,
)
"""Phrases in which "one" is not a number."""
_THE_ONE = re.compile(r"\b(?:the|this|that|your|my)((?: [\w'-]+){1,3}) one", re.I)
"""The same if none of the words between joins: "the orient express one"."""
_LENGTHS = word_set("minute minutes hour hours day days week weeks month months year years times")
"""Units: a number before one is a length of time and no value: "about three weeks"."""
_HANGING = re.compile(
    r"\b(?:before|after|until|since|(?:an?|new|another|other|that|this|the|same) one)$"
)
"""At the end of a clause these do not begin a value: "as I said before, half past three"."""
_GOES_ON = word_set("would will is sounds works suits looks seems might could if then please")
"""Words after a bare number that is the subject of an answer: "nine would be lovely"."""
_COUNTS = NUMBERS - word_set("half quarter noon midnight") | word_set("oh double")
_BESIDE = word_set("""
    and at by for in on the to around about or so then maybe perhaps say said meant make made it
    it's that that's is be would will i i'd i'll we let's do can could take change move prefer
    rather like instead better best good fine great perfect ok okay works suits me us how what not
    no nope yes yeah yep sure sorry please thanks thank you oh ah uh um er erm hmm well wait
    actually hello hi hey if you have possible roughly thereabouts dot exactly
""")
"""Words that may stand beside the value in an answer that says nothing else."""
_BEFORE_NAME = re.compile(
    rf"(?:(?:and|but|{TAKING_BACK}|{HESITATING}|it's|it is|that's|that is)\b[ ,.!]*)+", re.I
)
_SPELLED = re.compile(r"[ ,.]+\w(?:[ .,-]+\w\b){2,40}")
"""A name spelled letter by letter, after the name itself."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that may be said.

    Attributes:
        reading: How its words are read.
        known: The value known so far; None if it is missing.
    """

    name: str
    reading: Reading
    known: str | None = None

    def reads(self, words: str) -> bool:
        """Whether words give this value, and not the known one; a free one must say so outright."""
        read = self.reading.outright if self.reading.free else self.reading.read
        if self.reading.free and self.known is None:
            read = self.reading.unasked or read
        return read is not None and self.answers(words, read)

    def answers(self, words: str, read: Callable[[str], object] | None = None) -> bool:
        """As `reads` for a value that was asked for, so that a free one may be any words.

        ``read`` replaces the reading's own reader.
        """
        meant = (read or self.reading.read)(words)
        if meant is None or self.known is None:
            return meant is not None
        return words != self.known and meant != self.reading.read(self.known)


def clauses(message: str) -> list[str]:
    """The parts of a message, cut at sentence ends, commas and words such as "and I"."""
    return [part for part in _JOINT.split(_GREETS.sub("", message)) if part.strip(" ,.;!?")]


def said_values(message: str, wanted: Iterable[Wanted], asked: str) -> Mapping[str, str]:
    """The values that a message gives, by name, in its words; ``asked`` is what was asked for."""
    ordered = sorted(wanted, key=lambda one: (one.name != asked, one.known is not None))
    message = without_remarks(message)
    number = [one for one in ordered[:1] if one.name == asked and not one.reading.free]
    if digits := next((misheard_digits(message, one.reads) for one in number), ""):
        return {asked: digits}
    for one in ordered:
        words, around = mended(message, one.known or "", one.reading, one.answers)
        if words:
            unlike = [other for other in ordered if other is not one]
            return {**said_values(around, unlike, asked), one.name: words}
    free = [one for one in ordered if one.reading.free]
    for one in free:
        if named := next(
            filter(None, (_named(part, one) for part in with_spelling(clauses(message)))), ""
        ):
            rest = (other for other in ordered if other is not one)
            return {**_Spans(message, rest, asked).found, one.name: named}
    spans = _Spans(message, ordered, asked)
    # "My knee hurts, please" is no yes.
    beside_it = [one for one in ordered if not (one.reading.free and one.name == asked)]
    if answer_to(message, beside_it) is None and not _is_whole(message, ordered):
        left = spans.left()
        beside = spans.found or any(answer_to(part, ordered) for part in left)
        others = [one for one in free if one.name != asked and beside]
        names = _full_names(left, others)
        for one in free:
            if one.name == asked and one.name not in spans.found:
                known = [other for other in free if other.known is not None]
                said = (part for part in left if part not in names.values())
                told = one.reading.unasked or (lambda _: None)
                # "It's a great pain" is not a courtesy.
                new = (part for part in said if told(part) or not is_courteous(part))
                words = _left_for(one, [part for part in new if not _says_again(part, known)])
                return {**spans.found, **names, **({one.name: words} if words else {})}
        proper = "" if spans.found else _proper_name(message)
        known = [one for one in free if one.known and _is_proper(one.known)]
        if proper and known and known[-1].answers(proper):
            return {known[-1].name: proper}
        return {**spans.found, **(names or _full_names([proper], free))}
    return spans.found


def ruled_out(message: str, wanted: Iterable[Wanted]) -> Mapping[str, Sequence[str]]:
    """The values that a message says are not wanted, by name, in its words."""
    known = _unknown(wanted)
    return _Spans(message, known).ruled_out if _MAY_RULE_OUT.search(plain(message)) else {}


def _full_names(parts: Iterable[str], free: Sequence[Wanted]) -> dict[str, str]:
    """The first part that is a full name: capitalised words that add to the known name, if any."""
    full = [part for part in parts if len(part.split()) > 1 and _is_proper(part)]
    for part, one in product(full, free):
        fuller = {*(one.known or "").split()} < {*part.split()}
        if fuller and one.reads(f"I'm {part}"):
            return {one.name: part}
    return {}


def _left_for(one: Wanted, left: Sequence[str]) -> str:
    """The words left of an answer that a free value can be: all, one part, or a name in them.

    A request names something else: "book Thor in".
    """
    if one.answers(", ".join(left)):
        return ", ".join(left)
    told = (part.split() for part in left if not commands(part))
    names = (" ".join(name) for words in told for name in _capitals(words))
    read = [words for words in (*left, *names) if one.answers(words)]
    return max(read, key=lambda words: len(str(one.reading.read(words))), default="")


def _capitals(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Runs of capitalised words, which may be names."""
    for proper, run in groupby(words, _is_proper):
        if proper:
            yield [*run]


def says_again(message: str, wanted: Iterable[Wanted]) -> bool:
    """Whether a message only repeats a known value, or consists of values alone."""
    wanted = [*wanted]
    known = [one for one in wanted if one.reading.free and one.known]
    return _says_again(message, known) or _is_whole(message, wanted)


def _says_again(words: str, known: Iterable[Wanted]) -> bool:
    return any(one.reading.read(words) == one.reading.read(one.known or "") for one in known)


def taken_back(message: str, known: Iterable[str]) -> str:
    """The name of the value that a message says is wrong, "not the time"; otherwise empty."""
    words = plain(message)
    if _ASKS.match(words) or asks(words):
        return ""
    named = next((name for name in known if {*name.split("_")} <= {*words.split()}), "")
    # "Jim Day" is a name, although it has the word "day".
    alone = {*words.split()} <= ARTICLES | {*named.split("_")}
    return named if alone or _CORRECTS.match(words) else ""


def answer_to(message: str, known: Iterable[Wanted], plainly: bool = False) -> bool | None:
    """Whether a message says yes or no to a question; None if it says something else.

    Repeated ``known`` values are ignored: "yes, Tuesday at ten". With ``plainly``, only a plain yes
    counts, and "lovely" is none.
    """
    if disagrees(message):
        # Before values are taken out: "Don't cancel it" repeats none.
        return False
    for span in _Spans(message, _unknown(known)).found.values():
        message = message.replace(span, " ", 1)
    words = " ".join(word for word in plain(message).split() if word not in _JOINING | _POLITE)
    if agrees(words, PLAIN_YES if plainly else ANY_YES):
        return True
    return False if disagrees(_WRONG.sub("no", words)) else None


def answer_among(message: str, wanted: Sequence[Wanted], plainly: bool) -> bool | None:
    """As `answer_to`, but a yes may also stand among questions, courtesies and values."""
    if (answer := answer_to(message, wanted, plainly)) is not None:
        return answer
    parts = clauses(message)
    agreeing = [one for one in parts if answer_to(one, wanted, True) or _thanks_for_yes(one)]
    beside = all(
        is_courteous(one) or may_ask(one) or said_values(one, wanted, "") or says_again(one, wanted)
        for one in parts
        if one not in agreeing
    )
    return True if agreeing and beside and not any(map(disagrees, parts)) else None


def _thanks_for_yes(clause: str) -> bool:
    return _SURE.match(clause) is not None and is_courteous(clause)


class _Spans:
    """The words of a message, and the values found among them.

    Attributes:
        found: The values by name, in the words of the message.
        ruled_out: The same for values that are not wanted.
    """

    def __init__(self, message: str, wanted: Iterable[Wanted], asked: str = "") -> None:
        parts = clauses(message)
        found = ((word, at) for at, part in enumerate(parts) for word in _WORD.findall(part))
        words = [*islice(found, _MOST)]
        self._words = [word.rstrip(".") for word, _ in words]
        self._clauses = [at for _, at in words]
        self._parts = parts
        self._supposes = [supposes(part) for part in parts]
        self._told = [(told_of_past(part, False), told_of_past(part, True)) for part in parts]
        # By the first word of a span.
        self._asks_else: dict[int, bool] = {}
        self._asked = asked
        self._open = [True] * len(self._words)
        self._bare = [*map(_is_bare, self._words)]
        self.found: dict[str, str] = {}
        self.ruled_out: dict[str, list[str]] = {}
        self._meant_out: list[tuple[str, object]] = []
        # A free value that was asked for is what the others leave.
        wanted = [one for one in wanted if not (one.reading.free and one.name == asked)]
        lengths = range(min(_LONGEST, len(self._words)), 0, -1)
        if _MAY_RULE_OUT.search(plain(message)):
            for length, one in product(lengths, (one for one in wanted if not one.reading.free)):
                self._rule_out(one, length)
        lengths = range(min(_LONGEST_NUMBER, len(self._words)), 0, -1)
        # Bare numbers last: whether they count depends on the values beside them.
        for bare_ones, length, one in product((False, True), lengths, wanted):
            if one.name not in self.found:
                self._find(one, length, bare_ones)
        spans = (slice(at, at + length) for at in range(len(self._words)) for length in (1, 2))
        for one, here in product(wanted, spans):
            span = " ".join(self._words[here])
            within = not (one.name in self.found or one.reading.free or any(self._open[here]))
            if within and _TODAY.fullmatch(span) and one.reads(span) and self._counts(one, here):
                self.found[one.name] = span

    def left(self) -> list[str]:
        """The words that are in no value, by clause, without questions and "in case" clauses."""
        groups = groupby(range(len(self._words)), self._clauses.__getitem__)
        parts = [self._rest_of([*run]) for _, run in groups]
        return [part for part in parts if part and not (asks(part) or supposes(part))]

    def _rest_of(self, clause: Sequence[int]) -> str:
        """The words of a clause that are in no value, or that hold the others together."""
        rest: list[str] = []
        for open_, run in groupby(clause, self._open.__getitem__):
            places = [*run]
            hangs = bool(rest) and rest[-1].lower() in _HANGS_ON
            if open_ or (hangs and places[-1] != clause[-1]):
                rest += (self._words[at] for at in places)
        return " ".join(rest)

    @property
    def beside(self) -> set[str]:
        """The words that are in no value."""
        return {word.lower() for word, left in zip(self._words, self._open, strict=True) if left}

    def _rule_out(self, one: Wanted, length: int) -> None:
        """Take out spans of this length that rule the value out.

        If the value's reader understands "not …" itself, that is a value found.
        """
        for start in range(len(self._words) - length + 1):
            here = slice(start, start + length)
            span = " ".join(self._words[here])
            if not all(self._open[here]) or self._clauses[start] != self._clauses[here.stop - 1]:
                continue
            first, last = self._around(here)
            if last == first or (meant := one.reading.read(span)) is None:
                continue
            if one.reads(f"not {span}"):
                self.found.setdefault(one.name, f"not {span}")
            else:
                self.ruled_out.setdefault(one.name, []).append(_trimmed(span, one.reading))
            self._meant_out.append((one.name, meant))
            self._open[first:last] = [False] * (last - first)

    def _around(self, here: slice) -> tuple[int, int]:
        """Start and end of the words that rule out a span, the span included; (0, 0) for none."""
        clause, words = self._clauses[here.start], self._words
        first = self._clauses.index(clause)
        end = len(words) - self._clauses[::-1].index(clause)
        behind = plain(" ".join(words[here.stop : end]))
        if re.match(_TOO, behind):
            # "Too early" says more, that a later time is wanted, so only the span is taken out.
            return here.start, here.stop
        if re.match(_RULED_OUT, behind):
            return here.start, end
        before = [words[n] if self._open[n] else "_" for n in range(first, here.start)]
        # Ruling out goes on over "or": "not Mondays or Fridays".
        said = re.sub(r"_ n?or$", "_", plain(" ".join(before)))
        found = re.search(rf"{_RULING_OUT}$|_$", said)
        if found is None or (found[0] == "_" and said[-1:] == "_" and before[-1] == "_"):
            return 0, 0
        # "Not one of them" does not rule out a time, but "no, not twelve" does.
        rest = {word.lower() for word in (*words[: here.start], *words[here.stop : end])}
        bare = _is_bare(" ".join(words[here])) and not _behind_at(words, here)
        if bare and not rest - {*found[0].split()} <= _BESIDE | NUMBERS:
            return 0, 0
        # The part of the day belongs to it: "not Monday mornings".
        part = bool(_PART_BEHIND.fullmatch(" ".join(words[here.stop : here.stop + 1])))
        return here.start - len(found[0].split()), here.stop + part

    def _find(self, one: Wanted, length: int, bare_ones: bool) -> None:
        for start in range(len(self._words) - length + 1):
            here = slice(start, start + length)
            numbers = sum(self._bare[here])
            goes_on = any(self._bare[here.stop : here.stop + 1])
            if (length > _LONGEST and 2 * numbers < length) or (numbers >= _LONG and goes_on):
                # A telephone number is not cut short.
                continue
            if not all(self._open[here]) or not self._counts(one, here):
                continue
            span = " ".join(self._words[here])
            if (one.name, one.reading.read(span)) in self._meant_out:
                continue
            if not one.reads(span):
                # A part of the known value is not another value.
                says = one.reading.outright if one.reading.free else one.reading.read
                again = one.known is not None and says is not None and says(span) is not None
                self._open[here] = [not again] * length
                continue
            value = span if one.reading.free else _trimmed(span, one.reading)
            # What joins on to other words belongs to them: "Thursday at" seven.
            if not span.endswith(value) or self._is_the_one(here):
                continue
            if not bare_ones and _is_bare(value) and not _behind_at(self._words, here):
                continue
            if bare_ones and not self._answers(here, one.name == self._asked):
                continue
            self.found[one.name] = value
            self._open[here] = [False] * length
            self._take_back(one, start)
            self._replace(replace(one, known=value), here.stop, one)
            return

    def _is_the_one(self, here: slice) -> bool:
        """Whether "one" is no number but a thing that was named: "the orient express one"."""
        words, first = self._words, self._clauses.index(self._clauses[here.start])
        said = " ".join(words[max(first, here.start - 4) : here.stop])
        named = _THE_ONE.search(said) if words[here.start].lower() == "one" else None
        if named and not {*named[1].lower().split()} & (GRAMMAR - ARTICLES):
            return True
        return _ONE.fullmatch(" ".join(words[max(0, here.start - 1) : here.stop])) is not None

    def _take_back(self, one: Wanted, end: int) -> None:
        """Close the words in whose place a value that begins at ``end`` is said: "ten, no, two"."""
        for first, last in combinations(range(max(0, end - _LONGEST), end + 1), 2):
            span = " ".join(self._words[first:last])
            back = all(self._open[first:last]) and not one.reading.free and one.reading.read(span)
            if back and _REPLACES.search(plain(" ".join(self._words[last:end]))):
                self._open[first:last] = [False] * (last - first)

    def _replace(self, found: Wanted, end: int, one: Wanted) -> None:
        """Find the value that a message says in place of one that ends here: "no, Wednesday".

        A number alone takes the place of one with its unit: "two hours, no, three".
        """
        known = found.known or ""
        for length, start in product(range(_LONGEST, 0, -1), range(end, len(self._words))):
            here = slice(start, min(start + length, len(self._words)))
            span = " ".join(self._words[here])
            if _is_bare(span) and not (found.reads(span) or _behind_at(self._words, here)):
                unit = dropwhile(lambda word: _is_bare(word) or word in ARTICLES, known.split())
                span = " ".join((span, *unit))
            if not all(self._open[here]) or not found.reads(span) or not self._counts(one, here):
                continue
            between = plain(" ".join(self._words[end:start]))
            bare_one = _is_bare(" ".join(self._words[here])) and not self._answers(here, True)
            if bare_one or not _REPLACES.search(between):
                continue
            self._open[here] = [False] * len(self._words[here])
            self.found[one.name] = span if one.reading.free else _trimmed(span, one.reading)
            if one.known is not None and not one.reads(span):
                del self.found[one.name]
            self._replace(replace(one, known=span), here.stop, one)
            return

    def _counts(self, one: Wanted, here: slice) -> bool:
        """Whether a value counts here: not past, not excluded, and if free, in a single clause."""
        first, last = self._clauses[here.start], self._clauses[here.stop - 1]
        before = self._words[max(0, here.start - 1) : here.start]
        end, behind = self._words[here.stop - 1].lower(), {*self._words[here.stop : here.stop + 1]}
        if (behind & _LENGTHS and (end.isdigit() or end in NUMBERS)) or self._hangs(here):
            return False
        if self._supposes[first] or (one.name != self._asked and self._tells(one, here)):
            return False
        if here.start not in self._asks_else:
            before_it = self._words[self._clauses.index(first) : here.start]
            self._asks_else[here.start] = asks_else(self._parts[first], " ".join(before_it))
        if self._asks_else[here.start] or self._is_other_number(one, here):
            return False
        return not (_EXCLUDING & {*before}) and (first == last or not one.reading.free)

    def _tells(self, one: Wanted, here: slice) -> bool:
        """Whether a value is part of a tale; what is no time may be of what still lasts."""
        over, lasted = self._told[self._clauses[here.start]]
        return over or (lasted and (one.reading.free or _is_of_time(self._words[here])))

    def _is_other_number(self, one: Wanted, here: slice) -> bool:
        """Whether a number is called something that its reader does not know: "tenancy number"."""
        first = self._clauses.index(self._clauses[here.start])
        called = _NUMBER_OF.search(" ".join(self._words[first : here.stop]))
        if called is None or called[1].lower() in GRAMMAR | ARTICLES:
            return False
        return one.reading.read(called[2]) is not None and one.reading.read(called[0]) is None

    def _hangs(self, here: slice) -> bool:
        """Whether a span crosses the end of a clause that ends with a word such as "before"."""
        if self._clauses[here.start] == self._clauses[here.stop - 1]:
            return False
        for clause, run in groupby(range(here.start, here.stop), self._clauses.__getitem__):
            last = [*run][-1]
            end = " ".join(self._words[max(0, last - 1) : last + 1]).lower()
            if clause != self._clauses[here.stop - 1] and _HANGING.search(end):
                return True
        return False

    def _answers(self, here: slice, asked: bool) -> bool:
        """Whether a bare number stands beside another value or among mere words of an answer."""
        if not all(self._open[max(0, here.start - 1) : here.stop + 1]):
            return True
        if asked and {*self._words[here.stop : here.stop + 1]} & _GOES_ON:
            return True
        within, clause = range(here.start, here.stop), self._clauses[here.start]
        outside = [at for at, left in enumerate(self._open) if left and at not in within]
        if not asked:
            return {self._words[at].lower() for at in outside} <= _BESIDE
        # One of several clauses may be the answer: "that's too early, like three or four".
        several = len({*self._clauses}) > 1
        beside = {self._words[at].lower() for at in outside if self._clauses[at] == clause}
        return all(one in _BESIDE or (several and _is_bare(one)) for one in beside)


def _is_bare(value: str) -> bool:
    """Whether a value is only a number, and not a long one such as a telephone number."""
    words = value.lower().replace("-", " ").split()
    counts = all(word in _COUNTS or word.isdigit() for word in words)
    # "Double five" is a number, but "double" is what somebody offers.
    counts = counts and words[-1:] != ["double"]
    return counts and len(words) < _LONG and sum(map(str.isdigit, value)) < _LONG


def _is_of_time(words: list[str]) -> bool:
    return _OF_TIME.search(" ".join(words)) is not None


def _behind_at(words: list[str], here: slice) -> bool:
    return "at" in (word.lower() for word in words[max(0, here.start - 1) : here.stop])


def _is_whole(message: str, wanted: Iterable[Wanted]) -> bool:
    """Whether a message consists of values that are not free, known or new, and nothing else."""
    spans = _Spans(message, _unknown(one for one in wanted if not one.reading.free))
    return bool(spans.found) and spans.beside <= _BESIDE


def _unknown(wanted: Iterable[Wanted]) -> list[Wanted]:
    return [replace(one, known=None) for one in wanted]


def _named(message: str, one: Wanted) -> str:
    """The words of a free value after its name: "and the name is Mia"; empty for none."""
    name = one.name.replace("_", " ")
    match = re.search(rf"\b{re.escape(name)}(?: is|'s| should be) (.+)", message, re.I)
    words = match[1].strip(" .,!") if match else ""
    more = {*plain(words).split()} - GRAMMAR - _DENYING
    return words if more and one.answers(words) else ""


def _proper_name(message: str) -> str:
    """A capitalised name that corrects another, "no, Lea Rott" or "Lea Rott"; otherwise empty."""
    lead = _BEFORE_NAME.match(message)
    rest = message[lead.end() if lead else 0 :].strip(" .,!")
    led = lead is not None or len(rest.split()) > 1
    return rest if led and _is_proper(_SPELLED.sub("", rest)) else ""


def _is_proper(words: str) -> bool:
    """Whether every word is capitalised, as in a name."""
    return bool(words) and all(word[0].isupper() for word in words.split())


def _trimmed(span: str, reading: Reading) -> str:
    """A span without joining words at its ends: "on Tuesday at" → "Tuesday"."""
    words, meant = span.split(), reading.read(span)
    for end, rest in ((-1, slice(None, -1)), (0, slice(1, None))):
        while words[end].lower() in _BESIDE_IT and reading.read(" ".join(words[rest])) == meant:
            words = words[rest]
    return " ".join(words)
