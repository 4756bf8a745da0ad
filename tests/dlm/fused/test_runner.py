"""The engine's path over the kernels: on CUDA compiled, else interpreted or by their references."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from dlm.decoding.forwards import Choice, Eager, Forward
from dlm.decoding.sampling import Sampling
from dlm.effort import Effort
from dlm.engine.engine import Engine, Request
from dlm.fused.runner import FusedRunner, runner_for
from dlm.language.messages import Turn
from dlm.loading.placement import Kernels
from dlm.network.int8 import round_weights
from dlm.network.model import Transformer
from kernels import ops
from tests.dlm import tiny
from tests.dlm.asking import SAID, ask, collected, request, submit

pytest.importorskip("triton", reason="Triton ships for Linux alone")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
POSITIONS, PAGE = 4000, 16


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where kernels would be interpreted, which is slow, their references run instead."""
    monkeypatch.setattr(ops, "interpreted", nullcontext)


def net(**changes: object) -> Transformer:
    return tiny.model(1, head_dim=16, **changes).to(DEVICE)


def engines(made: Transformer) -> Iterator[Engine]:
    for runner in (Eager(made), FusedRunner(made, POSITIONS, PAGE)):
        yield Engine(made, tiny.tokenizer(), runner=runner)


def plain(text: str, tokens: int, **options: object) -> Request:
    return request(text, tools=(), max_tokens=tokens, **options)


CALL = {"copy_sources": (SAID,), "tool_choice": "required", "max_tokens": 60}
ASKED = [
    plain("hello", 8),
    plain("tell me", 10, effort=Effort.MEDIUM),
    plain("sing", 9, temperature=0.9, seed=5),
    plain("sing it", 12, temperature=0.9, seed=6, top_p=0.8),
    request(SAID, **CALL),
    request(SAID, **CALL, temperature=1.0, seed=8, effort=Effort.LOW),
    plain("x y", 7, verified=False, effort=Effort.HIGH),
    plain("word " * 150, 5, priority=1),
    request(Turn("system", "be kind"), SAID, "hello", tools=(), max_tokens=6),
]


@pytest.mark.usefixtures("reference")
def test_the_engine_answers_as_it_does_eagerly() -> None:
    eager, fused = engines(net())
    try:
        expected = [ask(eager, one).answer for one in ASKED]
        assert [ask(fused, one).answer for one in ASKED] == expected
        # Together: they join in one order, and leave in another.
        queues = [submit(fused, one) for one in reversed(ASKED)]
        cancelled: queue.Queue[object] = queue.Queue()
        fused.submit(plain("for ever", 900), cancelled.put)()
        together = [ask_end(events) for events in queues]
        assert together == expected[::-1]
        cached = ask(fused, ASKED[0]).usage
        assert cached.cached_tokens == cached.prompt_tokens - 1
        assert fused.placement.endswith(", fused kernels")
        assert not eager.placement.endswith("kernels")
    finally:
        eager.close()
        fused.close()


def ask_end(events: queue.Queue) -> object:  # type: ignore[type-arg]
    return collected(events)[-1].answer  # type: ignore[union-attr]


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize(
    "changes",
    [
        *({"commit": commit, "shift": shift} for commit in ("block", "full") for shift in (0, 1)),
        {"qk_norm": False, "qkv_bias": True},
        {"tie_word_embeddings": False},
    ],
    ids=str,
)
def test_other_checkpoints_do_as_well(changes: dict[str, object]) -> None:
    eager, fused = engines(net(**changes))
    try:
        for one in (plain("tell me", 13), plain("sing", 9, temperature=0.8, seed=5)):
            assert ask(fused, one).answer == ask(eager, one).answer
        call = request(SAID, **CALL, parallel=False)
        assert ask(fused, call).answer == ask(eager, call).answer
    finally:
        eager.close()
        fused.close()


@pytest.mark.usefixtures("reference")
def test_pages_come_back_when_requests_are_over() -> None:
    made = net()
    runner = FusedRunner(made, 6 * PAGE, PAGE)
    engine = Engine(made, tiny.tokenizer(), runner=runner, prefix_bytes=0)
    try:
        for number in range(5):
            ask(engine, plain(f"say {number}", 10))
        last = collected(submit(engine, plain("too long", 3000)))[-1]
        assert isinstance(last.error, queue.Full)  # type: ignore[union-attr]
    finally:
        engine.close()
    assert runner.cache(6 * PAGE).length == 0


def test_the_engine_on_interpreted_kernels_answers_alike() -> None:
    made = net(num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=1)
    asked = [plain("a", 2), plain("b", 4, temperature=0.9, seed=5)]
    eager, fused = engines(made)
    try:
        expected = [ask(eager, one).answer for one in asked]
        queues = [submit(fused, one) for one in asked]
        assert [ask_end(events) for events in queues] == expected
    finally:
        eager.close()
        fused.close()


def test_interpreted_kernels_serve_a_mixed_round() -> None:
    """A prompt, a draft, a verification and a block of its own, in one launch and by kernels."""
    made = net(num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=1)
    drawn = Choice((1, 5), Sampling(0.9, 1.0, 2**40 + 5), 3)
    forwards = [
        Forward([30, 31, 32], 3, 2, prefill=True),
        Forward([33, 1, 1], 1, 1, choice=drawn),
        Forward([34, 35], 2, choice=Choice((1,))),
        Forward([38, 39], 0, block=2, choice=Choice((1,), Sampling(0.5, 0.9, 1))),
    ]
    eager, fused = Eager(made), FusedRunner(made, 10 * PAGE, PAGE)
    with torch.inference_mode():
        out = []
        for runner in (eager, fused):
            caches = [runner.cache(20) for _ in forwards]
            runner.forward([(cache, Forward([20, 21, 22], 3)) for cache in caches[1:]])
            for cache in caches[1:]:
                cache.commit(3)
            out.append(runner.forward(list(zip(caches, forwards, strict=True))))
    for index, (one, other) in enumerate(zip(*out, strict=True)):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
            continue
        assert one.tokens.tolist() == other.tokens.tolist(), index
        torch.testing.assert_close(one.confidence, other.confidence, atol=1e-4, rtol=1e-3)


@pytest.mark.usefixtures("reference")
def test_a_round_may_be_padded_beyond_the_context() -> None:
    made = net(max_position_embeddings=2 * PAGE)
    runner = FusedRunner(made, 10 * PAGE, PAGE)
    # 72 rows become 128, and the other 56 would take more pages than a context has.
    with torch.inference_mode():
        out = runner.forward([(runner.cache(24), Forward([20] * 24, 24, 23)) for _ in range(3)])
    assert [torch.isfinite(rows).all().item() for rows in out] == [True] * 3  # type: ignore[arg-type]


@pytest.mark.usefixtures("reference")
def test_bits_of_a_grammar_ban_ids() -> None:
    made = net()
    runner = FusedRunner(made, 10 * PAGE, PAGE)
    masks = np.zeros((2, 12), dtype=np.int32)
    masks[0, 2], masks[1, 0] = 1 << 7, 1 << 20 | 1 << 1
    with torch.inference_mode():
        asked = Forward([36, 37], 2, choice=Choice((1,), allowed=lambda: masks))
        (got,) = runner.forward([(runner.cache(20), asked)])
    assert got.tokens.tolist() == [71, 20]  # type: ignore[union-attr]
    assert got.confidence.tolist() == [1.0, 1.0]  # type: ignore[union-attr]


def test_what_runs_a_model_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    made = net()
    assert isinstance(runner_for(made, Kernels.EAGER, 4), Eager)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert isinstance(runner_for(made, Kernels.FUSED, 4), FusedRunner)
    expected = FusedRunner if DEVICE == "cuda" else Eager
    assert isinstance(runner_for(made, Kernels.AUTO, 4), expected)


def test_models_that_kernels_cannot_run_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kernels: got fused, .* heads are of 8"):
        runner_for(tiny.model(1).to(DEVICE), Kernels.FUSED, 4)
    with pytest.raises(ValueError, match="whole heads"):
        FusedRunner(net(partial_rotary_factor=0.5), POSITIONS, PAGE)
    rounded = net().cpu()
    round_weights(rounded)
    with pytest.raises(ValueError, match="rounded for a CPU"):
        runner_for(rounded, Kernels.FUSED, 4)


@pytest.mark.gpu
@pytest.mark.skipif(DEVICE != "cuda", reason="needs an NVIDIA GPU")
def test_a_graph_is_replayed_with_new_numbers() -> None:
    made = net()
    eager, fused = Eager(made), FusedRunner(made, POSITIONS, PAGE)
    with torch.inference_mode():
        caches = eager.cache(200), fused.cache(200)
        for round_ in range(4):
            ids = list(range(30 + round_, 40 + 2 * round_))
            asked = Forward(ids, len(ids) - 4)
            one, other = (
                runner.forward([(cache, asked)])[0]
                for runner, cache in zip((eager, fused), caches, strict=True)
            )
            torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)
            for cache in caches:
                cache.commit(len(ids) - 4)
