from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import torch
from torch import nn

from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine, Finished
from dlm.kv_cache.cache import KVCache
from dlm.network.int8 import Int8Linear, largest_weight, round_weights
from dlm.network.model import Rows
from tests.dlm import tiny
from tests.dlm.asking import ask, collected, request, submit


def layer(width: int = 64, outs: int = 48, bias: bool = False) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(width, outs, bias=bias).requires_grad_(False)


@pytest.mark.parametrize("bias", [False, True])
def test_it_is_near_the_full_product(bias: bool) -> None:
    full = layer(bias=bias)
    x = torch.randn(3, 5, 64)
    got, expected = Int8Linear(full.weight, full.bias)(x), full(x)
    assert got.shape == expected.shape
    assert (got - expected).norm() / expected.norm() < 0.02


def test_whole_numbers_are_exact() -> None:
    full = layer()
    full.weight.copy_(torch.randint(-63, 64, full.weight.shape))
    full.weight[:, 0] = largest_weight()
    x = torch.randint(-127, 128, (4, 64)).float()
    x[:, 1] = 127
    torch.testing.assert_close(Int8Linear(full.weight)(x), full(x), rtol=1e-6, atol=0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("width", "outs"), [(256, 512), (256, 1536), (768, 256), (256, 4096)])
def test_a_row_gets_the_same_bits_in_every_number_of_rows(
    width: int, outs: int, threads: int
) -> None:
    """At the sizes of the shipped model's matrices."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        rounded = Int8Linear(layer(width, outs).weight)
        x = torch.randn(32, width)
        together = rounded(x)
        for count in range(1, 33):
            assert torch.equal(rounded(x[:count]), together[:count]), count
            assert torch.equal(rounded(x[-count:]), together[-count:]), count
    finally:
        torch.set_num_threads(before)


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


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_of_8_bits_is_near_the_full_one(tied: bool) -> None:
    full, rounded = (tiny.model(tie_word_embeddings=tied, qkv_bias=True) for _ in range(2))
    round_weights(rounded)
    assert not [part for part in rounded.modules() if isinstance(part, nn.Linear)]
    ids = torch.arange(20, 60)
    logits = []
    with torch.inference_mode():
        for model in (full, rounded):
            cache = KVCache(model.config, 40)
            logits.append(model.logits(model.packed(ids, [Rows(cache, 40, 40)])))
    assert 0 < (logits[1] - logits[0]).norm() / logits[0].norm() < 0.2


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


@pytest.mark.parametrize("instructions", ["AVX2", "AVX512_CORE", "ALL"])
def test_sums_do_not_saturate_on_older_processors(instructions: str, repo_root: Path) -> None:
    program = (
        "import torch; from dlm.network.int8 import Int8Linear\n"
        "full = torch.nn.Linear(64, 16, bias=False).requires_grad_(False)\n"
        "full.weight.fill_(1.0)\n"
        "got = Int8Linear(full.weight)(torch.ones(16, 64))\n"
        "print(bool(torch.allclose(got, torch.full((16, 16), 64.0))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repo_root,
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": instructions},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
