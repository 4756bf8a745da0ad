"""The ASGI application: page, Realtime WebSocket, telephone lines, the engine's API and metrics.

Every request must name an allowed host, and API requests must also show an allowed origin and a
key. The models are loaded by the caller and shared by all conversations.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from voice.access.closing import CloseCode, close_reason
from voice.access.keys import AccessPolicy, Grant, MakesKeys, chosen_subprotocol
from voice.access.origins import AccessDenied
from voice.access.rate_limits import ClientLimits, ReplyLimits, SessionSlots, audio_limit
from voice.access.requests import bounded, refusal
from voice.config import Config, secret
from voice.dictation.editor import MODEL_NAME as DICTATION
from voice.errors import ConfigError, ProtocolError, StoreError, VoiceError, origins, to_install
from voice.metrics import CONTENT_TYPE, Follow, Metrics
from voice.realtime.connection import Begun, RealtimeConnection
from voice.realtime.extensions import checked_names
from voice.realtime.protocol import LocalNames, RealtimeProtocol, granted, preview
from voice.realtime.server_events import error_event
from voice.realtime.session_object import agent_named
from voice.realtime.wire import WireModel, parse_json, validated
from voice.server.caller_data import caller_routes
from voice.server.engine_api import ApiGate, api_routes
from voice.server.realtime_calls import RealtimeCalls
from voice.server.speech_api import SpeechApi
from voice.server.transcription_api import TranscriptionApi
from voice.session.session import Session
from voice.telemetry import TRACE_ID
from voice.telephony.routes import TelephoneRoutes
from voice.telephony.routing import OpenSession
from voice.tools import ToolError

if TYPE_CHECKING:
    from socket import socket as Socket

    from voice.records.recorder import Recorder
    from voice.session.resources import Resources
    from voice.telemetry.export import Telemetry

WEB_DIR = Path(__file__).resolve().parents[2] / "web"
MODEL_NAME = "quicksilver"

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; connect-src 'self' ws: wss:; object-src 'none'; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)

_log = logging.getLogger(__name__)


class _ExpiresAfter(WireModel):
    anchor: Literal["created_at"] = "created_at"
    seconds: int = Field(default=600, ge=10, le=7200)


class _SecretRequest(WireModel):
    expires_after: _ExpiresAfter = _ExpiresAfter()
    session: dict[str, Any] = Field(default={})
    user: str = ""


def build_app(
    resources: Resources,
    config: Config,
    audiosocket: Socket | None = None,
    open_session: OpenSession = Session,
    ephemeral: MakesKeys | None = None,
) -> Starlette:
    """Build the application around loaded models.

    Args:
        resources: Closed when the application shuts down.
        config: All options; the key is read from the environment now.
        audiosocket: Listens for AudioSocket calls; None takes none.
        open_session: Makes the sessions of clients and calls.
        ephemeral: Keeps the ephemeral keys; None keeps them in this process.

    Raises:
        ConfigError: The address is not loopback and there is no key, the metrics file cannot be
            opened, conversations cannot be kept, a telephone line is not protected, or an offered
            agent is wrong or offered twice.
        ModelError: The recogniser of an offered agent cannot be loaded.
    """
    recorder, telemetry = _recorder(config), _telemetry(config)
    follow = telemetry.follow if telemetry else None
    opened = recorder.open if recorder else open_session
    routes = Routes(resources, config, opened, follow, ephemeral)
    calls = RealtimeCalls(routes.slots, routes.metrics, config, routes.begin)
    return Starlette(
        routes=[
            *_routes(resources, config, routes),
            *_conversations(recorder, routes),
            *calls.routes(routes.guarded),
            Route("/console", _console),
            _Page("/", StaticFiles(directory=WEB_DIR, html=True)),
        ],
        middleware=[
            *(telemetry.middleware if telemetry else ()),
            Middleware(_HostCheck, policy=routes.policy),
            Middleware(_ApiCors, policy=routes.policy),
        ],
        exception_handlers={HTTPException: _not_routed},
        lifespan=_lifespan(resources, routes, calls, recorder, telemetry, audiosocket),
    )


def _routes(resources: Resources, config: Config, routes: Routes) -> list[BaseRoute]:
    """The routes that every server has, except for the page."""
    speech, words = SpeechApi(resources, routes.body), TranscriptionApi(resources)
    return [
        WebSocketRoute("/v1/realtime", routes.realtime),
        Route("/v1/realtime/client_secrets", routes.guarded(routes.mint), methods=["POST"]),
        *caller_routes(resources.toolbox.database, config.records, routes.guarded, routes.body),
        Route("/v1/models", routes.guarded(routes.models)),
        Route("/v1/agent", routes.guarded(routes.agent)),
        Route("/v1/audio/voices", routes.guarded(speech.voices)),
        Route("/v1/audio/speech", routes.guarded(speech.speech), methods=["POST"]),
        Route("/v1/audio/transcriptions", routes.guarded(words.transcribe), methods=["POST"]),
        Route("/v1/audio/translations", routes.guarded(words.translate), methods=["POST"]),
        *api_routes(
            resources.model,
            (MODEL_NAME,),
            config.server,
            ApiGate(routes.policy, routes.metrics),
            routes.metrics,
        ),
        Route("/metrics", routes.guarded(routes.scrape)),
        Route("/healthz", routes.health),
        *routes.telephone.routes(),
    ]


def _lifespan(
    resources: Resources,
    routes: Routes,
    calls: RealtimeCalls,
    recorder: Recorder | None,
    telemetry: Telemetry | None,
    audiosocket: Socket | None,
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(resources.close)
            stack.callback(routes.metrics.close)
            if telemetry is not None:
                stack.push_async_callback(telemetry.close)
            await stack.enter_async_context(resources.toolbox.running())
            if recorder is not None:
                await stack.enter_async_context(recorder.running())
            await stack.enter_async_context(routes.telephone.listening(audiosocket))
            await stack.enter_async_context(calls.running())
            yield

    return lifespan


def _recorder(config: Config) -> Recorder | None:
    """The recorder of conversations, imported only if recording is configured."""
    if not config.records.keep_days:
        return None
    from voice.records.recorder import Recorder

    return Recorder(config.records)


def _telemetry(config: Config) -> Telemetry | None:
    """The tracer of conversations, imported only if a collector is configured."""
    if not config.telemetry.collector:
        return None
    try:
        from voice.telemetry.export import Telemetry
    except ImportError as error:
        raise ConfigError(
            "telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT: expected "
            f"{to_install('telemetry')}, or OTEL_SDK_DISABLED=true ({error})"
        ) from error
    return Telemetry(config.telemetry)


def _conversations(recorder: Recorder | None, routes: Routes) -> list[Route]:
    if recorder is None:
        return []
    from voice.server.conversations import conversation_routes

    return conversation_routes(recorder, routes.guarded)


async def _console(request: Request) -> Response:
    """To the console's folder; relative, since a proxy may serve it by HTTPS."""
    return RedirectResponse("console/")


async def _not_routed(request: Request, error: Exception) -> Response:
    """The answer to an unknown path or method, in the form that API clients or browsers expect."""
    assert isinstance(error, HTTPException)
    if not _of_api(request.scope):
        return PlainTextResponse(error.detail, error.status_code, error.headers)
    from dlm.server.error_responses import not_routed

    return await not_routed(request, error)


class Routes:
    """The endpoints.

    Raises:
        ConfigError: As for `build_app`.
    """

    def __init__(
        self,
        resources: Resources,
        config: Config,
        open_session: OpenSession,
        follow: Follow | None = None,
        ephemeral: MakesKeys | None = None,
    ) -> None:
        self._open_session = open_session
        self._resources = resources
        self._config = config
        self._agents = _offered(resources, config.server.agents)
        held = config.server.max_sessions or resources.conversations
        self.slots = SessionSlots(held, config.server.max_sessions_per_key)
        self._reply_limits = ReplyLimits(config.server.max_responses_per_min)
        public = urlsplit(config.telephony.public_url).hostname
        hosts = (*config.server.allowed_hosts, *([public] if public else []))
        server = config.server.model_copy(update={"allowed_hosts": hosts})
        self.policy = AccessPolicy(server, secret(config.server.api_key_env), ephemeral)
        tools = {name for one in self._agents.values() for name in one.team.tools}
        self.metrics = Metrics(config.metrics, sorted(tools), follow=follow)
        self.telephone = TelephoneRoutes(
            resources, config, self.policy, self.slots, self.metrics, open_session
        )

    def guarded(
        self, endpoint: Callable[[Request, Grant], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint with checks of host, origin and key; every failure is an error object."""

        async def guard(request: Request) -> Response:
            try:
                grant = self.policy.check(request.headers, peer=_peer(request))
                return await endpoint(request, grant)
            except AccessDenied as denied:
                self.metrics.refused(denied.code)
                return _refusal(denied)
            except ProtocolError as error:
                status = 413 if error.code == "too_large" else 400
                return refusal(status, str(error), error.code, error.param)
            except StoreError as error:
                return refusal(503, str(error), "store_failed")
            except ClientDisconnect:
                raise
            except Exception as error:
                _log.error("%s failed: %s", request.scope["route"].path, origins(error))
                # Our own errors are fit for a user; others may quote what was said.
                told = str(error) if isinstance(error, VoiceError) else "the server has failed"
                return refusal(500, told, "server_error")

        return guard

    async def realtime(self, socket: WebSocket) -> None:
        """``/v1/realtime``: a conversation; only a full server refuses after the upgrade."""
        try:
            grant = self.policy.check(socket.headers, socket.scope["subprotocols"], _peer(socket))
            _extensions(socket)
            self._chosen(socket, grant)
            if "call_id" in socket.query_params:
                message = "call_id: a call has one connection; none can join it"
                raise ProtocolError(message, "not_found", "call_id")
        except AccessDenied as denied:
            self.metrics.refused(denied.code)
            await socket.send_denial_response(_refusal(denied))
            return
        except ProtocolError as error:
            denial = refusal(400, str(error), error.code, error.param)
            await socket.send_denial_response(denial)
            return
        async with self.slots.slot(grant.account) as refused:
            await socket.accept(chosen_subprotocol(socket.scope["subprotocols"]))
            if refused is None:
                await self._converse(socket, grant)
            else:
                self.metrics.refused(refused.code)
                event = error_event(str(refused), refused.code, "server_error")
                await socket.send_text(json.dumps(event))
                await socket.close(CloseCode.TRY_AGAIN_LATER, str(refused))

    def _chosen(self, connection: HTTPConnection, grant: Grant) -> Resources:
        """The resources of the agent that the address or the ephemeral key's session names.

        Raises:
            ProtocolError: The agent is not offered, or the key is for another agent.
        """
        named = connection.query_params.get("agent", "")
        if grant.main_key:
            return self._agent(named, "agent")
        # The key's tools were agreed on when it was made, so it fixes the agent.
        own = self._agent(agent_named(grant.session), "session.quicksilver.agent")
        if named not in ("", own.agent.name):
            text = f"agent: got {named[:64]!r}; this key is for {own.agent.name!r}"
            raise ProtocolError(text, param="agent")
        return own

    def _agent(self, name: str, path: str) -> Resources:
        if name and name not in self._agents:
            text = f"{path}: got {name[:64]!r}; expected one of {', '.join(self._agents)}"
            raise ProtocolError(text, param=path)
        return self._agents.get(name, self._resources)

    def begin(
        self,
        connection: HTTPConnection,
        grant: Grant,
        changes: Mapping[str, Any] = MappingProxyType({}),
        by_media: bool = False,
    ) -> Begun:
        """Set up the conversation that the address, the key and, last, ``changes`` ask for.

        Raises:
            ProtocolError: Something that was asked for is wrong.
        """
        assigned = self._chosen(connection, grant).assign(grant.caller)
        own = assigned.resources.options()
        if grant.session:
            own = granted(own, grant.session)
        session = self._open_session(
            assigned.resources, replace(own, idle_timeout_s=0.0, holds=by_media), None, grant.caller
        )
        protocol = RealtimeProtocol(
            session,
            _names(assigned.resources),
            reply_limit=self._reply_limits.of(grant.account),
            idle_s=own.idle_timeout_s,
            trace_id=connection.scope.get(TRACE_ID, ""),
            by_media=by_media,
            audio_limit=audio_limit(self._config.server),
        )
        try:
            if connection.query_params.get("intent") == "transcription":
                protocol.configure({"type": "transcription"})
            for wanted in (grant.session, changes):
                if wanted:
                    protocol.configure(dict(wanted))
            if extensions := _extensions(connection):
                protocol.enable_extensions(extensions)
        except ProtocolError:
            session.close("refused")
            raise
        return Begun(session, protocol, assigned)

    async def _converse(self, socket: WebSocket, grant: Grant) -> None:
        try:
            begun = self.begin(socket, grant)
        except ProtocolError as error:
            await socket.close(CloseCode.POLICY, close_reason(str(error)))
            return
        with self.metrics.conversation(begun.session, begun.assigned) as observe:
            _log.info("session %s begins", begun.session.session_id)
            await self._run(
                RealtimeConnection(
                    socket,
                    begun.session,
                    begun.protocol,
                    observe,
                    self._config.server.send_timeout_s,
                    ClientLimits(self._config.server),
                    self._config.server.idle_session_s,
                )
            )
            _log.info("session %s ends", begun.session.session_id)

    async def _run(self, connection: RealtimeConnection) -> None:
        try:
            async with asyncio.timeout(self._config.server.longest_session_s):
                await connection.run()
        except TimeoutError:
            await connection.close(CloseCode.POLICY, "the longest session is over")

    async def body(self, request: Request) -> str:
        """The text of a request's body.

        Raises:
            ProtocolError: It is longer than a message may be, or not UTF-8.
        """
        pieces = bounded(request, self._config.server.max_message_bytes)
        try:
            return b"".join([piece async for piece in pieces]).decode()
        except UnicodeDecodeError as error:
            raise ProtocolError("the body is not UTF-8", "invalid_json") from error

    async def mint(self, request: Request, grant: Grant) -> Response:
        """``POST /v1/realtime/client_secrets``: an ephemeral key for a browser."""
        grant.check_main()
        body = await self.body(request)
        wanted = validated(_SecretRequest, parse_json(body or "{}"))
        had = self._agent(agent_named(wanted.session), "session.quicksilver.agent")
        shown = preview(had.options(), wanted.session, _names(had), had.model)
        lifetime_s = wanted.expires_after.seconds
        try:
            key = self.policy.ephemeral.mint(lifetime_s, wanted.session, wanted.user)
        except ValueError as error:
            raise ProtocolError(str(error), "invalid_value", "user") from error
        return JSONResponse({"value": key.value, "expires_at": key.expires_at, "session": shown})

    async def models(self, request: Request, grant: Grant) -> Response:
        """``GET /v1/models``: the loaded model, and dictation."""
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "quicksilver"}
            for name in (MODEL_NAME, DICTATION)
        ]
        return JSONResponse({"object": "list", "data": models})

    async def agent(self, request: Request, grant: Grant) -> Response:
        """``GET /v1/agent``: the agent's name, voice, examples and offers, and all agents."""
        had = self._chosen(request, grant)
        agent, options = had.agent, had.options()
        if grant.session:
            options = granted(options, grant.session)
        offers = dict(agent.offers)
        # A house that cannot be reached must not take the rest of the page with it.
        with suppress(ToolError):
            if devices := await self._resources.toolbox.devices(options.agent_tools):
                offers["Devices"] = devices
        listed = [{"title": title, "items": items} for title, items in offers.items()]
        told = {"name": agent.name, "examples": agent.examples, "offers": listed}
        others = list(self._agents) if grant.main_key else [agent.name]
        return JSONResponse({**told, "voice": agent.voice, "agents": others})

    async def scrape(self, request: Request, grant: Grant) -> Response:
        """``GET /metrics``."""
        grant.check_main()
        return Response(self.metrics.render(), media_type=CONTENT_TYPE)

    async def health(self, request: Request) -> Response:
        """``GET /healthz``."""
        counts = {"sessions": self.slots.taken, "max_sessions": self.slots.limit}
        return JSONResponse({"status": "ok", **counts})


class _HostCheck:
    """Refuses a foreign ``Host``, and adds security headers to every answer.

    A client that disconnects before its request is complete gets no answer.
    """

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        app = self._app
        try:
            self._policy.origins.check_host(Request(scope).headers)
        except AccessDenied as denied:
            app = _refusal(denied)
        try:
            await app(scope, receive, send_with_headers)
        except ClientDisconnect:
            _log.debug("a client left before its request was complete")


class _ApiCors(CORSMiddleware):
    """Lets pages of allowed origins use the API; like any client, they send a key in a header."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        super().__init__(
            app,
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=("*",),
            expose_headers=("Location", "Retry-After", "X-Request-Id"),
        )
        self._origins = policy.origins

    def is_allowed_origin(self, origin: str) -> bool:
        return self._origins.allows(origin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        of_api = scope["type"] == "http" and _of_api(scope)
        await (super().__call__ if of_api else self.app)(scope, receive, send)


class _Page(Mount):
    """Serves the page at every path outside the API, which answers wrong paths itself."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.NONE, {}) if _of_api(scope) else super().matches(scope)


def _of_api(scope: Scope) -> bool:
    """Whether a path is below ``/v1``, even if the client has put extra slashes before it."""
    path: str = scope["path"]
    return path.lstrip("/").partition("/")[0] == "v1"


def _offered(resources: Resources, names: Iterable[str]) -> dict[str, Resources]:
    """The resources of the server's agent and others, by agent; as slow as `for_agent`."""
    found = {resources.agent.name: resources}
    for other in (resources.for_agent(name, "server.agents") for name in names):
        if other.agent.name in found:
            raise ConfigError(f"server.agents: got {other.agent.name!r} twice; expected it once")
        found[other.agent.name] = other
    return found


def _extensions(connection: HTTPConnection) -> list[str]:
    wanted = connection.query_params.get("extensions", "")
    return checked_names(name for name in wanted.split(",") if name)


def _names(resources: Resources) -> LocalNames:
    return LocalNames(
        MODEL_NAME, resources.synthesizer.name, resources.voices.names, resources.agent.name
    )


def _peer(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def _refusal(denied: AccessDenied) -> Response:
    return refusal(denied.status, str(denied), denied.code)
