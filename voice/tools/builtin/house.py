"""Devices at home: finds the ones that the user means, and has a small house in memory.

A device is found by the words of its name, room included ("kitchen light"), so that "the light in
the kitchen" and "kitchen lights" find the same one. `home_assistant` has the same methods for a
real house.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol

from voice.tools import phrasing
from voice.tools.registry import Known, Readable, ToolError, Unreadable, tool
from voice.tools.scope import Inverses, SessionScope
from voice.tools.spoken_numbers import digits

_ALIASES = {
    "lamp": "light", "bulb": "light", "tv": "television", "t v": "television",
    "telly": "television", "heating": "thermostat", "heater": "thermostat", "heat": "thermostat",
    "temperature": "thermostat", "curtain": "blind", "shade": "blind", "shutter": "blind",
    "hoover": "vacuum", "coffee maker": "coffee machine", "espresso machine": "coffee machine",
    "lounge": "living room", "hall": "hallway", "front door lock": "front door",
    "ceiling fan": "fan", "vacuum cleaner": "vacuum",
}  # fmt: skip
_STATES = {
    "opened": "open", "unlock": "unlocked", "lock": "locked", "close": "closed", "shut": "closed",
    "start": "on", "started": "on", "stop": "off", "stopped": "off", "up": "open",
    "down": "closed", "half": "50 percent", "full": "100 percent", "maximum": "100 percent",
    "minimum": "1 percent", "dim": "20 percent", "dimmed": "20 percent", "bright": "100 percent",
    "low": "20 percent", "quiet": "20 percent", "medium": "50 percent", "high": "100 percent",
    "max": "100 percent", "halfway": "50 percent", "half open": "50 percent",
    "half closed": "50 percent", "out": "off", "relock": "locked", "dark": "off",
    "pitch black": "off",
}  # fmt: skip
_COLORS = (
    "red", "green", "blue", "yellow", "orange", "purple", "pink", "white", "violet", "turquoise",
    "teal", "magenta", "cyan", "gold", "amber", "lavender", "lime",
)  # fmt: skip
_KINDS = {
    "light": "on off percent color", "fan": "on off percent", "thermostat": "on off degrees",
    "lock": "locked unlocked", "cover": "open closed percent", "switch": "on off",
    "media": "on off percent",
}  # fmt: skip
"""Kind of device → the states it can take."""
_BEFORE_STATES = re.compile(
    r"^(?:(?:(?:up|down|back) (?=to\b)|to|at|the|turned|switched|be|a|brightness|temperature|heat"
    r"|volume|fully|all|completely|totally)\b ?)+"
)
_STEP = re.compile(
    r"(?:(?:bit|little|touch|tad) )?(?:(?P<up>up|louder|brighter|warmer|hotter|higher)"
    r"|(?:down|quieter|dimmer|darker|cooler|colder|lower"
    r"|(?:not (?:so|as|quite so|that)|less|too) (?:bright|loud|warm|hot|high)(?: now)?))"
    r"(?P<by> a (?:bit|little|touch|tad|notch)| (?:by )?(?P<count>\d+)(?: percent| degrees?)?)?"
)
"""More or less than now: "a bit louder", "down two degrees"."""
_STEPS = {"percent": 20, "degrees": 1}
_LEVELS = {"": 50, "off": 0, "closed": 0, "on": 100, "open": 100}
"""States without a number, as percent."""
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?: (percent|degrees?)(?: celsius| fahrenheit)?)?")
_RANGES = {"percent": (0, 100), "degrees": (5, 95)}
_THINGS = {
    "light", "fan", "thermostat", "door", "window", "television", "blind", "vacuum", "machine",
    "lock", "plug", "socket", "switch", "speaker", "radio", "music", "oven", "fridge", "freezer",
    "dishwasher", "washer", "dryer", "kettle", "toaster", "boiler", "alarm", "camera", "gate",
    "sprinkler", "tap", "shower", "iron", "computer", "heater", "cooker", "hob",
}  # fmt: skip
"""Things that are devices in any home: the user can be told that there is no such device."""
_STATE_WORDS = 4
"""Most words of a state, as in "down to five percent"."""
_EVERY = {"all", "every", "of", "the", "in"}
_EVERYTHING = {"everything", "all devices", "all of it", "the whole house", "whole house"}
_LOCKING = re.compile(r"\b(?:un|re)?lock(?:ed)?\b")
_SEVERAL = re.compile(r"\b(?:both|all (?:two|three|four|five|six|of (?:them|those)))\b")
_SWITCHED = {"light", "fan", "switch", "media"}
"""Kinds of device that "everything" includes; it must not unlock a door."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device and its state.

    Attributes:
        name: Spoken name, with the room: "kitchen light".
        kind: light, fan, thermostat, lock, cover, switch or media.
        state: In the form that is spoken: "on", "50 percent", "21 degrees", "green".
        identity: The house's own id of the device.
    """

    name: str
    kind: str
    state: str
    identity: str = ""


class House(Protocol):
    """A house with devices."""

    async def devices(self) -> Sequence[Device]:
        """Every device in its current state.

        Raises:
            ToolError: The house cannot be asked.
        """

    def seen(self) -> Sequence[Device]:
        """The result of the last call of `devices`; empty before the first."""

    async def set_state(self, device: Device, state: str) -> None:
        """Set a device to a state that `read_state` returned for it.

        Raises:
            ToolError: The house did not do it.
        """

    async def close(self) -> None:
        """Close connections; may be called again."""


class MemoryHouse:
    """A small house to try things out; its state is lost when the program ends."""

    def __init__(self) -> None:
        rooms = ("kitchen", "living room", "bedroom", "bathroom", "hallway", "garage")
        initial = [Device(f"{room} light", "light", "off") for room in rooms]
        initial += [
            Device("bedroom fan", "fan", "off"),
            Device("thermostat", "thermostat", "21 degrees"),
            Device("front door", "lock", "locked"),
            Device("garage door", "cover", "closed"),
            Device("living room television", "media", "off"),
            Device("living room blinds", "cover", "open"),
            Device("vacuum", "switch", "off"),
            Device("kitchen coffee machine", "switch", "off"),
        ]
        self._devices = {device.name: device for device in initial}

    async def devices(self) -> Sequence[Device]:
        """See `House.devices`."""
        return self.seen()

    def seen(self) -> Sequence[Device]:
        """See `House.seen`."""
        return list(self._devices.values())

    async def set_state(self, device: Device, state: str) -> None:
        """See `House.set_state`."""
        self._devices[device.name] = Device(device.name, device.kind, state)

    async def close(self) -> None:
        """See `House.close`."""


def _is_kind(said: str) -> None:
    """Check that words may name a device, whether or not there is one: "the back door".

    Raises:
        Unreadable: They do not.
    """
    words = _singular(_bare(said).split()[-1]) if _bare(said) else ""
    if _ALIASES.get(words, words) not in _THINGS:
        raise Unreadable("device", said)


_WHICH_DEVICE = "Sorry, which device do you mean?"


def _seen(said: str, *, house: House) -> None:
    """Check that words name one or several of the devices last seen; passes if none were seen.

    Raises:
        ToolError: There is none of that name.
    """
    devices = house.seen()
    words = _words(_bare(said)) - _EVERY
    if _bare(said) not in _EVERYTHING and devices and not (words and _called(words, devices)):
        raise ToolError(f"{_there_is_no(_bare(said))}.")


_DeviceName = Annotated[str, Known(_seen, _WHICH_DEVICE, binds=False, names=_is_kind)]


def _what_state(said: str) -> str:
    if any(word.isdigit() for word in digits(said).split()):
        return f"Sorry, I cannot set it {'' if said.startswith('by ') else 'to '}{said}."
    return "Sorry, what am I to do with it?"


_State = Annotated[
    str, Readable(lambda said, _: _state(said), _what_state, whole=False, refuses=False)
]


@tool()
async def set_device(
    device: _DeviceName,
    state: _State,
    room: str = "",
    *,
    house: House,
    scope: SessionScope,
    inverses: Inverses,
) -> str:
    """Switch or adjust a home device."""
    newest = " ".join(scope.said[:1]).lower()
    if less := re.search(rf"\b(?:not (?:so|as|that)|less|too) {re.escape(state)}\b", newest):
        # A model may copy only the last word.
        state = less[0]
    found = find(await house.devices(), device, room, scope.said, state)
    if len(found) == 1 and _SEVERAL.search(newest) and _words(device).isdisjoint(_words(newest)):
        raise ToolError("Sorry, which devices do you mean?")
    wanted = [(each, read_state(each, state)) for each in found]
    done, failed = list[Device](), dict[str, ToolError]()
    for each, new in wanted:
        try:
            await house.set_state(each, new)
        except ToolError as failure:
            failed[each.name] = failure
            continue
        done.append(each)
        inverses.append(partial(house.set_state, each, each.state))
    if not done:
        raise next(iter(failed.values()))
    missed = f" I could not set the {phrasing.joined([*failed], 'or')}." if failed else ""
    if _bare(device) in _EVERYTHING:
        place = f" in the {_bare(room)}" if room else ""
        return f"Everything{' else' * bool(failed)}{place} is now {wanted[0][1]}.{missed}"
    return f"The {_named(done, bool(failed))} now {wanted[0][1]}.{missed}"


@tool(read_only=True)
async def get_device(
    device: _DeviceName, room: str = "", *, house: House, scope: SessionScope
) -> str:
    """Tell the state of a device."""
    found = find(await house.devices(), device, room, scope.said)
    alike: dict[str, list[Device]] = {}
    for each in found:
        alike.setdefault(each.state, []).append(each)
    parts = [f"the {_named(group, len(alike) > 1)} {state}" for state, group in alike.items()]
    return f"{phrasing.sentence(phrasing.joined(parts))}."


def _called(words: set[str], devices: Sequence[Device]) -> list[Device]:
    """The devices whose names have all these words, or similar ones."""
    found = [each for each in devices if words <= _words(each.name)]
    if not found:
        known = sorted({word for each in devices for word in _words(each.name)})
        near = {_nearest(word, known) for word in words}
        found = [each for each in devices if near <= _words(each.name)]
    return found


def _there_is_no(device: str) -> str:
    return f"There {'are' if device.endswith('s') else 'is'} no {device}"


def find(
    devices: Sequence[Device],
    device: str,
    room: str = "",
    messages: Sequence[str] = (),
    state: str = "",
) -> list[Device]:
    """The devices that the user means: one, or all of a kind for a plural or "all".

    Args:
        messages: The user's messages, newest first. If several devices match, the one whose whole
            name is in the newest message is meant, as a model may leave the room out.
        state: The state that it is to take. If several devices match, the only one that can take it
            is meant: "garage", "open".

    Raises:
        ToolError: There is none, or it is not clear which is meant.
    """
    said_device, said_room = _bare(device), _bare(room)
    if said_device in _EVERYTHING:
        switched = [each for each in devices if each.kind in _SWITCHED]
        found = [each for each in switched if _words(said_room) <= _words(each.name)]
        if found:
            return found
    words = _words(f"{said_room} {said_device}")
    newest = re.sub(r"[^\w\s]", " ", " ".join(messages[:1]).lower())
    wants_all = (
        "all" in words
        or "every" in words
        or said_device in ("lights", "lamps", "blinds")
        or re.search(
            rf"(?<!not )\b(?:all|every)(?: of)?(?: the| my)? {re.escape(said_device)}\b", newest
        )
    )
    words -= _EVERY
    found = _called(words, devices)
    locks = [each for each in devices if each.kind == "lock"]
    if len(locks) == 1 and _LOCKING.search(newest) and words.isdisjoint(_words(newest)):
        # A model may take "it" in "did you lock it" for what was spoken of last.
        return locks
    exact = [each for each in found if _words(each.name) == words]
    if exact or (len(found) > 1 and wants_all) or len(found) == 1:
        return exact or found
    if not found and said_room:
        # A thermostat for the whole house serves every room.
        found = [each for each in devices if _words(each.name) == _words(said_device)]
        if len(found) == 1:
            return found
    if not found:
        place = f" in the {said_room}" if said_room and said_room not in said_device else ""
        raise ToolError(f"{_there_is_no(said_device)}{place}.")
    return _one_of(found, words, newest, state)


def _one_of(found: Sequence[Device], words: set[str], newest: str, state: str) -> list[Device]:
    """The device meant of several that fit the ``words`` of a name; see `find`."""
    able = [each for each in found if state and _can_be(each, state)]
    if len(able) == 1:
        return able
    said = _words(newest)
    named = [each for each in found if _words(each.name) <= said]
    if len(named) == 1:
        return named
    lights = [each for each in able if each.kind == "light"]
    if len(lights) == 1 and all(_words(each.name) - words for each in able):
        # Whoever switches a room, "the bedroom off", means its light.
        return lights
    raise ToolError(f"Which one: the {phrasing.joined([each.name for each in found], 'or')}?")


def _state(said: str) -> str:
    """Read a state that some kind of device can have.

    Raises:
        Unreadable: No kind can have it.
    """
    if len(said.split()) > _STATE_WORDS:
        raise Unreadable("state", said)
    for kind in _KINDS:
        with contextlib.suppress(ToolError):
            return read_state(Device("", kind, ""), said)
    raise Unreadable("state", said)


def _can_be(device: Device, state: str) -> bool:
    with contextlib.suppress(ToolError):
        return bool(read_state(device, state))
    return False


def read_state(device: Device, said: str) -> str:
    """A spoken state in its stored form: "fifty percent" → "50 percent", "lock" → "locked".

    Raises:
        ToolError: It is not a state, or not one that this device can have.
    """
    state = _BEFORE_STATES.sub("", digits(said, fractions=False)).strip()
    if device.kind == "cover" and state in ("higher", "lower"):
        state = "open" if state == "higher" else "closed"
    if device.kind == "cover" or not _STEP.fullmatch(state):
        state = _STATES.get(state, state)
    state = state.replace("%", " percent").replace("  ", " ")
    allowed = _KINDS[device.kind].split()
    if device.kind == "lock" and state in ("closed", "open"):
        state = "locked" if state == "closed" else "unlocked"
    if device.kind == "cover" and state in ("on", "off"):
        state = "open" if state == "on" else "closed"
    if (step := _STEP.fullmatch(state)) and (moved := _stepped(device, step)):
        return moved
    if number := _NUMBER.fullmatch(state):
        return _level(float(number[1]), number[2] or "", allowed, said)
    if state.split()[-1:] and state.split()[-1] in _COLORS and "color" in allowed:
        return state
    if state not in allowed:
        raise ToolError(f"I cannot set the {device.name} to {said.removeprefix('to ')}.")
    return state


def _stepped(device: Device, step: re.Match[str]) -> str:
    """A device's state after a step up or down; empty if it has no level to change."""
    unit = next((one for one in _STEPS if one in _KINDS[device.kind].split()), "")
    number = _NUMBER.fullmatch(device.state)
    level = float(number[1]) if number else _LEVELS.get(device.state)
    if not unit or level is None or (unit == "degrees" and not number and device.state):
        return ""
    size = float(step["count"] or _STEPS[unit])
    low, high = _RANGES[unit]
    return f"{min(max(level + (size if step['up'] else -size), low), high):g} {unit}"


def _level(value: float, unit: str, allowed: Sequence[str], said: str) -> str:
    """A number, with or without a unit, as the state of a device that takes percent or degrees."""
    unit = unit or ("degrees" if "degrees" in allowed else "percent")
    unit = "degrees" if unit == "degree" else unit
    low, high = _RANGES[unit]
    if unit not in allowed or not low <= value <= high:
        raise Unreadable("state", said)
    return f"{value:g} {unit}"


def _named(devices: Sequence[Device], with_rooms: bool = False) -> str:
    """The devices with their verb: "kitchen light is", "lights are"; rooms if asked for."""
    if len(devices) == 1:
        return f"{devices[0].name} {_be(devices[0].name)}"
    kinds = {each.name.split()[-1] for each in devices}
    if len(kinds) > 1:
        return f"{phrasing.joined([each.name for each in devices])} are"
    kind = kinds.pop().removesuffix("s")
    if with_rooms:
        rooms = [each.name.rpartition(" ")[0] for each in devices]
        return f"{phrasing.joined(rooms)} {kind}s are"
    return f"{kind}s are"


def _be(name: str) -> str:
    return "are" if name.endswith("s") else "is"


def _bare(said: str) -> str:
    return re.sub(r"^(?:the|my|our|in|in the)\s+", "", said.lower().strip())


def _words(name: str) -> set[str]:
    """The words of a name, in the singular and with aliases replaced."""
    words = [_singular(word) for word in name.split()]
    text = " ".join(words)
    for alias in sorted(_ALIASES, key=len, reverse=True):
        text = re.sub(rf"(?<!\S){alias}(?!\S)", _ALIASES[alias], text)
    return set(text.split())


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.75)
    return close[0] if close else word
