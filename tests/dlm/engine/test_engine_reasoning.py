"""Engines that think before they answer."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dlm.effort import REASONING, Effort
from dlm.engine.engine import Engine, Event, Finished, Request, Snapshot, TextDelta
from dlm.engine.request import Reasoned
from dlm.grammar.formats import JsonSchema
from tests.dlm.asking import SAID, TIMER_CALL, ask, collected, request, spoken, submit
from tests.dlm.tiny import (
    DIALOGUES,
    THOUGHTS,
    TOOLS,
    model,
    template,
    thoughtful,
    tokenizer,
)


@pytest.fixture(scope="module")
def thinker() -> Iterator[Engine]:
    """An engine that knows two of `DIALOGUES`, and what is thought before, by heart."""
    made = Engine(thoughtful(), tokenizer())
    yield made
    made.close()


@pytest.fixture(scope="module")
def rambler() -> Iterator[Engine]:
    """An engine of random weights that thinks."""
    made = Engine(model(3, reasons=True), tokenizer())
    yield made
    made.close()


@pytest.mark.parametrize("effort", Effort)
def test_effort_says_whether_there_is_a_thought(thinker: Engine, effort: Effort) -> None:
    turns, thoughts = DIALOGUES[0], [text for _, text in THOUGHTS[:2]]
    events = collected(submit(thinker, request(turns[0], effort=effort)))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.answer.content == spoken(events) == turns[1].content
    told = [event for event in events if isinstance(event, Reasoned)]
    if REASONING[effort] is None:
        assert not told
        assert last.answer.reasoning == ""
        assert last.usage.reasoning_tokens == 0
        return
    assert [event.text for event in told] == [last.answer.reasoning]
    assert last.answer.reasoning == thoughts[effort is Effort.MEDIUM]
    # The closing mark was paid for as well.
    assert last.usage.reasoning_tokens == len(template().text(last.answer.reasoning)) + 1
    plain = ask(thinker, request(turns[0]))
    assert last.usage.answer_tokens == plain.usage.answer_tokens + last.usage.reasoning_tokens
    begun = [isinstance(event, TextDelta | Snapshot) for event in events]
    assert events.index(told[0]) < begun.index(True)


@pytest.mark.parametrize("effort", [Effort.MEDIUM, Effort.HIGH])
def test_a_call_may_follow_a_thought(thinker: Engine, effort: Effort) -> None:
    finished = ask(thinker, request(SAID, effort=effort, copy_sources=(SAID,)))
    assert finished.answer.calls == (TIMER_CALL,)
    # At high it was not enough, and goes on.
    assert finished.answer.reasoning.startswith(THOUGHTS[2][1])
    assert (finished.answer.reasoning == THOUGHTS[2][1]) == (effort is Effort.MEDIUM)
    assert finished.answer.content == ""


def test_a_thought_is_told_once_where_the_model_is_asked_again(thinker: Engine) -> None:
    options = {"effort": Effort.MEDIUM, "tool_choice": "required", "copy_sources": (SAID,)}
    events = collected(submit(thinker, request(*DIALOGUES[2][:3], **options)))
    last = events[-1]
    assert isinstance(last, Finished)
    # The timer is set already.
    assert {call.name for call in last.answer.calls} == {"get_weather"}
    thoughts = [event.text for event in events if isinstance(event, Reasoned)]
    assert thoughts == [last.answer.reasoning]


def test_where_the_model_is_asked_again_both_answers_cost(
    thinker: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, forwards = thinker._runner, []
    forward = runner.forward
    monkeypatch.setattr(runner, "forward", lambda batch: forwards.append(batch) or forward(batch))
    options = {"effort": Effort.MEDIUM, "tool_choice": "required", "copy_sources": (SAID,)}
    usage = ask(thinker, request(*DIALOGUES[2][:3], **options)).usage
    assert usage.forwards == len(forwards)


@pytest.mark.parametrize(
    "changes",
    [
        {"reasoning": False},
        {"prefix": "Hello"},
        {"verified": False, "tools": ()},
        {"effort": Effort.INSTANT},
        {"effort": Effort.LOW},
    ],
)
def test_who_is_not_asked_does_not_think(thinker: Engine, changes: dict[str, Any]) -> None:
    wanted = request("hello", **{"effort": Effort.HIGH, **changes})
    events = collected(submit(thinker, wanted))
    assert not any(isinstance(event, Reasoned) for event in events)
    assert isinstance(events[-1], Finished)
    assert events[-1].usage.reasoning_tokens == 0


@pytest.mark.parametrize("most", [1, 5, 11])
def test_an_answer_may_be_cut_inside_its_thought(thinker: Engine, most: int) -> None:
    events = collected(submit(thinker, request("hello", effort=Effort.HIGH, max_tokens=most)))
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.answer.content, last.answer.calls) == ("length", "", ())
    assert last.usage.answer_tokens == last.usage.reasoning_tokens == most
    assert THOUGHTS[0][1].startswith(last.answer.reasoning)
    assert [event.text for event in events if isinstance(event, Reasoned)] == [
        last.answer.reasoning
    ]
    assert spoken(events) == ""


def test_a_stop_string_in_a_thought_stops_nothing(thinker: Engine) -> None:
    stopped = ask(thinker, request("hello", effort=Effort.HIGH, stop=("kind", "today")))
    assert stopped.answer.reasoning == THOUGHTS[0][1]
    assert stopped.answer.content == "Hello! What can I do for you"
    assert stopped.reason == "stop"
    assert stopped.usage.reasoning_tokens < stopped.usage.answer_tokens


SCHEMA = {
    "type": "object",
    "properties": {"size": {"enum": ["big", "small"]}, "count": {"type": "integer"}},
    "required": ["size", "count"],
    "additionalProperties": False,
}
CHECKS: list[tuple[dict[str, Any], Callable[[Finished], bool]]] = [
    (
        {"format": JsonSchema(SCHEMA), "tools": ()},
        lambda f: json.loads(f.answer.content).keys() == {"size", "count"},
    ),
    ({"tool_choice": "required", "copy_sources": (SAID,)}, lambda f: len(f.answer.calls) >= 1),
    (
        {"tool_choice": "set_timer", "copy_sources": (SAID,), "parallel": False},
        lambda f: [call.name for call in f.answer.calls] == ["set_timer"],
    ),
]


@pytest.mark.parametrize("effort", [Effort.MEDIUM, Effort.HIGH])
@pytest.mark.parametrize(("changes", "holds"), CHECKS)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_rules_hold_behind_any_thought(
    rambler: Engine,
    effort: Effort,
    changes: dict[str, Any],
    holds: Callable[[Finished], bool],
    temperature: float,
) -> None:
    budget = REASONING[effort]
    assert budget is not None
    finished = ask(
        rambler,
        request(SAID, effort=effort, temperature=temperature, seed=5, max_tokens=300, **changes),
    )
    assert 1 < finished.usage.reasoning_tokens <= budget.most + 1
    if finished.reason == "stop":
        assert holds(finished)
    else:
        assert not finished.answer.calls


def test_the_same_alone_and_with_others(rambler: Engine) -> None:
    wanted: list[Request] = [
        request(SAID, effort=effort, temperature=heat, seed=9, max_tokens=40)
        for effort in (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
        for heat in (0.0, 1.0)
    ]
    alone = [ask(rambler, one) for one in wanted]
    queues: list[queue.Queue[Event]] = [submit(rambler, one) for one in wanted]
    together = [collected(events)[-1] for events in queues]
    for one, other in zip(alone, together, strict=True):
        assert isinstance(other, Finished)
        assert other.answer == one.answer
        assert other.usage.answer_tokens == one.usage.answer_tokens


def test_blocks_that_nothing_verifies_may_be_thought_before() -> None:
    made = Engine(model(5, reasons=True, commit="block"), tokenizer())
    try:
        for tools in ((), TOOLS):
            wanted = request(SAID, effort=Effort.MEDIUM, tools=tools, max_tokens=60)
            finished = ask(made, wanted)
            assert 1 < finished.usage.reasoning_tokens <= 33
    finally:
        made.close()
