"""Sends traces and metrics to a collector, by OTLP over HTTP, in threads of their own.

What waits to be sent is bounded: at most 2,048 spans, of which the oldest go first, and one value
of each metric. A collector that cannot be reached costs a line in the log, and no conversation.
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
"""How long the end of the server waits for what has not been sent."""

_log = logging.getLogger(__name__)


class _Reachable:
    """Tells when nothing can be sent any more, once for both signals."""

    def __init__(self, collector: str) -> None:
        # A user and a password may stand before the host.
        self._host = urlsplit(collector).netloc.rpartition("@")[2]
        self._failing: set[str] = set()

    def tell(self, signal: str, sent: bool) -> None:
        if sent:
            self._failing.discard(signal)
            return
        if not self._failing:
            _log.warning(
                "telemetry.endpoint: %s takes no %s; conversations go on, and what is not sent is"
                " dropped",
                self._host,
                signal,
            )
        self._failing.add(signal)


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
    """What a server tells a collector; the threads that send it run from now until `close`.

    Attributes:
        tracer: Makes the spans.
        follow: Traces the conversations, as `voice.metrics` has it.
        middleware: Traces the requests.

    The exporters read what the environment says of headers, certificates, sampling and intervals,
    and `endpoint` only where the configuration has it.
    """

    def __init__(self, config: TelemetryConfig) -> None:
        # What it cannot send it tells by results, and again and again in its log.
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
        """Send what waits, for at most `SHUTDOWN_S`; what is not sent by then is dropped."""
        # No thread of a pool: the end of the program would wait for those.
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
    """What is known of the service, under what the environment says of it."""
    own = {
        "service.name": SCOPE,
        "service.version": version("quicksilver-voice"),
        "service.instance.id": str(uuid.uuid4()),
    }
    found = Resource.create().attributes.items()
    told = {key: value for key, value in found if not str(value).startswith("unknown_service")}
    return Resource(own | told)
