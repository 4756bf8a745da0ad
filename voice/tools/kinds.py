"""Kinds of values that people say in a conversation: a name, a date of birth, a telephone number.

Each is a reader: it takes the user's words and the time, and returns the value as it is kept, or
raises `Unreadable`. Reading a kept value again returns the same value. The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from difflib import get_close_matches

from voice.tools import phrasing, spoken_dates, spoken_times
from voice.tools.registry import Readable, Unreadable
from voice.tools.spoken_numbers import DIGITS, digits


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HELLO = (
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|um|uh|well|so|yes|yeah|ok|okay|please"
    r"|no|sorry|actually|i mean|there(?!'s| is| are| was| were| has| have)|and|but|oh|also|then"
    r"|right|great|hang on|wait)\b[ ,.!]*){0,9}"
)
_KIN = (
    r"(?:(?:my|our) (?:son|daughter|husband|wife|partner|mother|father|mom|mum|dad|child|kid|boy"
    r"|girl|baby|brother|sister|friend)\b[ ,]*)?"
)
_NAMED = re.compile(
    rf"{_HELLO}(?:(?:my|the|his|her|their|patient's)(?: full| last| first)? name(?:'s| is)"
    rf"|name(?:'s| is)|call me|(?:i'm|i am|he's|she's) called"
    rf"|(?:(?:it'?s|it is|that's|(?:put|book|reserve) (?:it|that)) )?"
    rf"(?:under|in(?= (?:the|my) name))(?: (?:the|my) name)?(?: of| is)?)\b *{_KIN}",
    re.I,
)
_PERHAPS_NAMED = re.compile(
    rf"{_HELLO}(?:it(?:'s| is)|this is|that(?:'s| is)|that would be|i'm|i am"
    rf"|(?:it's |it is |that's )?for)?(?: for)? *{_KIN}",
    re.I,
)
"""A lead that need not be followed by a name: "it's Anna", but also "it's late"."""
_NO_LEAD = re.compile(rf"{_HELLO}(?:for (?!my\b|our\b))?", re.I)
"""A lead that does not tell whether a name follows: "for Kenya"."""
_BEHIND_NAME = re.compile(r"[ ,]*\b(?:here|speaking|is (?:my|the) name)$", re.I)
_FROM = re.compile(r"([A-Z][\w'.-]*(?: [A-Z][\w'.-]*)*),? (?:from|of|with) .+")
"""A name and where somebody is from: "Ann Lee from Lee Logistics"."""
_PLEASE = re.compile(r"[ ,]*\b(?:please|thanks|thank you)$", re.I)
_SPELLED = re.compile(
    r"(?:(?<![\w'])(?:(?:that|it)(?:'s| is)|which is|i spell (?:it|that)|spell(?:ed|ing)|spelt) )*"
    r"(?<![\w'])([a-z](?:[ .,-]+[a-z](?![\w'])){2,})",
    re.I,
)
_ALIKE = 0.45
"""From 0 to 1: least likeness of a spelled name to what was heard of it; "Shivon" for "Siobhan"."""
_SHORTENED = re.compile(r"(?:n't|'(?:ll|ve|re|d|m))$", re.I)
"""Ends of words that are no names: "she'll"."""
_NO_NAME = _words(
    """
    i you he she we they it that this what when where which who why how can could do does don't
    did is are was have has had not rather say tell know need want would like make change wrong
    on at monday tuesday wednesday thursday friday saturday sunday today tomorrow morning
    afternoon evening time day appointment nothing never mind cancel stop help person nurse doctor
    human somebody someone maybe perhaps hang the a an my your me thanks thank bye goodbye that's
    it's right correct fine good sure ok okay yes yeah no nope please sorry hello hi hey again else
    other another first last both anything something everything everyone anyone before after
    people yesterday tonight calling january february march april june july august september
    october november december and or but born for from with about to of in so then well next any
    i'm i'd i'll i've we're he's she's there urgent number name call late early older back later up
    """
)  # fmt: skip


def person(said: str, _: datetime) -> str:
    """Somebody's name, spelled or not: "it's for my son Peter", "M-I-L-L-E-R"."""
    return _person(said, _PERHAPS_NAMED)


def person_outright(said: str, _: datetime) -> str:
    """A name that the words say is one, or that is capitalised and has a lead: "it's Anna"."""
    if _NAMED.match(said):
        return _person(said, _NAMED)
    bare = _BEHIND_NAME.sub("", _PERHAPS_NAMED.sub("", said, count=1))
    led = bare != _NO_LEAD.sub("", said, count=1)
    if not led or not all(word[0].isupper() for word in bare.split()):
        raise Unreadable("name", said)
    return _person(said, _PERHAPS_NAMED)


def _person(said: str, lead: re.Pattern[str]) -> str:
    said = said.replace("’", "'").strip(" .!?,")
    bare = said
    for pattern in (_PLEASE, _NAMED, lead, _BEHIND_NAME):
        bare = pattern.sub("", bare, count=1)
    bare = from_[1] if (from_ := _FROM.fullmatch(bare)) else bare
    words = _as_spelled(bare) if _SPELLED.search(bare) else bare.split()
    letters = all(re.fullmatch(r"[^\W\d_]+(?:[-'.][^\W\d_]*)*", word) for word in words)
    if not 0 < len(words) <= 4 or not letters or _are_no_name(words):
        raise Unreadable("name", said)
    name = " ".join(words)
    return phrasing.name(name.lower() if name.isupper() else name)


def _as_spelled(said: str) -> list[str]:
    """The words of a name, corrected by their spelling; a word that was only spelled comes last."""
    words = [word.strip(",.") for word in _SPELLED.sub(" ", said).split() if word.strip(",.")]
    spelled = " ".join(_SPELLED.findall(said))
    # Commas stand between all letters or between two names.
    for letters in filter(
        None, re.split(r", " if re.search(r"\w[ -]\w", spelled) else r"$", spelled)
    ):
        name = re.sub(r"\W", "", letters).capitalize()
        said_so = {re.sub(r"\W", "", one).lower(): one for one in words}
        near = get_close_matches(name.lower(), said_so, 1, _ALIKE)
        if not near:
            words.append(name)
        elif near != [name.lower()]:
            words[words.index(said_so[near[0]])] = name
    # "Brady, B R A D Y, Maeve Brady" says one name twice.
    return [word for at, word in enumerate(words) if word not in words[at + 1 :]]


def _are_no_name(words: Sequence[str]) -> bool:
    """Whether a word is not a name's; if all are capitalised, only the first counts: "Jim Day"."""
    stray = [word.lower() in _NO_NAME or bool(_SHORTENED.search(word)) for word in words]
    return any(stray) and (stray[0] or not all(word[0].isupper() for word in words))


ENDS_IN = " ends in "
"""Between a kept value and what its end should be."""
_DIGITS = DIGITS | {"o": "0", "plus": "+"}
_NUMBER_LEAD = re.compile(
    r"^(?:(?:my|the|our|his|her|\w+'s|phone|mobile|telephone|cell|landline|contact|home|work|office"
    r"|new|other|best|right|correct|daytime|number|is|on|at|call|reach|ring|me|no|it|yes|sure"
    r"|and)\b ?)+"
)  # fmt: skip
_REPEATED = re.compile(r"\b(double|triple) (\w+)")
_TENS = {
    "twenty": "2", "thirty": "3", "forty": "4", "fifty": "5", "sixty": "6", "seventy": "7",
    "eighty": "8", "ninety": "9",
}  # fmt: skip
_GROUPS = {
    "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14",
    "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19",
    "hundred": "00", "thousand": "000",
}  # fmt: skip


def phone_number(said: str, _: datetime) -> str:
    """A telephone number, in digits or words: "oh five five double seven one".

    A kept one may be given another end: "0 5 5 7 7 1 ends in two".
    """
    number, _joint, end = said.lower().partition(ENDS_IN)
    keys = _dialled(number)
    if end:
        first, *more = map(_dialled, end.split(","))
        rest = "".join(more)
        # "Six, three four six" says the last digit twice.
        new = rest if rest.endswith(first) else first + rest
        keys = keys[: -len(new)] + new
    # Longer ones must have their country's code.
    if not re.fullmatch(r"(?:\+|00)\d{6,15}|\d{6,13}", keys):
        raise Unreadable("number", said)
    return " ".join(keys)


def _dialled(said: str) -> str:
    """The keys of a number as people say it; words that are none of them stay."""
    bare = _NUMBER_LEAD.sub("", re.sub(r"[-().,]", " ", said).strip(), count=1)
    times = {"double": 2, "triple": 3}
    bare = _REPEATED.sub(lambda found: " ".join([found[2]] * times[found[1]]), bare)
    return _keys(bare.split())


def _keys(words: Sequence[str]) -> str:
    """The keys to dial: "oh seven, twenty three, nine hundred" → "0723900"."""
    keys = ""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        alone = "" if _DIGITS.get(following, "0") in "123456789" else "0"
        tens = _TENS[word] + alone if word in _TENS else ""
        keys += tens or _GROUPS.get(word) or _DIGITS.get(word, word)
    return keys


_MONTH = "(" + "|".join(rf"{name[:3]}(?:{name[3:]})?" for name in spoken_dates.MONTHS) + ")"
_YEAR = r"((?:19|20) ?\d\d)"
_BORN = (
    r"(?:(?:(?:i|he|she) was )?born "
    r"|(?:(?:my|his|her|the) )?(?:date of birth|dob|birthday) (?:is )?)?(?:on )?(?:the )?"
)
_DAY_FIRST = re.compile(rf"{_BORN}(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH} {_YEAR}")
_MONTH_FIRST = re.compile(rf"{_BORN}{_MONTH} (?:the )?(\d{{1,2}})(?:st|nd|rd|th)? {_YEAR}")
_IN_DIGITS = re.compile(rf"{_BORN}(\d{{1,2}})[/.-](\d{{1,2}})[/.-]{_YEAR}")


def birth_date(said: str, now: datetime) -> str:
    """A past date with its year: "5 June 1947", "born on the 5th of June 1947"."""
    words = spoken_dates.normal_form(said.replace(",", " ").strip(" ."))
    words = " ".join(words.split())
    with suppress(ValueError):
        if found := _DAY_FIRST.fullmatch(words):
            born = date(_year(found[3]), _month(found[2]), int(found[1]))
        elif found := _MONTH_FIRST.fullmatch(words):
            born = date(_year(found[3]), _month(found[1]), int(found[2]))
        elif found := _IN_DIGITS.fullmatch(words):
            born = date(_year(found[3]), int(found[2]), int(found[1]))
        else:
            raise Unreadable("date of birth", said)
        if born <= now.date():
            return f"{born:%B} {born.day}, {born.year}"
    raise Unreadable("date of birth", said)


def _year(digits: str) -> int:
    return int(digits.replace(" ", ""))


def _month(name: str) -> int:
    return next(at for at, month in enumerate(spoken_dates.MONTHS, 1) if month.startswith(name[:3]))


_NO_DAY = re.compile(
    r"(?:\d+|an?) (?:day|week)s?|(?:(?:the )?(?:next|following|coming)|this) (?:week|month|year)"
)
"""A length of time, as in "two days ago", or a span of several days."""
_PART_OF_IT = r"(?:morning|afternoon|evening|night)s?"


def day_of(said: str, now: datetime) -> date:
    """A day in the user's words, as it is kept ("2026-12-01") or told ("Tuesday, December 1")."""
    with suppress(ValueError):
        return date.fromisoformat(said)
    bare = re.sub(r"^(?:on|for) ", "", said.strip(), flags=re.I)
    if _NO_DAY.fullmatch(spoken_dates.normal_form(bare)):
        raise Unreadable("day", said)
    if re.search(rf"^{_PART_OF_IT}\b|(?<!^this )\b{_PART_OF_IT}$", bare, re.I):
        # The part of the day is another kind of value.
        raise Unreadable("day", said)
    return spoken_dates.day(bare, now)


def day(said: str, now: datetime) -> str:
    """A day as `day_of` reads it, kept as an ISO date."""
    return day_of(said, now).isoformat()


def clock_time(said: str, _: datetime, first_hour: int = 7) -> str:
    """A time of day, kept as "10:00 AM"; an ambiguous one is the first from ``first_hour`` on."""
    bare = re.sub(r"^(?:at|by|around|about|in the) |[ -]?ish$", "", spoken_dates.normal_form(said))
    found = None
    if bare != "the 1 after" and re.search(r"\d(?!st thing)|\b(?:noon|midday|midnight)\b", bare):
        # A part of the day is another kind of value.
        found = spoken_times.time_of_day(bare, first_hour)
    if found is None:
        raise Unreadable("time", said)
    return clock(found[0] * 60 + found[1])


_HEARD_AS_AT = re.compile(
    rf"{_HELLO}(?:(?:it's|that's|make it|let's (?:say|do)|maybe|perhaps|say) )*"
    r"(?:an?|add?|act|and|as|hat|it|that|out|up) (\d{1,2})(?: (?:please|then|thanks|thank you))*",
    re.I,
)
"""What recognisers hear for "at ten": "A 10."."""


def clock_answer(said: str, now: datetime) -> str:
    """Like `clock_time`, but also reads a misheard answer: "A 10." for "at ten"."""
    with suppress(Unreadable):
        return clock_time(said, now)
    # "That one" is no time.
    bare = re.sub(r"\b(?:that|it) one\b|[.,!?]", "", said, flags=re.I)
    heard = _HEARD_AS_AT.fullmatch(digits(bare))
    if heard is None or not 0 < int(heard[1]) <= 24:
        raise Unreadable("time", said)
    return clock_time(heard[1], now)


def clock(minutes: int) -> str:
    """Minutes since midnight as a time of day: "10:00 AM"."""
    return f"{minutes // 60 % 12 or 12}:{minutes % 60:02} {'AM' if minutes < 12 * 60 else 'PM'}"


def minutes_of(kept: str) -> int:
    """The minutes since midnight of a time of day that `clock` has made."""
    then = datetime.strptime(kept, "%I:%M %p")
    return then.hour * 60 + then.minute


_PARTS = {"morning": (0, 12), "lunchtime": (12, 14), "afternoon": (12, 18), "evening": (18, 24)}
_ALSO_PARTS = {
    "lunch time": "lunchtime", "midday": "lunchtime", "night": "evening",
    "before lunch": "morning", "after lunch": "afternoon",
}  # fmt: skip
_PART = re.compile(
    r"(?:(?:in|during|at|on|for) )?(?:(?:the|an?|any|some|early|late|preferably) )*"
    r"(morning|lunch ?time|midday|afternoon|evening|night|before lunch|after lunch)s?"
)
_BOUND = re.compile(r"(?:(after|from)|before|until) (.+)")
_EARLIEST, _LATEST = 0, 24 * 60


def span_of_day(said: str, now: datetime) -> tuple[int, int]:
    """A part of the day, "afternoons" or "after 3", in minutes since midnight, end excluded."""
    words = re.sub(r"^(?:any|some) ?time ", "", said.lower().strip(" .,"))
    if found := _PART.fullmatch(words):
        first, last = _PARTS[_ALSO_PARTS.get(found[1], found[1])]
        return first * 60, last * 60
    if found := _BOUND.fullmatch(words):
        at = minutes_of(clock_time(found[2], now))
        return (at, _LATEST) if found[1] else (_EARLIEST, at)
    if words.startswith("not "):
        first, last = span_of_day(words[4:], now)
        if first == _EARLIEST or last >= _PARTS["afternoon"][1] * 60:
            return (_EARLIEST, first) if first else (last, _LATEST)
    raise Unreadable("part of the day", said)


def part_of_day(said: str, now: datetime) -> str:
    """A part of the day as `span_of_day` reads it, kept in words: "in the morning"."""
    first, last = span_of_day(said, now)
    for part, hours in _PARTS.items():
        if hours == (first / 60, last / 60):
            return f"at {part}" if part == "lunchtime" else f"in the {part}"
    return f"after {clock(first)}" if last == _LATEST else f"before {clock(last)}"


_PERSONS = (
    r"(?:people|persons?|adults?|grown[ -]?ups?|child(?:ren)?|kids?|baby|babies|toddlers?|guests?"
    r"|visitors?|seats?|places?|of us|of them|in all|in total|altogether)"
)
_RELATIVE = (
    r"(?:my|our) (?:wife|husband|partner|girlfriend|boyfriend|mother|father|mum|mom|dad|son"
    r"|daughter|brother|sister|friend|baby|colleague|boss)"
)
_SOME = rf"(?:me|{_RELATIVE}|(?:\d{{1,3}}|an?) {_PERSONS})"
_GROUP = re.compile(
    r"(?:(?:it's|it'll be|it will be|that's|there(?:'s| are|'ll be| will be)|we(?:'re| are|'ll be"
    r"| will be)|just|only|so|for|an?|the|table|party|group|room|of)\b ?)*"
    rf"(?:\d{{1,3}}(?: {_PERSONS})?"
    rf"|(?P<each>{_SOME}(?:,?(?: and| plus)? {_SOME})+)(?:,? so (?P<all>\d{{1,3}}))?)"
)
_ALONE = re.compile(r"(?:(?:it's|for|that's) )?(?:just|only) (?:for )?(?:me|myself|one)")


def people(said: str, _: datetime) -> str:
    """How many people come: "a table for five", "two adults and a child", "me and my wife"."""
    words = digits(said.lower().replace("’", "'").strip(" .,"))
    found = _GROUP.fullmatch(words)
    told = found and (found["all"] or found["each"] or words)
    each = re.findall(rf"\d+|\b(?:me|my|our)\b|\ban?(?= {_PERSONS})", told or "")
    number = 1 if _ALONE.fullmatch(words) else sum(int(n) if n.isdigit() else 1 for n in each)
    if not number:
        raise Unreadable("number of people", said)
    return str(number)


_ASKS_FOR = (
    r"(?:(?:i'd|i would|we'd|we would) (?:like|love|prefer)"
    r"|i(?:'m| am) (?:calling|ringing|here|looking)|i(?:'ve| have)? (?:called|rung|come)"
    r"|i(?:'d| was| am|'m)? ?(?:just |really )?(?:want(?:ed)?|need(?:ed)?|hoping|wondering|after)"
    r"|(?:can|could|may|might|would|will) (?:i|we|you)|if (?:i|you) could"
    r"|(?:please )?(?:give|get|book|fit|squeeze|put) (?:me|him|her|us|them)(?: in)?)"
)
_VISIT = (
    r"(?:an?|the|my|some|any|another)?(?: \w+)? ?"
    r"(?:appointment|visit|slot|booking|doctor|gp|doc|somebody|someone|one)"
)
_SAYS_WHAT = r"(?:the |my )?(?:reason|matter|problem)(?:'s| is| was)"
_MATTER_LEAD = re.compile(
    rf"{_HELLO}(?:{_ASKS_FOR}\b ?)*(?:please )?(?:to )?(?:(?:make|book|get|have|see|arrange|come|be"
    rf"|schedule|send|check|look at)\b(?: in)?(?: to)? ?)?(?:(?:with|for|to see) )?(?:{_VISIT}\b)?"
    rf"(?: (?:with|for|to see) {_VISIT}\b)?(?: please)?[ ,]*(?:{_SAYS_WHAT} )?(?:(?:it's|it is"
    r"|i'm calling|i call)? ?(?:about|because of|because|for|to have|to get)\b)?[ ,]*"
    r"(?:(?:i've got|i have got|i've had|i have had|i got|i'm having|i am having|i've been having"
    r"|there(?:'s| is| are))\b ?"
    r"|(?:i've|i have|with) (?=an? |some |my |this |these |the |bad |pain))?",
    re.I,
)
_MATTER_TAIL = re.compile(
    r"(?<![ ,])(?:[ ,]+(?:please|then|thanks|thank you|if (?:possible|i may|that's ok(?:ay)?)"
    rf"|with {_VISIT}|(?:on|(?<!looked )at|for|in|around|by|and|or|so|but|the|of|to|with|as)))+$",
    re.I,
)
_COMPLAINT = (
    r"pain\w*|hurt\w*|\w*ach(?:e|es|ing)|sore|swollen|swelling|stiff|cough\w*|fever|rash"
    r"|itch\w*|blood|bleed\w*|sick|dizzy|burn\w*|broken|blocked|lump|shot|jab|vaccin\w*|infect\w*"
    r"|sprain\w*|twist\w*|fell|fall|follow[ -]?up|check[ -]?up|came off|punctur\w*|leak\w*|snapped"
    r"|(?:not|stopped) working"
)
_TROUBLE = re.compile(rf"\b(?:{_COMPLAINT}|can't|checked|looked at|worse|need|test)\b", re.I)
_TOLD_OUTRIGHT = re.compile(
    rf"{_HELLO}(?:{_SAYS_WHAT}|(?:it|that)(?:'s| is) (?:about|because)"
    r"|(?:i'm|i am) (?:calling|here|writing) (?:about|because|for))\b",
    re.I,
)
_TALE = re.compile(
    r"\b(?:was|were|used to|anyway|ago|said|told|thought|never mind|thing is)\b", re.I
)
"""Words of clauses that tell a story beside the matter; `_TROUBLE` has those of the matter."""
_MORE_OF_IT = re.compile(r"(?<=\w\w) (?:and|but|because|since|when|so|which|while|or)\b.*$")
_MOST_OF_A_MATTER = 10
"""Most words of a matter that are kept."""
_PRIVATE = re.compile(
    r"(?:rather not|prefer not|(?:don't|do not) (?:want|wish|like)(?: to)?) (?:to )?"
    r"(?:say|tell|go into|talk|discuss)"
    r"|\bprivate\b|\bpersonal\b",
    re.I,
)
A_PRIVATE_MATTER = "a private matter"
_NO_MATTER = (_NO_NAME - {"back"}) | _words(
    """
    dear love darling anyway doc sir madam afraid before after
    there appointments book booking bookings see come speak talk real next week one two three four
    five six seven eight nine ten eleven twelve thirty fifteen half past o'clock am pm something
    anything all start over new list wait great problem matter get be were if so him her them fit

    moved moving area town patient patients registered registering recently here flexible give
    look been never only
    some just said told already ideally preferably possible times send may will let go
    going clinic reception front desk now us visit slot free available
    """
)  # fmt: skip
_ASKING = re.compile(
    r"(?:what|when|where|which|who|how|why|can|could|do|does|did|are|is|will|would|may|should)\b",
    re.I,
)
_WANTS_ELSE = re.compile(
    r"(?:can|could|may|will|would) (?:(?:i|we) (?:still |also |please )?(?:use|keep|pay|leave"
    r"|turn|switch|touch|open)"
    r"|you (?:please |also )?(?:order|play|tell|remind|sing|say|text|email|turn))\b",
    re.I,
)
"""Questions and wishes that name no matter: "can I still use the tap"."""
_JOINTS = re.compile(
    r"[.;!?]+(?:\s+|$)|,\s*|\s+(?=and (?:i|we|my|can|could|would|please|also)\b)", re.I
)


def matter(said: str, _: datetime) -> str:
    """What a call is about, in the caller's words: the clauses that say more than a request."""
    said = said.replace("’", "'").strip()
    told: list[tuple[str, int]] = []
    for clause in _JOINTS.split(said):
        clause = _NO_LEAD.sub("", clause.strip(), count=1)
        rest = _MATTER_TAIL.sub("", _MATTER_LEAD.sub("", clause, count=1)).strip(" ,.")
        words = {*re.findall(r"[^\W\d_]+(?:'[^\W_]+)?", rest.lower())}
        private = _PRIVATE.search(clause) is not None
        if _WANTS_ELSE.match(clause) and not _TROUBLE.search(clause):
            continue
        if private or (words - _NO_MATTER and not _ASKING.match(rest)):
            weight = len(_TROUBLE.findall(clause)) - 2 * len(_TALE.findall(clause))
            text = A_PRIVATE_MATTER if private else re.sub(r"^and ", "", rest)
            told.append((text, weight + 2 * (rest != clause)))
    if not told or (said.endswith("?") and _ASKING.match(said)):
        raise Unreadable("matter", said)
    texts = [text for text, _ in told]
    return A_PRIVATE_MATTER if A_PRIVATE_MATTER in texts else _in_few_words(told)


def matter_outright(said: str, now: datetime) -> str:
    """Like `matter`, but only for words that announce it: "the reason is my knee"."""
    if not _TOLD_OUTRIGHT.match(said.replace("’", "'")):
        raise Unreadable("matter", said)
    return matter(said, now)


def trouble(said: str, now: datetime) -> str:
    """Like `matter_outright`, but also for a complaint: "my knee hurts"."""
    if not re.search(rf"\b(?:{_COMPLAINT})\b", said, re.I):
        return matter_outright(said, now)
    return matter(said, now)


def _in_few_words(told: Sequence[tuple[str, int]]) -> str:
    """The matter in at most `_MOST_OF_A_MATTER` words; ``told`` has each clause with its weight."""
    texts, weights = zip(*told, strict=True)
    if len(" ".join(texts).split()) > _MOST_OF_A_MATTER:
        # The clause that says most, and those after it.
        texts = texts[weights.index(max(weights)) :]
    first = texts[0].split()
    kept = " ".join(first[:_MOST_OF_A_MATTER])
    if len(first) > _MOST_OF_A_MATTER:
        kept = _MORE_OF_IT.sub("", kept)
    for text in texts[1:]:
        if len(f"{kept} {text}".split()) > _MOST_OF_A_MATTER:
            break
        kept = f"{kept}, {text}"
    return _MATTER_TAIL.sub("", kept)


def choice(options: Mapping[str, tuple[str, ...]]) -> Readable:
    """A reader of options: each by its name, or by patterns of lower-case words."""
    found = {name: re.compile("|".join(patterns)) for name, patterns in options.items()}

    def read(said: str, _: datetime) -> str:
        words = said.lower().replace("’", "'")
        for name, pattern in found.items():
            if words == name.lower() or pattern.fullmatch(words):
                return name
        raise Unreadable("choice", said)

    return Readable(read)


KINDS: Mapping[str, Readable] = {
    "person": Readable(person, free=True, outright=person_outright),
    "words": Readable(matter, free=True, outright=matter_outright, unasked=trouble),
    "phone number": Readable(phone_number),
    "number of people": Readable(people),
    "birth date": Readable(birth_date),
    "day": Readable(day),
    "part of day": Readable(part_of_day),
    "clock time": Readable(clock_time, hardly=clock_answer),
}
"""Name in an agent's file → reader; `choice` is not among them because it needs its options."""
