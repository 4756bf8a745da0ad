from __future__ import annotations

import contextlib
import itertools
from typing import Any

import pytest
import torch

from dlm.decoding import unmask
from dlm.decoding.decoder import Decoder, Plan, Progress
from dlm.decoding.forwards import Steps, drive, outputs_of
from dlm.decoding.self_speculative import LEAST_AHEAD, Aids, decode_causal
from dlm.effort import REFINEMENT, Effort, Refinement
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.tool_choice import ToolChoice
from dlm.language.tokenizer import Mark
from dlm.network.int8 import round_weights
from dlm.network.model import Transformer
from tests.dlm.greedy import (
    END,
    FACTORY,
    INSTANT,
    PROMPT,
    RULES,
    SAID,
    SPEAKABLE,
    check_bits,
    check_cache,
    greedy,
    greedy_of_random,
    matcher,
)
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
    vocabulary,
)


def run(
    net: Transformer, made: Decoder, effort: Effort, longest: int, rules: str = "none", **plan: Any
) -> Progress:
    wanted = Plan(REFINEMENT[effort], **{"verified": True, "max_tokens": longest, **plan})
    drive(net, made.cache, decode_causal(made, wanted, matcher(rules)))
    return made.progress


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_verified_decoding_is_greedy_decoding(seed: int, rules: str, effort: Effort) -> None:
    net = model(seed)
    made = decoder(net, PROMPT)
    progress = run(net, made, effort, 40, rules)
    expected = greedy_of_random(seed, rules)
    assert progress.tokens == expected
    assert progress.complete == (expected[-1] == END)
    check_cache(net, made)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_in_8_bits_it_is_token_by_token_to_the_last_bit(seed: int, rules: str) -> None:
    net = model(seed)
    round_weights(net)
    alone, made = decoder(net, PROMPT), decoder(net, PROMPT)
    one_by_one = Plan(Refinement(0, 1.0), True, 40)
    drive(net, alone.cache, decode_causal(alone, one_by_one, matcher(rules)))
    assert run(net, made, Effort.HIGH, 40, rules).tokens == alone.progress.tokens
    check_bits(net, made, alone)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("block_size", [1, 2, 5, 16])
def test_any_block_size_gives_the_same_tokens(block_size: int, effort: Effort) -> None:
    net = model(0, block_size=block_size)
    assert run(net, decoder(net, PROMPT), effort, 40, "auto").tokens == greedy_of_random(0, "auto")


def test_behind_a_draft_that_failed_less_is_drafted() -> None:
    net = model(0, block_size=16)
    made = decoder(net, PROMPT)
    run(net, made, Effort.INSTANT, 40)
    assert made.ahead == LEAST_AHEAD
    (prompt, _), *_ = learned()
    made = decoder(taught(), prompt)
    made.ahead = 1
    run(taught(), made, Effort.INSTANT, 60)
    assert made.ahead == made.block_size - 1


@pytest.mark.parametrize("rule", unmask.RULES)
def test_any_rule_gives_the_same_tokens(rule: str) -> None:
    net = model(1)
    made = decoder(net, PROMPT)
    wanted = Plan(Refinement(3, 0.5, rule), True, 40)
    drive(net, made.cache, decode_causal(made, wanted))
    assert made.progress.tokens == greedy_of_random(1, "none")


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
    progress = run(taught(), made, effort, 60)
    assert progress.tokens == answer == greedy(taught(), prompt, "none", 60)
    assert progress.complete
    # The prompt's forward; then, for each block of one known and seven drafted tokens, a draft and
    # its verification, which gives the next block's first token. Words of the prompt may be tried
    # in between, a few times in vain.
    if effort is Effort.INSTANT:
        blocks = -(-len(answer) // 8)
        assert progress.steps <= blocks
        assert progress.forwards <= 1 + 2 * blocks + 4
    check_cache(taught(), made)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(6))
def test_unverified_decoding_ends_and_leaves_nothing_undecided(seed: int, effort: Effort) -> None:
    net = model(seed)
    made = decoder(net, PROMPT)
    progress = run(net, made, effort, 30, verified=False)
    assert set(progress.tokens) & set(range(16)) <= SPEAKABLE
    assert 1 <= len(progress.tokens) <= 30
    assert progress.complete == (progress.tokens[-1] == END)
    assert progress.complete or len(progress.tokens) == 30
    assert END not in progress.tokens[:-1]
    assert progress.kept == 0
    check_cache(net, made)


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("longest", range(1, 20))
def test_an_answer_is_cut_at_its_longest(longest: int, verified: bool) -> None:
    prompt, answer = learned()[0]
    made = decoder(taught(), prompt, len(prompt) + longest + 8)
    progress = run(taught(), made, Effort.LOW, longest, verified=verified)
    assert progress.tokens == answer[:longest]
    assert progress.complete == (longest >= len(answer))
    check_cache(taught(), made)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("longest", [1, 2, 9, 25])
def test_forced_runs_are_cut_at_the_longest_as_well(longest: int, seed: int) -> None:
    net = model(seed)
    made = decoder(net, PROMPT, len(PROMPT) + longest + 8)
    progress = run(net, made, Effort.INSTANT, longest, "required")
    assert progress.tokens == greedy_of_random(seed, "required")[:longest]
    assert progress.complete == (progress.tokens[-1] == END)


def steps_of(net: Transformer, made: Decoder, going: Steps[None], count: int) -> None:
    """So many forwards, then no more."""
    with torch.inference_mode():
        asked = next(going)
        for _ in range(count):
            asked = going.send(outputs_of(net, [(made.cache, asked)])[0])
    going.close()


@pytest.mark.parametrize("steps", range(1, 12))
def test_stopping_between_two_steps_leaves_the_cache_usable(steps: int) -> None:
    net = model(1)
    made = decoder(net, PROMPT)
    steps_of(
        net,
        made,
        decode_causal(made, Plan(REFINEMENT[Effort.HIGH], True, 40), matcher("auto")),
        steps,
    )
    ids = [*PROMPT, *made.progress.tokens][: made.cache.length]
    assert len(ids) == made.cache.length
    check_cache(net, made)
    again = Decoder(made.cache, [*ids, 30], net.config.block_size, vocabulary())
    fresh = decoder(net, [*ids, 30])
    assert run(net, again, Effort.LOW, 20).tokens == run(net, fresh, Effort.LOW, 20).tokens
    assert again.progress.cached == len(ids)
    assert again.progress.forwards <= fresh.progress.forwards


def test_a_long_prompt_is_read_in_chunks() -> None:
    generator = torch.Generator().manual_seed(5)
    prompt = torch.randint(16, 330, (600,), generator=generator).tolist()
    net = model(3)
    made = decoder(net, prompt, 700)
    progress = run(net, made, Effort.INSTANT, 6)
    assert progress.tokens == greedy(net, prompt, "none", 6)
    made = decoder(net, prompt, 700)
    going = decode_causal(made, Plan(REFINEMENT[Effort.INSTANT], True, 1))
    sizes = []
    with torch.inference_mode(), contextlib.suppress(StopIteration):
        asked = next(going)
        while True:
            sizes.append(len(asked.ids))
            assert asked.prefill
            asked = going.send(outputs_of(net, [(made.cache, asked)])[0])
    assert sizes == [128] * 4 + [88]


def test_drafts_are_shown_while_they_are_made() -> None:
    net = model(2)
    made = decoder(net, PROMPT)
    going = decode_causal(made, Plan(REFINEMENT[Effort.HIGH], True, 20))
    seen = []
    with torch.inference_mode(), contextlib.suppress(StopIteration):
        asked = next(going)
        while True:
            asked = going.send(outputs_of(net, [(made.cache, asked)])[0])
            seen.append((len(made.progress.tokens), list(made.progress.draft)))
    assert any(int(Mark.MASK) in draft for _, draft in seen)
    # A draft stands behind final tokens, and is gone as soon as they are final.
    for (before, draft), (after, shown) in itertools.pairwise(seen):
        if after > before and draft:
            assert shown == []


def test_a_grammar_needs_verification() -> None:
    made = decoder(model(0), PROMPT)
    with pytest.raises(ValueError, match="a grammar needs verified drafts"):
        decode_causal(made, Plan(REFINEMENT[Effort.LOW], False, 10), matcher("auto"))


CALLED = Aids(first_tokens=(int(Mark.CALL),))


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(4))
def test_an_expected_opening_changes_no_answer(seed: int, effort: Effort) -> None:
    net = model(seed)
    made = decoder(net, PROMPT)
    steps = decode_causal(made, Plan(REFINEMENT[effort], True, 40), matcher("auto"), CALLED)
    drive(net, made.cache, steps)
    assert made.progress.tokens == greedy_of_random(seed, "auto")
    check_cache(net, made)


def test_a_call_that_was_expected_is_drafted_along_with_the_prompt() -> None:
    """The block that begins with the opening comes with the prompt's forward."""
    rules = FACTORY.matcher(
        AnswerRules((TIMER, WEATHER), copy_sources=("set a timer for ten minutes",))
    )
    for turns in DIALOGUES:
        prompt = template().prompt(turns[:1], TOOLS)
        spent = []
        for aids in (None, CALLED):
            made = decoder(taught(), prompt)
            steps = decode_causal(made, Plan(INSTANT, True, 60), rules.copy(), aids)
            drive(taught(), made.cache, steps)
            spent.append((made.progress.tokens, made.progress.forwards))
        (tokens, plain), (again, hastened) = spent
        assert again == tokens
        called = tokens[0] == Mark.CALL
        assert hastened < plain if called else hastened == plain


def answer_of(net: Transformer, longest: int = 120, **gains: float) -> list[int]:
    """An answer with calls, of so many tokens at most, where a tool's name gains so much."""
    rules = AnswerRules((TIMER, LIGHT), "required", (SAID,))
    names = {tool.name: template().text(tool.name.replace("_", " ")) for tool in rules.tools}
    grammar = FACTORY.matcher(rules, ToolChoice(int(Mark.CALL), names))

    def told() -> Steps[dict[str, float]]:
        return gains
        yield

    made = decoder(net, PROMPT)
    plan = Plan(INSTANT, True, longest)
    drive(net, made.cache, decode_causal(made, plan, grammar, Aids(gains=told, first_tokens=(8,))))
    check_cache(net, made)
    return made.progress.tokens


def test_gains_choose_the_tool_of_a_single_call_alone() -> None:
    found = set()
    for seed in range(12):
        net = model(seed)
        own = answer_of(net, set_timer=0.0, set_light=0.0)
        for tool in ("set_timer", "set_light"):
            other = {"set_timer": "set_light", "set_light": "set_timer"}[tool]
            answer = answer_of(net, **{tool: 0.0, other: -1000.0})
            name = template().text(tool.replace("_", " "))
            gained = answer[1 : 1 + len(name)] == name
            if answer == own:
                found.add("alike" if gained else "gone back")
                gains = {tool: 0.0, other: -1000.0}
                # The way that was left is no part of the answer's length.
                if not gained and own[-1] == END and answer_of(net, len(own), **gains) == own:
                    found.add("gone back in no more room")
            elif answer[-1] == END:
                assert gained and answer.count(Mark.CALL) == 1
                found.add("another")
    assert found == {"alike", "gone back", "gone back in no more room", "another"}
