"""Maps the labels of the utterance corpora to our tools.

One reader per group of intents turns a row into spans; a row that says more than the tool can take
is rejected rather than half understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from dlm.datagen.corpora import spans
from dlm.datagen.corpora.spans import Spans
from dlm.datagen.language.phrases import Piece

_MORE = re.compile(
    r"\b(every|each|daily|weekdays|weekends|weekly|all|until|between|cancel|delete|snooze|remove|off"
    r"|another|then|except|change|instead|other|again)\b"
)
_NAMED = re.compile(r"\b(called|named|cook\w*|bake|baking|my|the (?!timer)|name|label)\b")
_TIME_WORDS = re.compile(
    r"\b(week|weekend|month|year|hour|hours|days|yesterday|morning|evening|afternoon|night|later|last"
    r"|am|pm|noon|oclock|o'clock|next|minutes|spring|summer|winter)\b"
)
_LIST_ADD = re.compile(
    r"^(?:please |can you |could you |i need you to )*(?:add|put|include) (.+?) (?:to|on|onto|in) "
    r"(?:my|the|our) (?:(.+?) )?list(?: please)?$"
)
_LIST_REMOVE = re.compile(
    r"^(?:please |can you |could you |i need you to )*(?:remove|delete|take|cross|erase) (.+?) "
    r"(?:from|off|off of|of) (?:my|the|our) (?:(.+?) )?list(?: please)?$"
)
_LIST_READ = re.compile(
    r"^.*\b(?:on|read|is|in|hear|see|show|me) (?:my|the|our) (.+?) list(?: please)?$"
)
_REMIND = re.compile(
    r"^(?:please |can you |could you |hey |i need you to )*(?:remind me (?:to|about|of|that i "
    r"(?:have|need) to)|(?:set|make|create|add) (?:a|another) reminder (?:to|about|of)) (.+)$"
)
_PLACE = re.compile(
    r"\b(?:in|at|(?:weather|forecast|report|time) for) (?!me|today|the next|tomorrow|tonight|right)"
    r"([a-z' ]+?)(?: right now| now| please| today| tomorrow| like)?$"
)

Reader = Callable[[str, list[str], dict[str, Any]], "tuple[str, Spans] | None"]


def request(row: dict[str, Any]) -> tuple[str, list[Piece]] | None:
    """The tool that a row asks for, and its sentence in pieces; None if it does not fit."""
    reader = READERS.get(row["intent"])
    # Transcribers wrote dates that way: "the meeting on one divided by twenty two".
    if reader is None or (reader is not _sum and "divided" in row["text"]):
        return None
    words = spans.tokens(row["text"])
    if not all(words):
        return None
    found = reader(" ".join(words), words, row["slots"])
    if found is None:
        return None
    tool, slots = found
    cut = spans.pieces(row["text"], slots)
    return None if cut is None else (tool, cut)


def _with(tool: str, slot: str, words: list[str], value: object) -> tuple[str, Spans] | None:
    """A request with one argument; None if its value is not in the sentence exactly once."""
    span = spans.find(words, str(value))
    return (tool, {slot: span}) if span else None


def _timer(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if _MORE.search(text) or "alarm" in text or (" and " in text and "timers" in text):
        return None
    length = spans.duration(words)
    name = slots.get("name")
    if length is None or "/" in text or "conversation_command" in slots:
        return None
    if name is None and _NAMED.search(text):
        return None
    found = {"duration": length}
    if name is not None:
        named = spans.find(words, str(name))
        if named is None:
            return None
        found["name"] = named
    return "set_timer", found


def _alarm(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if _MORE.search(text) or " and " in text or slots.get("event_name"):
        return None
    when = spans.moment(words)
    if when is None:
        return None
    rest = " ".join([*words[: when[0]], "|", *words[when[1] :]])
    if re.search(r"\d|tomorrow|today|\b(am|pm|morning|day|week|for my)\b|hours?", rest):
        return None
    return "set_alarm", {"when": when}


def _sum(text: str, words: list[str], _: dict[str, Any]) -> tuple[str, Spans] | None:
    found = spans.expression(words)
    if found is None or re.search(r"\d|percent|%", " ".join(words[: found[0]] + words[found[1] :])):
        return None
    return "calculate", {"expression": found}


def _units(text: str, words: list[str], _: dict[str, Any]) -> tuple[str, Spans] | None:
    found = spans.conversion(words, money=False)
    return ("convert_units", found) if found else None


def _money(text: str, words: list[str], _: dict[str, Any]) -> tuple[str, Spans] | None:
    found = spans.conversion(words, money=True)
    return ("convert_currency", found) if found else None


def _weather(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if any(k in slots for k in ("geographic_poi", "spatial_relation", "current_location", "time")):
        return None
    if re.search(r"\b(today's|tomorrow's|monthly|weekly|uv)\b", text):
        return None
    named = [slots[k] for k in ("city", "state", "country", "place_name", "location") if k in slots]
    if any(not isinstance(v, str) for v in named) or "timeofday" in slots:
        return None
    found: Spans = {}
    if named:
        places = [spans.find(words, v) for v in named]
        joined = spans.adjacent(places)
        if None in places or joined is None:
            return None
        found["place"] = joined
    elif match := _PLACE.search(text):
        place = spans.find(words, match[1])
        if place is None or _TIME_WORDS.search(match[1]):
            return None
        found["place"] = place
    return _with_day(words, slots, found, "get_weather")


def _with_day(
    words: list[str], slots: dict[str, Any], found: Spans, tool: str
) -> tuple[str, Spans] | None:
    day = spans.day(words)
    if day and words[day[0] : day[1]] in (["now"], ["right", "now"], ["currently"]):
        day = None
    if day and not any(s[0] < day[1] and day[0] < s[1] for s in found.values()):
        found["day"] = day
    taken = {i for start, end in found.values() for i in range(start, end)}
    rest = " ".join(w for i, w in enumerate(words) if i not in taken)
    if _TIME_WORDS.search(rest) or re.search(r"\d|this |coming ", rest):
        return None
    if ("timeRange" in slots or "date" in slots) and "day" not in found:
        return None
    return tool, found


def _time(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if slots.get("offset") or re.search(
        r"\bwill\b|zone|until|difference|how (many|long|much)|\bdates?\b|coast|on the", text
    ):
        return None
    place = slots.get("location") or slots.get("place_name")
    if isinstance(place, str):
        return _with("get_time", "place", words, place) if "time" in text else None
    if match := _PLACE.search(text):
        return _with("get_time", "place", words, match[1])
    plain = "time" in text or "clock" in text or "late" in text
    return ("get_time", {}) if plain and not slots and not re.search(r"\b(in|at)\b", text) else None


def _date(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if any(slots.get(key) for key in ("location", "place_name", "event_name")) or "time" in text:
        return None
    if not re.search(r"\b(date|day)\b", text):
        return None
    found = _with_day(words, slots, {}, "get_date")
    if found and not found[1] and re.search(r"\b(in|from|of the|after|before|on)\b", text):
        return None
    return found


def _completed(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    # "Mark milk as done" does not mention a list, so it would be a guess.
    return _remove(text, words, slots) if re.search(r"\b(off|list)\b", text) else None


def _listed(
    text: str, words: list[str], slots: dict[str, Any], pattern: re.Pattern[str], tool: str
) -> tuple[str, Spans] | None:
    item, name = slots.get("item"), slots.get("name")
    if item is None:
        match = pattern.match(text)
        if (
            match is None
            or " and " in match[1]
            or match[1] in ("it", "this", "that", "these", "them")
        ):
            return None
        item, name = match[1], match[2]
        if re.search(r"\b(item|items|everything|list|something)\b", item):
            return None
    elif name is None and (
        match := re.search(r"\b(?!my|the|our|to|on|of|off|a)(\w+) list\b", text)
    ):
        name = match[1]
    found: Spans = {}
    for slot, value in (("item", item), ("list", name)):
        if value is not None:
            span = spans.find(words, str(value))
            if span is None:
                return None
            found[slot] = span
    return tool, found


_add = partial(_listed, pattern=_LIST_ADD, tool="add_to_list")
_remove = partial(_listed, pattern=_LIST_REMOVE, tool="remove_from_list")


def _shopping(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    return _add(text, words, slots) or _remove(text, words, slots)


def _read_list(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    match = _LIST_READ.match(text)
    if (
        match is None
        or len(match[1].split()) > 3
        or re.search(r"\b(if|put|add|did|how many|reminders?)\b", text)
    ):
        return None
    return _with("read_list", "list", words, match[1])


def _remind(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    match = _REMIND.match(text)
    if match is None or _MORE.search(text) or re.search(r"something|in advance|\d/", text):
        return None
    start = len(words) - len(match[1].split())
    when = spans.moment(words) or spans.day(words)
    if when is None:
        rest = re.search(r"\d|" + _TIME_WORDS.pattern, match[1])
        return None if rest else ("set_reminder", {"text": (start, len(words))})
    if when[1] != len(words) or when[0] <= start + 1 or words[when[0] - 1] == "the":
        return None
    end = when[0] - (words[when[0] - 1] in ("at", "on", "for", "by", "in"))
    return ("set_reminder", {"text": (start, end), "when": when}) if end > start else None


def _reminders(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    general = re.search(r"\breminders?\b", text) and not re.search(
        r"\b(for|to|about|if|set|on|is)\b", text
    )
    return ("list_reminders", {}) if general and not slots else None


def _stock(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    company = slots.get("business_name")
    if not isinstance(company, str) or not re.search(r"stock|share|price|trading", text):
        return None
    if re.search(r"\b(shares of|how many|buy|sell|news|last|yesterday|week|month|year)\b", text):
        return None
    return _with("get_stock_price", "company", words, company)


_DEVICE = re.compile(
    r"\b(lights?|lamps?|fans?|plug|socket|blinds?|curtains?|doors?|locks?|shades?|switch(?:es)?)\b"
    r"(?! (?:on|off) the)"
)


def _switch(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if (slots.get("floor") and slots.get("area")) or slots.get("time") or _TIME_WORDS.search(text):
        return None
    if words.count("on") + words.count("off") != 1:
        return None
    if re.search(r"\b(if|in \d+|on the \w+ floor)\b", text):
        return None
    state = words.index("on") if "on" in words else words.index("off")
    return _device(text, words, slots, {"state": (state, state + 1)}, "set_device")


def _device(
    text: str, words: list[str], slots: dict[str, Any], found: Spans, tool: str
) -> tuple[str, Spans] | None:
    name = slots.get("name") or slots.get("device_type")
    room = slots.get("area") or slots.get("house_place") or slots.get("floor")
    if room == "here":
        return None
    if name is None:
        kinds = _DEVICE.findall(text)
        name = kinds[0] if len(kinds) == 1 else None
    if not isinstance(name, str):
        return None
    span = spans.find(words, name)
    if span is None:
        return None
    # "My room lights" and "upstairs floor lamps" can be split in more than one way.
    if words[max(0, span[0] - 1)] in ("room", "floor") and not str(room).endswith("room"):
        return None
    found["device"] = span
    if room is not None:
        place = spans.find(words, str(room))
        if place is None:
            return None
        if not (span[0] < place[1] and place[0] < span[1]):
            found["room"] = place
    return tool, found


def _light(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    value = slots.get("color") or slots.get("color_type") or slots.get("brightness")
    if value is None or slots.get("floor") or slots.get("time"):
        return None
    state = spans.find(words, f"{value} percent") or spans.find(words, f"{value}%")
    state = state or spans.find(words, str(value))
    return _device(text, words, slots, {"state": state}, "set_device") if state else None


def _state(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if slots.get("floor") or not slots.get("name") or not text.startswith(("is ", "status ")):
        return None
    if re.search(r"\b(at|home|work|school|away)$", text):
        return None
    return _device(text, words, slots, {}, "get_device")


def _no_arguments(tool: str) -> Reader:
    return lambda text, words, slots: None if slots else (tool, {})


def _cancel(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if any(k.startswith("start") or k == "area" for k in slots):
        return None
    name = slots.get("name")
    return ("cancel_timer", {}) if name is None else _with("cancel_timer", "name", words, name)


_ALARM_OFF = re.compile(
    r"\b(remove|delete|cancel|turn off|turn the alarm off|switch off|stop|disable|get rid of"
    r"|deactivate|clear|shut off|drop|erase)\b"
)
_ALARM_MORE = re.compile(
    r"\b(after|before|between|except|early|any|all|every|each|week|weeks|weekend|weekdays|set an?"
    r"|and|then|first|last|second|next|this|these|those|it|which|i|recent\w*|future|events?|name\w*)\b"
)


def _alarm_off(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    if not _ALARM_OFF.search(text) or not re.search(r"\balarm\b", text) or "event_name" in slots:
        return None
    if _ALARM_MORE.search(text):
        return None
    when = spans.moment(words)
    found: Spans = {"when": when} if when else {}
    start, end = when or (0, 0)
    rest = " ".join([*words[:start], *words[end:]])
    if re.search(r"\d|" + _TIME_WORDS.pattern + r"|\b(tomorrow|today|\w+day)\b", rest):
        return None
    return "cancel_alarm", found


def _alarms(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    told = re.search(r"\balarms?\b", text) and not re.search(
        r"\b(set (?:an?|the|my)|before|after|between|change|if|remind|wake|which i|for)\b", text
    )
    return ("list_alarms", {}) if told and not slots else None


def _time_or_date(text: str, words: list[str], slots: dict[str, Any]) -> tuple[str, Spans] | None:
    return _time(text, words, slots) or _date(text, words, slots)


_INTENTS: tuple[tuple[Reader, str], ...] = (
    (_timer, "timer HassStartTimer start.timer"),
    (_alarm, "alarm alarm_set"),
    (_alarm_off, "alarm_remove"),
    (_alarms, "alarm_query"),
    (_sum, "calculator qa_maths"),
    (_units, "measurement_conversion"),
    (_money, "exchange_rate qa_currency"),
    (
        _weather,
        "weather GetWeather weather_query current_weather current_temperature is_wind "
        "is_clear is_rain is_stormy is_snow do-i-need-an-umbrella high_temperature "
        "low_temperature is_fog daily_forecast",
    ),
    (_no_arguments("get_weather"), "HassGetWeather"),
    (_time, "time what.time.is.it"),
    (_time_or_date, "datetime_query"),
    (_no_arguments("get_time"), "HassGetCurrentTime"),
    (_no_arguments("get_date"), "HassGetCurrentDate"),
    (_date, "date weekday.for.date current_date what.day.is.it"),
    (_shopping, "shopping_list_update todo_list_update"),
    (_add, "lists_createoradd HassShoppingListAddItem HassListAddItem"),
    (_remove, "lists_remove HassListRemoveItem"),
    (_completed, "HassShoppingListCompleteItem HassListCompleteItem"),
    (_read_list, "shopping_list todo_list lists_query"),
    (_remind, "reminder_update calendar_set ReminderAt Reminder"),
    (_reminders, "reminder GetNextReminders"),
    (_stock, "qa_stock"),
    (
        _switch,
        "smart_home iot_hue_lightoff iot_hue_lighton iot_wemo_on iot_wemo_off HassTurnOn "
        "HassTurnOff",
    ),
    (_light, "HassLightSet iot_hue_lightchange"),
    (_state, "HassGetState"),
    (_cancel, "HassCancelTimer"),
    (_no_arguments("list_timers"), "HassTimerStatus timer.status"),
)
READERS: dict[str, Reader] = {name: reader for reader, names in _INTENTS for name in names.split()}
