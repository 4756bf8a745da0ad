"""HTTP requests and WebSockets as server spans, in the trace of their client.

Of the headers only ``traceparent`` and ``tracestate`` are read. Spans hold the route's template and
not the path, which may contain a token or a caller's number.
"""

from __future__ import annotations

import time

from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voice.telemetry import TRACE_ID

_UNTOLD = frozenset(("/healthz", "/metrics"))
"""Paths that machines poll."""
_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_STATUS_OF = {"websocket.accept": 101, "websocket.close": 403}
"""Uvicorn's response status to a handshake when the application sends these messages."""


class TracedRequests:
    """ASGI middleware that traces requests; a request's span is current while it is handled."""

    def __init__(self, app: ASGIApp, tracer: Tracer, meter: Meter) -> None:
        self._app = app
        self._tracer = tracer
        self._propagator = TraceContextTextMapPropagator()
        self._durations = meter.create_histogram(
            "http.server.request.duration",
            "s",
            "Duration of HTTP server requests.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a WebSocket."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in _UNTOLD:
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        method = scope.get("method", "GET")
        about: dict[str, str | int] = {
            "http.request.method": method if method in _METHODS else "_OTHER",
            "url.scheme": scope["scheme"],
            "network.protocol.version": scope["http_version"],
        }
        span = self._tracer.start_span(
            str(about["http.request.method"]),
            self._propagator.extract(headers),
            SpanKind.SERVER,
        )
        scope[TRACE_ID] = f"{span.get_span_context().trace_id:032x}"

        async def answer(message: Message) -> None:
            kind = message["type"]
            status = message.get("status", _STATUS_OF.get(kind))
            if status is not None and kind != "websocket.http.response.body":
                about.setdefault("http.response.status_code", status)
            await send(message)

        began_s = time.perf_counter()
        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                await self._app(scope, receive, answer)
        except Exception as error:
            about["error.type"] = type(error).__name__
            raise
        finally:
            _finish(span, scope, about)
            if scope["type"] == "http":
                self._durations.record(time.perf_counter() - began_s, about)


def _finish(span: Span, scope: Scope, about: dict[str, str | int]) -> None:
    status = about.get("http.response.status_code")
    if isinstance(status, int) and status >= 500:
        about.setdefault("error.type", str(status))
    if (route := scope.get("route")) is not None:
        about["http.route"] = getattr(route, "path", "") or "/"
        span.update_name(f"{about['http.request.method']} {about['http.route']}")
    if "error.type" in about:
        span.set_status(Status(StatusCode.ERROR))
    span.set_attributes(about)
    span.end()
