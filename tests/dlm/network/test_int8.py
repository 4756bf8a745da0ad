from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine, Finished
from dlm.kv_cache.cache import KVCache
from dlm.network.int8 import largest_weight, product, round_weights
from dlm.network.model import Rows, Transformer
from dlm.network.moe import Experts
from dlm.network.rope import RopeScaling
from tests.dlm import tiny
from tests.dlm.asking import ask, collected, request, submit


def layer(width: int = 64, outs: int = 48) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(width, outs, bias=False).requires_grad_(False)


def test_it_is_near_the_full_product() -> None:
    full = layer()
    x = torch.randn(15, 64)
    got, expected = product(full.weight)(x), full(x)
    assert got.shape == expected.shape
    assert 0 < (got - expected).norm() / expected.norm() < 0.02


def test_whole_numbers_are_exact() -> None:
    full = layer()
    full.weight.copy_(torch.randint(-63, 64, full.weight.shape))
    full.weight[:, 0] = largest_weight()
    x = torch.randint(-127, 128, (5, 64)).float()
    x[:, 1] = 127
    x[4] = 0
    torch.testing.assert_close(product(full.weight)(x), full(x), rtol=1e-6, atol=0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("width", "outs"), [(256, 1536), (768, 256), (256, 4096), (576, 3072)])
def test_a_row_gets_the_same_bits_in_every_number_of_rows(
    width: int, outs: int, threads: int
) -> None:
    """At sizes of matrices that are in use."""
    rounded = product(layer(width, outs).weight, threads)
    x = torch.randn(32, width)
    together = rounded(x)
    for count in range(1, 33):
        assert torch.equal(rounded(x[:count]), together[:count]), count
        assert torch.equal(rounded(x[-count:]), together[-count:]), count


def test_the_shipped_model_answers_the_same_in_any_batch() -> None:
    """Calls and sentences, alone and then 3 and 8 at once."""
    said = ("set a timer for ten minutes", "what time is it", "hello there", "tell me a joke")
    wanted = [
        request(words, effort=effort) for words in said for effort in (Effort.INSTANT, Effort.LOW)
    ]
    with closing(Engine.load(SHIPPED, dtype=torch.int8, device="cpu")) as engine:
        assert "int8" in engine.placement
        alone = [ask(engine, one).answer for one in wanted]
        for size in (3, 8):
            for start in range(0, len(wanted), size):
                queues = [submit(engine, one) for one in wanted[start : start + size]]
                for at, events in enumerate(queues, start):
                    done = collected(events)[-1]
                    assert isinstance(done, Finished), done
                    assert done.answer == alone[at], (size, at)


def logits(model: Transformer, ids: Tensor, parts: list[tuple[int, int, int]]) -> Tensor:
    """Of forwards of one request: new positions, causal ones of them, block; all are committed."""
    cache, out = KVCache(model.config, len(ids)), []
    with torch.inference_mode():
        for length, causal, block in parts:
            new = ids[cache.length : cache.length + length]
            out.append(model.logits(model.packed(new, [Rows(cache, length, causal, block)])))
            cache.commit(length)
    return torch.cat(out)


@pytest.mark.parametrize(
    "changes",
    [
        {"tie_word_embeddings": True},
        {"tie_word_embeddings": False, "qkv_bias": True, "output_bias": True},
        {"qk_norm": False, "num_key_value_heads": 4},
        {"partial_rotary_factor": 0.5, "num_key_value_heads": 1},
        {"rope_scaling": RopeScaling("yarn", 8.0, 16)},
    ],
    ids=lambda changes: next(iter(changes)),
)
@pytest.mark.parametrize(
    "parts",
    [[(40, 40, 0)], [(24, 24, 0), (16, 3, 0)], [(23, 23, 0), (1, 1, 0), (16, 0, 0)], [(40, 0, 8)]],
    ids=["causal", "verified", "masked", "blocks"],
)
def test_a_rounded_model_is_near_the_full_one_wherever_positions_look(
    changes: dict[str, Any], parts: list[tuple[int, int, int]]
) -> None:
    full, rounded = (tiny.model(num_attention_heads=4, head_dim=16, **changes) for _ in range(2))
    round_weights(rounded)
    assert not [part for part in rounded.modules() if isinstance(part, nn.Linear)]
    ids = torch.arange(20, 60)
    expected, got = (logits(model, ids, parts) for model in (full, rounded))
    assert 0 < (got - expected).norm() / expected.norm() < 0.1


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_a_position_gets_the_same_bits_however_many_are_forwarded(
    threads: int, kv_heads: int
) -> None:
    """Token by token to all at once, with more keys than a product of one thread adds at once."""
    model = tiny.model(
        hidden_size=96, head_dim=64, num_attention_heads=4, num_key_value_heads=kv_heads
    )
    round_weights(model, threads)
    ids = torch.randint(20, 60, (530,), generator=torch.Generator().manual_seed(3))
    whole = logits(model, ids, [(530, 530, 0)])
    near: Callable[[int], list[tuple[int, int, int]]] = lambda n: [(n, n, 0)] * (530 // n)  # noqa: E731
    for count in (1, 2, 10, 53, 265):
        assert torch.equal(logits(model, ids, near(count)), whole), count


def test_a_rounded_models_rows_do_not_depend_on_their_company() -> None:
    model = tiny.model()
    round_weights(model)
    ids = torch.arange(20, 43)
    with torch.inference_mode():
        caches = [KVCache(model.config, 30) for _ in range(4)]
        together = model.packed(ids, [Rows(caches[0], 3, 3), Rows(caches[1], 20, 0)])
        alone = model.packed(ids[:3], [Rows(caches[2], 3, 3)])
        other = model.packed(ids[3:], [Rows(caches[3], 20, 0)])
        assert torch.equal(together, torch.cat((alone, other)))
        assert torch.equal(model.logits(together)[:3], model.logits(alone))


def test_joined_rows_see_only_what_is_theirs() -> None:
    model = tiny.model()
    round_weights(model)
    sizes = ((7, 4, 4), (0, 9, 2), (12, 60, 60), (3, 5, 0))

    def run(joined: bool, seed: int = 0) -> tuple[Tensor, list[Tensor]]:
        """Hidden states and the new keys and values; the seed changes the second one's rows."""
        caches, new = [], []
        with torch.inference_mode():
            for index, (known, count, _) in enumerate(sizes):
                caches.append(KVCache(model.config, 80))
                made = torch.Generator().manual_seed(index + 9 * seed * (index == 1))
                ids = torch.randint(20, 60, (known + count,), generator=made)
                if known:
                    model.packed(ids[:known], [Rows(caches[-1], known, known)])
                    caches[-1].commit(known)
                new.append(ids[known:])
            rows = [
                Rows(cache, count, causal, wanted=slice(1, None), joined=joined and index > 0)
                for index, (cache, (_, count, causal)) in enumerate(zip(caches, sizes, strict=True))
            ]
            hidden = model.packed(torch.cat(new), rows)
        stored = [
            cache.open(count)[:, :, known : known + count].clone()
            for cache, (known, count, _) in zip(caches, sizes, strict=True)
        ]
        return hidden, stored

    (alone, alone_stored), (joined, stored), (other, _) = run(False), run(True), run(True, seed=1)
    assert 0 < (joined - alone).norm() / alone.norm() < 0.1
    for got, expected in zip(stored, alone_stored, strict=True):
        assert (got - expected).norm() / expected.norm() < 0.1
    changed = (joined != other).any(dim=1)
    assert changed[3:11].all() and not changed[:3].any() and not changed[11:].any()


def test_a_full_cache_is_not_written_behind_its_end() -> None:
    model = tiny.model()
    round_weights(model)
    with pytest.raises(ValueError, match="got 10 positions, expected at most 9"):
        model.packed(torch.arange(20, 30), [Rows(KVCache(model.config, 9), 10, 10)])


def test_a_mixture_of_experts_is_refused() -> None:
    model = tiny.model(experts=Experts(4, 4, 24, shared=1), tie_word_embeddings=False)
    with pytest.raises(ValueError, match="int8: got a model with experts"):
        round_weights(model)
