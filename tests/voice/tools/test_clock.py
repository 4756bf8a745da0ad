from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import config_at, connections, served
from voice.tools.builtin.clock import get_time
from voice.tools.places import zone_of
from voice.tools.registry import Unreadable
from voice.tools.scope import SessionScope


async def test_the_time_here_and_elsewhere(call: Call) -> None:
    assert await call("get_time") == "It is 3:42 PM."
    assert await call("get_time", place="here") == "It is 3:42 PM."
    assert await call("get_time", place="tokyo") == "It is 5:42 AM in Tokyo."
    assert await call("get_time", place="in new york") == "It is 3:42 PM in New York."


async def test_a_place_that_is_not_known_here_is_looked_up(scope: SessionScope) -> None:
    async def search(request: Request) -> Response:
        found = {"name": "Springfield", "latitude": 39.8, "longitude": -89.6}
        known = {"springfield": found | {"timezone": "America/Chicago"}}
        name = request.query_params["name"]
        return JSONResponse(
            {"results": [known[name]]} if name in known else {"generationtime_ms": 1}
        )

    async with served([Route("/search", search)]) as base, connections() as web:
        config = config_at(base)
        answer = await get_time("springfield", scope=scope, web=web, config=config)
        assert answer == "It is 2:42 PM in Springfield."
        with pytest.raises(Unreadable, match="I could not read the place the moon"):
            await get_time("the moon", scope=scope, web=web, config=config)


@pytest.mark.parametrize(
    ("day", "answer"),
    [
        ("", "Today is Saturday, November 21, 2026."),
        ("tomorrow", "Tomorrow is Sunday, November 22, 2026."),
        ("on friday", "Friday is November 27, 2026."),
        ("next monday", "Next Monday is November 23, 2026."),
        ("last friday", "Last Friday was November 20, 2026."),
        ("christmas", "Christmas is Friday, December 25, 2026."),
        ("december twenty fifth", "December 25th is Friday, December 25, 2026."),
        ("in two weeks", "In 2 weeks it is Saturday, December 5, 2026."),
        ("blue", "Error: I could not read the day blue."),
    ],
)
async def test_dates(call: Call, day: str, answer: str) -> None:
    assert await call("get_date", day=day) == answer


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("new york", "America/New_York"),
        ("san francisco", "America/Los_Angeles"),
        ("Washington D.C.", "America/New_York"),
        ("munich", "Europe/Berlin"),
        ("france", "Europe/Paris"),
        ("japan", "Asia/Tokyo"),
        ("the united kingdom", "Europe/London"),
        ("the philippines", "Asia/Manila"),
    ],
)
def test_places(place: str, zone: str) -> None:
    found = zone_of(place)
    assert found is not None
    assert found.key == zone


@pytest.mark.parametrize("place", ["", "springfield", "the moon", "utc"])
def test_unknown_places(place: str) -> None:
    assert zone_of(place) is None


@pytest.mark.parametrize(
    ("date", "answer"),
    [
        ("christmas", "Christmas is in 34 days."),
        ("tomorrow", "Tomorrow is in 1 day."),
        ("today", "Today is today."),
        ("the fifth of december", "The 5th of December is in 14 days."),
        ("yesterday", "Yesterday was 1 day ago."),
        ("blue", "Error: I could not read the day blue."),
    ],
)
async def test_the_days_until_a_date(call: Call, date: str, answer: str) -> None:
    assert await call("days_until", date=date) == answer
