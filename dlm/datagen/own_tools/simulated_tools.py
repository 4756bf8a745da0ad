"""Simulations of all the agents' tools.

A simulated tool answers a call with the sentence that the real tool would return, from its spoken
arguments and a random world. Values that it cannot interpret give the real tool's error.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from dlm.datagen.language import spoken_sums as sums
from dlm.datagen.language import spoken_values as spoken
from dlm.datagen.language.phrases import fill
from dlm.datagen.language.spoken_values import MONTHS, WEEKDAYS
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.language.words import WORDS
from dlm.datagen.own_tools.simulated_orders import ORDERING
from dlm.datagen.tools.world import (
    Arguments,
    Result,
    SimulatedTool,
    World,
    bare,
    capital,
    failure,
    listing,
    title,
    told,
    unread,
)
from dlm.datagen.values.made_up import pseudo_word
from dlm.language.spoken_numbers import number

_PASSAGES = read("passages", Lists)


def _get_time(world: World, a: Arguments) -> Result:
    if "place" in a:
        moment = world.now + timedelta(minutes=30 * world.rng.randint(-24, 24))
        place = title(bare(a["place"]))
        time = spoken.clock_text(moment)
        return told("It is {time} in {place}.", "place", time=time, place=place)
    return told("It is {time}.", time=spoken.clock_text(world.now))


def _get_date(world: World, a: Arguments) -> Result:
    today = world.now.date()
    name = a.get("day", "today").lower()
    found = spoken.day(name, today)
    if found is None:
        return unread("day", a["day"])
    date = spoken.date_text(found)
    if name == "today" or found == today:
        return told("Today is {date}.", date=date)
    shown = date.split(", ", 1)[1] if name in WEEKDAYS else date
    name = _day_name(name)
    verb = "was" if found < today else "it is" if name.startswith("In ") else "is"
    return told("{fact}", "day", date=shown, day=name, fact=f"{name} {verb} {shown}.")


def _day_name(name: str) -> str:
    words = spoken.digits(name).split() if name.startswith("in ") else name.split()
    proper = {*WEEKDAYS, *MONTHS, "christmas", "halloween", "eve", "year's", "valentine's"}
    return capital(" ".join(capital(w) if w in proper else w for w in words))


def _days_until(world: World, a: Arguments) -> Result:
    today = world.now.date()
    found = spoken.day(a["date"], today)
    if found is None:
        return unread("day", a["date"])
    count = (found - today).days
    name, days = _day_name(a["date"].lower()), f"{abs(count)} day{'s' if abs(count) != 1 else ''}"
    said = "today" if not count else f"in {days}" if count > 0 else f"{days} ago"
    fact = f"{name} {'was' if count < 0 else 'is'} {said}."
    return told("{fact}", fact=fact, count=days)


def _set_timer(world: World, a: Arguments) -> Result:
    minutes = number(a["duration"])
    seconds = round(60 * minutes) if minutes else spoken.duration(a["duration"])
    if seconds is None:
        return unread("duration", a["duration"])
    length = spoken.duration_text(seconds)
    name = bare(a["name"]) if "name" in a else ""
    world.timers.append((name, seconds))
    if name:
        return told("{name} timer set for {duration}.", "named", duration=length, name=name)
    return told("Timer set for {duration}.", duration=length)


def _list_timers(world: World, _: Arguments) -> Result:
    if not world.timers:
        return Result("No timers are running.", "empty")
    parts = []
    for name, seconds in world.timers:
        left = spoken.duration_text(max(1, int(seconds * world.rng.uniform(0.05, 0.98))))
        parts.append(f"{name}, {left} left" if name else f"{left} left")
    return _listed("timers", parts, left=parts[0].removesuffix(" left"))


def _listed(name: str, parts: list[str], **more: str) -> Result:
    """A result that tells how many things of a kind there are, and lists them."""
    count, case = len(parts), "one" if len(parts) == 1 else "many"
    thing = name if count > 1 else name.removesuffix("s")
    fields = {"count": str(count), name: "; ".join(parts)}
    return told(f"{{count}} {thing}: {{{name}}}.", case, **fields, **more)


def _cancel_timer(world: World, a: Arguments) -> Result:
    if bare(a.get("name", "")) in ("all", "both", "every") and world.timers:
        count = len(world.timers)
        world.timers.clear()
        several = told("{count} timers cancelled.", "all", count=str(count))
        return several if count > 1 else _cancelled("")
    found = _timers_called(world, a)
    if isinstance(found, Result):
        return found
    world.timers.remove(found)
    return _cancelled(found[0])


def _cancelled(name: str) -> Result:
    if not name:
        return Result("Timer cancelled.")
    return told("{name} timer cancelled.", "named", name=name)


def _timer_name(name: str, seconds: int) -> str:
    length = " ".join(w.removesuffix("s") for w in spoken.duration_text(seconds).split())
    return f"{name or length} timer"


def _change_timer(world: World, a: Arguments) -> Result:
    found = _timers_called(world, a)
    if isinstance(found, Result):
        return found
    name, seconds = found
    change = spoken.change(a["duration"])
    if change is None:
        return unread("duration", a["duration"])
    length, sign = change
    left = max(1, round(seconds * world.rng.uniform(0.2, 0.9))) + sign * length if sign else length
    if left <= 0:
        return failure("The timer has less time left than that.")
    world.timers[world.timers.index(found)] = (name, left)
    form, case = ("{name} timer changed", "named") if name else ("Timer changed", "done")
    return told(f"{form}: {{left}} left.", case, left=spoken.duration_text(left), name=name)


def _timers_called(world: World, a: Arguments) -> tuple[str, int] | Result:
    """The one timer that is meant, or the error."""
    if "name" in a:
        name = bare(a["name"])
        length = spoken.duration(name)
        named = [timer for timer in world.timers if timer[0] == name or timer == ("", length)]
        return named[0] if named else failure(f"There is no {name} timer.")
    if not world.timers:
        return failure("No timer is running.")
    if len(world.timers) > 1:
        names = [_timer_name(*timer) for timer in world.timers]
        return failure(f"Several timers are running. Which one: the {listing(names, 'or')}?")
    return world.timers[0]


def _set_alarm(world: World, a: Arguments) -> Result:
    text = spoken.moment_or_repeat(a["when"], world.now)
    if text is None:
        return unread("time", a["when"])
    world.alarms.append((a["when"], text))
    return told("Alarm set for {when}.", when=text)


def alarm_text(world: World, said: str) -> str:
    """The time of the alarm that the user calls this, as the tools write it."""
    known = spoken.moment_or_repeat(said, world.now)
    if known is not None:
        return known
    at = datetime(2024, 1, 1) + timedelta(minutes=5 * world.rng.randrange(60, 130))
    days = {"weekday": "every weekday", "daily": "every day", "weekend": "every weekend"}
    return f"{spoken.clock_text(at)} {days.get(said, 'tomorrow')}"


def _list_alarms(world: World, _: Arguments) -> Result:
    if not world.alarms:
        return Result("No alarms are set.", "empty")
    return _listed("alarms", [text for _, text in world.alarms])


def _alarm_called(world: World, a: Arguments) -> tuple[str, str] | Result:
    """The one alarm that is meant, or the error."""
    if not world.alarms:
        return failure("No alarm is set.")
    if "when" in a:
        named = [alarm for alarm in world.alarms if alarm[0] == a["when"]]
        shown = spoken.moment_or_repeat(a["when"], world.now)
        named = named or [alarm for alarm in world.alarms if alarm[1] == shown]
        return named[-1] if named else failure(f"There is no alarm for {shown or a['when']}.")
    if len(world.alarms) > 1:
        times = listing([text for _, text in world.alarms], "or")
        return failure(f"Several alarms are set. Which one: {times}?")
    return world.alarms[0]


def _change_alarm(world: World, a: Arguments) -> Result:
    found = _alarm_called(world, a)
    if isinstance(found, Result):
        return found
    text = spoken.moved(a["to"], found[0], world.now) or spoken.moment_or_repeat(a["to"], world.now)
    if text is None:
        return unread("time", a["to"])
    world.alarms[world.alarms.index(found)] = (a["to"], text)
    return told("Alarm moved from {when} to {to}.", when=found[1], to=text)


def _cancel_alarm(world: World, a: Arguments) -> Result:
    count = len(world.alarms)
    if a.get("when", "") in ("all", "both", "every") and count > 1:
        world.alarms.clear()
        return told("{count} alarms cancelled.", "all", count=str(count))
    found = _alarm_called(world, {} if a.get("when") in ("all", "both", "every") else a)
    if isinstance(found, Result):
        return found
    world.alarms.remove(found)
    return told("Alarm for {when} cancelled.", when=found[1])


def _set_reminder(world: World, a: Arguments) -> Result:
    text = a["text"]
    if "when" not in a:
        world.reminders.append((text, ""))
        return told("Reminder noted: {text}.", "noted", text=text)
    shown = _reminded_at(world, a["when"])
    if shown is None:
        return unread("time", a["when"])
    world.reminders.append((text, shown))
    return told("Reminder set for {when}: {text}.", text=text, when=shown)


def _reminded_at(world: World, said: str) -> str | None:
    again = spoken.repeat(said)
    if again is not None:
        return again
    moment = spoken.when(said, world.now, first_hour=7) or _dayless(world, said)
    return None if moment is None else spoken.moment_text(moment, world.now)


def _reminder_called(world: World, said: str) -> tuple[str, str] | Result:
    """The one reminder that is meant, or the error."""
    found = [one for one in world.reminders if said in one[0]]
    shown = None if found else _reminded_at(world, said)
    found = found or [one for one in world.reminders if one[1] and one[1] == shown]
    return found[-1] if found else failure(f"There is no such reminder: {said}.")


def _change_reminder(world: World, a: Arguments) -> Result:
    found = _reminder_called(world, a["text"])
    if isinstance(found, Result):
        return found
    shown = spoken.moved(a["when"], found[1], world.now) or _reminded_at(world, a["when"])
    if shown is None:
        return unread("time", a["when"])
    world.reminders[world.reminders.index(found)] = (found[0], shown)
    return told("Reminder moved to {when}: {text}.", text=found[0], when=shown)


def _cancel_reminder(world: World, a: Arguments) -> Result:
    count = len(world.reminders)
    said = a.get("text", "")
    if not count:
        return failure("You have no reminders.")
    if said in ("all", "both", "every") and count > 1:
        world.reminders.clear()
        return told("{count} reminders cancelled.", "all", count=str(count))
    found: tuple[str, str] | Result = world.reminders[0]
    if said and said not in ("all", "both", "every"):
        found = _reminder_called(world, said)
    elif count > 1:
        texts = listing([text for text, _ in world.reminders], "or")
        found = failure(f"You have several reminders. Which one: {texts}?")
    if isinstance(found, Result):
        return found
    world.reminders.remove(found)
    return told("Reminder cancelled: {text}.", text=found[0])


def _dayless(world: World, text: str) -> datetime | None:
    """The moment of a day without a time: nine in the morning, or the hour of a part of the day."""
    found = spoken.day(text, world.now.date())
    hour = spoken.HOURS_OF_PARTS.get(text.lower().split()[-1], 9)
    return datetime(found.year, found.month, found.day, hour) if found else None


def _list_reminders(world: World, _: Arguments) -> Result:
    if not world.reminders:
        return Result("You have no reminders.", "empty")
    parts = [f"{text}, {when}" if when else text for text, when in world.reminders]
    return _listed("reminders", parts)


def list_name(a: Arguments) -> str:
    """The list that a call means; the shopping list if it names none."""
    return bare(a.get("list", "shopping")).removesuffix(" list")


def _add_to_list(world: World, a: Arguments) -> Result:
    name, item = list_name(a), _article_free(a["item"])
    known = world.lists.setdefault(name, some_items(world))
    if item in known:
        return told("{item} is already on the {list} list.", "already", item=item, list=name)
    known.append(item)
    return told("Added {item} to the {list} list.", item=item, list=name)


def _article_free(item: str) -> str:
    first, _, rest = item.partition(" ")
    return rest if first.lower() in ("the", "some", "my", "more", "any") and rest else item


def some_items(world: World) -> list[str]:
    """Up to three random items for a list."""
    return world.rng.sample(WORDS["item"], world.rng.choice((0, 0, 1, 2, 3)))


def _remove_from_list(world: World, a: Arguments) -> Result:
    name, item = list_name(a), _article_free(a["item"])
    known = world.lists.setdefault(name, [])
    kept = next((one for one in known if bare(one) == bare(item)), None)
    if kept is None:
        return failure(f"{capital(item)} is not on the {name} list.")
    known.remove(kept)
    return told("Removed {item} from the {list} list.", item=item, list=name)


def _move_item(world: World, a: Arguments) -> Result:
    removed = _remove_from_list(world, a)
    if removed.error:
        return removed
    item, to = removed.fields["item"], bare(a["to"])
    world.lists.setdefault(to, []).append(item)
    form = "Moved {item} from the {list} list to the {to} list."
    return told(form, **removed.fields, to=to)


def _clear_list(world: World, a: Arguments) -> Result:
    name = list_name(a)
    items = world.lists.pop(name, [])
    if not items:
        return told("The {list} list is empty.", "empty", list=name)
    return told("Cleared the {list} list: {items}.", list=name, items=listing(items))


def _read_list(world: World, a: Arguments) -> Result:
    name = list_name(a)
    if name not in world.lists:
        world.lists[name] = world.rng.sample(WORDS["item"], world.rng.choice((0, 1, 2, 2, 3, 3, 4)))
    items = world.lists[name]
    if not items:
        return told("The {list} list is empty.", "empty", list=name)
    form = f"The {{list}} list has {{count}} item{'s' if len(items) > 1 else ''}: {{items}}."
    return told(form, list=name, count=str(len(items)), items=listing(items))


def _calculate(world: World, a: Arguments) -> Result:
    said = a["expression"]
    value = sums.evaluate(said)
    if value is None and world.value:
        said = f"{spoken.figures(world.value)} {said}"
        value = sums.evaluate(said)
    if value is None:
        return failure("I could not calculate that.")
    if abs(value) >= 1e15:
        return failure("That number is too large to say.")
    world.value = value
    shown = spoken.figures(value)
    return told("{expression} is {value}.", expression=sums.restated(said), value=shown)


def _amount(said: str) -> float | None:
    return 1.0 if said.lower() in ("a", "an") else number(said)


def _convert_units(world: World, a: Arguments) -> Result:
    count = _amount(a["amount"])
    if count is None:
        return unread("amount", a["amount"])
    source, target = a["from_unit"].lower(), a["to_unit"].lower()
    had = sums.unit_text(count, a["from_unit"])
    if rest := sums.smaller_part(source):
        source, small, unit = rest
        had = f"{sums.unit_text(count, source)} {sums.unit_text(small, unit)}"
        count += sums.converted(small, unit, source) or 0
    value = sums.converted(count, source, target.removesuffix(" and inches"))
    if value is None:
        return failure(f"I cannot convert {a['from_unit']} to {a['to_unit']}.")
    if target == "feet and inches":
        return _conversion(had, sums.feet_and_inches(value))
    return _conversion(had, sums.unit_text(value, a["to_unit"]))


def _conversion(had: str, have: str) -> Result:
    return told("{had} is {have}.", had=had, have=have)


def _convert_currency(world: World, a: Arguments) -> Result:
    if world.rng.random() < 0.08:
        return failure("The exchange rate service cannot be reached.")
    count = _amount(a["amount"])
    if count is None:
        return unread("amount", a["amount"])
    source, target = a["from_currency"].lower(), a["to_currency"].lower()
    value = sums.exchanged(count, source, target, world.rng)
    return _conversion(sums.money_text(count, source), sums.money_text(value, target))


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
    fields = {"day": head, "place": place, "sky": sky, "degrees": str(degrees)}
    form = "{day} in {place}: {sky}, {degrees} degrees, high {high}, low {low}."
    return told(form, **fields, high=str(high), low=str(low))


def _get_stock_price(world: World, a: Arguments) -> Result:
    if world.rng.random() < 0.08:
        return failure("The stock service cannot be reached.")
    if world.rng.random() < 0.04:
        return failure(f"I do not know the company {a['company']}.")
    price, company = f"{world.rng.uniform(2, 900):.2f}", title(a["company"])
    return told("{company} is at {price} dollars.", company=company, price=price)


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
    if missing := _missing(world, a):
        return missing
    device, state = _place_of(a), spoken.digits(a["state"]).replace("%", " percent")
    state = _STATES.get(state, state)
    world.devices[device] = state
    return _standing("now ", device, state)


def _standing(now: str, device: str, state: str) -> Result:
    fields = {"device": device, "state": state, "is": _is(device)}
    return told(f"The {{device}} {{is}} {now}{{state}}.", **fields)


def _get_device(world: World, a: Arguments) -> Result:
    if missing := _missing(world, a):
        return missing
    device = _place_of(a)
    state = world.devices.setdefault(device, _state_for(device, world.rng))
    return _standing("", device, state)


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
    return told("From {source}: {passage}", source=source, passage=text)


def _forget_me(world: World, _: Arguments) -> Result:
    asked, world.asked_to_forget = world.asked_to_forget, not world.asked_to_forget
    if asked:
        return Result("All that I kept for you is deleted.")
    question = "That deletes your lists, timers, alarms, reminders and orders. Shall I delete them?"
    return Result(question, "asked")


def _end_conversation(world: World, _: Arguments) -> Result:
    return Result("Goodbye.")


def _passage(query: str, rng: Random) -> tuple[str, str]:
    """A document's name and a passage of at most 200 characters that mentions ``query``."""
    topic = query.lower()
    fields = {
        "topic": topic,
        "Topic": capital(topic),
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
    source = rng.choice(_PASSAGES["sources"])
    return source, fill(rng.choice(_PASSAGES["passages"]), rng, fields)[:200]


_ALL: tuple[SimulatedTool, ...] = (
    _get_time, _get_date, _days_until, _set_timer, _list_timers, _change_timer, _cancel_timer,
    _set_alarm, _list_alarms, _change_alarm, _cancel_alarm, _set_reminder, _list_reminders,
    _change_reminder, _cancel_reminder, _add_to_list, _remove_from_list, _move_item, _read_list,
    _clear_list, _calculate, _convert_units, _convert_currency, _get_weather, _get_stock_price,
    _set_device, _get_device, _search_documents, _forget_me, _end_conversation, *ORDERING,
)  # fmt: skip
SIMULATED = {tool.__name__.removeprefix("_"): tool for tool in _ALL}
"""Name of a tool → its simulation."""
