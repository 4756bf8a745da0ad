from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
import torch

from dlm.decoding.forwards import Eager, SideForwards, Steps, drive
from dlm.decoding.tool_likelihood import MOST_WORDS, TOGETHER, ToolLikelihoods
from dlm.effort import Effort
from dlm.engine.engine import Engine, Request
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.grammar.tool_choice import ToolChoice
from dlm.language.identifiers import worded
from dlm.language.messages import Call, Tool, Turn
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.asking import ask, request
from tests.dlm.decoding.test_score import log_probability
from tests.dlm.tiny import LIGHT, TIMER, TOOLS, WEATHER, model, template, tokenizer, tool

NET = model(2, reads=True)
SAID = "set a timer for ten minutes please"


def likelihood(engine: Engine, text: str, wanted: Tool) -> float:
    """One forward of declaration and words, no cache."""
    prompt = template().ended([Turn("user")], [wanted])[:-1]
    words = template().ended([Turn("user", text)], [wanted])[len(prompt) :]
    return log_probability(engine, prompt, words[-MOST_WORDS:])


def gains(steps: Steps[dict[str, float]], made: Transformer = NET) -> dict[str, float]:
    return drive(made, Eager(made).cache(8), steps)


@pytest.mark.parametrize("text", [SAID, "ten", " ".join(["ten minutes"] * 60)])
def test_tools_gain_by_how_likely_the_words_are_behind_each(text: str) -> None:
    tools = [TIMER, WEATHER, LIGHT]
    with closing(Engine(NET, tokenizer())) as engine:
        found = {one.name: likelihood(engine, text, one) for one in tools}
    best = max(found.values())
    expected = {name: value - best for name, value in found.items()}
    readings = ToolLikelihoods(template(), Eager(NET).cache)
    assert gains(readings.gains(text, tools)) == pytest.approx(expected, abs=1e-3)
    # The second time the declarations are known.
    assert gains(readings.gains(text, tools)) == pytest.approx(expected, abs=1e-3)


def test_declarations_are_forwarded_once() -> None:
    readings = ToolLikelihoods(template(), Eager(NET).cache)

    def forwarded(text: str) -> int:
        steps = readings.gains(text, TOOLS)
        asked = next(steps)
        assert isinstance(asked, SideForwards)
        count = sum(len(forward.ids) for _, forward in asked.parts)
        steps.close()
        return count

    words = len(TOOLS) * len(template().text("ten"))
    # What is broken off is not kept, and leaves nothing behind that is wrong.
    assert forwarded("ten") == forwarded("ten") > 4 * words
    gains(readings.gains("set a timer", TOOLS))
    assert forwarded("ten") == words + len(TOOLS)


def test_many_tools_take_several_forwards() -> None:
    tools = [tool(f"make_{number}") for number in range(TOGETHER + 3)]
    steps = ToolLikelihoods(template(), Eager(NET).cache).gains(SAID, tools)
    asked = next(steps)
    assert isinstance(asked, SideForwards) and len(asked.parts) == TOGETHER
    assert (
        len(gains(ToolLikelihoods(template(), Eager(NET).cache).gains(SAID, tools))) == TOGETHER + 3
    )


def test_more_declarations_than_fit_are_not_all_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, many = [tool("other")], [tool(f"make_{number}") for number in range(TOGETHER)]
    readings = ToolLikelihoods(template(), Eager(NET).cache)

    def declared(tools: list[Tool]) -> int:
        """How many declarations are read."""
        read = 0

        def counted() -> Steps[dict[str, float]]:
            nonlocal read
            steps, answer = readings.gains("ten", tools), None
            while True:
                try:
                    asked = steps.send(answer)
                except StopIteration as over:
                    return over.value  # type: ignore[no-any-return]
                assert isinstance(asked, SideForwards)
                read += sum(forward.count == 1 for _, forward in asked.parts)
                answer = yield asked

        gains(counted())
        return read

    size = Eager(NET).cache(len(template().ended([Turn("user")], many[:1]))).nbytes
    monkeypatch.setattr("dlm.decoding.tool_likelihood.KEPT_BYTES", 10 * size)
    assert (declared(first), declared(first)) == (1, 0)
    assert declared(many) == TOGETHER
    left = declared(many)
    assert 0 < left < TOGETHER
    assert declared(many) == left
    # What is no longer asked for gives way.
    assert declared(first) == 1


def calling(text: str, effort: Effort = Effort.INSTANT) -> Request:
    return request(
        text, tool_choice="required", copy_sources=(text,), parallel=False, effort=effort
    )


def chosen(made: Transformer, text: str, effort: Effort = Effort.INSTANT) -> Call:
    with closing(Engine(made, tokenizer())) as engine:
        return ask(engine, calling(text, effort)).answer.calls[0]


def wanted(engine: Engine, text: str) -> Call:
    """Token by token, each from one forward of everything, the words asked where there is doubt."""
    names = worded(one.name for one in TOOLS)
    matcher = GrammarFactory(tokenizer(), NET.config.vocab_size).matcher(
        AnswerRules(TOOLS, "required", (text,), parallel=False),
        ToolChoice(int(Mark.CALL), {name: template().text(words) for name, words in names.items()}),
    )
    ids = template().prompt([Turn("user", text)], TOOLS)
    size = len(ids)
    while ids[-1] != Mark.END:
        mask = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()[None, None]
        with torch.inference_mode():
            hidden = NET(torch.tensor([ids]), torch.arange(len(ids))[None], mask)
            row = NET.logits(hidden)[0, -1]
        if matcher.in_doubt(row):
            found = {one.name: likelihood(engine, text, one) for one in TOOLS}
            matcher.set_gains({name: gain - max(found.values()) for name, gain in found.items()})
        token = matcher.best(row)
        ids.append(token)
        ids += matcher.advance(token) if token != Mark.END else []
    return template().answer(ids[size:], TOOLS).calls[0]


TEXTS = (
    "hello",
    SAID,
    "milk",
    "what is the weather in paris",
    "12",
    "café",
    "add eggs",
    "tomorrow",
)


def test_the_words_have_a_say_in_the_choice_of_a_tool() -> None:
    blind = Transformer(replace(NET.config, reads=False))
    blind.load_state_dict(NET.state_dict())
    with closing(Engine(NET, tokenizer())) as engine:
        expected = [wanted(engine, text) for text in TEXTS]
    assert [chosen(NET, text).name for text in TEXTS] == [call.name for call in expected]
    alone = [chosen(blind.eval(), text) for text in TEXTS]
    assert [call.name for call in alone] != [call.name for call in expected]


@pytest.mark.parametrize("effort", [Effort.INSTANT, Effort.HIGH])
@pytest.mark.parametrize("many", [3, 2 * TOGETHER + 3])
def test_every_forward_for_the_words_is_counted(
    many: int, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    forward = Eager.forward
    monkeypatch.setattr(Eager, "forward", lambda *given: (made.append(1), forward(*given))[1])
    tools = tuple(tool(f"{word}_{number}") for number in range(many) for word in ("make", "get"))
    with closing(Engine(NET, tokenizer())) as engine:
        for text in TEXTS:
            made.clear()
            asked = replace(calling(text, effort), tools=tools[:many])
            assert ask(engine, asked).usage.forwards == len(made)
