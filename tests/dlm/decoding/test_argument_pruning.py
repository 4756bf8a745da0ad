from __future__ import annotations

import queue
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from dlm.decoding.argument_pruning import ArgumentPruning
from dlm.decoding.decoder import Decoder, Plan
from dlm.decoding.forwards import Forward, drive
from dlm.decoding.self_speculative import Aids, decode_causal
from dlm.effort import REFINEMENT, Effort
from dlm.engine.engine import Engine
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.kv_cache.cache import Cache
from dlm.language.chat_format import MarkedCalls
from dlm.language.messages import Answer, Call, Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from tests.dlm.asking import ask, request
from tests.dlm.decoding.test_score import log_probability
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

NET = model(3, reads=True)
MARKS = Template.calls
END = int(Mark.END)
SAID = "set a timer for ten minutes please"


def pruning() -> ArgumentPruning:
    assert isinstance(MARKS, MarkedCalls)
    return ArgumentPruning(template(), MARKS, (*TOOLS, LIGHT))


def spelled(*calls: Call, text: str = "") -> list[int]:
    return template().spell(Answer(text, calls))


TIMED = Call("set_timer", {"duration": "ten minutes", "label": "set"})
ASKED = Call("get_weather", {"place": "paris", "day": "today"})


def test_an_answer_without_each_of_its_optional_arguments() -> None:
    bare = Call("set_timer", {"duration": "ten minutes"})
    here, today = Call("get_weather", {"place": "paris"}), Call("get_weather", {"day": "today"})
    assert pruning().shortened(spelled(TIMED, text="Sure.")) == [spelled(bare, text="Sure.")]
    assert pruning().shortened(spelled(ASKED, TIMED)) == [
        spelled(today, TIMED),
        spelled(here, TIMED),
        spelled(ASKED, bare),
    ]
    for nothing in (spelled(bare), spelled(text="Sure."), [int(Mark.CALL), END], [END]):
        assert pruning().shortened(nothing) == []


def test_a_null_that_was_written_is_an_argument_and_one_that_was_not_is_none() -> None:
    kinds = {"type": ["string", "null"], "enum": ["celsius", None]}
    parameters = {"type": "object", "properties": {"place": {"type": "string"}, "unit": kinds}}
    tool = Tool("get_weather", "Tells the weather.", {**parameters, "required": ["place", "unit"]})
    assert isinstance(MARKS, MarkedCalls)
    nulls = ArgumentPruning(template(), MARKS, (tool,))
    bare = Call("get_weather", {"place": "paris"})
    whole = Call("get_weather", {"place": "paris", "unit": None})
    assert nulls.shortened(spelled(bare)) == []
    assert nulls.shortened(spelled(whole, bare)) == [spelled(bare, bare)]
    assert nulls.shortened(spelled(bare, whole)) == [spelled(bare, bare)]


def finished(tokens: list[int], forwarded: int) -> Decoder:
    """A decoder that has come to an answer's end, with so many of its tokens in the cache."""
    prompt = template().prompt([Turn("user", SAID)], TOOLS)
    made = decoder(NET, prompt)
    ids = [*prompt, *tokens[:forwarded]]
    drive(NET, made.cache, made.logits(Forward(ids, len(ids))))
    made.cache.commit(len(ids))
    made.progress.tokens = list(tokens)
    return made


@pytest.mark.parametrize("call", [TIMED, ASKED])
@pytest.mark.parametrize("forwarded", [0, 4, 9])
def test_the_likeliest_of_them_is_settled_for(call: Call, forwarded: int) -> None:
    tokens = spelled(call)
    made = finished(tokens, forwarded)
    with closing(Engine(NET, tokenizer())) as engine:

        def score(ids: list[int]) -> float:
            return log_probability(engine, made.prompt, ids)

        expected = tokens
        while shorter := pruning().shortened(expected):
            best = max([expected, *shorter], key=score)
            if best == expected:
                break
            expected = best
    drive(NET, made.cache, pruning().steps(made))
    assert made.progress.tokens == expected
    # What the cache holds is a beginning of what was said.
    whole = [*made.prompt, *expected]
    assert made.committed.tolist() == whole[: made.cache.length]


def test_what_was_learned_is_kept_and_what_was_not_is_left_out() -> None:
    user, answer = DIALOGUES[3]
    learned = template().spell(Answer(answer.content, answer.calls))
    first, *others = answer.calls
    label = Call(first.name, {**first.arguments, "label": "please"})
    more = template().spell(Answer(answer.content, (label, *others)))
    for tokens in (learned, more):
        made = decoder(taught(), template().prompt([user], TOOLS))
        drive(taught(), made.cache, made.logits(Forward(made.prompt, len(made.prompt))))
        made.cache.commit(len(made.prompt))
        made.progress.tokens = list(tokens)
        drive(taught(), made.cache, pruning().steps(made))
        assert made.progress.tokens == learned


def test_without_memory_for_it_the_answer_stands() -> None:
    tokens = spelled(TIMED)
    made = finished(tokens, 0)

    class Full(Cache):
        nbytes = 0

        def copy(self, length: int, capacity: int) -> Cache:
            raise queue.Full("no pages")

        def cut(self, length: int) -> Cache:
            raise queue.Full("no pages")

    made.cache = Full(9)
    assert list(pruning().steps(made)) == []
    assert made.progress.tokens == tokens


def test_a_request_is_looked_at_again_unless_it_is_sampled() -> None:
    wanted = request(SAID, tools=(WEATHER, TIMER), tool_choice="required", copy_sources=(SAID,))
    blind = model(3)
    answers = []
    for options in ({}, {"temperature": 0.7, "seed": 1}):
        for made in (NET, blind):
            with closing(Engine(made, tokenizer())) as engine:
                answers.append(ask(engine, replace(wanted, **options)).usage.forwards)  # type: ignore[arg-type]
    greedy, alone, sampled, sampled_alone = answers
    assert greedy > alone
    # Sampled, only the choice of the tool is read.
    assert sampled <= sampled_alone + 1


class Late(ArgumentPruning):
    """Looks only at what is finished."""

    def forwards(
        self, decoder: Decoder, answer: Sequence[int]
    ) -> tuple[tuple[Cache, Forward], ...]:
        return ()


def test_looking_while_the_answer_is_verified_gives_the_same_for_less() -> None:
    assert isinstance(MARKS, MarkedCalls)
    made, user = taught(), DIALOGUES[3][0]
    rules = AnswerRules(TOOLS, "required", (user.content,))
    grammar = GrammarFactory(tokenizer(), made.config.vocab_size).matcher(rules)
    answer = spelled(*DIALOGUES[3][1].calls)
    spent = []
    for kind in (Late, ArgumentPruning):
        one = decoder(made, template().prompt([user], TOOLS))
        known = one.prompt[:-1]
        drive(made, one.cache, one.logits(Forward(known, len(known))))
        one.cache.commit(len(known))
        plan = Plan(REFINEMENT[Effort.INSTANT], True, 60, earlier=tuple(answer))
        aids = Aids(pruning=kind(template(), MARKS, TOOLS))
        drive(made, one.cache, decode_causal(one, plan, grammar.copy(), aids))
        assert one.progress.tokens == answer
        spent.append((one.progress.forwards, one.committed.tolist()))
    (late, held), (early, kept) = spent
    assert held == kept
    assert early == late - 1
