"""What hastens an answer changes none; what has a say changes the choice of a tool alone."""

from __future__ import annotations

import pytest

from dlm.decoding.decoder import Plan
from dlm.decoding.forwards import Steps, drive
from dlm.decoding.self_speculative import Aids, decode_causal
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
    SAID,
    check_bits,
    check_cache,
    greedy_of_random,
    matcher,
)
from tests.dlm.tiny import DIALOGUES, LIGHT, TIMER, TOOLS, WEATHER, decoder, model, taught, template

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


@pytest.mark.parametrize("block_size", [1, 2, 5, 16])
@pytest.mark.parametrize("longest", [1, 2, 3, 9, 25])
def test_nor_how_long_it_may_be(longest: int, block_size: int) -> None:
    net = model(0, block_size=block_size)
    for rules in ("auto", "required"):
        made = decoder(net, PROMPT, len(PROMPT) + longest + block_size)
        steps = decode_causal(made, Plan(INSTANT, True, longest), matcher(rules), CALLED)
        drive(net, made.cache, steps)
        assert made.progress.tokens == greedy_of_random(0, rules)[:longest]


@pytest.mark.parametrize("seed", range(4))
def test_nor_the_last_bit_of_what_is_kept(seed: int) -> None:
    net = model(seed)
    round_weights(net)
    alone, made = decoder(net, PROMPT), decoder(net, PROMPT)
    for one, refinement, aids in ((alone, Refinement(0, 1.0), None), (made, INSTANT, CALLED)):
        steps = decode_causal(one, Plan(refinement, True, 40), matcher("auto"), aids)
        drive(net, one.cache, steps)
    assert made.progress.tokens == alone.progress.tokens
    check_bits(net, made, alone)


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
