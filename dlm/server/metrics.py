"""The API's Prometheus series; no label has a value that comes from a client."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from dlm.engine.request import Usage

CONTENT_TYPE = CONTENT_TYPE_LATEST

_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class ApiMetrics:
    """The series of one server; ``cached_bytes`` returns the memory of kept prompts."""

    def __init__(
        self, registry: CollectorRegistry, cached_bytes: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.registry = registry
        self._requests = Counter(
            "quicksilver_api_requests",
            "Requests by endpoint and status; 499 is a client that left",
            ["endpoint", "status"],
            registry=registry,
        )
        self.live = Gauge("quicksilver_api_live_requests", "Requests now", registry=registry)
        cached = Gauge(
            "quicksilver_prompt_cache_bytes",
            "Memory of keys and values of prompts that are kept",
            registry=registry,
        )
        cached.set_function(cached_bytes)
        self._tokens = Counter(
            "quicksilver_api_tokens", "Tokens by kind", ["kind"], registry=registry
        )
        self._forwards = Counter(
            "quicksilver_api_forwards", "Model forwards spent on answers", registry=registry
        )
        self.first_s = Histogram(
            "quicksilver_api_first_event_seconds",
            "From a request to the first of its answer",
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self.whole_s = Histogram(
            "quicksilver_api_answer_seconds",
            "From a request to the end of its answer",
            buckets=_BUCKETS_S,
            registry=registry,
        )

    def answered(self, endpoint: str, status: int) -> None:
        """Count an answer."""
        self._requests.labels(endpoint, str(status)).inc()

    def finished(self, cost: Usage) -> None:
        """Add the usage of one choice."""
        self._tokens.labels("prompt").inc(cost.prompt_tokens)
        self._tokens.labels("cached").inc(cost.cached_tokens)
        self._tokens.labels("answer").inc(cost.answer_tokens)
        self._tokens.labels("reasoning").inc(cost.reasoning_tokens)
        self._forwards.inc(cost.forwards)

    def render(self) -> bytes:
        """All series in Prometheus's text format."""
        return generate_latest(self.registry)
