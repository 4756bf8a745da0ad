from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import closed_url, connections, served
from voice.errors import ConfigError
from voice.tools import Toolbox
from voice.tools.builtin.home_assistant import HomeAssistant
from voice.tools.builtin.house import Device, find, get_device, read_state, set_device
from voice.tools.registry import ToolError
from voice.tools.scope import Inverses, SessionScope
from voice.tools.web import Web


@pytest.mark.parametrize(
    ("device", "room", "state", "answer"),
    [
        ("light", "kitchen", "on", "The kitchen light is now on."),
        ("kitchen lamp", "", "on", "The kitchen light is now on."),
        ("kitten light", "", "on", "The kitchen light is now on."),
        ("light", "bedroom", "fifty percent", "The bedroom light is now 50 percent."),
        ("light", "bedroom", "to green", "The bedroom light is now green."),
        ("light", "bedroom", "half", "The bedroom light is now 50 percent."),
        ("lights", "", "on", "The lights are now on."),
        ("all the lights", "", "off", "The lights are now off."),
        ("everything", "", "off", "Everything is now off."),
        ("everything", "bedroom", "off", "Everything in the bedroom is now off."),
        ("front door", "", "unlock", "The front door is now unlocked."),
        ("garage door", "", "opened", "The garage door is now open."),
        ("thermostat", "", "twenty two degrees", "The thermostat is now 22 degrees."),
        ("t v", "", "on", "The living room television is now on."),
        ("coffee maker", "", "start", "The kitchen coffee machine is now on."),
        ("light", "office", "on", "Error: There is no light in the office."),
        ("heating", "living room", "down", "The thermostat is now 20 degrees."),
        ("fan", "living room", "on", "Error: There is no fan in the living room."),
        ("blinds", "office", "closed", "Error: There are no blinds in the office."),
        ("kitchen light", "", "locked", "Error: I cannot set the kitchen light to locked."),
        (
            "kitchen light",
            "",
            "two hundred percent",
            "Error: I could not read the state two hundred percent.",
        ),
        ("thermostat", "", "fifty percent", "Error: I could not read the state fifty percent."),
        ("tv", "tv", "off", "The living room television is now off."),
        ("light", "bedroom", "brightness fifty", "The bedroom light is now 50 percent."),
        (
            "light",
            "bedroom",
            "two notches",
            "Error: I cannot set the bedroom light to two notches.",
        ),
        ("garage", "", "open", "The garage door is now open."),
        ("fan", "", "low", "The bedroom fan is now 20 percent."),
        ("heating", "", "down to sixteen", "The thermostat is now 16 degrees."),
        ("heating", "", "down two degrees", "The thermostat is now 19 degrees."),
        ("heating", "", "up a bit", "The thermostat is now 22 degrees."),
        ("tv", "", "louder", "The living room television is now 20 percent."),
        ("lights", "", "out", "The lights are now off."),
        ("bedroom", "", "all dark", "The bedroom light is now off."),
        ("tv", "", "not so loud", "The living room television is now 0 percent."),
        ("blinds", "", "lower", "The living room blinds are now closed."),
        ("vacuum", "", "up", "Error: I cannot set the vacuum to up."),
        ("door", "", "open", "Error: Which one: the front door or garage door?"),
    ],
)
async def test_setting(call: Call, device: str, room: str, state: str, answer: str) -> None:
    assert await call("set_device", device=device, room=room, state=state) == answer


async def test_what_the_model_left_out_of_the_message_counts(
    call: Call, scope: SessionScope
) -> None:
    scope.said = ("not so bright",)
    told = await call("set_device", device="bedroom light", state="bright")
    assert told == "The bedroom light is now 0 percent."
    scope.said = ("all three off now",)
    asked = await call("set_device", device="kitchen light", state="off")
    assert asked == "Error: Sorry, which devices do you mean?"


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


def test_a_singular_that_fits_several_is_asked_about() -> None:
    devices = [Device("kitchen light", "light", "on"), Device("bedroom light", "light", "off")]
    with pytest.raises(ToolError, match=r"^Which one: the kitchen light or bedroom light\?$"):
        find(devices, "light")
    assert find(devices, "lights") == devices
    assert find(devices, "light", messages=("turn off all light please", "the fan")) == devices
    for one in ("not all the light", "that's all, the light off"):
        with pytest.raises(ToolError, match="Which one"):
            find(devices, "light", messages=(one,))


def test_a_room_that_the_model_left_out_is_taken_from_the_message() -> None:
    devices = [Device("kitchen light", "light", "on"), Device("bedroom light", "light", "off")]
    said = ("Turn on the kitchen light.", "the bedroom light is off")
    assert find(devices, "light", messages=said) == devices[:1]
    for vague in (("turn on the light",), ("kitchen and bedroom light please",), ()):
        with pytest.raises(ToolError, match="Which one"):
            find(devices, "light", messages=vague)


def test_what_is_locked_is_the_lock_whatever_was_spoken_of_last() -> None:
    devices = [Device("front door", "lock", "locked"), Device("garage door", "cover", "open")]
    assert find(devices, "garage", messages=("did you lock it",)) == devices[:1]
    assert find(devices, "garage", messages=("lock the garage",)) == devices[1:]


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
        ("light", "down", "80 percent"),
        ("light", "not so bright", "80 percent"),
        ("fan", "a bit higher", "100 percent"),
        ("cover", "down a touch", "80 percent"),
        ("cover", "fully down", "closed"),
        ("lock", "relock", "locked"),
    ],
)
def test_states(kind: str, said: str, state: str) -> None:
    assert read_state(Device("it", kind, "on"), said) == state


STATES = [
    ("light.kitchen", "Kitchen Light", "on", {"brightness": 128}),
    ("light.bedroom", "Bedroom Light", "off", {}),
    ("lock.front_door", "Front Door", "locked", {}),
    ("cover.garage", "Garage Door", "closed", {}),
    ("climate.home", "Thermostat", "heat", {"temperature": 21.5}),
    ("climate.attic", "Attic Heater", "heat", {"temperature": "18.50"}),
    ("vacuum.robot", "Vacuum", "docked", {}),
    ("media_player.tv", None, "playing", {}),
    ("climate.cellar", "Cellar Heater", "heat", {"temperature": "cold"}),
    ("light.shed", "Shed Lantern", "on", {"brightness": "dim"}),
    ("sensor.outside", "Outside Temperature", "7", {}),
]


class Instance:
    """Answers as Home Assistant's REST API does and keeps what it was told to do."""

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.broken = ""

    def routes(self) -> list[Route]:
        return [
            Route("/api/states", self.states),
            Route("/api/services/{domain}/{service}", self.service, methods=["POST"]),
        ]

    async def states(self, request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer secret":
            return Response("401: Unauthorized", 401)
        entities = []
        for entity_id, name, state, attributes in STATES:
            named = {"friendly_name": name} if name else {}
            entities.append(
                {"entity_id": entity_id, "state": state, "attributes": attributes | named}
            )
        return JSONResponse(entities)

    async def service(self, request: Request) -> Response:
        path = request.path_params
        asked = await request.json()
        if asked["entity_id"] == self.broken:
            return Response("500: Internal Server Error", 500)
        self.called.append((f"{path['domain']}.{path['service']}", asked))
        return JSONResponse([])


@pytest.fixture
def instance() -> Instance:
    return Instance()


@pytest.fixture
async def house(instance: Instance) -> AsyncGenerator[HomeAssistant, None]:
    async with served(instance.routes()) as base, connections() as web:
        yield HomeAssistant(base + "/", "secret", web)


@pytest.mark.parametrize(
    ("device", "answer"),
    [
        ("kitchen light", "The kitchen light is 50 percent."),
        ("front door", "The front door is locked."),
        ("thermostat", "The thermostat is 21.5 degrees."),
        ("attic heater", "The attic heater is 18.5 degrees."),
        ("vacuum", "The vacuum is off."),
        ("cellar heater", "The cellar heater is heat."),
        ("shed lantern", "The shed lantern is on."),
        ("t v", "The tv is on."),
    ],
)
async def test_states_are_told(house: HomeAssistant, device: str, answer: str) -> None:
    assert await get_device(device, house=house, scope=SessionScope("s")) == answer


@pytest.mark.parametrize(
    ("device", "state", "service", "entity", "fields"),
    [
        ("kitchen light", "on", "light.turn_on", "light.kitchen", {}),
        ("kitchen light", "ten percent", "light.turn_on", "light.kitchen", {"brightness_pct": 10}),
        ("bedroom light", "green", "light.turn_on", "light.bedroom", {"color_name": "green"}),
        ("front door", "unlocked", "lock.unlock", "lock.front_door", {}),
        ("garage door", "open", "cover.open_cover", "cover.garage", {}),
        ("garage door", "half", "cover.set_cover_position", "cover.garage", {"position": 50}),
        ("thermostat", "twenty", "climate.set_temperature", "climate.home", {"temperature": 20}),
        ("vacuum", "start", "vacuum.start", "vacuum.robot", {}),
        (
            "television",
            "thirty percent",
            "media_player.volume_set",
            "media_player.tv",
            {"volume_level": 0.3},
        ),
    ],
)
async def test_services_are_called(
    house: HomeAssistant,
    instance: Instance,
    device: str,
    state: str,
    service: str,
    entity: str,
    fields: dict[str, Any],
) -> None:
    await set_device(device, state, house=house, scope=SessionScope("s"), inverses=Inverses())
    assert instance.called == [(service, {"entity_id": entity, **fields})]


async def test_one_device_that_fails_leaves_the_others_set_and_is_named(
    house: HomeAssistant, instance: Instance
) -> None:
    instance.broken, inverses = "light.kitchen", Inverses()
    told = await set_device(
        "lights", "off", house=house, scope=SessionScope("s"), inverses=inverses
    )
    assert told == "The bedroom light is now off. I could not set the kitchen light."
    assert [fields["entity_id"] for _, fields in instance.called] == ["light.bedroom"]
    assert len(inverses) == 1


@pytest.mark.parametrize(
    ("name", "state"),
    [("kitchen light", "unavailable"), ("thermostat", "unknown"), ("thermostat", "heat")],
)
async def test_what_is_no_state_is_not_set(
    house: HomeAssistant, instance: Instance, name: str, state: str
) -> None:
    (device,) = find(await house.devices(), name)
    with pytest.raises(ToolError, match=f"^I cannot set it to {state}\\.$"):
        await house.set_state(device, state)
    assert instance.called == []


async def test_what_a_house_fails_at_is_told_as_an_error(
    house: HomeAssistant, instance: Instance
) -> None:
    instance.broken = "vacuum.robot"
    with pytest.raises(ToolError, match=r"^The house answered with an error\.$"):
        await set_device("vacuum", "on", house=house, scope=SessionScope("s"), inverses=Inverses())


async def test_what_is_no_device_is_unknown(house: HomeAssistant, instance: Instance) -> None:
    with pytest.raises(ToolError, match=r"^There is no outside temperature sensor\.$"):
        await set_device(
            "outside temperature sensor",
            "on",
            house=house,
            scope=SessionScope("s"),
            inverses=Inverses(),
        )
    assert instance.called == []


async def test_a_house_that_is_away_or_talks_nonsense_cannot_be_reached() -> None:
    async def nonsense(request: Request) -> Response:
        return JSONResponse({"message": "hello"})

    async def away(request: Request) -> Response:
        return Response("502: Bad Gateway", 502)

    routes = [Route("/api/states", nonsense), Route("/away/api/states", away)]
    async with served(routes) as base, connections() as web:
        for url in (closed_url(), base, f"{base}/elsewhere", f"{base}/away"):
            with pytest.raises(ToolError, match=r"^The house cannot be reached\.$"):
                await HomeAssistant(url, "secret", web).devices()
    async with served(Instance().routes()) as base, connections() as web:
        with pytest.raises(ToolError, match=r"^The house refused the access token\.$"):
            await HomeAssistant(base, "wrong", web).devices()


def test_a_token_is_needed() -> None:
    with pytest.raises(ConfigError, match="home_assistant_token_env"):
        HomeAssistant("http://house", None, Web(1.0))
