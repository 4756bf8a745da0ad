"""The weather from Open-Meteo: a forecast of up to 16 days for any place that it can find.

Source: https://open-meteo.com/en/docs
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from voice.config import ToolsConfig
from voice.tools import phrasing, spoken_dates
from voice.tools.places import Place, find_place
from voice.tools.registry import ToolError, tool
from voice.tools.scope import SessionScope
from voice.tools.web import Query, Unreachable, Web, json_of

_SERVICE = "weather service"
_DAYS = 16
_CODES = {
    0: "clear sky", 1: "mostly clear", 2: "partly cloudy", 3: "overcast", 45: "fog",
    48: "freezing fog", 51: "light drizzle", 53: "drizzle", 55: "heavy drizzle",
    56: "light freezing drizzle", 57: "freezing drizzle", 61: "light rain", 63: "rain",
    65: "heavy rain", 66: "light freezing rain", 67: "freezing rain", 71: "light snow", 73: "snow",
    75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers", 82: "heavy showers",
    85: "light snow showers", 86: "snow showers", 95: "thunderstorms",
    96: "thunderstorms with hail", 99: "thunderstorms with heavy hail",
}  # fmt: skip
"""WMO code → words; the service sends no others."""


@tool(read_only=True)
async def get_weather(
    place: str = "", day: str = "", *, scope: SessionScope, web: Web, config: ToolsConfig
) -> str:
    """Tell the weather."""
    where = place.removeprefix("in ") or config.home_place
    if not where:
        raise ToolError("For which place?")
    asked = day.lower().removeprefix("on ").strip() or "today"
    if asked in ("now", "right now", "currently", "outside"):
        asked = "today"
    found = await find_place(where, web, config, _SERVICE)
    # The forecast begins with the current day at the place.
    now = _time_at(found, scope.now())
    days_ahead = (spoken_dates.day(asked, now) - now.date()).days
    if not 0 <= days_ahead < _DAYS:
        raise ToolError(f"The forecast is for the next {_DAYS} days only.")
    query: Query = {
        "latitude": found.latitude,
        "longitude": found.longitude,
        "current": "temperature_2m,weather_code",
        "daily": "weather_code,temperature_2m_mean,temperature_2m_max,temperature_2m_min",
        "timezone": "auto",
        "forecast_days": days_ahead + 1,
    }
    answer = json_of(_SERVICE, await web.get(_SERVICE, config.weather_url, query))
    day_name = phrasing.sentence(spoken_dates.titled(asked))
    return f"{day_name} in {found.name}: {_forecast(answer, days_ahead)}."


def _time_at(place: Place, now: datetime) -> datetime:
    with suppress(ZoneInfoNotFoundError, ValueError):
        return now.astimezone(ZoneInfo(place.timezone))
    # Not every place has a time zone.
    return now


def _forecast(answer: Any, days_ahead: int) -> str:
    try:
        daily = answer["daily"]
        code, degrees = daily["weather_code"][days_ahead], daily["temperature_2m_mean"][days_ahead]
        if days_ahead == 0:
            code = answer["current"]["weather_code"]
            degrees = answer["current"]["temperature_2m"]
        high, low = daily["temperature_2m_max"][days_ahead], daily["temperature_2m_min"][days_ahead]
        return (
            f"{_CODES[int(code)]}, {round(degrees)} degrees, high {round(high)}, low {round(low)}"
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise Unreachable(_SERVICE) from error
