from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import Qwen3Config, Qwen3ForCausalLM

from dlm.cache import KVCache
from dlm.config import ModelConfig
from dlm.model import RMSNorm, Transformer, rope_table
from dlm.weights import save_model
from tests.dlm.tiny import config, model


def ids(rows: int, length: int, seed: int = 3) -> Tensor:
    return torch.randint(0, 352, (rows, length), generator=torch.Generator().manual_seed(seed))


def causal(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()[None, None]


def logits(made: Transformer, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
    positions = torch.arange(tokens.shape[1])[None].expand_as(tokens)
    return made.logits(made(tokens, positions, mask))


def qwen3(made: Transformer, directory: Path) -> Qwen3ForCausalLM:
    """Stock transformers, reading the file that `save_model` writes."""
    save_model(made, directory, torch.float32)
    ours = made.config
    theirs = Qwen3Config(
        vocab_size=ours.vocab_size,
        hidden_size=ours.hidden_size,
        intermediate_size=ours.intermediate_size,
        num_hidden_layers=ours.num_hidden_layers,
        num_attention_heads=ours.num_attention_heads,
        num_key_value_heads=ours.num_key_value_heads,
        head_dim=ours.head_dim,
        max_position_embeddings=ours.max_position_embeddings,
        rope_parameters={"rope_type": "default", "rope_theta": ours.rope_theta},
        rms_norm_eps=ours.rms_norm_eps,
        tie_word_embeddings=True,
        attention_bias=False,
    )
    loaded, report = Qwen3ForCausalLM.from_pretrained(
        directory, config=theirs, attn_implementation="sdpa", output_loading_info=True
    )
    assert not report["missing_keys"] and not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    return loaded.eval()


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_logits_are_those_of_stock_qwen3(tmp_path: Path, kv_heads: int) -> None:
    made = model(seed=kv_heads, num_key_value_heads=kv_heads, rope_theta=50_000.0)
    tokens = ids(2, 23)
    with torch.no_grad():
        expected = qwen3(made, tmp_path)(tokens).logits
        torch.testing.assert_close(logits(made, tokens, causal(23)), expected, atol=1e-4, rtol=1e-4)


def test_logits_are_those_of_stock_qwen3_under_a_block_mask(tmp_path: Path) -> None:
    made = model(seed=5)
    tokens = ids(1, 24)
    block = torch.arange(24) // 8
    mask = (block[:, None] >= block[None, :])[None, None]
    penalty = torch.zeros(1, 1, 24, 24).masked_fill(~mask, torch.finfo(torch.float32).min)
    with torch.no_grad():
        expected = qwen3(made, tmp_path)(tokens, attention_mask=penalty).logits
        ours = logits(made, tokens, mask)
        torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)
        # The mask matters: inside a block a position depends on what follows.
        assert (ours - logits(made, tokens, causal(24))).abs().max() > 0.1


@pytest.mark.parametrize("cuts", [(10, 11, 24), (1, 2, 3, 24), (24,)])
def test_a_cached_forward_equals_an_uncached_one(cuts: tuple[int, ...]) -> None:
    made = model(seed=7)
    tokens = ids(1, 24)
    whole = logits(made, tokens, causal(24))
    cache = KVCache(made.config, 24)
    start = 0
    for end in cuts:
        mask = causal(24)[:, :, start:end, :end]
        hidden = made(tokens[:, start:end], torch.arange(start, end)[None], mask, cache)
        cache.commit(end - start)
        torch.testing.assert_close(made.logits(hidden), whole[:, start:end], atol=1e-5, rtol=1e-5)
        start = end


def test_what_is_not_committed_leaves_no_trace() -> None:
    made = model(seed=8)
    tokens = ids(1, 12)
    cache = KVCache(made.config, 20)
    made(tokens[:, :6], torch.arange(6)[None], causal(6), cache)
    cache.commit(6)
    expected = made(tokens[:, 6:], torch.arange(6, 12)[None], None, cache)
    made(ids(1, 14, seed=9), torch.arange(6, 20)[None], None, cache)
    again = made(tokens[:, 6:], torch.arange(6, 12)[None], None, cache)
    assert torch.equal(expected, again)


def test_rows_of_a_batch_are_independent() -> None:
    made = model(seed=2)
    tokens = ids(4, 16)
    together = logits(made, tokens, causal(16))
    for row in range(4):
        alone = logits(made, tokens[row : row + 1], causal(16))
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-5)


def test_a_mask_may_differ_from_row_to_row() -> None:
    made = model(seed=2)
    tokens = ids(2, 10)
    masks = torch.cat((causal(10), torch.ones(1, 1, 10, 10, dtype=torch.bool)))
    together = logits(made, tokens, masks)
    for row in range(2):
        alone = logits(made, tokens[row : row + 1], masks[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-5)


def test_only_distances_matter_to_rotary_positions() -> None:
    made = model(seed=4)
    tokens = ids(1, 9)
    near, far = torch.arange(9)[None], torch.arange(300, 309)[None]
    torch.testing.assert_close(
        made(tokens, near, causal(9)), made(tokens, far, causal(9)), atol=1e-3, rtol=1e-3
    )
    stretched = made(tokens, near * 3, causal(9))
    assert (made(tokens, near, causal(9)) - stretched).abs().max() > 0.01


def test_the_rope_table_turns_each_pair_by_its_own_speed() -> None:
    shape = ModelConfig(16, 8, 8, 1, 1, 1, 4, rope_theta=100.0)
    cos, sin = rope_table(shape, torch.tensor([[0, 2]]))
    assert cos.shape == (1, 1, 2, 4)
    expected = torch.tensor([2.0, 0.2, 2.0, 0.2])
    torch.testing.assert_close(cos[0, 0], torch.stack((torch.ones(4), expected.cos())))
    torch.testing.assert_close(sin[0, 0], torch.stack((torch.zeros(4), expected.sin())))


def test_the_norm_is_computed_in_float32() -> None:
    norm = RMSNorm(64, 1e-6)
    x = torch.full((1, 64), 3e4, dtype=torch.float16)
    # The square of 30,000 overflows a half.
    assert torch.equal(norm(x), torch.ones(1, 64, dtype=torch.float16))


def test_bfloat16_stays_near_float32() -> None:
    made = model(seed=6)
    tokens = ids(1, 16)
    full = logits(made, tokens, causal(16))
    half = logits(made.to(torch.bfloat16), tokens, causal(16)).float()
    assert (full - half).abs().mean() < 0.05 * full.abs().mean()


def test_the_head_is_the_embedding() -> None:
    made = Transformer(config())
    assert {name for name, _ in made.named_parameters() if "layers" not in name} == {
        "embed_tokens.weight",
        "norm.weight",
    }
    hidden = torch.randn(3, 32)
    torch.testing.assert_close(made.logits(hidden), hidden @ made.embed_tokens.weight.T)
