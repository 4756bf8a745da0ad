"""The routes of telephone lines, and their protection.

Requests are refused before the upgrade, from headers alone. Twilio's requests are signed; other
lines present a token, as Bearer, as Basic's password, or at the end of the path.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from ipaddress import ip_network
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from dlm.server.request_checks import bounded, is_loopback
from voice.access.keys import AccessPolicy, presented_key, same_secret
from voice.access.origins import AccessDenied, in_networks
from voice.access.rate_limits import RETRY_AFTER_S, SessionSlots
from voice.access.requests import refusal
from voice.config import Config, secret
from voice.errors import ConfigError, ProtocolError
from voice.metrics import Metrics
from voice.telephony.audiosocket import AudioSocket
from voice.telephony.call import Call, SocketConnection, StreamConnection
from voice.telephony.codec import parameters
from voice.telephony.registry import PROTOCOLS
from voice.telephony.routing import AGENT, TICKET, CallRouter, OpenSession
from voice.telephony.twilio import (
    AFTER_PATH,
    CALL_ID,
    STREAM_PATH,
    VOICE_PATH,
    TwilioCalls,
    TwilioSignatures,
    after_twiml,
    busy_twiml,
    stream_twiml,
)

if TYPE_CHECKING:
    from socket import socket as Socket

    from voice.session.resources import Resources

TWILIO = "twilio"
MAX_FORM_BYTES = 64 * 1024


class TelephoneRoutes:
    """The routes of the configured lines; tokens are read from the environment on construction.

    Raises:
        ConfigError: A protocol is unknown, its token is not set, or a number has an unknown agent.
    """

    def __init__(
        self,
        resources: Resources,
        config: Config,
        policy: AccessPolicy,
        slots: SessionSlots,
        metrics: Metrics,
        open_session: OpenSession,
    ) -> None:
        self._config = config.telephony
        self._policy = policy
        self._slots = slots
        self._metrics = metrics
        self._token = secret(self._config.token_env)
        self._check_protection(config.server.host)
        self._signatures = self._twilio_signatures() if TWILIO in self._config.doors else None
        self._calls = TwilioCalls()
        self._router = CallRouter(resources, config, metrics, open_session)
        unknown = [name for name in self._config.numbers.values() if not self._router.knows(name)]
        if unknown:
            raise ConfigError(f"telephony.numbers: got the agent {unknown[0]!r}; name it in agents")

    def routes(self) -> list[BaseRoute]:
        """The routes; none if no protocol is configured."""
        routes: list[BaseRoute] = []
        if self._signatures is not None:
            routes += [
                Route(VOICE_PATH, self.voice, methods=["POST"]),
                Route(AFTER_PATH, self.after, methods=["POST"]),
                WebSocketRoute(STREAM_PATH, self.stream),
            ]
        for name in self._config.doors:
            if name != TWILIO:
                for path in (f"/telephone/{name}", f"/telephone/{name}/{{token}}"):
                    routes.append(WebSocketRoute(path, self.line, name=name))
        return routes

    async def voice(self, request: Request) -> Response:
        """``POST /twilio/voice``: TwiML that connects the call to its stream."""
        try:
            fields = await self._signed_form(request)
            call_id = fields.get("CallSid", "")
            if not CALL_ID.fullmatch(call_id):
                raise AccessDenied("CallSid: that is no call of Twilio's", 403, "invalid_call")
            far = "From" if fields.get("Direction", "inbound") == "inbound" else "To"
            if busy := self._slots.refused():
                self._metrics.refused(busy.code)
                return Response(busy_twiml(), media_type="application/xml")
            chosen = {TICKET: self._calls.ticket(call_id, fields.get(far, ""))}
        except AccessDenied as denied:
            return self._refuse(denied)
        agent = self._config.numbers.get(fields.get("To", ""))
        assert self._signatures is not None
        twiml = stream_twiml(self._signatures.authority, chosen | ({AGENT: agent} if agent else {}))
        return Response(twiml, media_type="application/xml")

    async def after(self, request: Request) -> Response:
        """``POST /twilio/after``: TwiML for a call whose stream has ended."""
        try:
            fields = await self._signed_form(request)
        except AccessDenied as denied:
            return self._refuse(denied)
        twiml = after_twiml(self._calls.after(fields.get("CallSid", "")))
        return Response(twiml, media_type="application/xml")

    async def stream(self, socket: WebSocket) -> None:
        """``/twilio/stream``: the audio of a Twilio call."""
        assert self._signatures is not None
        try:
            self._policy.origins.check_host(socket.headers)
            self._signatures.check("wss", _target(socket.scope), socket.headers)
        except AccessDenied as denied:
            await socket.send_denial_response(self._refuse(denied))
            return
        await self._serve(socket, TWILIO, self._calls)

    async def line(self, socket: WebSocket) -> None:
        """``/telephone/<protocol>``, optionally followed by a token."""
        try:
            self._policy.origins.check_host(socket.headers)
            self._check_token(socket.headers, socket.path_params.get("token"))
        except AccessDenied as denied:
            await socket.send_denial_response(self._refuse(denied))
            return
        await self._serve(socket, socket.url.path.split("/")[2], None)

    @asynccontextmanager
    async def listening(self, listener: Socket | None) -> AsyncIterator[None]:
        """Take AudioSocket calls while the context lasts; its end closes listener and calls."""
        if listener is None:
            yield
            return
        calls: set[asyncio.Task[None]] = set()

        def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            call = asyncio.create_task(self.audiosocket(reader, writer))
            calls.add(call)
            call.add_done_callback(calls.discard)

        server = await asyncio.start_server(take, sock=listener)
        try:
            yield
        finally:
            server.close()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def audiosocket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to the AudioSocket port."""
        peer = writer.get_extra_info("peername")[0]
        networks = map(ip_network, self._config.audiosocket_peers)
        allowed = is_loopback(peer) or in_networks(peer, networks)
        with ExitStack() as stack:
            stack.callback(writer.close)
            if not allowed:
                self._metrics.refused("peer_not_allowed")
                return
            async with self._slots.slot() as refused:
                if refused:
                    self._metrics.refused(refused.code)
                    return
                connection = StreamConnection(reader, writer)
                connect = self._router.connector(stack)
                await Call(connection, AudioSocket(), connect, self._router.limits).run()

    async def _serve(self, socket: WebSocket, name: str, twilio: TwilioCalls | None) -> None:
        protocol = PROTOCOLS[name]
        try:
            query = parameters(dict(socket.query_params))
        except ProtocolError as error:
            await socket.send_denial_response(refusal(400, str(error), error.code))
            return
        offered = socket.scope["subprotocols"]
        chosen = next((one for one in offered if one in protocol.subprotocols), None)
        async with self._slots.slot() as refused:
            if refused:
                busy = self._refuse(refused)
                busy.headers["Retry-After"] = str(RETRY_AFTER_S)
                await socket.send_denial_response(busy)
                return
            await socket.accept(chosen)
            connection = SocketConnection(socket, self._config.max_message_bytes)
            with ExitStack() as stack:
                connect = self._router.connector(stack, twilio)
                await Call(connection, protocol.codec(query), connect, self._router.limits).run()

    def _check_token(self, headers: Mapping[str, str], in_path: str | None) -> None:
        if self._token is None:
            self._policy.origins.check_origin(headers)
            return
        given = in_path or presented_key(headers)
        if given is None:
            raise AccessDenied("a token is needed", 401, "missing_token")
        if not same_secret(given, self._token):
            raise AccessDenied("the token is wrong", 401, "invalid_token")

    async def _signed_form(self, request: Request) -> dict[str, str]:
        """The fields of a POST that Twilio has signed.

        Raises:
            AccessDenied: The signature is missing or wrong, or the body is too long.
        """
        assert self._signatures is not None
        too_long = AccessDenied("the body is too long", 413, "too_large")
        pieces = bounded(request.stream(), MAX_FORM_BYTES, too_long)
        body = b"".join([piece async for piece in pieces])
        form = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        self._signatures.check("https", _target(request.scope), request.headers, form)
        return dict(form)

    def _check_protection(self, host: str) -> None:
        for name in self._config.doors:
            if name not in PROTOCOLS:
                raise ConfigError(
                    f"telephony.doors: got {name!r}; expected some of {sorted(PROTOCOLS)}"
                )
            if name != TWILIO and self._token is None and not is_loopback(host):
                raise ConfigError(
                    f"telephony.doors: {name} needs a token in the environment variable"
                    f" {self._config.token_env}, or a server on 127.0.0.1"
                )

    def _twilio_signatures(self) -> TwilioSignatures:
        token = secret(self._config.twilio_token_env)
        if token is None:
            raise ConfigError(
                "telephony.doors: twilio needs its auth token in the environment variable"
                f" {self._config.twilio_token_env}"
            )
        shared_key = secret(self._config.twilio_shared_key_env)
        return TwilioSignatures(self._config.public_url, token, shared_key)

    def _refuse(self, denied: AccessDenied) -> Response:
        self._metrics.refused(denied.code)
        return refusal(denied.status, str(denied), denied.code)


def _target(scope: Mapping[str, object]) -> str:
    """The path and query exactly as sent, since the signature covers them."""
    path = bytes(scope["raw_path"]).decode("ascii", "replace")  # type: ignore[call-overload]
    query = bytes(scope["query_string"]).decode("ascii", "replace")  # type: ignore[call-overload]
    return f"{path}?{query}" if query else path
