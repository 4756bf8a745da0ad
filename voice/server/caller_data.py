"""API with which the server's operator lists, exports and deletes what is kept for callers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voice.access.keys import Grant
from voice.access.requests import refusal
from voice.callers import Caller
from voice.config import RecordsConfig
from voice.errors import ProtocolError
from voice.realtime.wire import parse_json, validated
from voice.tools.builtin.memory import LONGEST as LONGEST_FACT
from voice.tools.database import Database

if TYPE_CHECKING:
    from voice.records.caller_data import CallerData

Endpoint = Callable[[Request, Grant], Awaitable[Response]]
Body = Callable[[Request], Awaitable[str]]
Guard = Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]

_ID = re.compile("[0-9]{1,18}")
"""Ids that a database can hold."""


class _FactChange(BaseModel):
    """The body of a request that corrects a fact."""

    model_config = ConfigDict(extra="forbid")
    content: str = Field(min_length=1, max_length=LONGEST_FACT)


def caller_routes(
    database: Database, records: RecordsConfig, guarded: Guard, body: Body
) -> list[Route]:
    """``GET /v1/callers``, and ``GET`` and ``DELETE /v1/callers/{caller}/data``.

    ``PUT`` and ``DELETE /v1/callers/{caller}/facts/{id}`` act on one of the export's ``facts``.

    Args:
        database: Holds the callers' data.
        records: Where conversations are kept, or used to be.
        guarded: Wraps an endpoint with checks of host, origin and key.
        body: Reads a request's text.
    """

    def data() -> CallerData:
        from voice.records.caller_data import CallerData
        from voice.records.folder import Conversations

        return CallerData(database, Conversations(records))

    async def callers(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse(await asyncio.to_thread(data().listed))

    async def of_one(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        had = data()
        done = had.deleted if request.method == "DELETE" else had.exported
        return JSONResponse(await asyncio.to_thread(done, _caller_of(request)))

    async def fact(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        content = ""
        if request.method == "PUT":
            content = validated(_FactChange, parse_json(await body(request))).content
        named, caller = request.path_params["id"], _caller_of(request)
        # Not an int route parameter: with thousands of digits that fails, whoever sends it.
        number = int(named) if _ID.fullmatch(named) else 0
        if not await asyncio.to_thread(database.correct_fact, caller, number, content):
            return refusal(404, "there is no such fact", "not_found", "id")
        return JSONResponse({"caller": str(caller), "id": number, "content": content or None})

    path, of_fact = "/v1/callers/{caller:path}/data", "/v1/callers/{caller:path}/facts/{id}"
    return [
        Route(of_fact, guarded(fact), methods=["PUT", "DELETE"]),
        Route("/v1/callers", guarded(callers)),
        Route(path, guarded(of_one), methods=["GET", "DELETE"]),
    ]


def _caller_of(request: Request) -> Caller:
    try:
        return Caller.parse(request.path_params["caller"])
    except ValueError as error:
        raise ProtocolError(str(error), "invalid_value", "caller") from error
