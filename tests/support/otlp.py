"""A collector that takes OTLP over HTTP and keeps what it is sent."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan


@dataclass(frozen=True)
class Sent:
    """A span as it arrived; times are seconds since the epoch, ids hexadecimal."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    start_s: float
    end_s: float
    status: int
    about: dict[str, Any]


@dataclass
class Collector:
    """What a collector has taken.

    Attributes:
        url: Where it listens.
        bodies: Everything it was sent.
        service: The attributes of the resource that sent it.
        metrics: Count and sum of histograms, by name and attributes; the newest values.
        answers: Until it is set requests wait for an answer.
    """

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    spans: list[Sent] = field(default_factory=list)
    service: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, dict[tuple[tuple[str, Any], ...], tuple[int, float]]] = field(
        default_factory=dict
    )

    answers: threading.Event = field(default_factory=threading.Event)

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.service = _attributes(resource.resource.attributes)
                for scope in resource.scope_spans:
                    self.spans += map(_sent, scope.spans)
        elif path == "/v1/metrics":
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope_metrics in measured.scope_metrics:
                    for metric in scope_metrics.metrics:
                        self.metrics[metric.name] = {
                            tuple(_attributes(point.attributes).items()): (point.count, point.sum)
                            for point in metric.histogram.data_points
                        }
        else:
            raise AssertionError(path)

    def named(self, name: str) -> list[Sent]:
        """The spans of a name, in the order in which they began."""
        return sorted((s for s in self.spans if s.name == name), key=lambda span: span.start_s)

    def within(self, parent: Sent) -> list[Sent]:
        """The children of a span, in the order in which they began."""
        inner = (s for s in self.spans if s.parent_id == parent.span_id)
        return sorted(inner, key=lambda span: span.start_s)


def _attributes(pairs: Any) -> dict[str, Any]:
    def value(pair: KeyValue) -> Any:
        kind = pair.value.WhichOneof("value")
        return getattr(pair.value, kind) if kind else None

    return {pair.key: value(pair) for pair in pairs}


def _sent(span: ProtoSpan) -> Sent:
    return Sent(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano / 1e9,
        span.end_time_unix_nano / 1e9,
        span.status.code,
        _attributes(span.attributes),
    )


@contextmanager
def collector() -> Generator[Collector, None, None]:
    """A collector on a free port."""
    taken = Collector()
    taken.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.answers.wait()
            taken.take(self.path, body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        taken.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield taken
        server.shutdown()
        thread.join()
