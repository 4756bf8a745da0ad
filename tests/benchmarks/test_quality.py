from __future__ import annotations

import pytest
import torch

from benchmarks.dlm import quality
from benchmarks.dlm.heard import heard, slots_right
from benchmarks.voice.corpus import people
from dlm.engine.engine import Engine, Finished, Request, Usage
from dlm.evaluate.run import Plan
from dlm.language.messages import Answer, Call
from dlm.language.tokenizer import Tokenizer
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer


def test_a_model_is_measured_in_every_respect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "heard", lambda ask: {"commands": 1})
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    engine = Engine(Transformer(config).eval().requires_grad_(False), tokenizer)
    try:
        told = quality.measure(engine, Plan(names=("own",), scale=0.01, extras=False), 2)
    finally:
        engine.close()
    assert 0.0 <= told["sets"]["own"]["decision"] <= 1.0
    assert told["heard"] == {"commands": 1}
    assert {"replies", "seconds"} <= set(told)
    drawn = told["draws"]["own"]
    assert len(drawn["call"]) == 2
    assert drawn["least"] <= drawn["mean"] <= drawn["most"]
    assert [one["set"] for one in told["failures"]] == ["own"], "a random model is right nowhere"


def test_one_failure_of_each_set_is_kept_and_none_of_share_alike_text() -> None:
    made = [("own", "a"), ("own", "b"), ("services", "c"), ("others", "d"), ("others", "e")]
    told = [{"set": name, "said": [said], "tools": ["x()"]} for name, said in made]
    assert quality.first_failures(told) == [
        {"set": "own", "said": ["a"]},
        {"set": "others", "said": ["d"]},
    ]


ORDER = {"coffeeDrink": "iced mocha", "milkAmount": " cream"}


@pytest.mark.parametrize(
    ("arguments", "share"),
    [
        ({"drink": "iced mocha", "milk": "cream"}, 1.0),
        ({"drink": "mocha", "milk": "cream"}, 1 / 3),
        ({"drink": "iced mocha", "milk": "cream", "size": "small", "roast": "dark"}, 0.5),
    ],
)
def test_slots_are_right_if_wanted_and_given_agree(arguments: dict[str, str], share: float) -> None:
    assert slots_right((Call("order_drink", arguments),), ORDER) == pytest.approx(share)


def test_recordings_are_heard_and_asked_about() -> None:
    if not people():
        pytest.skip("no recordings in ../shared/audio")
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return Finished(Answer("", (Call("set_timer", {}),)), "stop", Usage(1, 0, 1, 1))

    figures = heard(ask, most=3)
    texts = [request.turns[-1].content for request in asked]
    assert figures["commands"] == figures["orders"] == 3
    assert 0 < figures["commands_read"] < 1
    assert any("shopping list" in text.lower() for text in texts)
    assert {len(request.tools) for request in asked} == {7, 30}
