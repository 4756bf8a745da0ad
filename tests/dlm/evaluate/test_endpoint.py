from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from dlm.evaluate.cases import cases
from dlm.evaluate.endpoint import Endpoint
from tests.dlm.evaluate.rows import ROW

CALL = {
    "id": "call_9",
    "type": "function",
    "function": {"name": "set_timer", "arguments": '{"duration": "ten minutes"}'},
}


class Api(HTTPServer):
    """A chat completions API that says what it is told to say."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.says: dict[str, Any] = {"content": "Hello."}
        self.heard: list[tuple[dict[str, Any], str | None]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.heard.append((body, self.headers["authorization"]))
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        told = {"choices": [{"message": {"role": "assistant", **self.server.says}}], "usage": usage}
        text = json.dumps(told).encode()
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing: a test's requests are no news."""


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_dialogue_is_sent_in_openais_form(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    last = list(cases([ROW]))[-1]
    finished = Endpoint(api.url, "any")(last.request())
    assert finished is not None and finished.answer.content == "Hello."
    assert finished.usage.answer_tokens == 3
    body, key = api.heard[0]
    assert key == "Bearer secret"
    assert body["model"] == "any" and body["tools"][0]["function"]["name"] == "set_timer"
    call, result = body["messages"][-2:]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] == "call_0"
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"duration": "ten minutes"}


def test_calls_are_read_back(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    api.says = {"content": None, "tool_calls": [CALL]}
    finished = Endpoint(api.url, "any")(next(cases([ROW])).request())
    assert finished is not None
    assert finished.answer.calls[0].arguments == {"duration": "ten minutes"}
    assert api.heard[0][1] is None


def test_a_malformed_answer_is_none_and_a_refusal_an_error(api: Api) -> None:
    request = next(cases([ROW])).request()
    api.says = {"tool_calls": [{"function": {"name": "x", "arguments": "{"}}]}
    assert Endpoint(api.url, "any")(request) is None
    api.status = 401
    with pytest.raises(ConnectionError, match="status 401"):
        Endpoint(api.url, "any")(request)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'localhost'"):
        Endpoint("localhost", "any")
