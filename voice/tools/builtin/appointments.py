"""Appointments of a practice: what for, when, for whom; booked, listed, cancelled; calls back.

The first tools note one value each and change nothing: a flow keeps the values (`scope.known`), and
`book_appointment` makes an appointment of them.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Annotated

from voice.tools import phrasing, spoken_dates
from voice.tools.registry import Asked, Noted, Readable, ToolError, Unreadable, tool
from voice.tools.scope import SessionScope
from voice.tools.store import Store


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENS, _CLOSES, _SLOT_MIN = 9, 17, 30
OPEN = "We are open Monday to Friday, from 9 AM to 5 PM."
_EVERY_SLOT = [(at // 60, at % 60) for at in range(_OPENS * 60, _CLOSES * 60, _SLOT_MIN)]
_LEAD = (
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|um|uh|well|so|yes|yeah|ok|okay|please"
    r"|no|sorry|actually|i mean|there)\b[ ,.!]*)*"
)
_NAME_LEAD = re.compile(
    rf"{_LEAD}(?:(?:my|the|his|her|their) name(?:'s| is)|name(?:'s| is)|it(?:'s| is)|this is|i'm"
    r"|i am|call me|under|(?:it's |it is |that's )?for)?(?: for)? *"
    r"(?:(?:my|our) (?:son|daughter|husband|wife|partner|mother|father|mom|mum|dad|child))?",
    re.I,
)
_NO_NAME = _words(
    """
    i you he she we they it that this what when where which who why how can could do does don't
    did is are was have has had not rather say tell know need want would like make change wrong
    on at monday tuesday wednesday thursday friday saturday sunday today tomorrow morning
    afternoon time day appointment nothing never mind cancel stop help person nurse doctor human
    somebody someone hang the a an my your me thanks thank bye goodbye that's it's right correct
    fine good sure ok okay yes yeah no nope please sorry hello hi again else other another first
    last both people
    """
)  # fmt: skip
_PROBLEM_LEAD = re.compile(
    rf"{_LEAD}(?:(?:i'd|i would) like|i need|i want|can i|could i|may i)?(?: please)?(?: (?:to )?"
    r"(?:make|book|get|have|see|arrange|come in|schedule))?(?: ?(?:an?|the|my) (?:appointment"
    r"|doctor|gp|visit))?(?: (?:with|for|to see) (?:an?|the) doctor)?[ ,]*(?:(?:it's|it is|i'm "
    r"calling|i am calling|i call|i have come)? ?(?:about|because of|because|for)\b)?[ ,]*"
    r"(?:(?:i've|i have|i've got|i got|i am having|i'm having|there's) (?:got |had |been having )?"
    r"(?=an? |some |my |this |these |the |bad |pain))?",
    re.I,
)
_ANOTHER_MATTER = re.compile(
    r"[,.;]?\s+(?:(?:and|so|but)\s+)?(?:i(?:'d| would) like|i want|i need|(?:can|could|may) i)\b.*",
    re.I,
)
"""What follows a problem in the same breath, such as "and I'd like to come tomorrow"."""
_NO_PROBLEM = _words(
    """
    hello hi hey there please appointment appointments book booking make a an the for on at in
    to i i'd i'm i'll like want need would could can may we you it it's is do don't know not no
    yes yeah ok okay sure thanks thank and or with see come doctor nurse person human somebody
    someone real speak talk monday tuesday wednesday thursday friday saturday sunday today
    tomorrow morning afternoon evening next this week day time when one two three four five six
    seven eight nine ten eleven twelve thirty fifteen half past o'clock am pm something anything
    nothing never mind what rather say tell why bye goodbye that all start over again new
    another my cancel list wait that's right correct wrong fine good great sorry problem matter
    name number get have had be are was if so but
    """
)  # fmt: skip
_ASKING = re.compile(
    r"(?:what|when|where|which|who|how|why|can|could|do|does|did|are|is|will|would|may)\b", re.I
)
_DIGITS = {name: str(at) for at, name in enumerate(
    ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
)} | {"oh": "0", "o": "0", "plus": "+"}  # fmt: skip
_SHORTEST_NUMBER = 6


def _problem(said: str, _: datetime) -> str:
    rest = _PROBLEM_LEAD.sub("", said.strip(" .!"), count=1).strip(" ,.")
    rest = _ANOTHER_MATTER.sub("", rest)
    words = re.findall(r"[^\W\d_]+(?:'[^\W_]+)?", rest.lower().replace("’", "'"))
    if not set(words) - _NO_PROBLEM or _ASKING.match(rest) or said.rstrip().endswith("?"):
        raise Unreadable("problem", said)
    return rest


def _day(said: str, now: datetime) -> datetime:
    with suppress(ValueError):
        # As `choose_time` notes it.
        return datetime.combine(date.fromisoformat(said), now.timetz())
    bare = _bare_day(said)
    dated = re.match(rf"{spoken_dates.WEEKDAY}, (?=\w+ \d)", bare, flags=re.I)
    if dated:
        # A date may be today, which said without its year is next year.
        bare, now = bare[dated.end() :], now - timedelta(1)
    if re.fullmatch(r"(?:\d+|an?) (?:day|week)s?", spoken_dates.normal_form(bare)):
        # A length is no day: "two days ago".
        raise Unreadable("day", said)
    return datetime.combine(spoken_dates.day(bare, now), now.timetz())


def _bare_day(said: str) -> str:
    bare = re.sub(r"^(?:on|for) ", "", said.strip(), flags=re.I)
    return re.sub(r" (?:morning|afternoon)$", "", bare, flags=re.I)


def _time(said: str, _: datetime) -> tuple[int, int]:
    bare = re.sub(r"^(?:at|by|around|about|in the) ", "", spoken_dates.normal_form(said))
    if bare in spoken_dates.PARTS_OF_DAY:
        raise Unreadable("time", said)
    found = spoken_dates.time_of_day(bare, _OPENS)
    if found is None:
        raise Unreadable("time", said)
    return found


def _name(said: str, _: datetime) -> str:
    bare = _NAME_LEAD.sub("", said.strip(" .!"), count=1).strip(" ,.")
    words = bare.replace("’", "'").split()
    letters = all(re.fullmatch(r"[^\W\d_]+(?:[-'.][^\W\d_]*)*", word) for word in words)
    if not 0 < len(words) <= 4 or not letters or _NO_NAME & {word.lower() for word in words}:
        raise Unreadable("name", said)
    return phrasing.name(bare)


def _number(said: str, _: datetime) -> str:
    words = re.sub(r"[-().,]", " ", said.lower()).replace("double ", "double-").split()
    while words and not (words[0] in _DIGITS or words[0].strip("+").isdigit()):
        words = words[1:]
    keys = "".join(
        _DIGITS.get(word, word) if "double-" not in word
        else 2 * _DIGITS.get(word.removeprefix("double-"), "?")
        for word in words
    )  # fmt: skip
    if not re.fullmatch(rf"\+?\d{{{_SHORTEST_NUMBER},15}}", keys):
        raise Unreadable("number", said)
    return keys


@tool(read_only=True)
def note_problem(problem: Annotated[str, Readable(_problem, free=True)]) -> Noted:
    """Note what is wrong with the patient."""
    return Noted("I see.", {"problem": _problem(problem, datetime.now())})


@tool(read_only=True)
def note_name(name: Annotated[str, Readable(_name, free=True)]) -> Noted:
    """Note the name of the patient."""
    named = _name(name, datetime.now())
    return Noted(f"Thank you, {named}.", {"name": named})


@tool(read_only=True)
def note_number(number: Annotated[str, Readable(_number)]) -> Noted:
    """Note a telephone number."""
    keys = _number(number, datetime.now())
    return Noted("Thank you.", {"number": " ".join(keys)})


@tool(read_only=True)
def choose_time(
    day: Annotated[str, Readable(_day)] = "",
    time: Annotated[str, Readable(_time)] = "",
    *,
    scope: SessionScope,
    store: Store,
) -> Noted:
    """Choose the day and the time of an appointment."""
    now = scope.now()
    said_day, said_time = day or scope.known.get("day", ""), time or scope.known.get("time", "")
    on = _day(said_day, now) if said_day else None
    if on and on.date() == now.date() and spoken_dates.is_weekday(_bare_day(said_day)):
        # Who means today says so.
        on += timedelta(7)
    if on and on.date() < now.date():
        raise ToolError(f"{_told(on)} has passed.")
    if on and on.weekday() > 4:
        raise ToolError(f"We are closed on {on:%A}s. {OPEN}")
    at = _time(said_time, now) if said_time else None
    if at is not None and at not in _EVERY_SLOT:
        return Noted(f"We see patients every half hour. {OPEN}", _values(on, None))
    if on is None or at is None:
        return Noted(f"{_told(on) if on else _clock(at)}.", _values(on, at))
    due = _at(on, at)
    if due <= now or store.taken(due.timestamp()):
        free = [_clock(one) for one in _EVERY_SLOT if _is_free(_at(on, one), now, store)][:3]
        left = f"Free then: {phrasing.joined(free)}." if free else "That day has no time left."
        why = "has passed" if due <= now else f"is not free {_told(on)}"
        return Noted(f"{_clock(at)} {why}. {left}", _values(on, None))
    return Noted(f"{_told(on)} at {_clock(at)}.", _values(on, at))


@tool()
def book_appointment(*, scope: SessionScope, store: Store) -> str:
    """Book the appointment."""
    known, now = scope.known, scope.now()
    if not {"day", "time"} <= known.keys():
        raise ToolError("I need to know the day and the time.")
    due = _at(_day(known["day"], now), _time(known["time"], now))
    if due <= now:
        raise ToolError(f"{_told(due)} at {phrasing.time(due)} has passed. Which day instead?")
    if not store.book(due.timestamp(), known.get("name", ""), known.get("problem", "")):
        raise ToolError("Somebody else has taken that time by now. Please choose another one.")
    return f"Booked: {_told(due)} at {phrasing.time(due)}."


@tool(read_only=True)
def list_appointments(*, scope: SessionScope, store: Store) -> str:
    """Say what appointments the patient has."""
    had = store.appointments(scope.now().timestamp())
    told = [f"{_told(due)} at {phrasing.time(due)}" for due in _moments(had, scope.now())]
    if not told:
        return "You have no appointment."
    return f"You have {phrasing.counted(len(told), 'appointment')}: {phrasing.joined(told)}."


def _whether_to_cancel(*, scope: SessionScope, store: Store) -> str:
    had = _moments(store.appointments(scope.now().timestamp()), scope.now())
    return f"Shall I cancel your appointment on {_told(had[0])}?" if had else ""


@tool(
    undoes=True,
    asked=Asked(
        _whether_to_cancel, lambda said: "cancel" in said.lower() and "?" not in said, always=True
    ),
)
def cancel_appointment(*, scope: SessionScope, store: Store) -> str:
    """Cancel the appointment of the patient."""
    had = store.appointments(scope.now().timestamp())
    for due in _moments(had, scope.now())[:1]:
        store.cancel_appointment(due.timestamp())
        return f"Cancelled: {_told(due)} at {phrasing.time(due)}."
    raise ToolError("You have no appointment.")


@tool()
def change_appointment(
    day: Annotated[str, Readable(_day)] = "",
    time: Annotated[str, Readable(_time)] = "",
    *,
    scope: SessionScope,
    store: Store,
) -> str:
    """Move the appointment of the patient to another day or time."""
    now = scope.now()
    had = store.appointments(now.timestamp())
    if not had:
        raise ToolError("You have no appointment.")
    if not day and not time:
        raise ToolError("Please say to which day, or to what time.")
    (old,) = _moments(had[:1], now)
    at = _time(time, now) if time else (old.hour, old.minute)
    due = _at(_day(day, now) if day else old, at)
    open_then = due > now and due.weekday() < 5 and at in _EVERY_SLOT
    if not open_then or not store.move_appointment(old.timestamp(), due.timestamp()):
        raise ToolError(f"{phrasing.time(due)} is not free {_told(due)}. {OPEN}")
    return f"Moved to {_told(due)} at {phrasing.time(due)}."


@tool(read_only=True)
def get_opening_hours() -> str:
    """Say the opening hours."""
    return OPEN


@tool()
def request_call_back(*, scope: SessionScope, store: Store) -> str:
    """Ask for a call back."""
    number, about = scope.known.get("number", ""), scope.known.get("problem", "")
    if not number:
        raise ToolError("I need to know the number.")
    store.book(scope.now().timestamp(), number, f"call back: {about}")
    return f"You will be called back at {number} by 5 PM."


@tool(read_only=True)
def start_over() -> str:
    """Make a new appointment, or another one."""
    return "Okay, from the beginning."


def _at(day: datetime, at: tuple[int, int]) -> datetime:
    return day.replace(hour=at[0], minute=at[1], second=0, microsecond=0)


def _is_free(due: datetime, now: datetime, store: Store) -> bool:
    return due > now + timedelta(minutes=1) and not store.taken(due.timestamp())


def _moments(had: list[tuple[float, str, str]], now: datetime) -> list[datetime]:
    return [datetime.fromtimestamp(due, now.tzinfo) for due, _, _ in had]


def _told(day: datetime) -> str:
    return f"{day:%A}, {day:%B} {day.day}"


def _clock(at: tuple[int, int] | None) -> str:
    hour, minute = at or (0, 0)
    return f"{hour % 12 or 12}:{minute:02} {'AM' if hour < 12 else 'PM'}"


def _values(day: datetime | None, at: tuple[int, int] | None) -> dict[str, str]:
    """What is known by now; a time that cannot be had is not."""
    values = {"day": day.date().isoformat()} if day else {}
    return {**values, "time": _clock(at) if at else ""}
