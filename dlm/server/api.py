"""The endpoints: a request is let in, read, run and answered.

It knows the engine by `RequestEngine` alone, so that the voice server can mount it over its own.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dlm.effort import REASONING
from dlm.engine.request import Request
from dlm.server import replies
from dlm.server.access import Gate
from dlm.server.answering import Answering
from dlm.server.body import Body, read
from dlm.server.errors import ApiError, from_engine, invalid
from dlm.server.metrics import CONTENT_TYPE, ApiMetrics
from dlm.server.models import ModelCard
from dlm.server.reading import (
    characters,
    chat_requests,
    completion_requests,
    fim_requests,
    rewrite_requests,
)
from dlm.server.requests import (
    ChatRequest,
    CompletionRequest,
    FimRequest,
    Generation,
    RewriteRequest,
)
from dlm.server.responses import CLIENT_LEFT, error_response
from dlm.server.running import RequestEngine
from dlm.server.streams import ChatStream, StreamPlan, TextStream

Endpoint = Callable[[HttpRequest], Awaitable[Response]]
Read = TypeVar("Read", bound=Body)

CHARS_PER_TOKEN = 16
"""More than any text has. What is longer is refused uncounted: counting megabytes takes seconds, in
which nothing else of the process runs, in whatever thread it is done."""

_REQUEST_ID = re.compile(r"[\w.:-]{1,128}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    Attributes:
        body_bytes: Longest body.
        body_s: Longest time that a body may take to arrive.
        answer_tokens: Longest answer.
        usual_tokens: Longest answer where a client names none.
        keep_alive_s: A stream that has been silent for so long tells that it lives.
    """

    body_bytes: int = 8 * 1024 * 1024
    body_s: float = 30.0
    answer_tokens: int = 16_384
    usual_tokens: int = 2048
    keep_alive_s: float = 15.0


class Api:
    """The endpoints around one engine.

    Args:
        engine: Where requests run.
        card: What the model is called.
        gate: Who may come in.
        metrics: What is counted.
        limits: What one request may take.
    """

    def __init__(
        self,
        engine: RequestEngine,
        card: ModelCard,
        gate: Gate,
        metrics: ApiMetrics,
        limits: Limits = Limits(),
    ) -> None:
        self._engine = engine
        self._card = card
        self._gate = gate
        self._metrics = metrics
        self._limits = limits
        self._answering = Answering(engine, metrics, limits.keep_alive_s)

    def routes(self) -> list[Route]:
        """Routes under ``/v1``."""
        return [
            Route("/v1/models", self.guarded("models", self.models)),
            Route("/v1/models/{name:path}", self.guarded("models", self.model)),
            *(
                Route(f"/v1/{name}", self.guarded(name, endpoint), methods=["POST"])
                for name, endpoint in (
                    ("chat/completions", self.chat),
                    ("completions", self.complete),
                    ("fim/completions", self.fim),
                    ("edit/completions", self.edit),
                    ("apply/completions", self.apply),
                )
            ),
        ]

    def guarded(self, name: str, endpoint: Endpoint) -> Endpoint:
        """The endpoint behind the gate, its failures as error objects, its answers counted."""

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
                # The text of an error may quote the dialogue.
                _log.error("%s %s failed: %s", name, request_id, type(error).__name__)
                response = error_response(from_engine(error))
            response.headers["x-request-id"] = request_id
            self._metrics.answered(name, response.status_code)
            return response

        return guard

    async def models(self, request: HttpRequest) -> Response:
        """``GET /v1/models``."""
        return JSONResponse(self._card.listed())

    async def model(self, request: HttpRequest) -> Response:
        """``GET /v1/models/{name}``."""
        name = request.path_params["name"]
        self._check_model(name)
        return JSONResponse(self._card.body(name))

    async def scrape(self, request: HttpRequest) -> Response:
        """``GET /metrics``."""
        return Response(self._metrics.render(), media_type=CONTENT_TYPE)

    async def chat(self, request: HttpRequest) -> Response:
        """``POST /v1/chat/completions``."""
        body = await self._read(request, ChatRequest)
        wanted = await self._fitted(chat_requests(body), "messages", body)
        plan = StreamPlan(
            choices=len(wanted),
            each=len(wanted),
            usage=_wants_usage(body),
            diffusing=body.diffusing is True,
            predicted=body.prediction is not None,
            summary=_summary(body, wanted[0]),
        )
        head = replies.Head("chatcmpl", body.model)
        if body.stream:
            return await self._answering.stream(request, wanted, ChatStream(head, plan))
        return await self._whole(request, wanted, (head, "chat.completion"), plan, body)

    async def edit(self, request: HttpRequest) -> Response:
        """``POST /v1/edit/completions``."""
        return await self._rewrite(request, "edit", "code_to_edit", ())

    async def apply(self, request: HttpRequest) -> Response:
        """``POST /v1/apply/completions``."""
        return await self._rewrite(request, "apply", "original_code", ("update_snippet",))

    async def complete(self, request: HttpRequest) -> Response:
        """``POST /v1/completions``."""
        body = await self._read(request, CompletionRequest)
        return await self._text(request, body, completion_requests(body))

    async def fim(self, request: HttpRequest) -> Response:
        """``POST /v1/fim/completions``."""
        body = await self._read(request, FimRequest)
        return await self._text(request, body, fim_requests(body))

    async def _rewrite(
        self, request: HttpRequest, kind: str, section: str, needed: Sequence[str]
    ) -> Response:
        body = await self._read(request, RewriteRequest)
        wanted = await self._fitted(rewrite_requests(body, section, needed), "messages", body)
        plan = StreamPlan(len(wanted), len(wanted), _wants_usage(body), predicted=True)
        head = replies.Head(kind, body.model)
        if body.stream:
            return await self._answering.stream(request, wanted, ChatStream(head, plan))
        return await self._whole(request, wanted, (head, f"{kind}.completion"), plan, body)

    async def _whole(
        self,
        request: HttpRequest,
        wanted: Sequence[Request],
        kind: tuple[replies.Head, str],
        plan: StreamPlan,
        body: Body,
    ) -> Response:
        finished = await self._answering.whole(request, wanted)
        costs = [one.usage for one in finished]
        head, name = kind
        reply: replies.Completion = {
            "id": head.id,
            "object": name,
            "created": head.created,
            "model": head.model,
            "choices": [replies.choice_of(i, one) for i, one in enumerate(finished)],
            "usage": replies.usage_body(costs, plan.each, plan.predicted),
        }
        if plan.summary is not None:
            thought = finished[0].answer.reasoning
            reply["reasoning_summary"] = replies.summary_of(thought) if thought else plan.summary
        if warning := body.warning():
            reply["warning"] = warning
        return JSONResponse(reply)

    async def _text(
        self, request: HttpRequest, body: Generation, wanted: Sequence[Request]
    ) -> Response:
        each = body.n or 1
        wanted = await self._fitted(wanted, "prompt", body)
        head = replies.Head("cmpl", body.model)
        if body.stream:
            plan = StreamPlan(len(wanted), each, _wants_usage(body))
            return await self._answering.stream(request, wanted, TextStream(head, plan))
        finished = await self._answering.whole(request, wanted)
        reply: replies.TextCompletion = {
            "id": head.id,
            "object": "text_completion",
            "created": head.created,
            "model": head.model,
            "choices": [
                replies.text_choice(i, one.answer.content, replies.finish_reason(one))
                for i, one in enumerate(finished)
            ],
            "usage": replies.usage_body([one.usage for one in finished], each),
        }
        if warning := body.warning():
            reply["warning"] = warning
        return JSONResponse(reply)

    async def _read(self, request: HttpRequest, kind: type[Read]) -> Read:
        """The body, checked; its model is one of ours."""
        try:
            async with asyncio.timeout(self._limits.body_s):
                body = await self._body(request)
        except TimeoutError as error:
            told = f"the body took longer than {self._limits.body_s:g} s"
            raise ApiError(408, told, "body_too_slow") from error
        # Off the event loop: a large body must not delay the others' streams.
        checked = await asyncio.to_thread(read, kind, body)
        if isinstance(checked, Generation):
            self._check_model(checked.model)
        return checked

    async def _body(self, request: HttpRequest) -> bytes:
        limit = self._limits.body_bytes
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > limit:
                raise ApiError(413, f"the body is longer than {limit} bytes", "body_too_large")
        return bytes(body)

    def _check_model(self, name: str) -> None:
        if name not in self._card.names:
            told = f"the model {name!r} does not exist; there is {self._card.names[0]!r}"
            raise ApiError(404, told, "model_not_found", "model")

    async def _fitted(
        self, wanted: Sequence[Request], field: str, body: Generation
    ) -> list[Request]:
        """The requests, their answers as long as limits and context allow."""
        most_live = self._engine.max_live
        if len(wanted) > max(1, most_live):
            # They run together or not at all: to come back later would never help.
            told = f"got {len(wanted)} answers in all, expected at most {most_live}"
            raise invalid(field if (body.n or 1) == 1 else "n", f"{told}, which is --max-live")
        out = []
        most_chars = CHARS_PER_TOKEN * self._card.context_length
        for request in wanted:
            if (got := characters(request)) > most_chars:
                told = f"got {got} characters, expected at most {most_chars}"
                raise ApiError(400, f"{field}: {told}", "context_length_exceeded", field)
            room = await asyncio.to_thread(self._engine.room, request)
            if room < 1:
                told = f"{1 - room} tokens too long for a context of {self._card.context_length}"
                raise ApiError(400, f"{field}: {told}", "context_length_exceeded", field)
            most = min(self._limits.answer_tokens, room)
            wished = request.max_tokens or self._limits.usual_tokens
            out.append(replace(request, max_tokens=min(wished, most)))
        return out


def _wants_usage(body: Generation) -> bool:
    return body.stream_options is not None and body.stream_options.include_usage is True


def _summary(body: ChatRequest, request: Request) -> replies.ReasoningSummary | None:
    if not body.reasoning_summary:
        return None
    skipped = REASONING[request.effort] is None
    return {"content": None, "status": "skipped" if skipped else "unavailable"}
