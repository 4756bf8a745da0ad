from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
import torch

from dlm.effort import Effort
from dlm.engine import (
    Engine,
    Event,
    Failed,
    Finished,
    Request,
    Snapshot,
    TextDelta,
)
from dlm.live import MASKED
from dlm.template import Answer, AnswerError, Call, Turn
from dlm.weights import save_model
from tests.dlm.tiny import (
    DIALOGUES,
    TOOLS,
    model,
    taught,
    template,
    tokenizer,
)

SAID = "set a timer for ten minutes"
TIMER_CALL = Call("set_timer", {"duration": "ten minutes"})


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """An engine that knows `DIALOGUES` by heart."""
    made = Engine(taught(), tokenizer())
    yield made
    made.close()


@pytest.fixture(scope="module")
def babbler() -> Iterator[Engine]:
    """An engine of random weights, which never comes to an end."""
    made = Engine(model(1), tokenizer())
    yield made
    made.close()


def submit(engine: Engine, request: Request) -> queue.Queue[Event]:
    events: queue.Queue[Event] = queue.Queue()
    engine.submit(request, events.put)
    return events


def collected(events: queue.Queue[Event]) -> list[Event]:
    """Events up to the last."""
    out: list[Event] = []
    while not (out and isinstance(out[-1], Finished | Failed)):
        out.append(events.get(timeout=30))
    return out


def ask(engine: Engine, request: Request) -> Finished:
    last = collected(submit(engine, request))[-1]
    assert isinstance(last, Finished), last
    return last


def failure(engine: Engine, request: Request) -> Exception:
    last = collected(submit(engine, request))[-1]
    assert isinstance(last, Failed)
    return last.error


def spoken(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def request(*turns: Turn | str, **options: object) -> Request:
    made = tuple(Turn("user", turn) if isinstance(turn, str) else turn for turn in turns)
    return Request(**{"turns": made, "tools": TOOLS, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("turns", DIALOGUES[:2])
def test_deltas_make_up_the_answer(
    engine: Engine, turns: list[Turn], effort: Effort, verified: bool
) -> None:
    events = collected(submit(engine, request(turns[0], effort=effort, verified=verified)))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.answer == Answer(turns[1].content, ())
    assert last.reason == "stop"
    assert spoken(events) == turns[1].content
    # Text comes as it is decided, not all at the end.
    assert sum(isinstance(event, TextDelta) for event in events) > 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("verified", [True, False])
def test_deltas_make_up_any_answer(seed: int, verified: bool) -> None:
    engine = Engine(model(seed), tokenizer())
    try:
        for longest in (1, 2, 30):
            wanted = request(
                "hello", tools=(), max_tokens=longest, verified=verified, tool_choice="none"
            )
            events = collected(submit(engine, wanted))
            last = events[-1]
            if isinstance(last, Finished):
                assert spoken(events) == last.answer.content
                assert last.usage.answer_tokens <= longest
            else:
                # Nothing keeps unverified drafts from being malformed.
                assert not verified
    finally:
        engine.close()


def test_characters_of_several_tokens_stream_whole(engine: Engine) -> None:
    turns = DIALOGUES[1]
    assert len(tokenizer().encode("☕")) > 1
    for effort in Effort:
        events = collected(submit(engine, request(turns[0], effort=effort)))
        deltas = [event.text for event in events if isinstance(event, TextDelta)]
        assert not any("\ufffd" in delta for delta in deltas)
    for longest in range(1, 25):
        events = collected(submit(engine, request(turns[0], max_tokens=longest)))
        last = events[-1]
        assert isinstance(last, Finished)
        assert spoken(events) == last.answer.content
        assert turns[1].content.startswith(last.answer.content)


def test_a_call_is_made_of_what_was_said(engine: Engine) -> None:
    done = ask(engine, request(SAID, said=(SAID,)))
    assert done.answer == Answer("", (TIMER_CALL,))
    assert done.reason == "stop"
    assert done.usage.answer_tokens == len(template().call(TIMER_CALL)) + 1
    done = ask(engine, request(SAID, said=("two eggs",), tool_choice="set_timer", parallel=False))
    assert done.answer.calls[0].arguments["duration"] in ("two", "eggs", "two eggs")


@pytest.mark.parametrize("verified", [True, False])
def test_half_a_call_is_no_call(engine: Engine, verified: bool) -> None:
    whole = len(template().call(TIMER_CALL)) + 1
    for longest in range(1, whole):
        done = ask(engine, request(SAID, max_tokens=longest, verified=verified))
        assert done.answer == Answer("", ())
        assert done.reason == "length"
        assert done.usage.answer_tokens == longest
    assert ask(engine, request(SAID, max_tokens=whole)).answer.calls == (TIMER_CALL,)


def test_snapshots_show_what_is_undecided(babbler: Engine) -> None:
    events = collected(
        submit(babbler, request("hello", tools=(), effort=Effort.HIGH, max_tokens=20))
    )
    shots = [event for event in events if isinstance(event, Snapshot)]
    assert any(MASKED in shot.text for shot in shots)
    assert all(isinstance(shot.forwards, int) for shot in shots)
    assert [shot.forwards for shot in shots] == sorted({shot.forwards for shot in shots})
    # What is final stands at the beginning, once.
    said = ""
    for event in events:
        if isinstance(event, TextDelta):
            said += event.text
        elif isinstance(event, Snapshot):
            assert event.text.startswith(said)


def test_a_draft_is_not_shown_behind_itself(engine: Engine) -> None:
    turns = DIALOGUES[0]
    events = collected(submit(engine, request(turns[0])))
    for event in events:
        if isinstance(event, Snapshot):
            assert turns[1].content.startswith(event.text)


def test_a_second_turn_pays_for_its_new_words_alone(engine: Engine) -> None:
    turns = DIALOGUES[2]
    first = ask(engine, request(turns[0], said=(SAID,)))
    second = ask(engine, request(*turns[:3], said=(SAID,)))
    assert second.answer.content == turns[3].content
    # All of the first prompt and answer but the end mark, which was never forwarded, is reused.
    known = first.usage.prompt_tokens + first.usage.answer_tokens
    assert known - 2 <= second.usage.cached_tokens <= known
    fresh = Engine(taught(), tokenizer())
    try:
        alone = ask(fresh, request(*turns[:3], said=(SAID,)))
    finally:
        fresh.close()
    assert alone.usage.cached_tokens == 0
    assert alone.answer == second.answer


@pytest.mark.parametrize("rules", [{}, {"tool_choice": "required", "said": (SAID,)}])
def test_a_reused_prefix_changes_nothing(rules: dict[str, object]) -> None:
    engine, fresh = Engine(model(3), tokenizer()), Engine(model(3), tokenizer())
    try:
        turns: list[Turn | str] = []
        for number in range(4):
            turns.append(f"and number {number}")
            done = ask(engine, request(*turns, max_tokens=25, **rules))
            assert (done.usage.cached_tokens > 0) == (number > 0)
            fresh.close()
            fresh = Engine(model(3), tokenizer())
            assert ask(fresh, request(*turns, max_tokens=25, **rules)).answer == done.answer
            turns.append(Turn("assistant", done.answer.content, done.answer.calls))
    finally:
        engine.close()
        fresh.close()


async def test_concurrent_requests_are_answered_as_alone(engine: Engine, babbler: Engine) -> None:
    wanted = [
        request(turns[0], effort=effort, said=(SAID,))
        for turns in DIALOGUES
        for effort in (Effort.INSTANT, Effort.HIGH)
    ]
    alone = [ask(engine, one).answer for one in wanted]

    async def answer(one: Request) -> Answer:
        async for event in engine.stream(one):
            if isinstance(event, Finished):
                return event.answer
        raise AssertionError("no answer")

    assert await asyncio.gather(*(answer(one) for one in wanted * 3)) == alone * 3
    mixed = [request(f"tell me {n}", tools=(), max_tokens=10 + n) for n in range(12)]
    queues = [submit(babbler, one) for one in mixed]
    together = [collected(events)[-1] for events in queues]
    for one, done in zip(mixed, together, strict=True):
        assert isinstance(done, Finished)
        assert ask(babbler, one).answer == done.answer


async def test_leaving_the_iteration_cancels(babbler: Engine) -> None:
    endless = request("hello", tools=(), max_tokens=2000)
    async with aclosing(babbler.stream(endless)) as events:  # type: ignore[type-var]
        async for _ in events:
            break
    # What is cancelled is gone, and what it knew is kept.
    done = ask(babbler, request("hello", tools=(), max_tokens=5))
    assert done.usage.cached_tokens == done.usage.prompt_tokens - 1


def test_cancelling_one_leaves_the_others(babbler: Engine) -> None:
    heard: list[Event] = []
    begun = threading.Event()

    def listen(event: Event) -> None:
        heard.append(event)
        begun.set()

    cancel = babbler.submit(request("hello", tools=(), max_tokens=2000), listen)
    wanted = request("two", tools=(), max_tokens=30)
    other = submit(babbler, wanted)
    assert begun.wait(30)
    cancel()
    cancel()
    together = collected(other)[-1]
    count = len(heard)
    assert isinstance(together, Finished)
    assert ask(babbler, wanted).answer == together.answer
    assert len(heard) == count
    assert not any(isinstance(event, Finished | Failed) for event in heard)


def test_nothing_is_told_after_a_cancellation(babbler: Engine) -> None:
    heard: list[Event] = []
    cancels: queue.Queue[Callable[[], None]] = queue.Queue()

    def listen(event: Event) -> None:
        heard.append(event)
        if isinstance(event, TextDelta):
            cancels.get(timeout=30)()

    wanted = request("hello", tools=(), effort=Effort.HIGH, max_tokens=2000)
    cancels.put(babbler.submit(wanted, listen))
    ask(babbler, request("two", tools=(), max_tokens=9))
    assert sum(isinstance(event, TextDelta) for event in heard) == 1
    # The same forward that brought the text would have shown a draft behind it.
    assert isinstance(heard[-1], TextDelta)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (request("hi", max_tokens=5000), "got 50.. positions, expected at most 4096"),
        (request("hi " * 5000), "expected at most 4096"),
        (request("hi", max_tokens=0), "max_tokens: got 0"),
        (request("hi", tools=(), tool_choice="required"), "tool_choice: got 'required'"),
        (request("hi", tool_choice="sing"), "tool_choice: got 'sing'"),
        (request("hi", tool_choice="sing", verified=False), "tool_choice: got 'sing'"),
        (request(Turn("bard", "hi")), "role: got 'bard'"),
    ],
)
async def test_what_cannot_be_answered_reaches_its_caller_alone(
    engine: Engine, bad: Request, told: str
) -> None:
    good = submit(engine, request(DIALOGUES[0][0], effort=Effort.HIGH))
    with pytest.raises(ValueError, match=told):
        async for _ in engine.stream(bad):
            raise AssertionError("got an event")
    done = collected(good)[-1]
    assert isinstance(done, Finished)
    assert done.answer.content == DIALOGUES[0][1].content


@pytest.mark.parametrize(
    ("user", "options", "told"),
    [
        (SAID, {"tool_choice": "none"}, r"got 'set_timer', expected one of \[\]"),
        (SAID, {"tool_choice": "get_weather"}, r"expected one of \['get_weather'\]"),
        ("hello", {"tool_choice": "required"}, "got no calls, expected at least 1"),
        ("both please", {"parallel": False}, "got 2 calls, expected at most 1"),
    ],
)
def test_an_unverified_answer_must_keep_the_rules_as_well(
    engine: Engine, user: str, options: dict[str, object], told: str
) -> None:
    error = failure(engine, request(user, verified=False, **options))
    assert isinstance(error, AnswerError)
    with pytest.raises(AnswerError, match=told):
        raise error


def test_words_and_calls_in_one_answer(engine: Engine) -> None:
    turns = DIALOGUES[3]
    events = collected(submit(engine, request(turns[0], said=("both please",))))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.answer == Answer("Sure.", turns[1].calls)
    assert spoken(events) == "Sure."


def test_too_many_requests_are_refused() -> None:
    engine = Engine(model(1), tokenizer(), max_live=3)
    try:
        endless = request("hello", tools=(), max_tokens=2000)
        cancels = [engine.submit(endless, lambda event: None) for _ in range(3)]
        with pytest.raises(queue.Full, match="3 requests are unfinished"):
            engine.submit(endless, lambda event: None)
        for cancel in cancels:
            cancel()
        done: Finished | None = None
        # A cancelled request makes room when the thread comes by, which is soon.
        for _ in range(10_000):
            try:
                done = ask(engine, request("hi", tools=(), max_tokens=3))
                break
            except queue.Full:
                continue
        assert done is not None
    finally:
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


async def test_a_stream_ends_when_the_engine_is_closed() -> None:
    engine = Engine(model(1), tokenizer())
    with pytest.raises(RuntimeError, match="the engine was closed"):
        async for _ in engine.stream(request("hello", tools=(), max_tokens=3000)):
            await asyncio.to_thread(engine.close)


def test_memory_is_bounded_over_many_requests() -> None:
    engine = Engine(model(1), tokenizer())
    try:
        for number in range(200):
            ask(engine, request(f"{number} hello", tools=(), max_tokens=2))
        assert len(engine._prefixes) == 8
        assert engine._unfinished == 0
    finally:
        engine.close()


def test_model_and_tokenizer_must_fit() -> None:
    with pytest.raises(ValueError, match="tokenizer: got 330 entries, the model has 300"):
        Engine(model(vocab_size=300), tokenizer())
    with pytest.raises(ValueError, match=r"mask_token_id, eos_token_id: got \(7, 2\)"):
        Engine(model(mask_token_id=7), tokenizer())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_checkpoint_directory_is_all_it_needs(tmp_path: Path, dtype: torch.dtype) -> None:
    save_model(taught(), tmp_path, torch.float32)
    tokenizer().save(tmp_path)
    engine = Engine.load(tmp_path, dtype)
    try:
        for turns in (DIALOGUES[0], DIALOGUES[3]):
            answer = ask(engine, request(turns[0])).answer
            assert answer == Answer(turns[1].content, turns[1].calls)
    finally:
        engine.close()
