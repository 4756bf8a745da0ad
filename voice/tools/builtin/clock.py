"""The time here or elsewhere, the date of a day, and the number of days until it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from voice.config import ToolsConfig
from voice.tools import phrasing, spoken_dates
from voice.tools.places import find_place, zone_of
from voice.tools.registry import Readable, Unreadable, tool
from voice.tools.scope import SessionScope
from voice.tools.spoken_numbers import digits
from voice.tools.web import Web

_Day = Annotated[
    str, Readable(lambda said, now: _day(said, now), "Until which day?", refuses=False)
]


@tool(read_only=True)
async def get_time(place: str = "", *, scope: SessionScope, web: Web, config: ToolsConfig) -> str:
    """Tell the current time."""
    now = scope.now()
    if not place or place.lower() in ("here", "home"):
        return f"It is {phrasing.time(now)}."
    said = place.removeprefix("in ")
    zone = zone_of(said)
    name = phrasing.name(said)
    if zone is None:
        found = await find_place(said, web, config)
        name = found.name
        try:
            zone = ZoneInfo(found.timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise Unreadable("place", place) from error
    return f"It is {phrasing.time(now.astimezone(zone))} in {name}."


@tool(read_only=True)
def get_date(day: str = "", *, scope: SessionScope) -> str:
    """Tell the date of a day."""
    now = scope.now()
    said = day.lower().removeprefix("on ").strip() or "today"
    when = spoken_dates.day(said, now)
    verb = "was" if when < now.date() else "is"
    name = _name(said)
    if spoken_dates.is_weekday(said):
        return f"{name} {verb} {when:%B} {when.day}, {when.year}."
    if said.startswith("in "):
        return f"{name} it {verb} {phrasing.full_date(when)}."
    return f"{name} {verb} {phrasing.full_date(when)}."


@tool(read_only=True)
def days_until(date: _Day, *, scope: SessionScope) -> str:
    """Count the days until a date."""
    today = scope.now().date()
    said, when = _day(date, scope.now())
    count = (when - today).days
    if count == 0:
        return f"{_name(said)} is today."
    days = phrasing.counted(abs(count), "day")
    return f"{_name(said)} {f'is in {days}' if count > 0 else f'was {days} ago'}."


def _day(said: str, now: datetime) -> tuple[str, date]:
    """A spoken day without its preposition, and its date."""
    bare = said.lower().removeprefix("on ").strip()
    return bare, spoken_dates.day(bare, now)


def _name(said: str) -> str:
    return phrasing.sentence(spoken_dates.titled(digits(said, ordinals=True)))
