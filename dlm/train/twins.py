"""Simulated twins of the agent's tools: a result sentence from a call and a random world.

Shapes are those of the real tools. A twin knows only its arguments, as said, and the world it was
given; values it cannot read give the same speakable error as the real tool's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from dlm.train import said
from dlm.train.arithmetic import converted, evaluate, exchanged
from dlm.train.words import WORDS

Arguments = dict[str, str]


@dataclass(slots=True)
class Result:
    """What a twin answered.

    Attributes:
        text: The tool message's content.
        case: Which replies fit: "done", "empty", "many", "error" and the like.
        fields: What replies may quote from the result.
    """

    text: str
    case: str = "done"
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def error(self) -> bool:
        """Whether the call failed."""
        return self.case == "error"


def failure(text: str) -> Result:
    """An error result; ``text`` is a sentence."""
    return Result(f"Error: {text}", "error", {"error": text})


def unread(kind: str, value: str) -> Result:
    """The error for a value that the tool cannot read."""
    return failure(f"I could not read the {kind} {value}.")


def capital(text: str) -> str:
    """``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def title(text: str) -> str:
    """A name as a service would write it: each word capitalised."""
    return " ".join(capital(w) if w not in ("and", "of", "the") else w for w in text.split())


def bare(text: str) -> str:
    """A name without its article: "the kitchen" is "kitchen"."""
    words = text.lower().split()
    return " ".join(words[1:] if words[:1] in (["the"], ["my"], ["a"], ["our"]) else words)


def listing(items: list[str]) -> str:
    """Items joined for speech: "milk, eggs and bread"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


class World:
    """Everything the twins see, drawn at random; calls change it.

    Args:
        rng: Source of chance.
        now: The moment of the dialogue; drawn when None.
    """

    def __init__(self, rng: Random, now: datetime | None = None) -> None:
        self.rng = rng
        days, minutes = rng.randrange(365 * 6), rng.randrange(24 * 60)
        self.now = now or datetime(2024, 1, 1) + timedelta(days=days, minutes=minutes)
        self.timers: list[tuple[str, int]] = []
        self.reminders: list[tuple[str, str]] = []
        self.lists: dict[str, list[str]] = {}
        self.order: list[Arguments] = []
        self.devices: dict[str, str] = {}

    def call(self, tool: str, arguments: Arguments) -> Result:
        """The result of a call.

        Raises:
            ValueError: no twin has this name.
        """
        from dlm.train.twins_coffee import COFFEE_TWINS

        twin = TWINS.get(tool) or COFFEE_TWINS.get(tool)
        if twin is None:
            raise ValueError(f"tool must be one with a twin, got {tool!r}")
        return twin(self, arguments)


Twin = Callable[[World, Arguments], Result]


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
    name = " ".join(w if w in ("the", "of", "after", "in") else capital(w) for w in name.split())
    text = (
        f"{capital(name)} is {date.split(', ', 1)[1] if name.lower() in said.WEEKDAYS else date}."
    )
    return Result(text, "day", {"date": text[len(name) + 4 : -1], "day": name, "fact": text})


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
        for timer in world.timers:
            if timer[0] == name:
                world.timers.remove(timer)
                return Result(f"{capital(name)} timer cancelled.", "named", {"name": name})
        return failure(f"There is no {name} timer.")
    if not world.timers:
        return failure("No timer is running.")
    world.timers.pop()
    return Result("Timer cancelled.")


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
    moment = said.when(a["when"], world.now) or _dayless(world, a["when"])
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


def list_name(a: Arguments) -> str:
    """The list that a call means; the shopping list where none is named."""
    return bare(a.get("list", "shopping")).removesuffix(" list")


def _add_to_list(world: World, a: Arguments) -> Result:
    name = list_name(a)
    world.lists.setdefault(name, _some_items(world)).append(a["item"])
    fields = {"item": a["item"], "list": name}
    return Result(f"Added {a['item']} to the {name} list.", "done", fields)


def _some_items(world: World) -> list[str]:
    return world.rng.sample(WORDS["item"], world.rng.choice((0, 0, 1, 2, 3)))


def _remove_from_list(world: World, a: Arguments) -> Result:
    name, item = list_name(a), a["item"]
    known = world.lists.setdefault(name, [])
    for kept in known:
        if bare(kept) == bare(item):
            known.remove(kept)
            return Result(
                f"Removed {item} from the {name} list.", "done", {"item": item, "list": name}
            )
    return failure(f"{capital(item)} is not on the {name} list.")


def _read_list(world: World, a: Arguments) -> Result:
    name = list_name(a)
    if name not in world.lists:
        world.lists[name] = world.rng.sample(WORDS["item"], world.rng.choice((0, 1, 2, 2, 3, 3, 4)))
    items = world.lists[name]
    if not items:
        return Result(f"The {name} list is empty.", "empty", {"list": name})
    count = len(items)
    text = f"The {name} list has {count} item{'s' if count > 1 else ''}: {listing(items)}."
    return Result(text, "done", {"list": name, "count": str(count), "items": listing(items)})


def _calculate(world: World, a: Arguments) -> Result:
    value = evaluate(a["expression"])
    if value is None:
        return failure("I could not calculate that.")
    sum_, shown = a["expression"].removeprefix("what is "), said.figures(value)
    return Result(f"{capital(sum_)} is {shown}.", "done", {"expression": sum_, "value": shown})


def _convert_units(world: World, a: Arguments) -> Result:
    count = said.number(a["amount"])
    if count is None and a["amount"].lower() in ("a", "an"):
        count = 1.0
    if count is None:
        return unread("amount", a["amount"])
    value = converted(count, a["from_unit"].lower(), a["to_unit"].lower())
    if value is None:
        return failure(f"I cannot convert {a['from_unit']} to {a['to_unit']}.")
    return _conversion(count, a["from_unit"], value, a["to_unit"])


def _conversion(count: float, source: str, value: float, target: str) -> Result:
    had, have = f"{said.figures(count)} {source}", f"{said.figures(value)} {target}"
    return Result(f"{had} is {have}.", "done", {"had": had, "have": have})


def _convert_currency(world: World, a: Arguments) -> Result:
    if world.rng.random() < 0.08:
        return failure("The exchange rate service cannot be reached.")
    count = said.number(a["amount"])
    if count is None and a["amount"].lower() in ("a", "an"):
        count = 1.0
    if count is None:
        return unread("amount", a["amount"])
    value = exchanged(count, a["from_currency"].lower(), a["to_currency"].lower(), world.rng)
    return _conversion(count, a["from_currency"], value, a["to_currency"])


_SKIES = (
    """
clear sky, light rain, heavy rain, cloudy, partly cloudy, overcast, fog, snow, light snow, drizzle,
thunderstorms, sunny, showers, mostly sunny, windy, mist, sleet, hail, scattered clouds
""".replace("\n", " ")
    .strip()
    .split(", ")
)


def _get_weather(world: World, a: Arguments) -> Result:
    rng = world.rng
    if rng.random() < 0.08:
        return failure("The weather service cannot be reached.")
    day = a.get("day", "today").lower()
    if day in ("now", "right now", "currently", "tonight"):
        day = "tonight" if day == "tonight" else "today"
    elif said.day(day, world.now.date()) is None:
        return unread("day", a["day"])
    place = title(bare(a["place"])) if "place" in a else rng.choice(WORDS["place"])
    degrees = rng.randint(-15, 38)
    high, low = degrees + rng.randint(0, 6), degrees - rng.randint(1, 9)
    sky = rng.choice(_SKIES)
    head = capital(day.removeprefix("on "))
    text = f"{head} in {place}: {sky}, {degrees} degrees, high {high}, low {low}."
    fields = {"day": head, "place": place, "sky": sky, "degrees": str(degrees)}
    return Result(text, "done", fields | {"high": str(high), "low": str(low)})


def _get_stock_price(world: World, a: Arguments) -> Result:
    if world.rng.random() < 0.08:
        return failure("The stock service cannot be reached.")
    price, company = f"{world.rng.uniform(2, 900):.2f}", title(a["company"])
    return Result(f"{company} is at {price} dollars.", "done", {"company": company, "price": price})


def _place_of(a: Arguments) -> str:
    room = bare(a.get("room", ""))
    device = bare(a["device"])
    return device if not room or room in device else f"{room} {device}"


_PLURAL = ("lights", "blinds", "curtains", "shutters", "spotlights", "windows", "shades", "lamps")


def _is(device: str) -> str:
    return "are" if device.endswith(_PLURAL) else "is"


def _missing(world: World, a: Arguments) -> Result | None:
    if world.rng.random() > 0.05:
        return None
    where = f" in the {bare(a['room'])}" if "room" in a else ""
    return failure(f"There is no {bare(a['device'])}{where}.")


def _set_device(world: World, a: Arguments) -> Result:
    missing = _missing(world, a)
    if missing:
        return missing
    device, state = _place_of(a), a["state"].lower()
    world.devices[device] = state
    text = f"The {device} {_is(device)} now {state}."
    return Result(text, "done", {"device": device, "state": state, "is": _is(device)})


def _get_device(world: World, a: Arguments) -> Result:
    missing = _missing(world, a)
    if missing:
        return missing
    device = _place_of(a)
    state = world.devices.setdefault(device, _state_for(device, world.rng))
    text = f"The {device} {_is(device)} {state}."
    return Result(text, "done", {"device": device, "state": state, "is": _is(device)})


def _state_for(device: str, rng: Random) -> str:
    if "door" in device or "gate" in device:
        return rng.choice(("locked", "unlocked", "open", "closed"))
    if device.endswith(("blinds", "curtains", "shutters", "window", "windows", "shades")):
        return rng.choice(("open", "closed", "half open"))
    if "thermostat" in device or "heating" in device:
        return f"{rng.randint(15, 26)} degrees"
    return rng.choice(("on", "off", "on", "off", f"{rng.randint(1, 99)} percent"))


def _search_documents(world: World, a: Arguments) -> Result:
    from dlm.train.passages import passage

    if world.rng.random() < 0.15:
        return failure(f"Nothing about {a['query']} was found.")
    source, text = passage(a["query"], world.rng)
    return Result(f"From {source}: {text}", "done", {"source": source, "passage": text})


def _end_conversation(world: World, _: Arguments) -> Result:
    return Result("Goodbye.")


TWINS: dict[str, Twin] = {
    "get_time": _get_time,
    "get_date": _get_date,
    "set_timer": _set_timer,
    "list_timers": _list_timers,
    "cancel_timer": _cancel_timer,
    "set_alarm": _set_alarm,
    "set_reminder": _set_reminder,
    "list_reminders": _list_reminders,
    "add_to_list": _add_to_list,
    "remove_from_list": _remove_from_list,
    "read_list": _read_list,
    "calculate": _calculate,
    "convert_units": _convert_units,
    "convert_currency": _convert_currency,
    "get_weather": _get_weather,
    "get_stock_price": _get_stock_price,
    "set_device": _set_device,
    "get_device": _get_device,
    "search_documents": _search_documents,
    "end_conversation": _end_conversation,
}
