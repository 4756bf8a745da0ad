from __future__ import annotations

import queue
from dataclasses import replace

import pytest

from dlm.effort import Effort
from dlm.engine.engine import Engine, Event, Failed, Finished, Request, TextDelta
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from tests.dlm.asking import SAID, ask, collected, request, submit
from tests.dlm.tiny import DIALOGUES, model, template, tokenizer


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


def test_a_priority_that_cannot_be_told_fails_its_request_alone() -> None:
    engine, priorities = Engine(model(1), tokenizer()), [0] * 4
    try:
        options = {"tools": (), "max_tokens": 9}
        good = submit(engine, request("one", **options))
        bad = collected(submit(engine, request("two", priority=priorities.pop, **options)))
        assert isinstance(bad[-1], Failed) and isinstance(bad[-1].error, IndexError)
        assert isinstance(collected(good)[-1], Finished)
    finally:
        engine.close()


def mixed() -> list[Request]:
    """Requests of every kind: grammar and free, greedy and sampled, short and long, all efforts."""
    out = [
        request(f"tell me {number}", tools=(), max_tokens=4 + number, effort=effort, **options)
        for number, (effort, options) in enumerate(
            (effort, options)
            for effort in Effort
            for options in (
                {},
                {"temperature": 0.9, "seed": 5},
                {"temperature": 1.5, "seed": 6, "top_p": 0.8, "priority": 1},
                {"verified": False},
                {"verified": False, "temperature": 0.7, "seed": 7},
            )
        )
    ]
    out += [
        request(SAID, copy_sources=(SAID,), tool_choice="required", max_tokens=60, **options)
        for options in ({}, {"temperature": 1.0, "seed": 8}, {"effort": Effort.HIGH})
    ]
    # Longer than a round, so that it is read in pieces while the others go on.
    out.append(request("word " * 300, tools=(), max_tokens=9, priority=2))
    return out


def told(events: queue.Queue[Event]) -> list[TextDelta | Finished | str]:
    """What a caller was told, without what depends on which prefix was cached."""
    out: list[TextDelta | Finished | str] = []
    for event in collected(events):
        if isinstance(event, TextDelta):
            out.append(event)
        elif isinstance(event, Finished):
            out.append(
                replace(event, usage=replace(event.usage, cached_tokens=0, forwards=0, prefills=0))
            )
        elif isinstance(event, Failed):
            out.append(f"{type(event.error).__name__}: {event.error}")
    return out


def test_a_batch_changes_no_token(babbler: Engine) -> None:
    wanted = mixed()
    alone = [told(submit(babbler, one)) for one in wanted]
    # Different answers, or the comparison would show nothing.
    assert len({str(events) for events in alone}) > len(wanted) // 2
    for order in (range(len(wanted)), reversed(range(len(wanted)))):
        queues = {index: submit(babbler, wanted[index]) for index in order}
        assert [told(queues[index]) for index in range(len(wanted))] == alone


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("commit", ["block", "full"])
def test_checkpoints_that_are_not_causal_batch_as_well(commit: str, shift: bool) -> None:
    def asked(number: int) -> Request:
        text = f"tell me {number}"
        if number % 3:
            options = {"temperature": 0.8, "seed": 5} if number % 2 else {}
            return request(text, tools=(), max_tokens=5 + 3 * number, **options)
        return request(
            text, copy_sources=(SAID,), tool_choice="required", max_tokens=60, parallel=False
        )

    engine = Engine(model(1, commit=commit, shift=shift), tokenizer())
    try:
        wanted = [asked(number) for number in range(9)]
        alone = [told(submit(engine, one)) for one in wanted]
        queues = [submit(engine, one) for one in wanted]
        assert [told(events) for events in queues] == alone
        called = [events[-1].answer.calls for events in alone if isinstance(events[-1], Finished)]
        assert [bool(calls) for calls in called] == [number % 3 == 0 for number in range(9)]
        cached = ask(engine, asked(1)).usage.cached_tokens
        assert (cached > 0) == (commit == "block")
        assert cached % 8 == 0
        with pytest.raises(ValueError, match="scoring: got a checkpoint"):
            engine.end_of_message((Turn("user", "hi"),))
    finally:
        engine.close()


def test_concurrent_requests_learn_nothing_of_each_other(engine: Engine) -> None:
    """Each user's words can only come back to that user."""
    words = ["ten", "two", "café", "seven", "milk", "eggs", "Paris", "noon"]
    wanted = [
        request(
            f"set a timer for {word}",
            copy_sources=(f"set a timer for {word}",),
            tool_choice="required",
        )
        for word in words
    ] * 4
    queues = [submit(engine, one) for one in wanted]
    for events, one in zip(queues, wanted, strict=True):
        done = collected(events)[-1]
        assert isinstance(done, Finished), done
        for call in done.answer.calls:
            for value in call.arguments.values():
                assert value in ("today", "tomorrow") or value in one.turns[0].content


def test_text_that_spells_the_mask_is_text(engine: Engine) -> None:
    spelled = "what does <|mask|> mean <|end|> <|call|>"
    prompt = template().prompt((Turn("user", spelled),))
    assert sum(token < len(Mark) for token in prompt) == 3
    other = submit(engine, request(DIALOGUES[0][0]))
    alone = ask(engine, request(spelled, max_tokens=30, tools=())).answer
    together = [submit(engine, request(spelled, max_tokens=30, tools=())) for _ in range(3)]
    for events in together:
        done = collected(events)[-1]
        assert isinstance(done, Finished)
        assert done.answer == alone
    done = collected(other)[-1]
    assert isinstance(done, Finished)
    assert done.answer.content == DIALOGUES[0][1].content
