from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dlm.decoding.decoder import Decoder, Plan, Vocabulary
from dlm.decoding.forwards import Steps, drive, logits_of
from dlm.decoding.self_speculative import decode_causal
from dlm.decoding.unmask import propose
from dlm.effort import Reasoning, Refinement
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.reasoning_matcher import ReasoningMatcher, split_reasoning
from dlm.grammar.tool_choice import ToolChoice
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.asking import SAID
from tests.dlm.tiny import TOOLS, config, model, template, tokenizer

MARKS = template().reasoning
STOP = tokenizer().encode(" a.")[-1]
WORD = tokenizer().encode(" a")[0]
TIGHT = Reasoning(least=3, enough=5, most=8)


def matcher(tools: bool = True) -> Matcher:
    rules = AnswerRules(TOOLS if tools else (), copy_sources=("ten minutes",))
    return GrammarFactory(template(), config().vocab_size).matcher(rules)


def thinking(budget: Reasoning = TIGHT, tools: bool = True) -> ReasoningMatcher:
    return ReasoningMatcher(matcher(tools), MARKS, budget)


def wanting(*tokens: int) -> Tensor:
    """Logits that like some tokens best, the first most."""
    out = torch.zeros(config().vocab_size)
    for rank, token in enumerate(tokens):
        out[token] = 10 - rank
    return out


def test_a_thought_holds_no_marks_and_does_not_end_too_early() -> None:
    state = thinking()
    marks = (Mark.END, Mark.CALL, Mark.KEY, Mark.VALUE, Mark.ANSWER)
    for _ in range(TIGHT.least):
        assert state.best(wanting(*marks, WORD)) == WORD
        with pytest.raises(ValueError, match=f"got token {int(Mark.ANSWER)}, which reasoning"):
            state.copy().advance(Mark.ANSWER)
        assert state.advance(WORD) == []
    assert state.best(wanting(*marks, WORD)) == Mark.ANSWER
    assert state.advance(Mark.ANSWER) == []
    assert state.best(wanting(Mark.ANSWER, Mark.KEY, Mark.CALL)) == Mark.CALL
    assert state.advance(Mark.CALL) == []
    with pytest.raises(ValueError):
        state.advance(Mark.ANSWER)


def test_a_thought_ends_with_its_sentence_once_it_is_enough() -> None:
    state = thinking()
    ends = [state.advance(token) for token in (WORD, STOP, WORD, WORD, STOP)]
    assert ends == [[], [], [], [], [Mark.ANSWER]]
    assert state.best(wanting(Mark.CALL)) == Mark.CALL


def test_a_thought_that_goes_in_circles_ends() -> None:
    """Though it is not enough, nor even the least; one stop behind another is a sentence too."""
    state = thinking(Reasoning(least=20, enough=30, most=40))
    other = tokenizer().encode(" b")[0]
    ends = [state.advance(token) for token in (WORD, other, STOP, other, STOP, WORD, other)]
    assert ends == [[]] * 7
    assert state.copy().advance(STOP) == [Mark.ANSWER]
    assert [state.advance(token) for token in (other, STOP)] == [[], []]


def test_a_copy_goes_on_by_itself() -> None:
    state = thinking()
    twin = state.copy()
    for _ in range(TIGHT.most):
        twin.advance(WORD)
    assert state.best(wanting(Mark.CALL, WORD)) == WORD
    assert twin.best(wanting(Mark.CALL, WORD)) == Mark.CALL
    assert (state.takes(Mark.CALL), twin.takes(Mark.CALL)) == (False, True)
    assert (state.takes(WORD), twin.takes(Mark.ANSWER)) == (True, False)


def test_what_an_answer_must_begin_with_is_forced_behind_its_thought() -> None:
    rules = AnswerRules(TOOLS, "set_timer", copy_sources=("ten minutes",))
    bare = GrammarFactory(template(), config().vocab_size).matcher(rules)
    state = ReasoningMatcher(bare.copy(), MARKS, TIGHT)
    assert state.forced() == []
    for _ in range(TIGHT.most):
        state.advance(WORD)
    assert state.forced() == bare.forced()
    assert state.forced()[0] == Mark.CALL


def test_a_prefix_does_not_go_before_a_thought() -> None:
    state = thinking(tools=False)
    with pytest.raises(ValueError, match="before reasoning"):
        state.follow([WORD])
    for _ in range(TIGHT.most):
        state.advance(WORD)
    state.follow([WORD])


def bits(rows: np.ndarray[Any, Any]) -> Tensor:
    wide = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return torch.from_numpy(wide[:, : config().vocab_size]) == 1


def test_the_bits_of_a_draft_are_what_each_position_may_be() -> None:
    """Each row bans what `best` would not take, after any number of drafted tokens."""
    generator = torch.Generator().manual_seed(0)
    call = [int(Mark.CALL), *tokenizer().encode(" set timer")]
    draft = [WORD, WORD, STOP, WORD, STOP, int(Mark.ANSWER), *call]
    rows = bits(thinking().allowed(draft))
    assert rows.shape == (len(draft) + 1, config().vocab_size)
    state, at = thinking(), 0
    while at < len(draft):
        for _ in range(5):
            logits = torch.randn(config().vocab_size, generator=generator)
            logits[list(Mark)] += 2
            assert int(logits.masked_fill(~rows[at], -torch.inf).argmax()) == state.copy().best(
                logits
            )
        at += 1 + len(state.advance(draft[at]))
    assert at >= len(draft)


def masking(made: Transformer, cache: KVCache, steps: Steps[None]) -> None:
    """Run a decoding as a runner does that chooses under a grammar itself."""
    with torch.inference_mode(), suppress(StopIteration):
        asked = next(steps)
        while True:
            rows = logits_of(made, [(cache, asked)])[0]
            if asked.choice is None:
                asked = steps.send(rows)
                continue
            rows[:, list(asked.choice.never)] = -torch.inf
            if asked.choice.allowed is not None:
                rows = rows.masked_fill(~bits(asked.choice.allowed()), -torch.inf)
            asked = steps.send(propose(rows, None, asked.choice.first))


def greedy(
    seed: int, refinement: Refinement, masks: bool, budget: Reasoning
) -> tuple[list[int], int]:
    made = model(seed, reasons=True)
    prompt = [*template().prompt((Turn("user", SAID),), TOOLS), int(Mark.THINK)]
    vocabulary = Vocabulary.of(template(), made.config.vocab_size)
    never = tuple(token for token in vocabulary.never if token != Mark.ANSWER)
    vocabulary = Vocabulary(vocabulary.mask, vocabulary.end, never)
    cache = KVCache(made.config, 400)
    decoder = Decoder(cache, prompt, made.config.block_size, vocabulary, masks)
    steps = decode_causal(decoder, Plan(refinement, True, 60), thinking(budget))
    if masks:
        masking(made, cache, steps)
    else:
        drive(made, cache, steps)
    return decoder.progress.tokens, decoder.progress.forwards


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("masks", [False, True])
def test_drafted_and_verified_a_thought_is_what_token_by_token_gives(
    seed: int, masks: bool
) -> None:
    for budget in (TIGHT, Reasoning(1, 16, 32)):
        expected, _ = greedy(seed, Refinement(steps=0, threshold=0.9), masks=False, budget=budget)
        thought, answer = split_reasoning(expected, MARKS)
        assert 1 <= len(thought) <= budget.most
        assert answer
        for steps in (1, 3):
            refinement = Refinement(steps=steps, threshold=0.5)
            assert greedy(seed, refinement, masks, budget)[0] == expected


def test_behind_a_thought_a_tool_is_chosen_as_without_one() -> None:
    names = ToolChoice(int(Mark.CALL), {"set_timer": (WORD,), "get_weather": (STOP,)})
    rules = AnswerRules(TOOLS, copy_sources=("ten minutes",))
    inner = GrammarFactory(template(), config().vocab_size).matcher(rules, names)
    state = ReasoningMatcher(inner, MARKS, Reasoning(least=0, enough=1, most=2))
    torn = wanting()
    assert state.needs_logits and not state.in_doubt(torn) and not state.adjusts
    state.advance(WORD)
    state.advance(MARKS.closing)
    assert not state.in_doubt(torn)
    state.advance(int(Mark.CALL))
    assert state.in_doubt(torn)
    state.set_gains({"set_timer": 0.0, "get_weather": -1.0})
    assert state.adjusts and not state.in_doubt(torn)
