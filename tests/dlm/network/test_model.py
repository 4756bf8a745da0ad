from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import Qwen3Config, Qwen3ForCausalLM

from dlm.decoding.decoder import PREFILL_CHUNK, Decoder
from dlm.decoding.forwards import Forward, drive, logits_of
from dlm.kv_cache.cache import KVCache
from dlm.loading.weights import save_model
from dlm.network.int8 import round_weights
from dlm.network.model import Rows, Transformer
from dlm.network.rope import RopeScaling
from tests.dlm.tiny import model, vocabulary


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
    stretched = {} if ours.rope_scaling is None else ours.rope_scaling.written()
    theirs = Qwen3Config(
        vocab_size=ours.vocab_size,
        hidden_size=ours.hidden_size,
        intermediate_size=ours.intermediate_size,
        num_hidden_layers=ours.num_hidden_layers,
        num_attention_heads=ours.num_attention_heads,
        num_key_value_heads=ours.num_key_value_heads,
        head_dim=ours.head_dim,
        max_position_embeddings=ours.max_position_embeddings,
        rope_parameters={"rope_type": "default", "rope_theta": ours.rope_theta, **stretched},
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
    whole = logits(made, tokens, causal(24))[0]
    cache = KVCache(made.config, 24)
    start = 0
    for end in cuts:
        hidden = made.packed(tokens[0, start:end], [Rows(cache, end - start, end - start)])
        cache.commit(end - start)
        torch.testing.assert_close(made.logits(hidden), whole[start:end], atol=1e-5, rtol=1e-5)
        start = end


def test_what_is_not_committed_leaves_no_trace() -> None:
    made = model(seed=8)
    tokens = ids(1, 12)[0]
    cache = begun(made, 6, seed=3)
    expected = made.packed(tokens[6:], [Rows(cache, 6, 0)])
    made.packed(ids(1, 14, seed=9)[0], [Rows(cache, 14, 0)])
    assert torch.equal(made.packed(tokens[6:], [Rows(cache, 6, 0)]), expected)


def begun(made: Transformer, committed: int, seed: int) -> KVCache:
    """A cache with that many positions committed causally."""
    cache = KVCache(made.config, 600)
    if committed:
        made.packed(ids(1, committed, seed)[0], [Rows(cache, committed, committed)])
        cache.commit(committed)
    return cache


def mask_of(committed: int, length: int, causal_rows: int, block: int = 0) -> Tensor:
    """What `Rows` says in words, position by position."""
    mask = torch.zeros(1, 1, length, committed + length, dtype=torch.bool)
    for row in range(length):
        own = committed + row
        end = own + 1 if row < causal_rows else committed + length
        if block:
            end = (own // block + 1) * block
        mask[0, 0, row, :end] = True
    return mask


@pytest.mark.parametrize(
    ("length", "causal_rows", "block"),
    [(1, 1, 0), (1, 0, 0), (9, 9, 0), (9, 0, 0), (9, 3, 0), (16, 1, 0), (19, 19, 8), (5, 0, 4)],
)
@pytest.mark.parametrize("committed", [0, 11])
def test_a_packed_request_sees_what_it_should(
    committed: int, length: int, causal_rows: int, block: int
) -> None:
    made = model(seed=11)
    cache = begun(made, committed, seed=1)
    tokens = ids(1, length, seed=2)
    hidden = made.packed(tokens[0], [Rows(cache, length, causal_rows, block)])
    assert cache.length == committed
    whole = torch.cat((ids(1, committed, seed=1), tokens), dim=1)
    mask = causal(committed + length)
    mask[:, :, committed:] = mask_of(committed, length, causal_rows, block)
    expected = made(whole, torch.arange(committed + length)[None], mask)[0, committed:]
    torch.testing.assert_close(hidden, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rounded", [False, True])
def test_wanted_positions_get_the_same_bits_as_if_all_were_wanted(rounded: bool) -> None:
    made = model(seed=13)
    if rounded:
        round_weights(made)
    tokens = ids(1, 40, 7)[0]

    def read(*wanted: slice) -> tuple[Tensor, Tensor]:
        """Hidden states of two requests of 20 positions, and of the 3 after those of the first."""
        caches = [begun(made, committed, seed=2) for committed in (0, 30)]
        rows = [
            Rows(cache, 20, causal_rows, wanted=part)
            for cache, causal_rows, part in zip(caches, (20, 5), wanted, strict=True)
        ]
        hidden = made.packed(tokens, rows)
        caches[0].commit(20)
        return hidden, made.packed(tokens[:3], [Rows(caches[0], 3, 3)])

    with torch.inference_mode():
        whole, after = read(slice(None), slice(None))
        for first, second in [(slice(19, None), slice(4, 7)), (slice(0, 1), slice(None))]:
            few, then = read(first, second)
            assert torch.equal(few, torch.cat((whole[:20][first], whole[20:][second])))
            # Keys and values of all positions are stored.
            assert torch.equal(then, after)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_request_gets_the_same_bits_alone_and_in_any_company(threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        made = model(seed=12, hidden_size=96, intermediate_size=200, head_dim=24)
        # Committed positions, new ones, of these causal ones.
        parts = [(0, 5, 5), (30, 16, 1), (7, 1, 1), (64, 16, 16), (3, 23, 4), (100, 8, 0)]
        requests = []
        for number, (committed, length, causal_rows) in enumerate(parts):
            rows = Rows(begun(made, committed, number), length, causal_rows)
            requests.append((ids(1, length, 50 + number)[0], rows))
        alone = [made.packed(tokens, [rows]) for tokens, rows in requests]
        scores = [made.logits(hidden) for hidden in alone]
        for chosen in ([0, 1], [1, 2, 3], [5, 4, 3, 2, 1, 0], [2, 4], list(range(6))):
            together = made.packed(
                torch.cat([requests[at][0] for at in chosen]), [requests[at][1] for at in chosen]
            )
            start = 0
            for at in chosen:
                end = start + parts[at][1]
                assert torch.equal(together[start:end], alone[at]), (chosen, at)
                for row in (start, end - 1):
                    alike = made.logits(together[row : row + 1])[0]
                    assert torch.equal(alike, scores[at][row - start]), (chosen, at)
                start = end
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("rounded", [False, True])
def test_a_causal_position_gets_the_same_bits_however_many_are_forwarded(rounded: bool) -> None:
    """What self-verification rests on: one position at a time, a block, or a prompt's chunk."""
    made = model(seed=14, head_dim=64, hidden_size=96)
    if rounded:
        round_weights(made)
    tokens = ids(1, 530, 5)[0]

    def read(count: int) -> Tensor:
        # Of 530 positions, which is less than attention would like to see of them.
        cache, out = KVCache(made.config, 530), []
        for part in tokens.split(count):
            out.append(made.logits(made.packed(part, [Rows(cache, len(part), len(part))])))
            cache.commit(len(part))
        return torch.cat(out)

    with torch.inference_mode():
        one_by_one = read(1)
        for count in (2, 7, 16, 100, 128, 530):
            assert torch.equal(read(count), one_by_one), count


@pytest.mark.parametrize(
    "scaling",
    [RopeScaling("linear", 8.0), RopeScaling("llama3", 8.0, 1024), RopeScaling("yarn", 8.0, 1024)],
    ids=lambda scaling: scaling.kind,
)
def test_a_long_prompt_read_in_pieces_is_what_stock_qwen3_makes_of_it_at_once(
    tmp_path: Path, scaling: RopeScaling
) -> None:
    made = model(seed=15, num_hidden_layers=1, max_position_embeddings=8192, rope_scaling=scaling)
    tokens = ids(1, 5000, 6)
    asked = Decoder(KVCache(made.config, 5016), tokens[0].tolist(), 8, vocabulary())
    with torch.inference_mode():
        rest = drive(made, asked.cache, asked.prefill())
        (ours,) = logits_of(made, [(asked.cache, Forward(rest, len(rest)))])
        stock = qwen3(made, tmp_path)
        expected = stock(tokens, logits_to_keep=len(rest)).logits[0]
    assert (asked.progress.forwards, len(rest)) == (5000 // PREFILL_CHUNK, 5000 % PREFILL_CHUNK)
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)


def test_rows_that_do_not_add_up_are_refused() -> None:
    made = model()
    with pytest.raises(ValueError, match=r"ids: got shape \(5,\), expected \(6,\)"):
        made.packed(ids(1, 5)[0], [Rows(KVCache(made.config, 9), 6, 6)])
    with pytest.raises(ValueError, match="got 10 positions, expected at most 9"):
        made.packed(ids(1, 10)[0], [Rows(KVCache(made.config, 9), 10, 10)])
