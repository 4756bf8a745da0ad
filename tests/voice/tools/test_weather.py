from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.voice.tools.services import Clock, config_at, connections, served
from voice.config import ToolsConfig
from voice.tools.builtin.weather import get_weather
from voice.tools.registry import ToolError
from voice.tools.scope import SessionScope

PARIS = {"name": "Paris", "latitude": 48.85, "longitude": 2.35, "timezone": "Europe/Paris"}


async def search(request: Request) -> Response:
    if request.query_params["name"].lower() == "paris":
        return JSONResponse({"results": [PARIS]})
    return JSONResponse({"generationtime_ms": 0.1})


async def forecast(request: Request) -> Response:
    asked = request.query_params
    assert (asked["latitude"], asked["longitude"]) == ("48.85", "2.35")
    days = int(asked["forecast_days"])
    daily = {
        "weather_code": [3, 71, 95][:days],
        "temperature_2m_mean": [10.2, -1.6, 20.0][:days],
        "temperature_2m_max": [13.6, 0.4, 25.0][:days],
        "temperature_2m_min": [7.5, -4.2, 15.0][:days],
    }
    return JSONResponse({"current": {"weather_code": 61, "temperature_2m": 11.8}, "daily": daily})


ROUTES = [Route("/search", search), Route("/forecast", forecast)]


async def ask(scope: SessionScope, config: ToolsConfig, place: str = "", day: str = "") -> str:
    async with connections() as web:
        return await get_weather(place, day, scope=scope, web=web, config=config)


@pytest.mark.parametrize(
    ("place", "day", "answer"),
    [
        ("paris", "", "Today in Paris: light rain, 12 degrees, high 14, low 8."),
        ("in paris", "right now", "Today in Paris: light rain, 12 degrees, high 14, low 8."),
        ("paris", "tomorrow", "Tomorrow in Paris: light snow, -2 degrees, high 0, low -4."),
        ("paris", "on monday", "Monday in Paris: thunderstorms, 20 degrees, high 25, low 15."),
    ],
)
async def test_forecasts(scope: SessionScope, place: str, day: str, answer: str) -> None:
    async with served(ROUTES) as base:
        assert await ask(scope, config_at(base), place, day) == answer


async def test_days_are_those_of_the_place(scope: SessionScope, clock: Clock) -> None:
    # It is Sunday in Paris, and the forecast begins with it.
    clock.advance(hours=7)
    async with served(ROUTES) as base:
        for day, told in (("sunday", "light rain"), ("tomorrow", "light snow")):
            answer = await ask(scope, config_at(base), "paris", day)
            assert answer.startswith(f"{day.capitalize()} in Paris: {told}")
        with pytest.raises(ToolError, match="next 16 days"):
            await ask(scope, config_at(base), "paris", "november 21")


async def test_home_is_where_no_place_was_said(scope: SessionScope) -> None:
    async with served(ROUTES) as base:
        answer = await ask(scope, config_at(base, home_place="Paris"))
        assert answer.startswith("Today in Paris: light rain")
        with pytest.raises(ToolError, match="For which place"):
            await ask(scope, config_at(base))


@pytest.mark.parametrize(
    ("place", "day", "complaint"),
    [
        ("atlantis", "", "I could not read the place atlantis."),
        ("paris", "blue", "I could not read the day blue."),
        ("paris", "yesterday", "The forecast is for the next 16 days only."),
        ("paris", "christmas", "The forecast is for the next 16 days only."),
    ],
)
async def test_what_cannot_be_told(
    scope: SessionScope, place: str, day: str, complaint: str
) -> None:
    async with served(ROUTES) as base:
        with pytest.raises(ToolError) as failure:
            await ask(scope, config_at(base), place, day)
    assert str(failure.value) == complaint


@pytest.mark.parametrize("answer", [[], {"daily": {"weather_code": [None]}}])
async def test_a_forecast_that_makes_no_sense_is_not_told(
    scope: SessionScope, answer: object
) -> None:
    async def nonsense(request: Request) -> Response:
        return JSONResponse(answer)

    async with served([ROUTES[0], Route("/forecast", nonsense)]) as base:
        with pytest.raises(ToolError, match="The weather service cannot be reached"):
            await ask(scope, config_at(base), "paris")
