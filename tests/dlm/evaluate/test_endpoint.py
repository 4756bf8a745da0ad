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


@pytest.mark.parametrize(
    "text",
    [
        b"<html>",
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"choices": null}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"role": "assistant", "tool_calls": ["x"]}}]}',
    ],
)
def test_an_answer_of_any_other_form_is_malformed(api: Api, text: bytes) -> None:
    api.text = text
    assert Endpoint(api.url, "any")(next(cases([ROW])).request()) is None


def test_a_usage_that_is_not_told_is_none(api: Api) -> None:
    api.text = (
        b'{"choices": [{"message": {"role": "assistant", "content": "Hello."}}],'
        b' "usage": {"prompt_tokens": null, "completion_tokens": null}}'
    )
    finished = Endpoint(api.url, "any")(next(cases([ROW])).request())
    assert finished is not None and finished.usage.answer_tokens == 0


def test_what_an_endpoint_says_of_its_refusal_is_told(api: Api) -> None:
    endpoint, request = Endpoint(api.url, "any"), next(cases([ROW])).request()
    api.text = b'{"error": {"message": "no tools\\n with this model"}}'
    with pytest.raises(ConnectionError, match=r"completions: no tools with this model$"):
        endpoint(request)
    api.status = 400
    with pytest.raises(ConnectionError, match=r"status 400: no tools with this model$"):
        endpoint(request)
    api.text = b"<html>"
    with pytest.raises(ConnectionError, match=r"status 400$"):
        endpoint(request)


def test_an_endpoint_that_breaks_off_or_is_silent_is_an_error(api: Api) -> None:
    endpoint, request = Endpoint(api.url, "any"), next(cases([ROW])).request()
    api.length = 9_999
    with pytest.raises(ConnectionError, match="bytes read"):
        endpoint(request)
    api.length = None
    api.silent.clear()
    endpoint.timeout_s = 0.05
    try:
        with pytest.raises(ConnectionError, match=r"silent for 0\.05 s"):
            endpoint(request)
    finally:
        api.silent.set()
