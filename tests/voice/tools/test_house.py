from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.tools import Toolbox
from voice.tools.builtin.house import Device, MemoryHouse, find, read_state
from voice.tools.registry import ToolError


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"device": "light", "room": "kitchen", "state": "on"}, "The kitchen light is now on."),
        (
            {"device": "the lights", "room": "the kitchen", "state": "on"},
            "The kitchen light is now on.",
        ),
        ({"device": "kitchen lamp", "state": "on"}, "The kitchen light is now on."),
        ({"device": "kitten light", "state": "on"}, "The kitchen light is now on."),
        (
            {"device": "light", "room": "bedroom", "state": "fifty percent"},
            "The bedroom light is now 50 percent.",
        ),
        (
            {"device": "light", "room": "bedroom", "state": "to green"},
            "The bedroom light is now green.",
        ),
        (
            {"device": "light", "room": "bedroom", "state": "half"},
            "The bedroom light is now 50 percent.",
        ),
        ({"device": "lights", "state": "on"}, "The lights are now on."),
        ({"device": "all the lights", "state": "off"}, "The lights are now off."),
        ({"device": "front door", "state": "unlock"}, "The front door is now unlocked."),
        ({"device": "garage door", "state": "opened"}, "The garage door is now open."),
        ({"device": "blinds", "state": "down"}, "The living room blinds are now closed."),
        (
            {"device": "thermostat", "state": "twenty two degrees"},
            "The thermostat is now 22 degrees.",
        ),
        ({"device": "heating", "state": "nineteen"}, "The thermostat is now 19 degrees."),
        ({"device": "t v", "state": "on"}, "The living room television is now on."),
        ({"device": "coffee maker", "state": "start"}, "The kitchen coffee machine is now on."),
        (
            {"device": "toaster", "room": "kitchen", "state": "on"},
            "Error: There is no toaster in the kitchen.",
        ),
        ({"device": "toaster", "state": "on"}, "Error: There is no toaster."),
        (
            {"device": "light", "room": "office", "state": "on"},
            "Error: There is no light in the office.",
        ),
        (
            {"device": "kitchen light", "state": "locked"},
            "Error: I cannot set the kitchen light to locked.",
        ),
        (
            {"device": "kitchen light", "state": "two hundred percent"},
            "Error: I could not read the state two hundred percent.",
        ),
        (
            {"device": "thermostat", "state": "fifty percent"},
            "Error: I could not read the state fifty percent.",
        ),
        ({"device": "door", "state": "open"}, "Error: Which one: the front door or garage door?"),
    ],
)
async def test_setting(call: Call, arguments: dict[str, str], answer: str) -> None:
    assert await call("set_device", **arguments) == answer


async def test_states_stay_and_are_told(call: Call) -> None:
    assert await call("get_device", device="front door") == "The front door is locked."
    await call("set_device", device="front door", state="unlocked")
    await call("set_device", device="light", room="bedroom", state="on")
    assert await call("get_device", device="the front door") == "The front door is unlocked."
    assert await call("get_device", device="light", room="bedroom") == "The bedroom light is on."
    assert await call("get_device", device="blinds") == "The living room blinds are open."
    assert await call("get_device", device="lights") == (
        "The kitchen, living room, bathroom, hallway and garage lights are off"
        " and the bedroom light is on."
    )
    assert await call("get_device", device="toaster") == "Error: There is no toaster."


async def test_nothing_changes_when_one_of_several_cannot(call: Call, toolbox: Toolbox) -> None:
    before = await toolbox.house.devices()
    answer = await call("set_device", device="lights", state="locked")
    assert answer.startswith("Error: I cannot set")
    assert await toolbox.house.devices() == before


async def test_the_memory_house_can_be_shown() -> None:
    house = MemoryHouse()
    assert len(await house.devices()) >= 12
    light = find(await house.devices(), "kitchen light")[0]
    await house.set_state(light, "on")
    states = {device.name: device.state for device in await house.devices()}
    assert states["kitchen light"] == "on"
    assert states["bedroom light"] == "off"


def test_a_singular_that_fits_several_is_asked_about() -> None:
    devices = [Device("kitchen light", "light", "on"), Device("bedroom light", "light", "off")]
    with pytest.raises(ToolError, match=r"^Which one: the kitchen light or bedroom light\?$"):
        find(devices, "light")
    assert find(devices, "lights") == devices


def test_an_exact_name_wins_over_longer_ones() -> None:
    devices = [Device("fan", "fan", "on"), Device("kitchen fan", "fan", "off")]
    assert find(devices, "fan") == devices[:1]


@pytest.mark.parametrize(
    ("kind", "said", "state"),
    [
        ("cover", "off", "closed"),
        ("cover", "thirty percent", "30 percent"),
        ("lock", "closed", "locked"),
        ("media", "seventy", "70 percent"),
        ("thermostat", "twenty one point five degrees", "21.5 degrees"),
        ("light", "warm white", "warm white"),
        ("light", "20%", "20 percent"),
    ],
)
def test_states(kind: str, said: str, state: str) -> None:
    assert read_state(Device("it", kind, "on"), said) == state
