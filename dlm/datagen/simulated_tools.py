"""Simulations of all the agents' tools.

A simulated tool answers a call with the sentence that the real tool would give, from its arguments,
as said, and a random world. Values it cannot read give the same speakable error as the real tool's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from dlm.datagen import spoken_values as spoken
from dlm.datagen.phrases import fill
from dlm.datagen.spoken_values import MONTHS, WEEKDAYS
from dlm.datagen.tables import read
from dlm.datagen.values import pseudo_word
from dlm.datagen.words import WORDS
from dlm.datagen.world import (
    Arguments,
    Result,
    SimulatedTool,
    World,
    bare,
    capital,
    failure,
    listing,
    title,
    unread,
)


@dataclass(frozen=True, slots=True)
class _Passages:
    sources: tuple[str, ...]
    passages: tuple[str, ...]


_PASSAGES = read("passages", _Passages)


def _get_time(world: World, a: Arguments) -> Result:
    if "place" in a:
        moment = world.now + timedelta(minutes=30 * world.rng.randint(-24, 24))
        place = title(bare(a["place"]))
        time = spoken.clock_text(moment)
        return Result(f"It is {time} in {place}.", "place", {"time": time, "place": place})
    time = spoken.clock_text(world.now)
    return Result(f"It is {time}.", "done", {"time": time})


def _get_date(world: World, a: Arguments) -> Result:
    today = world.now.date()
    name = a.get("day", "today").lower()
    found = spoken.day(name, today)
    if found is None:
        return unread("day", a["day"])
    date = spoken.date_text(found)
    if name == "today" or found == today:
        return Result(f"Today is {date}.", "done", {"date": date})
    shown = date.split(", ", 1)[1] if name in WEEKDAYS else date
    name = _day_name(name)
    verb = "was" if found < today else "it is" if name.startswith("In ") else "is"
    fields = {"date": shown, "day": name, "fact": f"{name} {verb} {shown}."}
    return Result(fields["fact"], "day", fields)


def _day_name(name: str) -> str:
    words = spoken.digits(name).split() if name.startswith("in ") else name.split()
    proper = {*WEEKDAYS, *MONTHS, "christmas", "halloween", "eve", "year's", "valentine's"}
    return capital(" ".join(capital(w) if w in proper else w for w in words))


def _set_timer(world: World, a: Arguments) -> Result:
    seconds = spoken.duration(a["duration"])
    if seconds is None:
        return unread("duration", a["duration"])
    length = spoken.duration_text(seconds)
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
        left = spoken.duration_text(max(1, int(seconds * world.rng.uniform(0.05, 0.98))))
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
            if timer[0] == name or (not timer[0] and spoken.duration(name) == timer[1]):
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
    length = " ".join(w.removesuffix("s") for w in spoken.duration_text(seconds).split())
    return f"{name or length} timer"


def _set_alarm(world: World, a: Arguments) -> Result:
    moment = spoken.when(a["when"], world.now)
    if moment is None:
        return unread("time", a["when"])
    text = spoken.moment_text(moment, world.now)
    return Result(f"Alarm set for {text}.", "done", {"when": text})


def _set_reminder(world: World, a: Arguments) -> Result:
    text = a["text"]
    if "when" not in a:
        world.reminders.append((text, ""))
        return Result(f"Reminder noted: {text}.", "noted", {"text": text})
    moment = spoken.when(a["when"], world.now, first_hour=7) or _dayless(world, a["when"])
    if moment is None:
        return unread("time", a["when"])
    shown = spoken.moment_text(moment, world.now)
    world.reminders.append((text, shown))
    return Result(f"Reminder set for {shown}: {text}.", "done", {"text": text, "when": shown})


def _dayless(world: World, text: str) -> datetime | None:
    """A day without a time means nine in the morning."""
    found = spoken.day(text, world.now.date())
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
    name, item = list_name(a), _article_free(a["item"])
    known = world.lists.setdefault(name, _some_items(world))
    fields = {"item": item, "list": name}
    if item in known:
        text = f"{capital(item)} is already on the {name} list."
        return Result(text, "already", fields)
    known.append(item)
    return Result(f"Added {item} to the {name} list.", "done", fields)


def _article_free(item: str) -> str:
    first, _, rest = item.partition(" ")
    return rest if first.lower() in ("the", "some", "my", "more", "any") and rest else item


def _some_items(world: World) -> list[str]:
    return world.rng.sample(WORDS["item"], world.rng.choice((0, 0, 1, 2, 3)))


def _remove_from_list(world: World, a: Arguments) -> Result:
    name, item = list_name(a), _article_free(a["item"])
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
    value = spoken.evaluate(a["expression"])
    if value is None:
        return failure("I could not calculate that.")
    if abs(value) >= 1e15:
        return failure("That number is too large to say.")
    sum_, shown = spoken.restated(a["expression"]), spoken.figures(value)
    return Result(f"{capital(sum_)} is {shown}.", "done", {"expression": sum_, "value": shown})


def _convert_units(world: World, a: Arguments) -> Result:
    count = spoken.number(a["amount"])
    if count is None and a["amount"].lower() in ("a", "an"):
        count = 1.0
    if count is None:
        return unread("amount", a["amount"])
    value = spoken.converted(count, a["from_unit"].lower(), a["to_unit"].lower())
    if value is None:
        return failure(f"I cannot convert {a['from_unit']} to {a['to_unit']}.")
    return _conversion(
        spoken.unit_text(count, a["from_unit"]), spoken.unit_text(value, a["to_unit"])
    )


def _conversion(had: str, have: str) -> Result:
    return Result(f"{had} is {have}.", "done", {"had": had, "have": have})


def _convert_currency(world: World, a: Arguments) -> Result:
    if world.rng.random() < 0.08:
        return failure("The exchange rate service cannot be reached.")
    count = spoken.number(a["amount"])
    if count is None and a["amount"].lower() in ("a", "an"):
        count = 1.0
    if count is None:
        return unread("amount", a["amount"])
    value = spoken.exchanged(count, a["from_currency"].lower(), a["to_currency"].lower(), world.rng)
    source, target = a["from_currency"].lower(), a["to_currency"].lower()
    return _conversion(spoken.money_text(count, source), spoken.money_text(value, target))


_SKIES = (
    "clear sky", "mostly clear", "partly cloudy", "overcast", "fog", "freezing fog",
    "light drizzle", "drizzle", "light rain", "rain", "heavy rain", "freezing rain", "light snow",
    "snow", "heavy snow", "light showers", "showers", "heavy showers", "snow showers",
    "thunderstorms", "thunderstorms with hail", "clear sky", "partly cloudy",
)  # fmt: skip


def _get_weather(world: World, a: Arguments) -> Result:
    rng = world.rng
    if rng.random() < 0.08:
        return failure("The weather service cannot be reached.")
    day = a.get("day", "today").lower()
    if day in ("now", "right now", "currently", "tonight"):
        day = "tonight" if day == "tonight" else "today"
    elif spoken.day(day, world.now.date()) is None:
        return unread("day", a["day"])
    world.home = world.home or ("" if "place" in a else rng.choice(WORDS["place"]))
    place = title(bare(a["place"])) if "place" in a else world.home
    if rng.random() < 0.02:
        unknown = failure("I do not know which place you mean.")
        return unread("place", a["place"]) if "place" in a else unknown
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
    if world.rng.random() < 0.04:
        return failure(f"I do not know the company {a['company']}.")
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
    if "room" not in a and world.rng.random() < 0.5:
        first, second = world.rng.sample(WORDS["room"], 2)
        device = bare(a["device"])
        return failure(f"Which one: the {first} {device} or the {second} {device}?")
    return failure(f"There is no {bare(a['device'])}{where}.")


_STATES = {
    "lock": "locked", "unlock": "unlocked", "close": "closed", "shut": "closed", "start": "on",
    "stop": "off", "dim": "20 percent", "half": "50 percent", "full": "100 percent",
    "maximum": "100 percent", "minimum": "1 percent", "bright": "100 percent",
}  # fmt: skip


def _set_device(world: World, a: Arguments) -> Result:
    missing = _missing(world, a)
    if missing:
        return missing
    device, state = _place_of(a), spoken.digits(a["state"]).replace("%", " percent")
    state = _STATES.get(state, state)
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
    if world.rng.random() < 0.15:
        return failure(f"Nothing about {a['query']} was found.")
    source, text = _passage(a["query"], world.rng)
    return Result(f"From {source}: {text}", "done", {"source": source, "passage": text})


def _end_conversation(world: World, _: Arguments) -> Result:
    return Result("Goodbye.")


def describe(a: Arguments, counted: bool = False) -> str:
    """A drink as the order reads it: "2 small mochas", "large latte with oat milk and sugar".

    Args:
        counted: Whether a single one is counted too ("1 large latte").
    """
    number = spoken.number(a["quantity"]) if "quantity" in a else 1.0
    count = int(number) if number else 1
    name = " ".join(a[k].lower() for k in ("size", "roast", "drink") if k in a)
    if count > 1:
        name = name + ("es" if name.endswith(("ss", "ch")) else "" if name.endswith("s") else "s")
    with_ = [_addition(k, a[k]) for k in ("shots", "milk", "sweetener", "extras") if k in a]
    with_ = [w for w in with_ if w]
    text = f"{count} {name}" if counted or count > 1 else name
    return f"{text} with {listing(with_)}" if with_ else text


def _addition(key: str, value: str) -> str:
    text = spoken.digits(value)
    if text.split()[0] in ("no", "none", "without", "plain", "black"):
        return ""
    if key != "shots":
        return text
    text = text.removeprefix("an ").removeprefix("a ")
    if text.split()[0] in ("single", "double", "triple", "quad", "quadruple"):
        return f"a {text}"
    return "an extra shot" if text == "extra shot" else "1 shot" if text == "shot" else text


def _order_drink(world: World, a: Arguments) -> Result:
    known = any(a["drink"].lower().rstrip("s").endswith(d) for d in WORDS["drink"])
    if world.rng.random() < (0.01 if known else 0.9):
        return failure(f"We do not have {a['drink'].lower()}.")
    world.order.append(a)
    text = describe(a)
    return Result(f"Added: {text}.", "done", {"drink": text})


def _remove_drink(world: World, a: Arguments) -> Result:
    drink = bare(a["drink"])
    for ordered in reversed(world.order):
        if drink in ordered["drink"].lower() or drink.rstrip("s") == ordered["drink"].lower():
            world.order.remove(ordered)
            drink = drink if drink.endswith("ss") else drink.removesuffix("s")
            return Result(f"Removed: {drink}.", "done", {"drink": drink})
    return failure(f"There is no {drink} in the order.")


def _order_text(world: World) -> str:
    return "; ".join(describe(a, counted=True) for a in world.order)


def _read_order(world: World, _: Arguments) -> Result:
    if not world.order:
        return Result("The order is empty.", "empty")
    order = _order_text(world)
    return Result(f"The order is: {order}.", "done", {"order": order})


def _confirm_order(world: World, a: Arguments) -> Result:
    if not world.order:
        return failure("The order is empty.")
    order = _order_text(world)
    world.order.clear()
    if "name" not in a:
        return Result(f"Order confirmed: {order}.", "done", {"order": order})
    name = title(a["name"])
    return Result(f"Order confirmed for {name}: {order}.", "named", {"order": order, "name": name})


def _transfer_call(world: World, a: Arguments) -> Result:
    to = a.get("to", "a person").lower()
    if to.split()[0] not in ("a", "an", "the", "my", "your", "some", "someone", "somebody"):
        to = f"the {to}"
    return Result(f"Transferring you to {to}.", "done", {"to": to})


def _passage(query: str, rng: Random) -> tuple[str, str]:
    """A document's name and one sentence of it, at most 200 characters, that mentions ``query``."""
    topic = query.lower()
    fields = {
        "topic": topic,
        "Topic": topic[:1].upper() + topic[1:],
        "made": pseudo_word(rng),
        "number": str(rng.randint(2, 400)),
        "day": str(rng.randint(1, 28)),
        "hour": f"{rng.randint(1, 12)} {rng.choice(('AM', 'PM'))}",
        "code": str(rng.randint(100, 99999)),
        "weekday": rng.choice(WEEKDAYS).title(),
        "month": rng.choice(MONTHS).title(),
        "item2": rng.choice(WORDS["item"]),
        "noun2": rng.choice(WORDS["noun"]),
    }
    for kind in ("adjective", "noun", "name", "room", "item"):
        fields[kind] = rng.choice(WORDS[kind])
    return rng.choice(_PASSAGES.sources), fill(rng.choice(_PASSAGES.passages), rng, fields)[:200]


_ALL: tuple[SimulatedTool, ...] = (
    _get_time, _get_date, _set_timer, _list_timers, _cancel_timer, _set_alarm, _set_reminder,
    _list_reminders, _add_to_list, _remove_from_list, _read_list, _calculate, _convert_units,
    _convert_currency, _get_weather, _get_stock_price, _set_device, _get_device, _search_documents,
    _end_conversation, _order_drink, _remove_drink, _read_order, _confirm_order, _transfer_call,
)  # fmt: skip
SIMULATED = {tool.__name__.removeprefix("_"): tool for tool in _ALL}
"""By the tool's own name."""
