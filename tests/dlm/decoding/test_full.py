from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from dlm.decoding.decoder import Decoder, Plan, Progress
from dlm.decoding.forwards import drive
from dlm.decoding.full import decode_full
from dlm.effort import Refinement, Rule
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


def full_logits(net: Transformer, ids: Sequence[int]) -> Tensor:
    with torch.no_grad():
        logits = net.logits(net(torch.tensor([list(ids)]), torch.arange(len(ids))[None])[0])
    logits[:, list(vocabulary().never)] = -torch.inf
    return logits


def reference(net: Transformer, longest: int, shift: bool, steps: int) -> list[int]:
    """Low-confidence unmasking over the whole canvas, as plainly as it can be written."""
    ids = [*PROMPT, *[MASK] * longest]
    begin = len(PROMPT)
    for start in range(begin, len(ids), SIZE):
        stop = min(start + SIZE, len(ids))
        for left in range(steps, 0, -1):
            masked = [at for at in range(start, stop) if ids[at] == MASK]
            if not masked:
                break
            logits = full_logits(net, ids)
            rows = {at: logits[at - shift].softmax(-1) for at in masked}
            order = sorted(masked, key=lambda at: (-float(rows[at].max()), at))
            for at in order[: -(-len(masked) // left)]:
                ids[at] = int(rows[at].argmax())
        answer = ids[begin:stop]
        if END in answer:
            return answer[: answer.index(END) + 1]
    return ids[begin:]


def answered(net: Transformer, plan: Plan, shift: bool = False, **more: object) -> Progress:
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
    plan = Plan(Refinement(1, 0.0, Rule.LOW_CONFIDENCE), True, longest)
    progress = answered(net, plan, shift)
    assert progress.tokens == reference(net, longest, shift, 1)
    assert progress.complete == (progress.tokens[-1] == END)


@pytest.mark.parametrize("shift", [False, True])
def test_keys_and_values_before_the_block_are_those_of_its_first_step(shift: bool) -> None:
    """In the first block nothing before it has changed since, so that only one layer can tell."""
    net = model(3, block_size=SIZE, num_hidden_layers=1)
    plan = Plan(Refinement(4, 0.0, Rule.LOW_CONFIDENCE), True, SIZE)
    # With one layer a key depends on its own token alone: what is stale is exact.
    assert answered(net, plan, shift).tokens == reference(net, SIZE, shift, 4)


def test_a_block_reads_everything_once_and_then_itself() -> None:
    net = model(0, block_size=SIZE)
    made = decoder(net, PROMPT)
    going = decode_full(made, Plan(Refinement(3, 0.0, Rule.LOW_CONFIDENCE), True, 24))
    sizes: list[tuple[int, int]] = []
    wish = next(going)
    logits = torch.zeros(SIZE, 352)
    logits[:, 20] = 1
    while True:
        sizes.append((made.cache.length, len(wish.ids)))
        assert (wish.count, wish.causal, wish.block) == (SIZE, 0, 0)
        try:
            wish = going.send(logits)
        except StopIteration:
            break
    size = len(PROMPT)
    assert sizes == [
        (known, size + 24 - known)
        for at in range(3)
        for known in (0, size + SIZE * at, size + SIZE * at)
    ]


@pytest.mark.parametrize("effort", [1, 8])
def test_answers_end_and_hold_no_mask(effort: int) -> None:
    for seed in range(5):
        progress = answered(model(seed, block_size=SIZE), Plan(Refinement(effort, 0.9), True, 30))
        assert 1 <= len(progress.tokens) <= 30
        assert MASK not in progress.tokens
        assert END not in progress.tokens[:-1]
        assert progress.draft == []
        assert progress.forwards == progress.steps


def test_a_grammar_holds() -> None:
    rules = AnswerRules((TIMER,), "required", ("ten minutes", "two"), parallel=False)
    factory = GrammarFactory(tokenizer(), 352)
    for seed in range(4):
        plan = Plan(Refinement(1, 0.5), True, 60)
        net = model(seed, block_size=SIZE)
        progress = answered(net, plan, seed % 2 == 0, matcher=factory.matcher(rules))
        assert progress.complete
        call = template().answer(progress.tokens, (TIMER,)).calls[0]
        assert set(call.arguments.values()) <= {"ten", "minutes", "ten minutes", "two"}


def test_an_earlier_answer_is_the_canvas() -> None:
    net = model(1, block_size=SIZE)
    plan = Plan(Refinement(1, 0.0), True, 16)
    whole = answered(net, plan)
    again = answered(net, Plan(Refinement(1, 0.0), True, 16, earlier=tuple(whole.tokens)))
    assert again.tokens == whole.tokens
    assert again.kept == len(whole.tokens)


def test_an_answer_of_no_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens: got 0"):
        decode_full(decoder(model(0), PROMPT), Plan(Refinement(1, 0.5), True, 0))
