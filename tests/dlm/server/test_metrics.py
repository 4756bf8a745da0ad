from prometheus_client import CollectorRegistry

from dlm.engine.request import Usage
from dlm.server.metrics import ApiMetrics


def test_the_series() -> None:
    metrics = ApiMetrics(CollectorRegistry(), lambda: 5.0)
    metrics.answered("chat/completions", 200)
    metrics.finished(Usage(10, 4, 6, 3, reasoning_tokens=2))
    metrics.began(0.2)
    metrics.ended(0.7)
    value = metrics.registry.get_sample_value
    with metrics.live():
        assert value("quicksilver_api_live_requests") == 1
    assert value("quicksilver_api_live_requests") == 0
    labels = {"endpoint": "chat/completions", "status": "200"}
    assert value("quicksilver_api_requests_total", labels) == 1
    kinds = ("prompt", "cached", "answer", "reasoning")
    tokens = [value("quicksilver_api_tokens_total", {"kind": kind}) for kind in kinds]
    assert tokens == [10, 4, 6, 2]
    assert value("quicksilver_api_forwards_total") == 3
    assert value("quicksilver_api_first_event_seconds_sum") == 0.2
    assert value("quicksilver_api_answer_seconds_count") == 1
    assert value("quicksilver_prompt_cache_bytes") == 5
    assert b"quicksilver_api_live_requests 0.0" in metrics.render()
