from __future__ import annotations

import json

import pytest

from dlm.evaluate.cases import cases
from dlm.evaluate.endpoint import Endpoint
from tests.dlm.evaluate.api import CALL, Api
from tests.dlm.evaluate.rows import ROW


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
