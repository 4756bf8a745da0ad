"""The remote model against servers of many kinds, byte by byte over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from tests.support.patience import PATIENCE_S
from voice.config import LlmConfig, RemoteConfig
from voice.errors import ConfigError, ModelError
from voice.llm.base import AnswerDone, MalformedAnswer, Prompt, ReplyModel, TextPiece
from voice.llm.loading import load_model
from voice.types import Message, Role, ToolCall, ToolSpec

HELLO = Prompt((Message(Role.USER, "hello"),), (ToolSpec("get_time", "The time.", {}),))
KEY = "sk-a-secret-key"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
LONGEST_S = 0.3

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def _chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'x', 'choices': [choice], **more})}\n\n"


STOP = _chunk(finish="stop")


def _stream(*chunks: str) -> bytes:
    return HEAD + b"\r\n" + "".join(chunks).encode()


def _refusal(status: str, body: Any, *headers: str) -> bytes:
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/html" if isinstance(body, str) else "application/json"
    about = [f"Content-Type: {kind}", f"Content-Length: {len(text)}", "Connection: close"]
    lines = [f"HTTP/1.1 {status}", *about, *headers]
    return "\r\n".join([*lines, "", text]).encode()


class _Server:
    """Gives one answer after another, the last again and again, a few bytes at a time.

    Attributes:
        asked: The bodies of the requests.
        keys: Their authorization headers.
        left: Set when the client has closed a connection before its answer was over.
    """

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            self.keys.append(head.split(b"authorization: ")[1].split(b"\r\n")[0].decode())
            self.asked.append(json.loads(await reader.readexactly(length)))
            answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
            if isinstance(answer, bytes):
                for at in range(0, len(answer), 7):
                    writer.write(answer[at : at + 7])
                    await writer.drain()
            else:
                await answer(writer)
                await reader.read()
                self.left.set()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@asynccontextmanager
async def _remote(server: _Server, **options: Any) -> AsyncGenerator[ReplyModel, None]:
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        remote = RemoteConfig(
            base_url=f"http://127.0.0.1:{port}/v1", model="m", api_key_env="TEST_KEY", **options
        )
        model, _ = await asyncio.to_thread(load_model, LlmConfig(engine="remote", remote=remote))
        try:
            async with asyncio.timeout(PATIENCE_S):
                yield model
        finally:
            await model.close()


async def _answer(model: ReplyModel, prompt: Prompt = HELLO) -> tuple[str, AnswerDone]:
    events = [event async for event in model.answer(prompt)]
    done = events[-1]
    assert isinstance(done, AnswerDone)
    return "".join(e.text for e in events if isinstance(e, TextPiece)), done


async def _refused(model: ReplyModel) -> str:
    with pytest.raises(ModelError) as failed:
        await _answer(model)
    assert not isinstance(failed.value, MalformedAnswer)
    return str(failed.value)


async def test_words_are_streamed_and_the_cost_is_told() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    words = [_chunk({"role": "assistant", "content": "Hello"}), _chunk({"content": " there."})]
    server = _Server(_stream(*words, _chunk(finish="length"), _chunk(choices=[], usage=usage)))
    prompt = Prompt((Message(Role.SYSTEM, "Be brief."), *HELLO.messages))
    async with _remote(server, extra_body={"realtime": True}) as model:
        events = [event async for event in model.answer(prompt)]
    assert events == [TextPiece("Hello"), TextPiece(" there."), AnswerDone((), True, 7, 3)]
    assert server.keys == [f"bearer {KEY}"]
    (asked,) = server.asked
    assert (asked["reasoning_effort"], asked["realtime"]) == ("instant", True)
    assert [m["role"] for m in asked["messages"]] == ["system", "user"]
    assert "tools" not in asked


async def test_a_call_is_put_together_and_those_before_are_sent() -> None:
    start = {"index": 0, "id": "call_7", "function": {"name": "get_time", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": '{"place": "here"}'}}
    pieces = [_chunk({"tool_calls": [start]}), _chunk({"tool_calls": [rest]})]
    server = _Server(_stream(*pieces, _chunk(finish="tool_calls")))
    called = Message(Role.AGENT, tool_calls=(ToolCall("call_1", "get_time", {"place": "there"}),))
    result = Message(Role.TOOL, "Noon.", call_id="call_1", name="get_time")
    prompt = Prompt((*HELLO.messages, called, result), HELLO.tools, "get_time")
    async with _remote(server) as model:
        _, done = await _answer(model, prompt)
    (made,) = done.calls
    assert (made.name, made.arguments) == ("get_time", {"place": "here"})
    # Servers may number the calls of each answer anew, so their ids are not taken over.
    assert made.call_id not in ("call_7", "")
    sent = server.asked[0]["messages"]
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"place": "there"}'
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "Noon."}
    assert server.asked[0]["tool_choice"]["function"]["name"] == "get_time"


ODD_STREAMS = {
    "cut anywhere": [_chunk({"content": "Schöner"}), _chunk({"content": " Tag 🌞"}), STOP],
    "comments": [": hello\n\n", _chunk({"content": "Schöner Tag 🌞"}), ": still here\n\n", STOP],
    "carriage returns": [_chunk({"content": "Schöner Tag 🌞"}).replace("\n", "\r\n"), STOP],
    "thoughts": [
        _chunk({"reasoning_content": "Hm.", "content": None}),
        _chunk({"reasoning": "Hm.", "content": ""}),
        _chunk({"content": [{"type": "thinking", "thinking": []}]}),
        _chunk({"content": [{"type": "text", "text": "Schöner Tag 🌞"}]}),
        STOP,
    ],
    "no choices": [_chunk(choices=None), _chunk({"content": "Schöner Tag 🌞"}), STOP],
    "no delta": [
        _chunk({"content": "Schöner Tag 🌞"}),
        _chunk(choices=[{"index": 0, "delta": None, "finish_reason": "stop"}]),
    ],
    "counts of nothing": [
        _chunk({"content": "Schöner Tag 🌞"}, usage={}),
        STOP,
        _chunk(choices=[], usage={"prompt_tokens": None, "completion_tokens": "many"}),
    ],
    "a refusal": [_chunk({"refusal": "Schöner Tag 🌞"}), STOP],
}


@pytest.mark.parametrize("chunks", ODD_STREAMS.values(), ids=ODD_STREAMS.keys())
async def test_odd_streams_are_read(chunks: list[str]) -> None:
    async with _remote(_Server(_stream(*chunks))) as model:
        text, done = await _answer(model)
    assert text == "Schöner Tag 🌞"
    assert done == AnswerDone((), False, 0, 0)


async def test_half_a_character_can_be_spoken_and_sent_again() -> None:
    server = _Server(_stream(_chunk({"content": "Hm \ud83d"}), STOP))
    async with _remote(server) as model:
        assert (await _answer(model))[0] == "Hm �"
        await _answer(model, Prompt((Message(Role.USER, "typed \ud83d"),)))
    assert server.asked[1]["messages"][0]["content"] == "typed �"


BROKEN = {
    "an error as JSON": (_refusal("200 OK", {"error": {"message": "no"}}), "no event stream"),
    "a page": (_refusal("200 OK", "<html>hello</html>"), "no event stream"),
    "nothing": (_stream(), "broke off"),
    "an error in the stream": (_stream('data: {"error": {"message": "too busy"}}\n\n'), "too busy"),
    "no JSON": (_stream("data: {oops\n\n"), "cannot be read"),
    "no UTF-8": (HEAD + b'\r\ndata: "\xff"\n\n', "cannot be read"),
    "cut off": (HEAD + b"Content-Length: 9000\r\n\r\n" + STOP.encode(), "peer closed"),
    "a filter": (_stream(_chunk({"content": "Well"}), _chunk(finish="content_filter")), "filter"),
    "too short": (
        _stream(_chunk({"reasoning": "Hm"}), _chunk(finish="length")),
        "96 tokens were over before the first word",
    ),
    "another form of error": (_refusal("404 Not Found", {"message": "no model m"}), "no model m"),
}


@pytest.mark.parametrize(("answer", "told"), BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_no_answer_is_one_clear_failure(answer: bytes, told: str) -> None:
    server = _Server(answer)
    async with _remote(server) as model:
        assert told in await _refused(model)
    assert len(server.asked) == 1


@pytest.mark.parametrize("effort", ["instant", "low"])
async def test_an_effort_that_a_server_refuses_is_left_out(effort: str) -> None:
    told = "{'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'medium'\"}"
    no = _refusal("400 Bad Request", {"object": "error", "message": told})
    server = _Server(no, _stream(_chunk({"content": "Hello."}), STOP))
    prompt = Prompt(HELLO.messages, effort=effort)
    async with _remote(server) as model:
        assert (await _answer(model, prompt))[0] == "Hello."
        await _answer(model, prompt)
        await _answer(model, Prompt(HELLO.messages, effort="medium"))
    efforts = [asked.get("reasoning_effort") for asked in server.asked]
    assert efforts == [effort, None, None, "medium"]


async def test_an_effort_of_the_configuration_is_not_left_out() -> None:
    no = _refusal("400 Bad Request", {"error": {"message": "reasoning_effort: no such value"}})
    server = _Server(no)
    async with _remote(server, extra_body={"reasoning_effort": "huge"}) as model:
        assert "no such value" in await _refused(model)
    assert [asked["reasoning_effort"] for asked in server.asked] == ["huge"]


async def test_newer_models_are_told_their_limit_in_their_way() -> None:
    told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    no = _refusal("400 Bad Request", {"error": {"message": told, "param": "max_tokens"}})
    server = _Server(no, _stream(_chunk({"content": "Hello."}), STOP))
    async with _remote(server) as model:
        assert (await _answer(model))[0] == "Hello."
    limits = [(a.get("max_tokens"), a.get("max_completion_tokens")) for a in server.asked]
    assert limits == [(96, None), (None, 96)]


@pytest.mark.parametrize("alive", [b"", b": keep-alive\n\n"], ids=["silent", "comments"])
@pytest.mark.parametrize("begun", [False, True])
async def test_a_server_that_says_nothing_is_asked_once_and_left(alive: bytes, begun: bool) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(_stream(_chunk({"content": "Well,"}) if begun else ""))
        while alive:
            writer.write(alive)
            await writer.drain()
            await asyncio.sleep(LONGEST_S / 10)

    server = _Server(stall)
    async with _remote(server, timeout_s=LONGEST_S) as model:
        assert f"nothing came within {LONGEST_S} s" in await _refused(model)
        await server.left.wait()
    assert len(server.asked) == 1


async def test_leaving_an_answer_ends_the_request() -> None:
    async def go_on(writer: asyncio.StreamWriter) -> None:
        writer.write(_stream(_chunk({"content": "Well,"})))

    server = _Server(go_on)
    async with _remote(server) as model, aclosing(model.answer(HELLO)) as events:
        assert await anext(events) == TextPiece("Well,")
        answer = events
        await answer.aclose()
        await server.left.wait()


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_a_busy_server_is_asked_once_more(status: str) -> None:
    no = _refusal(status, {"error": {"message": "busy"}}, "Retry-After: 0")
    server = _Server(no, _stream(_chunk({"content": "Hello."}), STOP))
    async with _remote(server) as model:
        assert (await _answer(model))[0] == "Hello."
    async with _remote(busy := _Server(no)) as model:
        assert "busy" in await _refused(model)
    assert len(busy.asked) == 2


async def test_a_server_that_is_busy_for_longer_is_not_waited_for() -> None:
    no = _refusal("429 Too Many Requests", {"error": {"message": "busy"}}, "Retry-After: 30")
    server = _Server(no)
    async with _remote(server) as model:
        assert "busy" in await _refused(model)
    assert len(server.asked) == 1


async def test_no_page_and_no_key_is_told() -> None:
    page = _refusal("403 Forbidden", f"<html>{'x' * 1000}</html>")
    key = _refusal("401 Unauthorized", {"error": {"message": f"Incorrect key: {KEY}" + "!" * 999}})
    async with _remote(_Server(page, key)) as model:
        assert "<html" not in await _refused(model)
        told = await _refused(model)
    assert "Incorrect key: [key]" in told
    assert len(told) < 500


async def test_what_is_behind_a_failed_connection_is_told() -> None:
    async with _remote(_Server(STOP.encode())) as model:
        assert "illegal status line" in (await _refused(model)).lower()


@pytest.mark.parametrize(
    ("key", "url", "told"),
    [
        ("sk-schön-geheim", "https://localhost/v1", "expected printable ASCII"),
        ("sk\nkey", "https://localhost/v1", "expected printable ASCII"),
        ("\n", "https://localhost/v1", "which is not set"),
        ("key", "localhost:8000/v1", "begins with http:// or https://"),
        ("key", "http://[::1/v1", "no connection"),
    ],
)
def test_what_cannot_be_asked_is_an_error_at_the_start(
    monkeypatch: pytest.MonkeyPatch, key: str, url: str, told: str
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    remote = RemoteConfig(base_url=url, api_key_env="TEST_KEY")
    with pytest.raises(ConfigError, match=told) as failed:
        load_model(LlmConfig(engine="remote", remote=remote))
    assert key.strip() == "key" or not key.strip() or key not in str(failed.value)
