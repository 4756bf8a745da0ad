from __future__ import annotations

from typing import Any

import pytest
import torch

from dlm.fused.model import Blocks, FusedModel, Weights
from dlm.kv_cache.cache import KVCache
from dlm.network.model import Rows, Transformer
from kernels.context import Context
from tests.dlm import tiny

PAGE = 4
MASK = 1
RULE = ("threshold", 0.9)


@pytest.fixture
def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def made(device: str, **changes: Any) -> Transformer:
    # Heads of 16 numbers are the smallest that the kernels take.
    return tiny.model(head_dim=16, **changes).to(device)


def prefilled(fused: FusedModel, prompts: list[list[int]], length: int) -> Blocks:
    """Blocks of masks behind prompts, whose keys and values are filed in scattered pages."""
    device = str(fused.store.device)
    needed = -(-(max(map(len, prompts)) + length) // PAGE)
    vocabulary = fused.model.config.vocab_size
    blocks = Blocks.empty((len(prompts), length), needed, vocabulary, device)
    order = torch.randperm(fused.store.shape[2], generator=torch.Generator().manual_seed(0))
    blocks.pages.copy_(order[: len(prompts) * needed].view(len(prompts), needed))
    blocks.tokens.fill_(MASK)
    for row, prompt in enumerate(prompts):
        positions = torch.arange(len(prompt), device=device)
        slots = blocks.pages[row].long()[positions // PAGE] * PAGE + positions % PAGE
        count = torch.tensor([len(prompt)], dtype=torch.int32, device=device)
        starts = torch.tensor([0, len(prompt)], dtype=torch.int32, device=device)
        context = Context(blocks.pages[row : row + 1], starts, count, count, count * 0, len(prompt))
        fused.hidden(torch.tensor(prompt, device=device), positions, slots, context)
        blocks.committed[row] = len(prompt)
    return blocks


def packed(model: Transformer, prompt: list[int], block: list[int], causal: int) -> torch.Tensor:
    """Logits of a block behind a prompt, by the model itself."""
    device = model.embed_tokens.weight.device
    cache = KVCache(model.config, len(prompt) + len(block), device=device)
    ids = torch.tensor(prompt, device=device)
    model.packed(ids, [Rows(cache, len(prompt), len(prompt))])
    cache.commit(len(prompt))
    rows = [Rows(cache, len(block), causal)]
    return model.logits(model.packed(torch.tensor(block, device=device), rows))


PROMPTS = [[30, 40, 50, 60, 70], [31], [32, 42, 52, 62, 72, 82, 92, 102, 112]]


@pytest.mark.parametrize(
    "changes",
    [{}, {"qk_norm": False, "qkv_bias": True}, {"tie_word_embeddings": False}],
    ids=["qwen3", "qwen2", "untied"],
)
def test_a_step_takes_what_the_model_itself_would(changes: dict[str, Any], device: str) -> None:
    model = made(device, **changes)
    with torch.inference_mode():
        fused = FusedModel(model, 40, PAGE)
        blocks = prefilled(fused, PROMPTS, 6)
        blocks.banned[:, MASK // 32] = 1 << MASK
        for _ in range(3):
            before = blocks.tokens.clone()
            accepted = fused.step(blocks, RULE)
            for row, prompt in enumerate(PROMPTS):
                logits = packed(model, prompt, before[row].tolist(), causal=0)
                logits[:, MASK] = -torch.inf
                confidence, best = logits.softmax(-1).max(-1)
                masked = before[row] == MASK
                sure = masked & (confidence > 0.9)
                sure[confidence.masked_fill(~masked, -1).argmax()] |= masked.any()
                assert torch.equal(accepted[row], sure)
                assert torch.equal(blocks.tokens[row], torch.where(sure, best, before[row]))


def test_a_block_is_full_after_as_many_steps_as_it_has_positions(device: str) -> None:
    with torch.inference_mode():
        fused = FusedModel(made(device), 40, PAGE)
        blocks = prefilled(fused, PROMPTS, 6)
        blocks.banned[:, MASK // 32] = 1 << MASK
        counts = [int(fused.step(blocks, ("threshold", 1.0)).sum()) for _ in range(7)]
    assert counts == [3, 3, 3, 3, 3, 3, 0]
    assert (blocks.tokens != MASK).all()


def test_verification_is_causal_and_can_be_committed(device: str) -> None:
    model = made(device)
    blocks_of = [33, 44, 55, 66], [77, 88, 99, 101]
    with torch.inference_mode():
        fused = FusedModel(model, 40, PAGE)
        blocks = prefilled(fused, PROMPTS, 8)
        first, second = (
            Blocks(
                torch.tensor([tokens] * 3, device=device),
                blocks.committed + 4 * number,
                blocks.pages,
                blocks.banned[: 3 * 4],
            )
            for number, tokens in enumerate(blocks_of)
        )
        # What the first verification filed is the context of the second.
        choices = fused.verify(first), fused.verify(second)
        for row, prompt in enumerate(PROMPTS):
            for got, known, block in zip(
                choices, (prompt, [*prompt, *blocks_of[0]]), blocks_of, strict=True
            ):
                assert torch.equal(got[row], packed(model, known, block, causal=4).argmax(-1))


@pytest.mark.parametrize("weights", ["int8", "float8"])
def test_weights_of_8_bits_change_little(weights: Weights, device: str) -> None:
    model = made(device, qkv_bias=True)
    ids = torch.arange(30, 50, device=device)
    count = torch.tensor([20], dtype=torch.int32, device=device)
    pages = torch.arange(5, dtype=torch.int32, device=device)[None]
    starts = torch.tensor([0, 20], dtype=torch.int32, device=device)
    positions = torch.arange(20, device=device)
    context = Context(pages, starts, count, count, count * 0, 20)
    with torch.inference_mode():
        plain, rounded = (
            FusedModel(model, 5, PAGE, kind).hidden(ids, positions, positions, context)
            for kind in ("plain", weights)
        )
    error = (rounded - plain).norm() / plain.norm()
    assert 0 < error < (0.05 if weights == "int8" else 0.15)


def test_models_that_it_cannot_run_are_refused() -> None:
    with pytest.raises(ValueError, match="whole heads"):
        FusedModel(made("cpu", partial_rotary_factor=0.5), 4)
    fused = FusedModel(made("cpu", shift=True), 4)
    with pytest.raises(ValueError, match="not shifted"):
        fused.step(Blocks.empty((1, 4), 1, 352, "cpu"), RULE)


def test_a_graph_needs_a_device() -> None:
    fused = FusedModel(made("cpu"), 4)
    blocks = Blocks.empty((1, 4), 1, 352, "cpu")
    with pytest.raises(ValueError, match="got device cpu, expected cuda"):
        fused.captured(blocks, RULE)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_captured_step_does_what_the_step_does() -> None:
    with torch.inference_mode():
        fused = FusedModel(made("cuda"), 40, PAGE)
        eager, replayed = (prefilled(fused, PROMPTS, 6) for _ in range(2))
        run = fused.captured(replayed, RULE)
        for _ in range(3):
            fused.step(eager, RULE)
            run()
            assert torch.equal(eager.tokens, replayed.tokens)
