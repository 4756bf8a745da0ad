from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.voice.tools.services import closed_url, connections, served
from voice.errors import ConfigError
from voice.tools.builtin.home_assistant import HomeAssistant
from voice.tools.builtin.house import get_device, set_device
from voice.tools.registry import ToolError
from voice.tools.web import Web

STATES = [
    ("light.kitchen", "Kitchen Light", "on", {"brightness": 128}),
    ("light.bedroom", "Bedroom Light", "off", {}),
    ("lock.front_door", "Front Door", "locked", {}),
    ("cover.garage", "Garage Door", "closed", {}),
    ("climate.home", "Thermostat", "heat", {"temperature": 21.5}),
    ("vacuum.robot", "Vacuum", "docked", {}),
    ("media_player.tv", None, "playing", {}),
    ("sensor.outside", "Outside Temperature", "7", {}),
]


class Instance:
    """Answers as Home Assistant's REST API does and keeps what it was told to do."""

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []

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
        self.called.append((f"{path['domain']}.{path['service']}", await request.json()))
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
        ("vacuum", "The vacuum is off."),
        ("t v", "The tv is on."),
    ],
)
async def test_states_are_told(house: HomeAssistant, device: str, answer: str) -> None:
    assert await get_device(device, house=house) == answer


@pytest.mark.parametrize(
    ("device", "state", "service", "fields"),
    [
        ("kitchen light", "on", "light.turn_on", {"entity_id": "light.kitchen"}),
        (
            "kitchen light",
            "ten percent",
            "light.turn_on",
            {"entity_id": "light.kitchen", "brightness_pct": 10},
        ),
        (
            "bedroom light",
            "green",
            "light.turn_on",
            {"entity_id": "light.bedroom", "color_name": "green"},
        ),
        ("front door", "unlocked", "lock.unlock", {"entity_id": "lock.front_door"}),
        ("garage door", "open", "cover.open_cover", {"entity_id": "cover.garage"}),
        (
            "garage door",
            "half",
            "cover.set_cover_position",
            {"entity_id": "cover.garage", "position": 50},
        ),
        (
            "thermostat",
            "twenty",
            "climate.set_temperature",
            {"entity_id": "climate.home", "temperature": 20},
        ),
        ("vacuum", "start", "vacuum.start", {"entity_id": "vacuum.robot"}),
        (
            "television",
            "thirty percent",
            "media_player.volume_set",
            {"entity_id": "media_player.tv", "volume_level": 0.3},
        ),
    ],
)
async def test_services_are_called(
    house: HomeAssistant,
    instance: Instance,
    device: str,
    state: str,
    service: str,
    fields: dict[str, Any],
) -> None:
    await set_device(device, state, house=house)
    assert instance.called == [(service, fields)]


async def test_what_is_no_device_is_unknown(house: HomeAssistant, instance: Instance) -> None:
    with pytest.raises(ToolError, match=r"^There is no outside temperature sensor\.$"):
        await set_device("outside temperature sensor", "on", house=house)
    assert instance.called == []


async def test_a_wrong_token_is_told(instance: Instance) -> None:
    async with served(instance.routes()) as base, connections() as web:
        house = HomeAssistant(base, "wrong", web)
        with pytest.raises(ToolError, match=r"^The house refused the access token\.$"):
            await house.devices()


async def test_a_house_that_is_away_or_talks_nonsense_cannot_be_reached() -> None:
    async def nonsense(request: Request) -> Response:
        return JSONResponse({"message": "hello"})

    async with served([Route("/api/states", nonsense)]) as base, connections() as web:
        for url in (closed_url(), base, f"{base}/elsewhere"):
            with pytest.raises(ToolError, match=r"^The house cannot be reached\.$"):
                await HomeAssistant(url, "secret", web).devices()


def test_a_token_is_needed() -> None:
    with pytest.raises(ConfigError, match="home_assistant_token_env"):
        HomeAssistant("http://house", None, Web(1.0))
