"""``/v1/realtime/calls``: WebRTC conversations, begun as OpenAI's clients begin them.

The request that brings an offer gets the answer, and the call goes on in the background. The WebRTC
modules are imported with the first call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from voice.access.closing import CloseCode
from voice.access.keys import Grant
from voice.access.rate_limits import RETRY_AFTER_S, SessionSlots
from voice.access.requests import bounded, refusal
from voice.config import Config
from voice.errors import ProtocolError, origins, to_install
from voice.metrics import Metrics
from voice.realtime.connection import Begun
from voice.realtime.wire import new_id, parse_json
from voice.server.caller_data import Guard
from voice.webrtc.call import Call

PATH = "/v1/realtime/calls"
SDP = "application/sdp"
MAX_BODY_BYTES = 256 * 1024
"""Room for an offer, which is a few kilobytes, and a session with its tools."""
REMEDY = f"calls by WebRTC need {to_install('webrtc')}; /v1/realtime works without"

_log = logging.getLogger(__name__)


class Begin(Protocol):
    """Sets up the conversation that a request asks for."""

    def __call__(
        self, connection: HTTPConnection, grant: Grant, changes: dict[str, Any], by_media: bool
    ) -> Begun:
        """See `voice.server.app.Routes.begin`."""


@dataclass(frozen=True, slots=True)
class _Listed:
    call: Call
    grant: Grant


class RealtimeCalls:
    """The WebRTC calls of one server.

    Args:
        slots: Each call takes one.
        metrics: Counts the calls.
        config: All options.
        begin: Sets up the conversations.
    """

    def __init__(self, slots: SessionSlots, metrics: Metrics, config: Config, begin: Begin) -> None:
        self._slots = slots
        self._metrics = metrics
        self._config = config
        self._begin = begin
        self._calls: dict[str, _Listed] = {}
        self._group: asyncio.TaskGroup | None = None

    def routes(self, guarded: Guard) -> list[Route]:
        """The routes of the calls."""
        return [
            Route(PATH, guarded(self.create), methods=["POST"]),
            Route(f"{PATH}/{{call_id}}/hangup", guarded(self.hang_up), methods=["POST"]),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Take calls while the context lasts; at its end they are hung up."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                yield
            finally:
                for listed in list(self._calls.values()):
                    listed.call.end("the server ends", CloseCode.RESTART)

    async def create(self, request: Request, grant: Grant) -> Response:
        """``POST /v1/realtime/calls``: answers an SDP offer with SDP."""
        if find_spec("aiortc") is None:
            return refusal(501, REMEDY, "webrtc_not_installed")
        offer, changes = await _offer(request)
        async with AsyncExitStack() as stack:
            if refused := await stack.enter_async_context(self._slots.slot(grant.account)):
                self._metrics.refused(refused.code)
                busy = refusal(refused.status, str(refused), refused.code)
                busy.headers["Retry-After"] = str(RETRY_AFTER_S)
                return busy
            # The import takes a while.
            peers = await asyncio.to_thread(import_module, "voice.webrtc.peer")
            begun = self._begin(request, grant, changes, by_media=True)
            stack.callback(begun.session.close, "refused")
            peer = await peers.Peer.answering(offer, self._config.webrtc)
            stack.push_async_callback(peer.close)
            observe = stack.enter_context(self._metrics.conversation(begun.session, begun.assigned))
            call, call_id = Call(peer, begun, observe, self._config), new_id("rtc")
            assert self._group is not None
            self._calls[call_id] = _Listed(call, grant)
            self._group.create_task(self._run(call_id, call, stack.pop_all()))
            where = {"Location": f"{PATH}/{call_id}"}
            return Response(peer.answer, 201, where, media_type=SDP)

    async def hang_up(self, request: Request, grant: Grant) -> Response:
        """``POST /v1/realtime/calls/<id>/hangup``, with the call's key or the server's own."""
        listed = self._calls.get(request.path_params["call_id"])
        if listed is None or not (grant.main_key or grant.account == listed.grant.account):
            return refusal(404, "there is no such call", "not_found")
        listed.call.end("hung up")
        return Response()

    async def _run(self, call_id: str, call: Call, stack: AsyncExitStack) -> None:
        try:
            async with stack:
                _log.info("call %s begins", call_id)
                try:
                    await call.run()
                finally:
                    del self._calls[call_id]
                _log.info("call %s ends", call_id)
        except Exception as error:
            # A call that fails to close must not end the others.
            _log.error("call %s failed: %s", call_id, origins(error))


async def _offer(request: Request) -> tuple[str, dict[str, Any]]:
    """The offer and the session's fields: SDP alone, or a form with ``sdp`` and ``session``."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = bounded(request, MAX_BODY_BYTES)
    if kind == SDP:
        return _text(b"".join([piece async for piece in body]), "sdp"), {}
    if kind != "multipart/form-data":
        raise ProtocolError(f"expected {SDP} or multipart/form-data", "invalid_content_type")
    try:
        form = await MultiPartParser(request.headers, body, max_files=2, max_fields=8).parse()
    except (MultiPartException, KeyError) as error:
        raise ProtocolError(f"expected multipart/form-data: {error}") from error
    try:
        offer, session = [await _field(form, name) for name in ("sdp", "session")]
    finally:
        await form.close()
    changes = parse_json(session) if session else {}
    return offer, changes


async def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return _text(await value.read(), name) if isinstance(value, UploadFile) else value


def _text(data: bytes, param: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{param}: no UTF-8", "invalid_value", param) from error
