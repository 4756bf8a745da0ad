from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dlm.effort import Effort
from dlm.engine.engine import Engine, Finished, TextDelta
from dlm.language.messages import Answer, AnswerError, Turn
from dlm.loading.weights import save_model
from tests.dlm.asking import SAID, ask, collected, failure, request, spoken, submit
from tests.dlm.tiny import DIALOGUES, model, taught, tokenizer
from tests.support.patience import PATIENCE_S


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


def test_a_program_may_end_without_closing_an_engine() -> None:
    program = """
from queue import SimpleQueue

from dlm.engine.engine import Engine, Request
from dlm.language.messages import Turn

engine = Engine.load(threads=1)
told = SimpleQueue()
engine.submit(Request((Turn("user", "tell me about yourself"),)), told.put)
print(type(told.get()).__name__)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "TextDelta\n", "")


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


def test_a_second_turn_pays_for_its_new_words_alone(engine: Engine) -> None:
    turns = DIALOGUES[2]
    first = ask(engine, request(turns[0], copy_sources=(SAID,)))
    second = ask(engine, request(*turns[:3], copy_sources=(SAID,)))
    assert second.answer.content == turns[3].content
    # All of the first prompt and answer but the end mark, which was never forwarded, is reused.
    known = first.usage.prompt_tokens + first.usage.answer_tokens
    assert known - 2 <= second.usage.cached_tokens <= known
    fresh = Engine(taught(), tokenizer())
    try:
        alone = ask(fresh, request(*turns[:3], copy_sources=(SAID,)))
    finally:
        fresh.close()
    assert alone.usage.cached_tokens == 0
    assert alone.answer == second.answer


@pytest.mark.parametrize("rules", [{}, {"tool_choice": "required", "copy_sources": (SAID,)}])
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
    events = collected(submit(engine, request(turns[0], copy_sources=("both please",))))
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.answer == Answer("Sure.", turns[1].calls)
    assert spoken(events) == "Sure."


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
