from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.patience import PATIENCE_S
from tests.voice.tools.services import closed_url, connections, served
from voice.tools.web import Unreachable, json_of


async def test_answers_come_with_the_query_and_through_redirects() -> None:
    async def old(request: Request) -> Response:
        return RedirectResponse(f"/new?{request.url.query}")

    async def new(request: Request) -> Response:
        return JSONResponse({"got": request.query_params["q"]})

    async with served([Route("/old", old), Route("/new", new)]) as base, connections() as web:
        response = await web.get("test service", f"{base}/old", {"q": "a b"})
        assert json_of("test service", response) == {"got": "a b"}


async def test_two_who_ask_first_share_connections_that_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def making() -> httpx.AsyncClient:
        made.append(httpx.AsyncClient())
        return made[-1]

    monkeypatch.setattr("voice.tools.web._client", making)
    async with connections() as web:
        asked = [web.get("test service", closed_url(), {}) for _ in range(2)]
        await asyncio.gather(*asked, return_exceptions=True)
    assert [client.is_closed for client in made] == [True]


async def test_a_service_that_hangs_is_given_up_on_in_time() -> None:
    release = asyncio.Event()

    async def hang(request: Request) -> Response:
        await release.wait()
        return Response()

    async with served([Route("/", hang)]) as base, connections(timeout_s=0.1) as web:
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(Unreachable):
                await web.get("test service", base, {})
        release.set()


async def test_a_success_without_content_is_an_answer() -> None:
    async def take(request: Request) -> Response:
        return Response(status_code=204)

    async with served([Route("/", take)]) as base, connections() as web:
        assert (await web.get("test service", base, {})).status_code == 204


@pytest.mark.parametrize("status", [400, 503])
async def test_a_failing_service_is_unreachable(status: int) -> None:
    async def fail(request: Request) -> Response:
        return Response("no", status)

    async with served([Route("/", fail)]) as base, connections() as web:
        with pytest.raises(Unreachable):
            await web.get("test service", base, {})


async def test_an_address_where_nobody_is_or_that_is_none_is_unreachable() -> None:
    async with connections() as web:
        for url in ("http://[", closed_url()):
            with pytest.raises(Unreachable, match=r"^The test service cannot be reached\.$"):
                await web.get("test service", url, {})
