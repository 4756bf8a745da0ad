"""What a collector is told: over a real server, a real conversation and real OTLP."""

from __future__ import annotations

import json
import logging
import signal
import socket
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from websockets.asyncio.client import connect

from tests.support.fakes import FakeParts, fake_app
from tests.support.imports import imported_by_default
from tests.support.otlp import Collector, Sent, collector
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until, send, serving
from tests.voice.realtime.test_over_sockets import say
from voice.config import Config, LlmConfig, ServerConfig, TelemetryConfig, load_config
from voice.events import (
    DraftsUsed,
    Failure,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyTimed,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    Stage,
)
from voice.telemetry.conversation import ConversationSpans, Instruments, Served
from voice.telemetry.export import MOST_SPANS, Telemetry
from voice.types import Message, Role, ToolCall, ToolResult

TRACE_ID, CLIENTS_SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
STAGES = ["speech_to_text", "end_of_turn", "chat", "execute_tool", "text_to_speech"]


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    # On a busy machine what is sent at the end takes longer, and would be dropped.
    monkeypatch.setattr("voice.telemetry.export.SHUTDOWN_S", PATIENCE_S)


async def converse(address: str) -> list[dict[str, Any]]:
    """A spoken and a typed turn of a client that is in a trace; all that it is sent."""
    url = f"ws://{address}/v1/realtime?extensions=trace"
    headers = {"traceparent": f"00-{TRACE_ID}-{CLIENTS_SPAN}-01"}
    async with connect(url, additional_headers=headers) as client:
        events = await receive_until(client, "quicksilver.trace")
        await say(client, "assistant-1-timer")
        events += await receive_until(client, "response.done")
        update = {"type": "realtime", "output_modalities": ["text"]}
        await send(client, "session.update", session=update)
        words = {"type": "input_text", "text": "what timers do I have"}
        item = {"type": "message", "role": "user", "content": [words]}
        await send(client, "conversation.item.create", item=item)
        await send(client, "response.create")
        return events + await receive_until(client, "response.done")


@pytest.mark.e2e
async def test_a_spoken_and_a_typed_turn_are_traced(
    repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as taken:
        monkeypatch.setenv(ENDPOINT, taken.url)
        began_s = time.time()
        async with program(cwd=repo_root) as (process, lines, address):
            events = await converse(address)
            async with httpx.AsyncClient(base_url=f"http://{address}") as http:
                await http.get("/healthz")
                assert (await http.get("/v1/models")).status_code == 200
            over_s = time.time()
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        host = taken.url.removeprefix("http://")
        assert f"telemetry: traces and metrics to {host}, without words" in lines
        (told,) = [event for event in events if event["type"] == "quicksilver.trace"]
        assert told["trace_id"] == TRACE_ID
        check_conversation(taken, began_s, over_s)
        check_metrics(taken)
    assert taken.service["service.name"] == "quicksilver"
    assert [span.name for span in taken.spans if "health" in span.name] == []
    assert len(taken.named("GET /v1/models")) == 1
    for body in taken.bodies:
        for word in (b"imer for", b"timers do", b"ten minutes"):
            assert word not in body


def check_conversation(taken: Collector, began_s: float, over_s: float) -> None:
    (handshake,) = taken.named("GET /v1/realtime")
    assert (handshake.trace_id, handshake.parent_id) == (TRACE_ID, CLIENTS_SPAN)
    assert handshake.about["http.response.status_code"] == 101
    (conversation,) = taken.within(handshake)
    spoken, typed = taken.within(conversation)
    assert {span.name for span in (spoken, typed)} == {"invoke_agent assistant"}
    for turn in (spoken, typed):
        assert began_s < turn.start_s < turn.end_s < over_s
        assert turn.trace_id == TRACE_ID
        assert turn.about["gen_ai.agent.invocation.end_reason"] == "completed"
        assert turn.about["gen_ai.usage.output_tokens"] > 0
        for stage in taken.within(turn):
            assert turn.start_s <= stage.start_s <= stage.end_s <= turn.end_s
    stages: dict[str, Sent] = {}
    for span in taken.within(spoken):
        # The model is asked once more, after the tool has answered.
        stages.setdefault(span.name.split()[0], span)
    assert list(stages) == STAGES
    assert stages["execute_tool"].name == "execute_tool set_timer"
    check_times(stages)
    assert taken.within(typed)[0].name == "chat quicksilver"
    assert not {span.name for span in taken.within(typed)} & {"text_to_speech", "speech_to_text"}


def check_times(stages: dict[str, Sent]) -> None:
    # The recording has one second and a half of speech, which was sent faster than it was spoken.
    heard, ended, asked, tool, said = (stages[name] for name in STAGES)
    assert 1.0 < ended.start_s - heard.start_s < 2.5
    # Between two marks the event loop may serve another task.
    assert ended.end_s <= asked.start_s + 0.02
    assert asked.end_s <= tool.start_s + 0.02
    assert asked.about["gen_ai.response.time_to_first_chunk"] >= 0
    assert said.about["gen_ai.response.time_to_first_chunk"] > 0
    assert tool.about["quicksilver.tool.duration_ms"] > 0


def check_metrics(taken: Collector) -> None:
    def count(name: str, **labels: str) -> int:
        wanted = {key.replace("__", "."): value for key, value in labels.items()}.items()
        points = taken.metrics[name].items()
        return sum(number for about, (number, _) in points if wanted <= dict(about).items())

    asked = count("gen_ai.client.operation.duration", gen_ai__request__model="quicksilver")
    assert asked >= 2
    assert count("gen_ai.invoke_agent.duration", gen_ai__agent__name="assistant") == 2
    assert count("gen_ai.execute_tool.duration", gen_ai__tool__name="set_timer") == 1
    assert count("gen_ai.client.token.usage", gen_ai__token__type="output") == 2
    assert count("gen_ai.client.operation.time_to_first_chunk") == asked
    served = {"http__route": "/v1/models", "http__request__method": "GET"}
    assert count("http.server.request.duration", **served) == 1


def told_of(
    events: list[SessionEvent], words: str | None = None
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The spans that events bring, by name, and the labels of what is measured."""
    kept, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(kept))
    message = None if words is None else Message(Role.USER, words)
    served = Served("sess", "test", LlmConfig(), frozenset(), message and (lambda _: message))
    meter = MeterProvider([reader]).get_meter("test")
    spans = ConversationSpans(tracing.get_tracer("test"), Instruments(meter), served)
    for event in events:
        spans.observe(event)
    spans.end()
    data = reader.get_metrics_data()
    assert data is not None
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    labels = {
        m.name: [dict(point.attributes or {}) for point in m.data.data_points] for m in metrics
    }
    return {span.name: span for span in kept.get_finished_spans()}, labels


CALL = ToolCall("c", "add", {"item": "milk"})
RESULT = ToolResult("c", "add", "Added milk\ud800.", error=True, duration_ms=5.0)
TIMED = ReplyTimed("r", 10.0, 12.0, (Stage("execute_tool", 10.5, 11.0, call_id="c"),))
TURN: list[SessionEvent] = [
    ReplyStarted("r", "i2", 3, "i1"),
    ReplyToolCall("r", "i3", CALL, client_side=False),
    ReplyToolResult("r", RESULT),
    Failure(3, "tts", "no voice"),
    ReplyEnded("r", ReplyStatus.CANCELLED, "turn_detected", "I have added milk.", 5, 6),
    DraftsUsed(3, "stood", 2, 0, 1, 0),
    TIMED,
]


def test_words_arguments_and_results_are_in_spans_where_they_are_asked_for() -> None:
    silent, _ = told_of(TURN)
    assert "milk" not in str([(span.attributes, span.events) for span in silent.values()])
    told, _ = told_of(TURN, "add milk to the list")
    turn, tool = told["invoke_agent test"].attributes, told["execute_tool add"].attributes
    (asked,) = json.loads(turn["gen_ai.input.messages"])
    assert asked == {"role": "user", "parts": [{"type": "text", "content": "add milk to the list"}]}
    (answered,) = json.loads(turn["gen_ai.output.messages"])
    assert answered["parts"][0]["content"] == "I have added milk."
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"item": "milk"}
    assert tool["gen_ai.tool.call.result"] == "Added milk?."


def test_what_goes_wrong_is_marked() -> None:
    spans, _ = told_of(TURN)
    turn, tool = spans["invoke_agent test"], spans["execute_tool add"]
    assert (turn.status.status_code, turn.attributes["error.type"]) == (StatusCode.ERROR, "tts")
    assert turn.attributes["gen_ai.agent.invocation.end_reason"] == "interrupted"
    assert turn.attributes["quicksilver.drafts.outcome"] == "stood"
    assert (tool.status.status_code, tool.attributes["error.type"]) == (
        StatusCode.ERROR,
        "tool_error",
    )
    assert (tool.start_time, tool.end_time) == (10_500_000_000, 11_000_000_000)


def test_a_tool_that_is_not_the_servers_is_no_label() -> None:
    _, labels = told_of(TURN)
    (tool,) = labels["gen_ai.execute_tool.duration"]
    assert (tool["gen_ai.tool.name"], tool["error.type"]) == ("other", "tool_error")
    assert labels["gen_ai.invoke_agent.duration"] == [
        {"gen_ai.agent.name": "test", "error.type": "tts"}
    ]
    kinds = {point["gen_ai.token.type"] for point in labels["gen_ai.client.token.usage"]}
    assert kinds == {"input", "output"}


async def test_no_token_in_an_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSILVER_TELEPHONE_TOKEN", "the-token")
    with collector() as taken:
        config = Config.model_validate(
            {
                "server": {"port": 0},
                "telephony": {"doors": ["asterisk"]},
                "telemetry": {"endpoint": taken.url},
            }
        )
        async with serving(fake_app(FakeParts(), config), config.server) as address:
            async with httpx.AsyncClient(base_url=f"http://{address}") as http:
                await http.get("/v1/callers/user:ada/data?key=the-token")
                await http.request("BREW", "/cups/ada")
            with pytest.raises(Exception, match="401"):
                async with connect(f"ws://{address}/telephone/asterisk/another-token"):
                    pass
    names = {span.name for span in taken.spans}
    assert names == {
        "GET /v1/callers/{caller:path}/data",
        "_OTHER /",
        "GET /telephone/asterisk/{token}",
    }
    for body in taken.bodies:
        assert b"-token" not in body and b"ada" not in body and b"BREW" not in body


async def test_a_collector_that_is_not_there_costs_one_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with socket.socket() as nobody:
        # Taken, so that no other program listens there meanwhile.
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        endpoint = f"http://user:secret@127.0.0.1:{port}"
        config = TelemetryConfig.model_validate({"endpoint": endpoint})
        whole = Config(server=ServerConfig(port=0), telemetry=config)
        async with (
            serving(fake_app(FakeParts(), whole), whole.server) as address,
            httpx.AsyncClient() as http,
        ):
            for _ in range(20):
                assert (await http.get(f"http://{address}/v1/models")).status_code == 200
    lines = [r for r in caplog.records if r.levelno >= logging.WARNING]
    (line,) = lines
    assert f"127.0.0.1:{port} takes no" in line.getMessage()
    assert "secret" not in line.getMessage()


async def test_what_waits_for_a_collector_is_bounded() -> None:
    with collector() as taken:
        taken.answers.clear()
        telemetry = Telemetry(TelemetryConfig(endpoint=taken.url))
        for number in range(4 * MOST_SPANS):
            telemetry.tracer.start_span(str(number)).end()
        taken.answers.set()
        await telemetry.close()
    # What was on its way, and what waited behind it: the newest.
    assert MOST_SPANS <= len(taken.spans) <= MOST_SPANS + 1024
    assert max(int(span.name) for span in taken.spans) == 4 * MOST_SPANS - 1


def test_the_option_counts_and_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TelemetryConfig().collector == ""
    monkeypatch.setenv(ENDPOINT, "http://environment:4318")
    assert TelemetryConfig().collector == "http://environment:4318"
    config = load_config(overrides=["telemetry.endpoint=http://u:p@option:4318"]).telemetry
    assert config.collector == "http://u:p@option:4318"
    assert config.describe() == ["telemetry: traces and metrics to option:4318, without words"]
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert (config.collector, config.describe()) == ("", [])


def test_a_server_without_a_collector_imports_nothing_of_it(repo_root: Path) -> None:
    assert imported_by_default(repo_root, "opentelemetry") == []
