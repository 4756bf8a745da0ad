from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from dlm.cache import KVCache
from dlm.decode import Decoder, Plan, Progress, decode, until_end
from dlm.effort import REFINEMENT, Effort, Refinement
from dlm.grammar import AnswerRules, GrammarFactory, Matcher
from dlm.model import Transformer
from dlm.template import Turn
from dlm.tokenizer import Mark
from tests.dlm.tiny import (
    DIALOGUES,
    LIGHT,
    TIMER,
    TOOLS,
    WEATHER,
    decoder,
    model,
    taught,
    template,
    tokenizer,
)

END = int(Mark.END)
SPEAKABLE = {Mark.END, Mark.CALL, Mark.KEY, Mark.VALUE}
FACTORY = GrammarFactory(tokenizer(), 352)
SAID = "set a timer for ten minutes in the café at 7:30"
PROMPT = template().prompt((Turn("user", SAID),), (TIMER, LIGHT))
RULES = {
    "none": None,
    "auto": AnswerRules((TIMER, LIGHT, WEATHER), said=(SAID,)),
    "required": AnswerRules((TIMER, LIGHT), "required", (SAID,)),
}


def matcher(rules: str) -> Matcher | None:
    wanted = RULES[rules]
    return FACTORY.matcher(wanted) if wanted else None


def causal_logits(made: Transformer, ids: Sequence[int]) -> Tensor:
    """Logits behind the last id: one forward of everything, no cache, no blocks."""
    size = len(ids)
    mask = torch.ones(size, size, dtype=torch.bool).tril()[None, None]
    with torch.no_grad():
        hidden = made(torch.tensor([ids]), torch.arange(size)[None], mask)
        logits = made.logits(hidden)[0, -1]
    for mark in Mark:
        if mark not in SPEAKABLE:
            logits[mark] = -torch.inf
    return logits


def greedy(made: Transformer, prompt: Sequence[int], rules: str, longest: int) -> list[int]:
    """Token by token, left to right: what verified decoding must equal."""
    out: list[int] = []
    grammar = matcher(rules)
    while len(out) < longest:
        logits = causal_logits(made, [*prompt, *out])
        if grammar is None:
            out.append(int(logits.argmax()))
        else:
            out.append(grammar.best(logits))
            if out[-1] != END:
                out += grammar.advance(out[-1])
        if out[-1] == END:
            break
    return out[:longest]


@functools.cache
def greedy_of_random(seed: int, rules: str) -> list[int]:
    return greedy(model(seed), PROMPT, rules, 40)


def run(
    made: Decoder, effort: Effort, longest: int, rules: str = "none", verified: bool = True
) -> Progress:
    plan = Plan(REFINEMENT[effort], verified, longest)
    with torch.inference_mode():
        for _ in decode(made, plan, matcher(rules)):
            pass
    return made.progress


def check_cache(made: Decoder) -> None:
    """The cache holds what a fresh prefill of the same ids would."""
    ids = [*made.prompt, *made.progress.tokens][: made.cache.length]
    fresh = Decoder(made.model, KVCache(made.model.config, len(ids) + 1), ids)
    with torch.inference_mode():
        for _ in fresh.prefill():
            pass
        probe = torch.tensor([[20]]), torch.tensor([[len(ids)]])
        expected = made.model(*probe, None, fresh.cache)
        torch.testing.assert_close(
            made.model(*probe, None, made.cache), expected, atol=1e-5, rtol=1e-5
        )


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_verified_decoding_is_greedy_decoding(seed: int, rules: str, effort: Effort) -> None:
    made = decoder(model(seed), PROMPT)
    progress = run(made, effort, 40, rules)
    expected = greedy_of_random(seed, rules)
    assert progress.tokens == expected
    assert progress.complete == (expected[-1] == END)
    check_cache(made)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("block_size", [1, 2, 5, 16])
def test_any_block_size_gives_the_same_tokens(block_size: int, effort: Effort) -> None:
    made = decoder(model(0, block_size=block_size), PROMPT)
    assert run(made, effort, 40, "auto").tokens == greedy_of_random(0, "auto")


def learned() -> list[tuple[list[int], list[int]]]:
    """Prompt and answer of each assistant turn that `taught` knows."""
    out = []
    for turns in DIALOGUES:
        ids = template().dialogue(turns, TOOLS)
        out += [(ids.ids[:start], ids.ids[start:end]) for start, end in ids.answers]
    return out


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize(("prompt", "answer"), learned())
def test_a_taught_model_drafts_whole_blocks(
    prompt: list[int], answer: list[int], effort: Effort
) -> None:
    made = decoder(taught(), prompt)
    progress = run(made, effort, 60)
    assert progress.tokens == answer == greedy(taught(), prompt, "none", 60)
    assert progress.complete
    # The prompt's forward; then, for each block of one known and seven drafted tokens, a draft and
    # its verification, which gives the next block's first token.
    if effort is Effort.INSTANT:
        assert progress.forwards == 1 + 2 * -(-len(answer) // 8)
    check_cache(made)


@pytest.mark.parametrize(("prompt", "answer"), learned())
def test_a_taught_model_needs_no_verification(prompt: list[int], answer: list[int]) -> None:
    made = decoder(taught(), prompt)
    progress = run(made, Effort.INSTANT, 60, verified=False)
    assert progress.tokens == answer
    assert progress.complete
    check_cache(made)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(6))
def test_unverified_decoding_ends_and_leaves_nothing_undecided(seed: int, effort: Effort) -> None:
    made = decoder(model(seed), PROMPT)
    progress = run(made, effort, 30, verified=False)
    assert set(progress.tokens) & set(range(16)) <= SPEAKABLE
    assert 1 <= len(progress.tokens) <= 30
    assert progress.complete == (progress.tokens[-1] == END)
    assert progress.complete or len(progress.tokens) == 30
    assert END not in progress.tokens[:-1]
    check_cache(made)


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("longest", range(1, 20))
def test_an_answer_is_cut_at_its_longest(longest: int, verified: bool) -> None:
    prompt, answer = learned()[0]
    made = decoder(taught(), prompt, len(prompt) + longest + 8)
    progress = run(made, Effort.LOW, longest, verified=verified)
    assert progress.tokens == answer[:longest]
    assert progress.complete == (longest >= len(answer))
    check_cache(made)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("longest", [1, 2, 9, 25])
def test_forced_runs_are_cut_at_the_longest_as_well(longest: int, seed: int) -> None:
    made = decoder(model(seed), PROMPT, len(PROMPT) + longest + 8)
    progress = run(made, Effort.INSTANT, longest, "required")
    assert progress.tokens == greedy_of_random(seed, "required")[:longest]
    assert progress.complete == (progress.tokens[-1] == END)


@pytest.mark.parametrize("steps", range(1, 12))
def test_stopping_between_two_steps_leaves_the_cache_usable(steps: int) -> None:
    made = decoder(model(1), PROMPT)
    going = decode(made, Plan(REFINEMENT[Effort.HIGH], True, 40), matcher("auto"))
    with torch.inference_mode():
        for _ in range(steps):
            next(going)
        going.close()
    ids = [*PROMPT, *made.progress.tokens][: made.cache.length]
    assert len(ids) == made.cache.length
    check_cache(made)
    again = Decoder(made.model, made.cache, [*ids, 30])
    fresh = decoder(made.model, [*ids, 30])
    assert run(again, Effort.LOW, 20).tokens == run(fresh, Effort.LOW, 20).tokens
    assert again.progress.cached == len(ids)
    assert again.progress.forwards <= fresh.progress.forwards


def test_a_long_prompt_is_read_in_chunks() -> None:
    generator = torch.Generator().manual_seed(5)
    prompt = torch.randint(16, 330, (600,), generator=generator).tolist()
    made = decoder(model(3), prompt, 700)
    progress = run(made, Effort.INSTANT, 6)
    assert progress.tokens == greedy(model(3), prompt, "none", 6)
    only = decoder(model(3), prompt, 700)
    assert run(only, Effort.INSTANT, 1).forwards == 3


def test_drafts_are_shown_while_they_are_made() -> None:
    made = decoder(model(2), PROMPT)
    seen = []
    with torch.inference_mode():
        for _ in decode(made, Plan(REFINEMENT[Effort.HIGH], True, 20)):
            seen.append((len(made.progress.tokens), list(made.progress.draft)))
    assert any(int(Mark.MASK) in draft for _, draft in seen)
    # A draft stands behind final tokens, and is gone as soon as they are final.
    for (before, draft), (after, shown) in itertools.pairwise(seen):
        if after > before and draft:
            assert shown == []


@pytest.mark.parametrize("steps", [1, 2, 3, 30])
def test_a_draft_is_decided_whatever_the_steps(steps: int) -> None:
    made = decoder(model(2), PROMPT)
    with torch.inference_mode():
        for _ in made.prefill():
            pass
        before = made.progress.forwards
        going = made.draft([20], Refinement(steps, 0.999))
        while True:
            try:
                next(going)
            except StopIteration as over:
                draft = over.value
                break
    assert len(draft) == 7
    assert int(Mark.MASK) not in draft
    assert made.progress.forwards - before == min(steps, 7)


def test_a_draft_reads_the_known_tokens_as_they_will_be_committed() -> None:
    made = decoder(model(4), PROMPT)
    with torch.inference_mode():
        for _ in made.prefill():
            pass
        known = [20, 21, 22]
        together = made.forward([*known, 1, 1], causal=2, first=3)
        whole = made.forward([*known, 1, 1], causal=2)
        assert together.shape == (2, 352)
        torch.testing.assert_close(together, whole[3:], atol=1e-5, rtol=1e-5)
        # The first two see nothing of what follows them.
        causal = made.forward([20, 21, 99, 99], causal=4)
        torch.testing.assert_close(whole[:2], causal[:2], atol=1e-5, rtol=1e-5)
        made.forward(known[:2], causal=2)
        made.cache.commit(2)
        torch.testing.assert_close(
            made.forward([22, 1, 1], causal=0, first=1), together, atol=1e-5, rtol=1e-5
        )


def test_marks_that_never_answer_are_banned() -> None:
    made = decoder(model(0), PROMPT)
    logits = made.forward(PROMPT[:5], causal=5)
    banned = {i for i in range(352) if bool((logits[:, i] == -torch.inf).all())}
    assert banned == set(range(16)) - SPEAKABLE


def test_a_grammar_needs_verification() -> None:
    made = decoder(model(0), PROMPT)
    with pytest.raises(ValueError, match="a grammar needs verified drafts"):
        next(decode(made, Plan(REFINEMENT[Effort.LOW], False, 10), matcher("auto")))


def test_an_answer_of_no_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens: got 0, expected at least 1"):
        next(decode(decoder(model(0), PROMPT), Plan(REFINEMENT[Effort.LOW], True, 0)))


def test_until_end() -> None:
    assert until_end([5, END, 6, END]) == [5, END]
    assert until_end([5, 6]) == [5, 6]
    assert until_end([]) == []
