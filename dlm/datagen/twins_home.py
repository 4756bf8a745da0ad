"""Simulated twins of lists, sums, weather, devices and documents; shapes as the real tools'."""

from __future__ import annotations

from random import Random

from dlm.datagen import said
from dlm.datagen.arithmetic import (
    converted,
    evaluate,
    exchanged,
    money_text,
    restated,
    unit_text,
)
from dlm.datagen.passages import passage
from dlm.datagen.words import WORDS
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
    value = evaluate(a["expression"])
    if value is None:
        return failure("I could not calculate that.")
    if abs(value) >= 1e15:
        return failure("That number is too large to say.")
    sum_, shown = restated(a["expression"]), said.figures(value)
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
    return _conversion(unit_text(count, a["from_unit"]), unit_text(value, a["to_unit"]))


def _conversion(had: str, have: str) -> Result:
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
    source, target = a["from_currency"].lower(), a["to_currency"].lower()
    return _conversion(money_text(count, source), money_text(value, target))


_SKIES = (
    """
clear sky, mostly clear, partly cloudy, overcast, fog, freezing fog, light drizzle, drizzle,
light rain, rain, heavy rain, freezing rain, light snow, snow, heavy snow, light showers, showers,
heavy showers, snow showers, thunderstorms, thunderstorms with hail, clear sky, partly cloudy
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
    device, state = _place_of(a), said.digits(a["state"]).replace("%", " percent")
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
    source, text = passage(a["query"], world.rng)
    return Result(f"From {source}: {text}", "done", {"source": source, "passage": text})


def _end_conversation(world: World, _: Arguments) -> Result:
    return Result("Goodbye.")


TWINS: dict[str, Twin] = {
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
