"""The endpoints, which admit, read, run and answer requests; and the application around them.

`Api` knows the engine only as a `RequestEngine`, so the voice server can mount it over its own.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from traceback import format_tb
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dlm.effort import REASONING
from dlm.engine.request import Request
from dlm.server.access import Gate
from dlm.server.bodies import (
    ChatRequest,
    Checked,
    CompletionRequest,
    FimRequest,
    Generation,
    RewriteRequest,
    parsed,
)
from dlm.server.conversion import (
    characters,
    chat_requests,
    completion_requests,
    fim_requests,
    rewrite_requests,
)
from dlm.server.description import ModelCard, openapi
from dlm.server.error_responses import error_response, not_routed
from dlm.server.errors import ApiError, from_engine, invalid
from dlm.server.execution import Executor, RequestEngine
from dlm.server.metrics import CONTENT_TYPE, ApiMetrics
from dlm.server.request_checks import bounded
from dlm.server.response_objects import ResponseReply
from dlm.server.response_requests import ResponseRequest, renamed, response_requests
from dlm.server.responses import ChatReply, ReasoningSummary, Reply, ReplyOptions, TextReply

if TYPE_CHECKING:
    from dlm.engine.engine import Engine

Endpoint = Callable[[HttpRequest], Awaitable[Response]]

CHARS_PER_TOKEN = 16
"""More than any text has on average. A prompt with more characters than that allows is refused
before its tokens are counted: megabytes take seconds, during which the tokenizer holds the
interpreter's lock."""
CLIENT_LEFT = 499
"""nginx's status for a client that has left; nobody receives it."""

_SECTIONS = {"edit": ("code_to_edit",), "apply": ("original_code", "update_snippet")}
"""Sections of a rewrite request's message: the section to rewrite, and others that are needed."""
_REQUEST_ID = re.compile(r"[\w.:-]{1,128}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may use.

    Attributes:
        body_bytes: Longest body.
        body_s: Longest time for the body to arrive.
        answer_tokens: Longest answer.
        usual_tokens: Longest answer if the client sets no limit.
        keep_alive_s: A stream that has sent nothing for so long sends a comment line.
    """

    body_bytes: int = 8 * 1024 * 1024
    body_s: float = 30.0
    answer_tokens: int = 16_384
    usual_tokens: int = 2048
    keep_alive_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Served:
    """An engine, and the card with the names under which it is served."""

    card: ModelCard
    engine: RequestEngine


class Api:
    """The endpoints for one engine, and for others served beside it.

    Args:
        engine: Answers requests.
        card: The names under which it is served.
        gate: Decides who may ask.
        metrics: Counts requests and their cost.
        limits: What one request may use.
        beside: Engines served under other names.
    """

    def __init__(
        self,
        engine: RequestEngine,
        card: ModelCard,
        gate: Gate,
        metrics: ApiMetrics,
        limits: Limits = Limits(),
        beside: Sequence[Served] = (),
    ) -> None:
        served = (Served(card, engine), *beside)
        self._served = {name: one for one in served for name in one.card.names}
        self._gate = gate
        self._metrics = metrics
        self._limits = limits

    def routes(self) -> list[Route]:
        """The routes under ``/v1``."""
        return [
            Route("/v1/models", self.guarded("models", self.models)),
            Route("/v1/models/{name:path}", self.guarded("models", self.model)),
            *(
                Route(f"/v1/{name}", self.guarded(name, endpoint), methods=["POST"])
                for name, endpoint in (
                    ("chat/completions", self.chat),
                    ("responses", self.respond),
                    ("completions", self.complete),
                    ("fim/completions", self.fim),
                    ("edit/completions", partial(self.rewrite, "edit")),
                    ("apply/completions", partial(self.rewrite, "apply")),
                )
            ),
        ]

    def guarded(self, name: str, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint: check the gate, turn failures into error objects, count answers."""

        async def guard(request: HttpRequest) -> Response:
            given = request.headers.get("x-request-id", "")
            request_id = given if _REQUEST_ID.fullmatch(given) else f"req_{secrets.token_hex(12)}"
            try:
                self._gate.check(request.headers)
                response = await endpoint(request)
            except ApiError as error:
                response = error_response(error)
            except ClientDisconnect:
                response = Response(status_code=CLIENT_LEFT)
            except Exception as error:
                failed = from_engine(error)
                # Not the error's text: it may quote the dialogue.
                lines = format_tb(error.__traceback__) if failed.status >= 500 else []
                told = "\n".join((type(error).__name__, *lines))
                _log.error("%s %s failed: %s", name, request_id, told)
                response = error_response(failed)
            response.headers["x-request-id"] = request_id
            self._metrics.answered(name, response.status_code)
            return response

        return guard

    async def models(self, request: HttpRequest) -> Response:
        """``GET /v1/models``."""
        bodies = [one.card.body(name) for name, one in self._served.items()]
        return JSONResponse({"object": "list", "data": bodies})

    async def model(self, request: HttpRequest) -> Response:
        """``GET /v1/models/{name}``."""
        name = request.path_params["name"]
        self._check_model(name)
        return JSONResponse(self._served[name].card.body(name))

    async def scrape(self, request: HttpRequest) -> Response:
        """``GET /metrics``."""
        return Response(self._metrics.render(), media_type=CONTENT_TYPE)

    async def chat(self, http: HttpRequest) -> Response:
        """``POST /v1/chat/completions``."""
        body = await self._read(http, ChatRequest)
        requests = await asyncio.to_thread(chat_requests, body)
        options = ReplyOptions(
            choices=len(requests),
            per_prompt=len(requests),
            usage=_wants_usage(body),
            diffusing=body.diffusing is True,
            predicted=body.prediction is not None,
            summary=_summary_without_reasoning(body, requests[0]),
        )
        return await self._reply(http, body, "messages", requests, ChatReply(body.model, options))

    async def respond(self, http: HttpRequest) -> Response:
        """``POST /v1/responses``."""
        body = await self._read(http, ResponseRequest)
        try:
            requests = await asyncio.to_thread(response_requests, body)
            return await self._reply(http, body, "input", requests, ResponseReply(body))
        except ApiError as error:
            raise renamed(error) from None

    async def complete(self, http: HttpRequest) -> Response:
        """``POST /v1/completions``."""
        body = await self._read(http, CompletionRequest)
        return await self._text(http, body, completion_requests(body))

    async def fim(self, http: HttpRequest) -> Response:
        """``POST /v1/fim/completions``."""
        body = await self._read(http, FimRequest)
        return await self._text(http, body, fim_requests(body))

    async def rewrite(self, kind: str, http: HttpRequest) -> Response:
        """``POST /v1/edit/completions`` and ``POST /v1/apply/completions``."""
        body = await self._read(http, RewriteRequest)
        requests = rewrite_requests(body, *_SECTIONS[kind])
        options = ReplyOptions(len(requests), len(requests), _wants_usage(body), predicted=True)
        reply = ChatReply(body.model, options, kind, f"{kind}.completion")
        return await self._reply(http, body, "messages", requests, reply)

    async def _text(
        self, http: HttpRequest, body: Generation, requests: Sequence[Request]
    ) -> Response:
        options = ReplyOptions(len(requests), body.n or 1, _wants_usage(body))
        return await self._reply(http, body, "prompt", requests, TextReply(body.model, options))

    async def _reply(
        self,
        http: HttpRequest,
        body: Generation,
        field: str,
        requests: Sequence[Request],
        reply: Reply,
    ) -> Response:
        """Run requests and answer them; errors on prompts name ``field`` of the body."""
        fitted = await self._fitted(requests, field, body)
        engine = self._served[body.model].engine
        executor = Executor(engine, self._metrics, self._limits.keep_alive_s)
        if body.stream:
            return await executor.stream(http, fitted, reply)
        whole = dict(reply.whole(await executor.whole(http, fitted)))
        if warning := body.warning():
            whole["warning"] = warning
        return JSONResponse(whole)

    async def _read(self, request: HttpRequest, kind: type[Checked]) -> Checked:
        """Read and check the body, including that its model is served here."""
        try:
            async with asyncio.timeout(self._limits.body_s):
                body = await self._body(request)
        except TimeoutError as error:
            message = f"the body took longer than {self._limits.body_s:g} s"
            raise ApiError(408, message, "body_too_slow") from error
        # Off the event loop: a large body must not delay other requests' streams.
        checked = await asyncio.to_thread(parsed, kind, body)
        self._check_model(checked.model)
        return checked

    async def _body(self, request: HttpRequest) -> bytes:
        limit = self._limits.body_bytes
        too_long = ApiError(413, f"the body is longer than {limit} bytes", "body_too_large")
        return b"".join([piece async for piece in bounded(request.stream(), limit, too_long)])

    def _check_model(self, name: str) -> None:
        if name not in self._served:
            message = f"the model {name!r} does not exist; there is {next(iter(self._served))!r}"
            raise ApiError(404, message, "model_not_found", "model")

    async def _fitted(
        self, requests: Sequence[Request], field: str, body: Generation
    ) -> list[Request]:
        """The requests, with answers limited to what limits and context allow."""
        served = self._served[body.model]
        most_live = served.engine.max_requests
        if len(requests) > max(1, most_live):
            # They run together or not at all, so trying again later would never help.
            message = f"got {len(requests)} answers in all, expected at most {most_live}"
            raise invalid(field if (body.n or 1) == 1 else "n", f"{message}, which is --max-live")
        most_chars = CHARS_PER_TOKEN * served.card.context_length
        out = []
        for request in requests:
            if (got := characters(request)) > most_chars:
                raise _too_long(field, f"got {got} characters, expected at most {most_chars}")
            room = await asyncio.to_thread(served.engine.room, request)
            if room < 1:
                context = served.card.context_length
                needed = f"got {context + 1 - room} tokens with the shortest answer"
                over = f"{1 - room} more than the context of {context}"
                raise _too_long(field, f"{needed}, {over}")
            longest = min(self._limits.answer_tokens, room)
            asked = request.max_tokens or self._limits.usual_tokens
            out.append(replace(request, max_tokens=min(asked, longest)))
        return out


def _too_long(field: str, message: str) -> ApiError:
    return ApiError(400, f"{field}: {message}", "context_length_exceeded", field)


def _wants_usage(body: Generation) -> bool:
    return body.stream_options is not None and body.stream_options.include_usage is True


def _summary_without_reasoning(body: ChatRequest, request: Request) -> ReasoningSummary | None:
    if not body.reasoning_summary:
        return None
    skipped = REASONING[request.effort] is None
    return {"content": None, "status": "skipped" if skipped else "unavailable"}


def build_app(engine: Engine, card: ModelCard, gate: Gate, limits: Limits) -> Starlette:
    """The application around an engine, which is closed when the application shuts down."""
    metrics = ApiMetrics(CollectorRegistry(), lambda: engine.prefixes.nbytes)
    api = Api(engine, card, gate, metrics, limits)
    described = openapi(version("quicksilver-voice"), card.names)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(engine.close)

    async def health(request: HttpRequest) -> Response:
        return JSONResponse({"status": "ok", "model": card.names[0]})

    async def describe(request: HttpRequest) -> Response:
        return JSONResponse(described)

    return Starlette(
        routes=[
            *api.routes(),
            Route("/metrics", api.guarded("metrics", api.scrape)),
            Route("/healthz", health),
            Route("/openapi.json", describe),
        ],
        exception_handlers={HTTPException: not_routed},
        lifespan=lifespan,
    )
