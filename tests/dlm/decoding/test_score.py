from __future__ import annotations

import math
from contextlib import closing

import pytest
import torch

from dlm.engine.engine import SHIPPED, Engine
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import TOOLS, model, template, tokenizer
from tests.support.patience import PATIENCE_S

END = int(Mark.END)


def log_probability(engine: Engine, prompt: list[int], ids: list[int]) -> float:
    """One causal forward of everything, no cache."""
    whole = [*prompt, *ids]
    size = len(whole)
    mask = torch.ones(size, size, dtype=torch.bool).tril()[None, None]
    with torch.inference_mode():
        hidden = engine.model(torch.tensor([whole]), torch.arange(size)[None], mask)
        rows = engine.model.logits(hidden)[0].log_softmax(dim=-1)
    return sum(float(rows[len(prompt) - 1 + at, token]) for at, token in enumerate(ids))


def test_a_score_is_the_log_probability_of_the_whole_answer(babbler: Engine) -> None:
    turns = (Turn("user", "hello"),)
    prompt = template().prompt(turns, TOOLS)
    texts = ["Hi", "Set a timer for ten minutes please.", "Paris"]
    expected = [log_probability(babbler, prompt, [*template().text(text), END]) for text in texts]
    assert babbler.score(turns, TOOLS, texts) == pytest.approx(expected, abs=1e-4)
    # The second time the prompt is known.
    assert babbler.score(turns, TOOLS, texts) == pytest.approx(expected, abs=1e-4)


def test_the_end_of_a_message_has_a_probability(babbler: Engine) -> None:
    words = ["set", "a", "timer", "for", "ten", "minutes"]
    for count in range(1, len(words) + 1):
        turns = (Turn("system", "Be brief."), Turn("user", " ".join(words[:count])))
        *prompt, end = template().dialogue(turns, TOOLS).ids
        assert end == END
        expected = math.exp(log_probability(babbler, prompt, [END]))
        assert babbler.end_of_message(turns, TOOLS) == pytest.approx(expected, rel=1e-3)


def test_the_shipped_model_knows_where_a_message_ends() -> None:
    with closing(Engine.load(SHIPPED)) as engine:
        whole = engine.end_of_message((Turn("user", "set a timer for ten minutes"),), TOOLS)
        half = engine.end_of_message((Turn("user", "set a timer for ten"),), TOOLS)
    assert half < whole / 2


def test_who_no_longer_waits_for_a_score_stops_nobody(babbler: Engine) -> None:
    asked = babbler.log_end_of_message((Turn("user", "hello"),))
    assert not asked.cancel()
    assert len(asked.result(PATIENCE_S)) == 1


def test_what_cannot_be_scored_is_refused() -> None:
    engine = Engine(model(1), tokenizer())
    with pytest.raises(ValueError, match="turns: got none"):
        engine.end_of_message(())
    with pytest.raises(ValueError, match="texts: got ' '"):
        engine.score((Turn("user", "hi"),), (), ["Hi", " "])
    with pytest.raises(ValueError, match="expected at most 4096"):
        engine.end_of_message((Turn("user", "hi " * 5000),))
    engine.close()
    with pytest.raises(RuntimeError, match="the engine is closed"):
        engine.end_of_message((Turn("user", "hi"),))
