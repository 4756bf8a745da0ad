from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from dlm.decoding.block_diffusion import decode_block, decode_full
from dlm.decoding.decoder import Decoder, Plan, Progress
from dlm.decoding.forwards import Forward, drive, logits_of
from dlm.effort import Refinement
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.tiny import TIMER, TOOLS, decoder, model, template, tokenizer, vocabulary

END, MASK = int(Mark.END), int(Mark.MASK)
SIZE = 8
PROMPT = template().prompt((Turn("user", "set a timer for ten minutes"),), TOOLS)


def block_logits(net: Transformer, ids: Sequence[int], size: int) -> Tensor:
    """All positions in one forward, each seeing to the end of its block; no cache."""
    at = torch.arange(len(ids))
    mask = (at[None] // size <= at[:, None] // size)[None, None]
    with torch.no_grad():
        logits = net.logits(net(torch.tensor([list(ids)]), at[None], mask)[0])
    logits[:, list(vocabulary().never)] = -torch.inf
    return logits


def reference(
    net: Transformer, prompt: Sequence[int], size: int, floor: float, shift: bool, longest: int
) -> list[int]:
    """Block by block over the whole sequence, as plainly as it can be written."""
    ids = list(prompt)
    if shift and len(ids) % size == 0:
        ids.append(int(block_logits(net, ids, size)[-1].argmax()))
    while True:
        start = len(ids) // size * size
        ids += [MASK] * (start + size - len(ids))
        while MASK in ids:
            logits = block_logits(net, ids, size)
            if shift:
                rows = torch.cat((logits[start : start + 1], logits[start:-1]))
            else:
                rows = logits[start:]
            probability, token = rows.softmax(-1).max(-1)
            masked = [at for at in range(size) if ids[start + at] == MASK]
            best = max(masked, key=lambda at: (float(probability[at]), -at))
            for at in masked:
                if at == best or probability[at] >= floor:
                    ids[start + at] = int(token[at])
            answer = ids[len(prompt) :]
            if END in answer and MASK not in answer[: answer.index(END)]:
                return answer[: answer.index(END) + 1][:longest]
        if len(ids) - len(prompt) >= longest:
            return ids[len(prompt) :][:longest]
        if shift:
            ids.append(int(block_logits(net, ids, size)[-1].argmax()))
            if ids[-1] == END:
                return ids[len(prompt) :]


def answered(
    net: Transformer, prompt: Sequence[int], plan: Plan, shift: bool = False, **more: object
) -> tuple[Progress, KVCache]:
    cache = KVCache(net.config, len(prompt) + plan.max_tokens + net.config.block_size)
    made = Decoder(cache, prompt, net.config.block_size, vocabulary())
    drive(net, cache, decode_block(made, plan, shift=shift, **more))  # type: ignore[arg-type]
    return made.progress, cache


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("cut", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_block_diffusion_written_plainly(seed: int, cut: int, size: int, shift: bool) -> None:
    net = model(seed, block_size=size)
    prompt = PROMPT[: len(PROMPT) - cut]
    for floor in (0.3, 0.9):
        expected = reference(net, prompt, size, floor, shift, 21)
        plan = Plan(Refinement(1, floor), True, 21)
        progress, _ = answered(net, prompt, plan, shift)
        assert progress.tokens == expected
        assert progress.complete == (expected[-1] == END)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("length", [3, 8, 16, 150, 256])
def test_what_is_committed_is_what_one_forward_would_write(length: int, shift: bool) -> None:
    net = model(1, block_size=SIZE)
    prompt = torch.randint(16, 300, (length,), generator=torch.Generator().manual_seed(5)).tolist()
    progress, cache = answered(net, prompt, Plan(Refinement(1, 0.6), True, 30), shift)
    assert cache.length % SIZE == 0
    ids = [*prompt, *progress.tokens][: cache.length]
    fresh = KVCache(net.config, cache.length + 1)
    with torch.inference_mode():
        logits_of(net, [(fresh, Forward(ids, 0, block=SIZE))])
        fresh.commit(len(ids))
        probe = Forward([20], 0)
        ours, theirs = logits_of(net, [(cache, probe), (fresh, probe)])
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("longest", [1, 2, 7, 8, 9, 20])
def test_an_answer_is_cut_at_its_longest(longest: int) -> None:
    net = model(0, block_size=SIZE)
    whole, _ = answered(net, PROMPT, Plan(Refinement(1, 0.6), True, 30))
    progress, _ = answered(net, PROMPT, Plan(Refinement(1, 0.6), True, longest))
    assert progress.tokens == whole.tokens[:longest]
    assert progress.draft == []


def test_final_tokens_stay_while_the_answer_grows() -> None:
    net = model(0, block_size=SIZE)
    made = decoder(net, PROMPT)
    going = decode_block(made, Plan(Refinement(1, 0.99), True, 30))
    seen: list[list[int]] = []
    with torch.inference_mode():
        asked = next(going)
        while True:
            try:
                asked = going.send(logits_of(net, [(made.cache, asked)])[0])
            except StopIteration:
                break
            seen.append(list(made.progress.tokens))
            assert MASK not in made.progress.tokens
    for before, after in itertools.pairwise(seen):
        assert after[: len(before)] == before
    # A block is told as far as it is decided from the left.
    assert any(len(tokens) % SIZE not in (0, -len(PROMPT) % SIZE) for tokens in seen)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.99])
def test_a_grammar_holds(threshold: float, shift: bool) -> None:
    rules = AnswerRules((TIMER,), "required", ("ten minutes", "two"), parallel=False)
    factory = GrammarFactory(tokenizer(), 352)
    for seed in range(4):
        net = model(seed, block_size=SIZE)
        plan = Plan(Refinement(1, threshold), True, 60)
        progress, _ = answered(net, PROMPT, plan, shift, matcher=factory.matcher(rules))
        assert progress.complete
        call = template().answer(progress.tokens, (TIMER,)).calls[0]
        assert call.name == "set_timer"
        assert set(call.arguments.values()) <= {"ten", "minutes", "ten minutes", "two"}


def test_an_earlier_answer_that_holds_costs_less() -> None:
    net = model(0, block_size=SIZE)
    plan = Plan(Refinement(1, 0.0), True, 20)
    whole, _ = answered(net, PROMPT, plan)
    plan = Plan(Refinement(1, 0.0), True, 20, earlier=tuple(whole.tokens))
    again, _ = answered(net, PROMPT, plan)
    assert again.tokens == whole.tokens
    assert again.kept == len(whole.tokens)
    doubting = Plan(Refinement(1, 1.0), True, 20, earlier=(77,) * 20)
    changed, _ = answered(net, PROMPT, doubting)
    fresh, _ = answered(net, PROMPT, Plan(Refinement(1, 1.0), True, 20))
    assert changed.kept < 20
    assert len(changed.tokens) == len(fresh.tokens)


@pytest.mark.parametrize("decode", [decode_block, decode_full])
def test_an_answer_of_no_tokens_is_refused(decode: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="max_tokens: got 0"):
        decode(decoder(model(0), PROMPT), Plan(Refinement(1, 0.5), True, 0))


def full_logits(net: Transformer, ids: Sequence[int]) -> Tensor:
    with torch.no_grad():
        logits = net.logits(net(torch.tensor([list(ids)]), torch.arange(len(ids))[None])[0])
    logits[:, list(vocabulary().never)] = -torch.inf
    return logits


def full_reference(net: Transformer, longest: int, shift: bool, floor: float) -> list[int]:
    """Unmasking by a threshold over the whole answer, as plainly as it can be written."""
    ids = [*PROMPT, *[MASK] * longest]
    begin = len(PROMPT)
    for start in range(begin, len(ids), SIZE):
        stop = min(start + SIZE, len(ids))
        while masked := [at for at in range(start, stop) if ids[at] == MASK]:
            logits = full_logits(net, ids)
            rows = {at: logits[at - shift].softmax(-1) for at in masked}
            best = max(masked, key=lambda at: (float(rows[at].max()), -at))
            for at in masked:
                if at == best or float(rows[at].max()) >= floor:
                    ids[at] = int(rows[at].argmax())
            known = ids[start:stop]
            if END in known and MASK not in known[: known.index(END)]:
                return [*ids[begin:start], *known[: known.index(END) + 1]]
    return ids[begin:]


def answered_in_full(net: Transformer, plan: Plan, shift: bool = False, **more: object) -> Progress:
    cache = KVCache(net.config, len(PROMPT) + plan.max_tokens + SIZE)
    made = Decoder(cache, PROMPT, SIZE, vocabulary())
    drive(net, cache, decode_full(made, plan, shift=shift, **more))  # type: ignore[arg-type]
    assert cache.length == 0
    return made.progress


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("longest", [1, 5, 8, 21])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_a_block_is_the_whole_sequence_at_once(seed: int, longest: int, shift: bool) -> None:
    net = model(seed, block_size=SIZE)
    progress = answered_in_full(net, Plan(Refinement(1, 0.0), True, longest), shift)
    assert progress.tokens == full_reference(net, longest, shift, 0.0)
    assert progress.complete == (progress.tokens[-1] == END)


def test_a_block_reads_everything_once_and_then_itself() -> None:
    net = model(0, block_size=SIZE)
    made = decoder(net, PROMPT)
    going = decode_full(made, Plan(Refinement(1, 0.9), True, 24))
    sizes: list[tuple[int, int]] = []
    asked = next(going)
    # Too unsure for more than one token a step.
    logits = torch.zeros(SIZE, 352)
    logits[:, 20] = 1
    while True:
        sizes.append((made.cache.length, len(asked.ids)))
        assert (asked.count, asked.causal, asked.block) == (SIZE, 0, 0)
        try:
            asked = going.send(logits)
        except StopIteration:
            break
    size = len(PROMPT)
    assert sizes == [
        (known, size + 24 - known)
        for at in range(3)
        for known in (0, *[size + SIZE * at] * (SIZE - 1))
    ]


def test_a_grammar_holds_in_full() -> None:
    rules = AnswerRules((TIMER,), "required", ("ten minutes", "two"), parallel=False)
    factory = GrammarFactory(tokenizer(), 352)
    for seed in range(4):
        plan = Plan(Refinement(1, 0.5), True, 60)
        net = model(seed, block_size=SIZE)
        progress = answered_in_full(net, plan, seed % 2 == 0, matcher=factory.matcher(rules))
        assert progress.complete
        call = template().answer(progress.tokens, (TIMER,)).calls[0]
        assert set(call.arguments.values()) <= {"ten", "minutes", "ten minutes", "two"}


def test_an_earlier_answer_fills_the_blocks() -> None:
    net = model(1, block_size=SIZE)
    plan = Plan(Refinement(1, 0.0), True, 16)
    whole = answered_in_full(net, plan)
    again = answered_in_full(net, Plan(Refinement(1, 0.0), True, 16, earlier=tuple(whole.tokens)))
    assert again.tokens == whole.tokens
    assert again.kept == len(whole.tokens)
