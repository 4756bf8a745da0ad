"""Sends traces and metrics to a collector, by OTLP over HTTP, in threads of their own.

What waits to be sent is bounded: at most 2,048 spans, of which the oldest are dropped first, and
one value of each metric. A collector that cannot be reached costs a log line, but no conversation.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from starlette.middleware import Middleware

from voice.config import TelemetryConfig
from voice.telemetry.conversation import follower
from voice.telemetry.requests import TracedRequests

SCOPE = "quicksilver"
MOST_SPANS = 2048
SHUTDOWN_S = 2.0
"""How long the server's shutdown waits for what has not been sent."""

_log = logging.getLogger(__name__)


class _Reachable:
    """Logs that the collector takes nothing more, once for both signals."""

    def __init__(self, collector: str) -> None:
        # The host may have a user and a password before it.
        self._host = urlsplit(collector).netloc.rpartition("@")[2]
        self._failing: set[str] = set()
        # Each signal has a thread of its own.
        self._lock = threading.Lock()

    def tell(self, signal: str, sent: bool) -> None:
        with self._lock:
            first = not sent and not self._failing
            if sent:
                self._failing.discard(signal)
            else:
                self._failing.add(signal)
        if first:
            _log.warning(
                "telemetry.endpoint: %s takes no %s; conversations go on, and what is not sent is"
                " dropped",
                self._host,
                signal,
            )


class _Spans(OTLPSpanExporter):
    def __init__(self, reachable: _Reachable, **options: Any) -> None:
        super().__init__(**options)
        self._reachable = reachable

    def export(self, *args: Any, **kwargs: Any) -> SpanExportResult:
        result = super().export(*args, **kwargs)
        self._reachable.tell("traces", result is SpanExportResult.SUCCESS)
        return result


class _Metrics(OTLPMetricExporter):
    def __init__(self, reachable: _Reachable, **options: Any) -> None:
        super().__init__(**options)
        self._reachable = reachable

    def export(self, *args: Any, **kwargs: Any) -> MetricExportResult:
        result = super().export(*args, **kwargs)
        self._reachable.tell("metrics", result is MetricExportResult.SUCCESS)
        return result


class Telemetry:
    """What a server sends to a collector; its threads run from construction until `close`.

    Attributes:
        tracer: Makes the spans.
        follow: Traces the conversations; see `voice.metrics`.
        middleware: Traces the requests.

    The exporters read headers, certificates, sampling and intervals from the environment, and take
    the endpoint from there too unless it is configured.
    """

    def __init__(self, config: TelemetryConfig) -> None:
        # `_Reachable` logs failures once; OpenTelemetry's own log would repeat them endlessly.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        reachable = _Reachable(config.collector)
        resource = _resource()
        spans = _Spans(reachable, **_endpoint(config, "traces"))
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._traces.add_span_processor(BatchSpanProcessor(spans, max_queue_size=MOST_SPANS))
        reader = PeriodicExportingMetricReader(_Metrics(reachable, **_endpoint(config, "metrics")))
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self.tracer, meter = self._traces.get_tracer(SCOPE), self._metrics.get_meter(SCOPE)
        self.follow = follower(self.tracer, meter, config.content)
        self.middleware = (Middleware(TracedRequests, tracer=self.tracer, meter=meter),)

    async def close(self) -> None:
        """Send what waits, for at most `SHUTDOWN_S`; the rest is dropped."""
        # Not in a thread pool, because the program's exit would wait for that.
        ending = [
            threading.Thread(target=provider.shutdown, daemon=True)
            for provider in (self._traces, self._metrics)
        ]
        for thread in ending:
            thread.start()
        loop = asyncio.get_running_loop()
        until_s = loop.time() + SHUTDOWN_S
        for thread in ending:
            await asyncio.to_thread(thread.join, max(0.0, until_s - loop.time()))


def _endpoint(config: TelemetryConfig, signal: str) -> dict[str, str]:
    if not config.endpoint:
        return {}
    return {"endpoint": f"{config.endpoint.rstrip('/')}/v1/{signal}"}


def _resource() -> Resource:
    """The service's attributes; those in the environment override our own."""
    own = {
        "service.name": SCOPE,
        "service.version": version("quicksilver-voice"),
        "service.instance.id": str(uuid.uuid4()),
    }
    found = Resource.create().attributes.items()
    told = {key: value for key, value in found if not str(value).startswith("unknown_service")}
    return Resource(own | told)
