"""What an engine bears: cancellation, closing, too many requests, a thousand of them."""

from __future__ import annotations

import gc
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from dlm.decoding.forwards import Eager
from dlm.effort import Effort
from dlm.engine.engine import Engine, Event, Failed, Finished, Request, TextDelta
from dlm.engine.request import RequestJob
from dlm.grammar.matcher import Matcher
from dlm.kv_cache.cache import KVCache
from tests.dlm.asking import ask, collected, request, submit
from tests.dlm.tiny import model, tokenizer
from tests.support.patience import PATIENCE_S


async def test_leaving_the_iteration_cancels(babbler: Engine) -> None:
    endless = request("hello", tools=(), max_tokens=2000)
    async with aclosing(babbler.stream(endless)) as events:  # type: ignore[type-var]
        async for _ in events:
            break
    with closing(babbler.events(endless)) as waited_for:
        next(waited_for)
    # What is cancelled is gone, and what it knew is kept.
    done = ask(babbler, request("hello", tools=(), max_tokens=5))
    assert babbler.unfinished == 0
    assert done.usage.cached_tokens == done.usage.prompt_tokens - 1


def test_nothing_is_told_after_a_cancellation(babbler: Engine) -> None:
    heard: list[Event] = []
    cancels: queue.Queue[Callable[[], None]] = queue.Queue()

    def listen(event: Event) -> None:
        heard.append(event)
        if isinstance(event, TextDelta):
            cancels.get(timeout=PATIENCE_S)()

    wanted = request("hello", tools=(), effort=Effort.HIGH, max_tokens=2000)
    cancels.put(babbler.submit(wanted, listen))
    ask(babbler, request("two", tools=(), max_tokens=9))
    assert sum(isinstance(event, TextDelta) for event in heard) == 1
    # The same forward that brought the text would have shown a draft behind it.
    assert isinstance(heard[-1], TextDelta)


def test_an_idle_engine_keeps_no_more_memory_than_it_may() -> None:
    runner = Eager(model(1), spare_bytes=0)
    engine = Engine(model(1), tokenizer(), prefix_bytes=0, runner=runner)
    waiting = [submit(engine, request(f"hello {n}", tools=(), max_tokens=5)) for n in range(4)]
    for events in waiting:
        collected(events)
    # The thread ends once it has done all that it does before it waits.
    engine.close()
    assert runner.buffers is not None
    assert runner.buffers.made > 0
    assert runner.buffers.spare_bytes == 0


def test_too_many_requests_are_refused() -> None:
    engine = Engine(model(1), tokenizer(), max_requests=3)
    try:
        endless = request("hello", tools=(), max_tokens=2000)
        cancels = [engine.submit(endless, lambda event: None) for _ in range(3)]
        with pytest.raises(queue.Full, match="3 requests are unfinished"):
            engine.submit(endless, lambda event: None)
        for cancel in cancels:
            cancel()
        # A cancelled request makes room when the thread comes by.
        until_s = time.monotonic() + PATIENCE_S
        while engine.unfinished == 3 and time.monotonic() < until_s:
            time.sleep(0.001)
        ask(engine, request("hi", tools=(), max_tokens=3))
    finally:
        engine.close()


def test_a_request_that_could_not_be_sent_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("no thread")

    engine = Engine(model(1), tokenizer(), max_requests=1)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(engine._patient_builder, "submit", broken)
            with pytest.raises(RuntimeError, match="no thread"):
                submit(engine, request("hello"))
        assert engine.unfinished == 0
        ask(engine, request("hi", tools=(), max_tokens=1))
    finally:
        engine.close()


def test_nothing_is_built_for_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(model(1), tokenizer())
    left, built = threading.Event(), []

    def build(job: RequestJob) -> None:
        built.append((job.request.turns[0].content, threading.current_thread().name))
        assert left.wait(PATIENCE_S)

    def prepare(request: Request) -> tuple[Request, None]:
        built.append((request.turns[0].content, threading.current_thread().name))
        return request, None

    monkeypatch.setattr(engine._setup, "matcher", build)
    monkeypatch.setattr(engine._setup, "with_json_call", prepare)
    try:
        first = submit(engine, request("one", tools=(), max_tokens=1))
        engine.submit(request("two", tools=(), max_tokens=1), lambda event: None)()
        left.set()
        ask(engine, request("three", tools=(), max_tokens=1))
        assert isinstance(collected(first)[-1], Finished)
    finally:
        engine.close()
    # All of it away from the caller, who may be an event loop.
    assert built == [(text, "dlm-grammars_0") for text in ("one", "one", "three", "three")]


def test_who_speaks_or_has_no_schema_does_not_wait_for_the_schemas_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine(model(1), tokenizer())
    build, go_on = engine._setup.matcher, threading.Event()

    def slow(job: RequestJob) -> Matcher | None:
        if job.request.turns[0].content == "heavy":
            assert go_on.wait(PATIENCE_S)
        return build(job)

    monkeypatch.setattr(engine._setup, "matcher", slow)
    try:
        heavy = submit(engine, request("heavy", max_tokens=1))
        ask(engine, request("plain", tools=(), max_tokens=1))
        ask(engine, request("spoken", priority=1, max_tokens=1))
        assert heavy.empty()
        go_on.set()
        assert isinstance(collected(heavy)[-1], Finished)
    finally:
        go_on.set()
        engine.close()


def test_a_listener_that_fails_hurts_nobody_else(
    babbler: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(event: Event) -> None:
        raise KeyError("a secret")

    babbler.submit(request("hello", tools=(), max_tokens=9), broken)
    assert ask(babbler, request("two", tools=(), max_tokens=9)).usage.answer_tokens == 9
    assert [record.getMessage() for record in caplog.records] == [
        "a request's listener failed: KeyError"
    ]


def test_closing_ends_the_thread_and_what_is_unfinished() -> None:
    engine = Engine(model(1), tokenizer())
    queues = [submit(engine, request(f"{n}", tools=(), max_tokens=3000)) for n in range(3)]
    engine.close()
    engine.close()
    assert not engine._thread.is_alive()
    for events in queues:
        last = collected(events)[-1]
        assert isinstance(last, Failed)
        assert isinstance(last.error, RuntimeError)
    with pytest.raises(RuntimeError, match="the engine is closed"):
        submit(engine, request("hello"))


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_bounded_over_a_thousand_requests() -> None:
    limit = 2**18
    engine = Engine(model(1), tokenizer(), max_requests=40, prefix_bytes=limit)
    room = threading.Semaphore(32)

    def listen(event: Event) -> None:
        if isinstance(event, Finished | Failed):
            room.release()

    def serve(count: int) -> None:
        for number in range(count):
            room.acquire()
            wanted = request(f"{number} hello {number}", tools=(), max_tokens=2 + number % 5)
            if number % 7:
                engine.submit(wanted, listen)
            else:
                # It may end before it is cancelled, so it does not make room itself.
                engine.submit(wanted, lambda _: None)()
                ask(engine, request("hi", tools=(), max_tokens=1))
                room.release()
        # How many are under way hangs on how busy the machine is.
        for _ in range(32):
            room.acquire()
        room.release(32)
        ask(engine, request("hi", tools=(), max_tokens=1))

    def held() -> int:
        return sum(type(thing) in (KVCache, RequestJob) for thing in gc.get_objects())

    try:
        serve(300)
        gc.collect()
        caches, objects, resident = held(), len(gc.get_objects()), resident_bytes()
        serve(700)
        gc.collect()
        assert 0 < engine.prefixes.nbytes <= limit
        # What the pool holds, and the request that may still be on its way out.
        assert held() <= caches + 3
        assert len(gc.get_objects()) <= objects + 1000
        assert resident_bytes() <= resident + 32 * 2**20
    finally:
        engine.close()
