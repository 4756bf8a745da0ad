"""Simulated twins of the clock, timers, alarms and reminders; shapes as the real tools'."""

from __future__ import annotations

from datetime import datetime, timedelta

from dlm.datagen import said
from dlm.datagen.world import (
    Arguments,
    Result,
    Twin,
    World,
    bare,
    capital,
    failure,
    listing,
    title,
    unread,
)


def _get_time(world: World, a: Arguments) -> Result:
    if "place" in a:
        moment = world.now + timedelta(minutes=30 * world.rng.randint(-24, 24))
        place = title(bare(a["place"]))
        time = said.clock_text(moment)
        return Result(f"It is {time} in {place}.", "place", {"time": time, "place": place})
    time = said.clock_text(world.now)
    return Result(f"It is {time}.", "done", {"time": time})


def _get_date(world: World, a: Arguments) -> Result:
    today = world.now.date()
    name = a.get("day", "today").lower()
    found = said.day(name, today)
    if found is None:
        return unread("day", a["day"])
    date = said.date_text(found)
    if name == "today" or found == today:
        return Result(f"Today is {date}.", "done", {"date": date})
    shown = date.split(", ", 1)[1] if name in said.WEEKDAYS else date
    name = _day_name(name)
    verb = "was" if found < today else "it is" if name.startswith("In ") else "is"
    fields = {"date": shown, "day": name, "fact": f"{name} {verb} {shown}."}
    return Result(fields["fact"], "day", fields)


def _day_name(name: str) -> str:
    words = said.digits(name).split() if name.startswith("in ") else name.split()
    proper = {
        *said.WEEKDAYS,
        *said.MONTHS,
        "christmas",
        "halloween",
        "eve",
        "year's",
        "valentine's",
    }
    return capital(" ".join(capital(w) if w in proper else w for w in words))


def _set_timer(world: World, a: Arguments) -> Result:
    seconds = said.duration(a["duration"])
    if seconds is None:
        return unread("duration", a["duration"])
    length = said.duration_text(seconds)
    name = bare(a["name"]) if "name" in a else ""
    world.timers.append((name, seconds))
    if name:
        return Result(
            f"{capital(name)} timer set for {length}.", "named", {"duration": length, "name": name}
        )
    return Result(f"Timer set for {length}.", "done", {"duration": length})


def _list_timers(world: World, _: Arguments) -> Result:
    if not world.timers:
        return Result("No timers are running.", "empty")
    parts = []
    for name, seconds in world.timers:
        left = said.duration_text(max(1, int(seconds * world.rng.uniform(0.05, 0.98))))
        parts.append(f"{name}, {left} left" if name else f"{left} left")
    count = len(parts)
    text = f"{count} timer{'s' if count > 1 else ''}: {'; '.join(parts)}."
    fields = {
        "count": str(count),
        "timers": "; ".join(parts),
        "left": parts[0].removesuffix(" left"),
    }
    return Result(text, "one" if count == 1 else "many", fields)


def _cancel_timer(world: World, a: Arguments) -> Result:
    if "name" in a:
        name = bare(a["name"])
        if name in ("all", "both", "every") and world.timers:
            count = len(world.timers)
            world.timers.clear()
            several = Result(f"{count} timers cancelled.", "all", {"count": str(count)})
            return several if count > 1 else _cancelled("")
        for timer in world.timers:
            if timer[0] == name or (not timer[0] and said.duration(name) == timer[1]):
                world.timers.remove(timer)
                return _cancelled(timer[0])
        return failure(f"There is no {name} timer.")
    if not world.timers:
        return failure("No timer is running.")
    if len(world.timers) > 1:
        names = [_timer_name(*timer) for timer in world.timers]
        return failure(f"Several timers are running. Which one: the {listing(names, 'or')}?")
    return _cancelled(world.timers.pop()[0])


def _cancelled(name: str) -> Result:
    if not name:
        return Result("Timer cancelled.")
    return Result(f"{capital(name)} timer cancelled.", "named", {"name": name})


def _timer_name(name: str, seconds: int) -> str:
    length = " ".join(w.removesuffix("s") for w in said.duration_text(seconds).split())
    return f"{name or length} timer"


def _set_alarm(world: World, a: Arguments) -> Result:
    moment = said.when(a["when"], world.now)
    if moment is None:
        return unread("time", a["when"])
    text = said.moment_text(moment, world.now)
    return Result(f"Alarm set for {text}.", "done", {"when": text})


def _set_reminder(world: World, a: Arguments) -> Result:
    text = a["text"]
    if "when" not in a:
        world.reminders.append((text, ""))
        return Result(f"Reminder noted: {text}.", "noted", {"text": text})
    moment = said.when(a["when"], world.now, first_hour=7) or _dayless(world, a["when"])
    if moment is None:
        return unread("time", a["when"])
    shown = said.moment_text(moment, world.now)
    world.reminders.append((text, shown))
    return Result(f"Reminder set for {shown}: {text}.", "done", {"text": text, "when": shown})


def _dayless(world: World, text: str) -> datetime | None:
    """A day without a time means nine in the morning."""
    found = said.day(text, world.now.date())
    return datetime(found.year, found.month, found.day, 9) if found else None


def _list_reminders(world: World, _: Arguments) -> Result:
    if not world.reminders:
        return Result("You have no reminders.", "empty")
    parts = [f"{text}, {when}" if when else text for text, when in world.reminders]
    count = len(parts)
    text = f"{count} reminder{'s' if count > 1 else ''}: {'; '.join(parts)}."
    return Result(
        text, "one" if count == 1 else "many", {"count": str(count), "reminders": "; ".join(parts)}
    )


TWINS: dict[str, Twin] = {
    "get_time": _get_time,
    "get_date": _get_date,
    "set_timer": _set_timer,
    "list_timers": _list_timers,
    "cancel_timer": _cancel_timer,
    "set_alarm": _set_alarm,
    "set_reminder": _set_reminder,
    "list_reminders": _list_reminders,
}
