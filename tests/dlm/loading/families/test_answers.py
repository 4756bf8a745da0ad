"""Every foreign family through the engine: loaded from disk, asked, answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from dlm.effort import Effort
from dlm.engine.engine import Engine, Finished, Request
from dlm.grammar.formats import Regex
from dlm.language.messages import Call, Turn
from tests.dlm.loading.families import llada2_reference, test_llada, test_llada2, tokenizers
from tests.dlm.loading.families.checkpoints import HEADS, reconfigure, rename, shaken, shape
from tests.dlm.tiny import LIGHT, TIMER

VOCABULARY = 272
IDS: dict[str, Any] = {"mask_token_id": 259, "eos_token_id": 256}
FAMILIES = ("sdar", "fast_dllm", "dream", "llada", "llada2")
ASKED = (Turn("user", "set a timer for ten minutes"),)


def written(directory: Path, name: str) -> Path:
    sizes = shape(vocab_size=VOCABULARY, max_position_embeddings=2048)
    if name == "sdar":
        model: Any = Qwen3ForCausalLM(Qwen3Config(**sizes))
        kind = {"model_type": "sdar", "architectures": ["SDARForCausalLM"], "block_size": 8}
    elif name == "llada":
        model = LlamaForCausalLM(LlamaConfig(**sizes | {"num_key_value_heads": HEADS}))
        kind = test_llada.CONFIG | {"embedding_size": VOCABULARY, "vocab_size": VOCABULARY}
        kind |= {"max_sequence_length": 2048}
    else:
        model = Qwen2ForCausalLM(Qwen2Config(**sizes))
        kind = {"model_type": "Dream", "architectures": ["DreamModel"]}
        if name == "fast_dllm":
            kind = {"model_type": "Fast_dLLM_Qwen", "bd_size": 8}
            kind["architectures"] = ["Fast_dLLM_QwenForCausalLM"]
    if name == "llada2":
        directory.mkdir()
        raw = test_llada2.CONFIG | IDS | {"vocab_size": VOCABULARY}
        raw |= {"max_position_embeddings": 2048}
        save_file(llada2_reference.make(raw), directory / "model.safetensors")
        (directory / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    else:
        shaken(model).save_pretrained(directory)
        if name == "llada":
            rename(directory, test_llada.NAMES)
        reconfigure(directory, **kind | IDS)
    tokenizers.write(directory)
    return directory


@pytest.fixture(scope="module", params=FAMILIES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    directory = tmp_path_factory.mktemp("families") / request.param
    made = Engine.load(written(directory, request.param), torch.float32, "cpu")
    yield made
    made.close()


@pytest.mark.parametrize("effort", [Effort.INSTANT, Effort.HIGH])
def test_calls_are_valid_whatever_the_model_thinks(engine: Engine, effort: Effort) -> None:
    request = Request(
        ASKED, (TIMER,), "set_timer", ("ten minutes",), effort, max_tokens=200, parallel=False
    )
    finished = engine.answer(request)
    assert finished.reason == "stop"
    (call,) = finished.answer.calls
    assert call.name == "set_timer"
    assert {call.arguments["duration"], *call.arguments.values()} <= {
        "ten",
        "minutes",
        "ten minutes",
    }


def test_a_format_holds(engine: Engine) -> None:
    request = Request(ASKED, format=Regex("(yes|no), [0-9]{3}"), max_tokens=40)
    finished = engine.answer(request)
    assert finished.answer.content.startswith(("yes, ", "no, ")), finished
    assert len(finished.answer.content.partition(", ")[2]) == 3


def test_free_text_is_the_same_alone_and_in_company(engine: Engine) -> None:
    requests = [
        Request((Turn("user", text),), max_tokens=21, temperature=1.0, seed=3)
        for text in ("hello", "what is the weather like in Paris today", "bye bye")
    ]
    alone = [engine.answer(request).answer for request in requests]
    heard: list[list[Any]] = [[] for _ in requests]
    through = [threading.Event() for _ in requests]

    def listen(index: int) -> Any:
        def emit(event: Any) -> None:
            heard[index].append(event)
            if not hasattr(event, "text"):
                through[index].set()

        return emit

    for index, request in enumerate(requests):
        engine.submit(request, listen(index))
    assert all(event.wait(30) for event in through)
    for events, answer in zip(heard, alone, strict=True):
        assert isinstance(events[-1], Finished), events[-1]
        assert events[-1].answer == answer
        told = "".join(event.text for event in events if type(event).__name__ == "TextDelta")
        assert told == answer.content


def test_tools_are_offered_and_results_are_told(engine: Engine) -> None:
    call = Call("set_timer", {"duration": "ten minutes"})
    turns = (*ASKED, Turn("assistant", "", (call,)), Turn("tool", "Timer set."))
    finished = engine.answer(Request(turns, (TIMER, LIGHT), "none", max_tokens=12))
    assert finished.answer.calls == ()
    assert finished.usage.prompt_tokens == len(engine.dialect.prompt(turns, (TIMER, LIGHT)))


def test_scores_need_positions_that_see_nothing_of_what_follows(engine: Engine) -> None:
    with pytest.raises(ValueError, match="scoring: got a checkpoint whose positions see"):
        engine.score(ASKED, (), ["yes"])
