from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from dlm.language.tokenizer import Tokenizer
from dlm.loading.weights import load_model as load_model_weights
from dlm.loading.weights import save_model
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer
from tests.support.patience import PATIENCE_S
from voice.config import LlmConfig
from voice.errors import ConfigError, ModelError, ProtocolError
from voice.llm.base import AnswerDone, ModelEvent, Prompt, ReplyModel, TextPiece
from voice.llm.embedded import EmbeddedModel
from voice.llm.loading import load_model
from voice.session.resources import Resources
from voice.types import Message, Role, ToolCall, ToolSpec

TIMER = ToolSpec(
    "set_timer",
    "Start a countdown timer.",
    {
        "type": "object",
        "properties": {"duration": {"type": "string"}},
        "required": ["duration"],
    },
)
HELLO = Prompt((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "hello")))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with random weights, on disk as the shipped one is."""
    directory = tmp_path_factory.mktemp("tiny")
    tokenizer = Tokenizer.train([" set a timer for ten minutes please"] * 4, 300)
    tokenizer.save(directory)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    save_model(Transformer(config), directory, torch.float32)
    return directory


async def _events(model: ReplyModel, prompt: Prompt) -> list[ModelEvent]:
    return [event async for event in model.answer(prompt)]


async def test_the_embedded_model_answers_in_words_and_calls(checkpoint: Path) -> None:
    model, line = load_model(LlmConfig(checkpoint=str(checkpoint), device="cpu"))
    assert "embedded" in line
    try:
        events = await _events(model, HELLO)
        done = events[-1]
        assert isinstance(done, AnswerDone)
        assert done.input_tokens > 0
        assert "".join(e.text for e in events if isinstance(e, TextPiece))
        wanted = Prompt(
            (Message(Role.USER, "set a timer for ten minutes"),),
            tools=(TIMER,),
            tool_choice="required",
            max_tokens=120,
        )
        last = (await _events(model, wanted))[-1]
        assert isinstance(last, AnswerDone)
        for call in last.calls:
            assert call.name == "set_timer"
            assert call.arguments["duration"] in "set a timer for ten minutes"
    finally:
        await model.close()


@pytest.mark.parametrize(("mib", "kept"), [(0, False), (1, True)])
async def test_prompts_are_kept_up_to_a_limit(checkpoint: Path, mib: int, kept: bool) -> None:
    config = LlmConfig(checkpoint=str(checkpoint), device="cpu", prompt_cache_mib=mib)
    model, _ = load_model(config)
    assert isinstance(model, EmbeddedModel)
    await _events(model, HELLO)
    await model.close()
    size = model.engine.prefixes.nbytes
    assert (size > 0) == kept
    assert size <= mib * 2**20


async def test_a_spoken_turn_is_not_thought_about(checkpoint: Path, tmp_path: Path) -> None:
    made = load_model_weights(checkpoint)
    made.config = replace(made.config, reasons=True)
    save_model(made, tmp_path, torch.float32)
    Tokenizer.load(checkpoint).save(tmp_path)
    model, _ = load_model(LlmConfig(checkpoint=str(tmp_path), device="cpu"))
    try:
        spent = []
        for effort in ("instant", "high"):
            done = (await _events(model, replace(HELLO, effort=effort, max_tokens=20)))[-1]
            assert isinstance(done, AnswerDone)
            spent.append((done.input_tokens, done.output_tokens))
        assert spent[0] == spent[1]
    finally:
        await model.close()


@pytest.mark.parametrize("longest", [96, 50_000])
async def test_any_prompt_is_answered_within_the_context(checkpoint: Path, longest: int) -> None:
    model, _ = load_model(LlmConfig(checkpoint=str(checkpoint), device="cpu"))
    try:
        results = "set a timer for ten minutes " * 400
        called = Message(Role.AGENT, tool_calls=(ToolCall("c", "set_timer", {"duration": "ten"}),))
        result = Message(Role.TOOL, results, call_id="c", name="set_timer")
        prompt = replace(HELLO, tools=(TIMER,), max_tokens=longest)
        for more in ((), (called, result), (Message(Role.USER, "word " * 9000),)):
            longer = replace(prompt, messages=(*prompt.messages, *more))
            # Left as soon as it is clear that there is an answer: a whole one takes its time.
            async with aclosing(model.answer(longer)) as events:
                assert isinstance(await anext(events), ModelEvent)
    finally:
        await model.close()


async def test_instructions_that_leave_no_room_are_refused(checkpoint: Path) -> None:
    model, _ = load_model(LlmConfig(checkpoint=str(checkpoint), device="cpu"))
    try:
        system = Message(Role.SYSTEM, "word " * 9000)
        with pytest.raises(ModelError, match="instructions and tools: got"):
            await _events(model, Prompt((system, Message(Role.USER, "hello"))))
    finally:
        await model.close()


UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}


def _with(name: str, schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec("tell", "Tell it.", {"type": "object", "properties": {name: schema}})


@pytest.mark.parametrize(
    ("tool", "where", "told"),
    [
        (_with("x", UNIQUE), "tools.1.parameters.properties.x", "uniqueItems"),
        (_with("x", {"$ref": "#"}), "tools.1.parameters.properties.x", r"\$ref"),
        (_with("x", {"enum": ["a\0b"]}), "tools.1.parameters.properties.x", "expected no"),
        (replace(TIMER, parameters={"allOf": []}), "tools.1.parameters.allOf", "not supported"),
        (replace(TIMER, description="word " * 90_000), "tools", "characters"),
    ],
)
async def test_tools_that_nothing_can_call_are_refused(
    embedded_parts: Resources, tool: ToolSpec, where: str, told: str
) -> None:
    model = embedded_parts.model
    model.check_tools((TIMER, replace(tool, parameters=TIMER.parameters, description="")), "tools")
    with pytest.raises(ProtocolError, match=told) as raised:
        model.check_tools((TIMER, tool), "tools")
    assert raised.value.param == where


async def test_an_agents_tool_that_nothing_can_call_is_told_before_anybody_asks(
    embedded_parts: Resources,
) -> None:
    with pytest.raises(ConfigError, match=r"tell\.x: .*uniqueItems"):
        embedded_parts.model.warm_up(replace(HELLO, tools=(_with("x", UNIQUE),)))


@pytest.mark.parametrize("device", ["foo", "meta"])
def test_a_device_that_cannot_be_used_is_named(checkpoint: Path, device: str) -> None:
    with pytest.raises(ConfigError, match=f"llm.device: got '{device}'"):
        load_model(LlmConfig(checkpoint=str(checkpoint), device=device))


def test_a_draft_and_a_priority_make_no_other_prompt() -> None:
    assert replace(HELLO, draft=Message(Role.AGENT, "Hi."), priority=-1) == HELLO
    assert replace(HELLO, effort="high") != HELLO


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere"):
        load_model(LlmConfig(checkpoint=str(tmp_path / "nowhere")))


async def test_a_draft_makes_an_answer_cheaper_and_no_other(embedded_parts: Resources) -> None:
    words = "set a timer for ten minutes"
    instructions = Message(Role.SYSTEM, embedded_parts.agent.instructions)
    tools = embedded_parts.toolbox.specs(embedded_parts.agent.tools)
    wanted = Prompt((instructions, Message(Role.USER, words)), tools)
    fresh = (await _events(embedded_parts.model, wanted))[-1]
    assert isinstance(fresh, AnswerDone)
    assert fresh.kept == 0
    draft = Message(Role.AGENT, tool_calls=fresh.calls)
    revised = (await _events(embedded_parts.model, replace(wanted, draft=draft)))[-1]
    assert isinstance(revised, AnswerDone)
    assert [c.arguments for c in revised.calls] == [{"duration": "ten minutes"}]
    assert revised.kept > 0
    assert 0 < revised.forwards < fresh.forwards


async def test_what_was_called_before_may_be_called_again(embedded_parts: Resources) -> None:
    call = ToolCall("c", "set_timer", {"duration": "ninety"})
    called = Message(Role.AGENT, tool_calls=(call,))
    result = Message(Role.TOOL, "Timer set for 90 minutes.", call_id="c", name="set_timer")
    wordless = (Message(Role.USER, "!"), Message(Role.AGENT, "Pardon?")) * 3
    prompt = Prompt((called, result, *wordless[:-1]), (TIMER,), "required")
    done = (await _events(embedded_parts.model, prompt))[-1]
    assert isinstance(done, AnswerDone)
    assert {made.arguments["duration"] for made in done.calls} == {"ninety"}


async def test_a_whole_message_is_likelier_to_end_than_its_beginning(
    embedded_parts: Resources,
) -> None:
    model = embedded_parts.model
    chances = []
    for words in ("set a timer for", "set a timer for ten minutes"):
        messages = (Message(Role.SYSTEM, "You are a voice assistant."), Message(Role.USER, words))
        chance = await model.end_of_message(Prompt(messages))
        assert chance is not None
        chances.append(chance)
    assert chances[0] < 0.05 < chances[1] <= 1


async def test_who_waits_for_the_end_of_a_message_holds_no_thread(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = load_model(LlmConfig(checkpoint=str(checkpoint), device="cpu"))
    go_on, scheduler = threading.Event(), model.engine._scheduler
    monkeypatch.setattr(scheduler, "round", partial(_after, go_on, scheduler.round))
    try:
        prompt = Prompt((Message(Role.USER, "set a timer"),))
        waiting = [asyncio.create_task(model.end_of_message(prompt)) for _ in range(40)]
        async with asyncio.timeout(PATIENCE_S):
            while model.engine.unfinished < len(waiting):
                await asyncio.sleep(0.01)
            waiting.pop().cancel()
            assert await asyncio.to_thread(int) == 0
        go_on.set()
        assert None not in await asyncio.gather(*waiting)
    finally:
        go_on.set()
        await model.close()


def _after(event: threading.Event, act: Callable[[], None]) -> None:
    assert event.wait(PATIENCE_S)
    act()


async def test_nobody_knows_where_too_long_a_message_ends(checkpoint: Path) -> None:
    model, _ = load_model(LlmConfig(checkpoint=str(checkpoint), device="cpu"))
    try:
        long = Prompt((Message(Role.USER, "word " * 20_000),))
        assert await model.end_of_message(long) is None
    finally:
        await model.close()
