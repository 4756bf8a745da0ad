from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dlm.decoding.decoder import Plan
from dlm.decoding.masked_block import Constraint, MaskedBlock
from dlm.decoding.sampling import Sampling
from dlm.effort import Refinement, Rule
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import TIMER, template, tokenizer, vocabulary

END, MASK, SIZE = int(Mark.END), int(Mark.MASK), 352
CALL = [
    int(Mark.CALL),
    *template().text("set timer"),
    int(Mark.KEY),
    *template().text("duration"),
    int(Mark.VALUE),
]


def plan(threshold: float = 0.9, **changes: object) -> Plan:
    return Plan(Refinement(8, threshold, **changes), False, 50)  # type: ignore[arg-type]


def wanting(*wants: tuple[int, float]) -> Tensor:
    """Logits of a model that gives each position's token that probability."""
    rows = torch.full((len(wants), SIZE), 0.0)
    for row, (token, sure) in enumerate(wants):
        rows[row] = (1 - sure) / (SIZE - 1)
        rows[row, token] = sure
    return rows.log()


def blank(size: int, how: Plan | None = None, constraint: Constraint | None = None) -> MaskedBlock:
    return MaskedBlock([MASK] * size, 0, how or plan(), vocabulary(), constraint)


def test_what_is_sure_is_decided_and_the_rest_waits() -> None:
    canvas = blank(3)
    canvas.take(wanting((20, 0.5), (21, 0.95), (22, 0.4)))
    assert canvas.tokens == [MASK, 21, MASK]
    assert canvas.decided == []
    assert not canvas.over
    canvas.take(wanting((20, 0.95), (99, 0.99), (22, 0.4)))
    assert canvas.decided == [20, 21]
    canvas.take(wanting((20, 0.9), (21, 0.9), (23, 0.2)))
    assert canvas.tokens == canvas.decided == [20, 21, 23]
    assert canvas.over


def test_an_end_is_the_end_once_all_before_it_is_decided() -> None:
    canvas = blank(4)
    canvas.take(wanting((20, 0.5), (END, 0.95), (22, 0.1), (23, 0.1)))
    assert not canvas.over
    canvas.take(wanting((20, 0.95), (99, 0.9), (22, 0.1), (23, 0.1)))
    assert canvas.over
    assert canvas.decided == [20, END]


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_comes_to_an_end(rule: Rule) -> None:
    canvas = blank(6, plan(0.99, rule=rule))
    steps = 0
    while not canvas.over:
        canvas.take(wanting(*((20 + at, 0.5) for at in range(6))))
        steps += 1
        assert steps <= 6
    assert canvas.tokens == list(range(20, 26))


def test_an_earlier_answer_stays_where_it_is_not_doubted() -> None:
    canvas = MaskedBlock([20, 21, 22, MASK], 0, plan(), vocabulary())
    assert not canvas.over
    # The first is right, the second doubted, the third another one.
    canvas.take(wanting((20, 0.95), (21, 0.6), (40, 0.97), (41, 0.2)))
    assert canvas.tokens == [20, MASK, 40, MASK]


def test_an_earlier_answer_that_nobody_doubts_is_over_after_a_look() -> None:
    canvas = MaskedBlock([20, 21], 0, plan(), vocabulary())
    canvas.take(wanting((20, 0.95), (21, 0.95)))
    assert canvas.over
    assert canvas.tokens == [20, 21]


def test_decided_tokens_may_be_corrected_where_that_is_trained() -> None:
    canvas = blank(2, plan(editing=0.9))
    canvas.take(wanting((20, 0.95), (21, 0.95)))
    assert canvas.over
    canvas = blank(2, plan(editing=0.9))
    canvas.take(wanting((20, 0.95), (21, 0.5)))
    canvas.take(wanting((30, 0.95), (21, 0.95)))
    assert canvas.tokens == [30, 21]
    # A correction is looked at once more.
    assert not canvas.over
    canvas.take(wanting((30, 0.95), (21, 0.95)))
    assert canvas.over


def test_corrections_that_never_settle_come_to_an_end() -> None:
    canvas = blank(2, plan(editing=0.9))
    for step in range(20):
        canvas.take(wanting((20 + step % 2, 0.99), (30, 0.99)))
        if canvas.over:
            break
    assert canvas.over


def test_the_first_position_may_be_known_from_before() -> None:
    canvas = blank(2)
    canvas.begin(wanting((40, 0.1)))
    assert canvas.decided == [40]
    canvas = MaskedBlock([20, 21], 0, plan(), vocabulary())
    canvas.begin(wanting((40, 0.5)))
    assert canvas.tokens == [40, 21]
    canvas.take(wanting((99, 0.99), (21, 0.95)))
    assert canvas.tokens == [40, 21]


def test_sampled_tokens_belong_to_their_positions() -> None:
    how = Plan(Refinement(8, 0.0), False, 50, Sampling(1.0, 1.0, 3))
    flat = torch.zeros(6, SIZE)
    whole = blank(6, how)
    whole.take(flat)
    later = MaskedBlock([MASK] * 4, 2, how, vocabulary())
    later.take(flat[2:])
    assert later.tokens == whole.tokens[2:]
    assert len(set(whole.tokens)) > 3


def constraint(*said: str) -> Constraint:
    rules = AnswerRules((TIMER,), "required", said or ("ten minutes",), parallel=False)
    return Constraint(GrammarFactory(tokenizer(), SIZE).matcher(rules))


def test_under_a_grammar_a_run_from_the_left_is_decided() -> None:
    ten = template().text("ten minutes")
    rules = constraint()
    canvas = blank(12, constraint=rules)
    # What the model wants is not allowed; what is forced takes no step of its own.
    canvas.take(wanting(*((50, 0.95),) * 12))
    assert canvas.decided == CALL[: len(canvas.decided)]
    assert len(canvas.decided) > 1
    tokens = list(canvas.tokens)
    stretch = 0
    while not (canvas.over and END in tokens):
        if canvas.over:
            # What is forced beyond a stretch stands at the beginning of the next.
            stretch += 12
            canvas = MaskedBlock([MASK] * 12, stretch, plan(), vocabulary(), rules)
            tokens += canvas.tokens
        whole = [*CALL, *ten, END, *[50] * 24]
        canvas.take(wanting(*((token, 0.95) for token in whole[stretch : stretch + 12])))
        tokens[stretch:] = canvas.tokens
        assert len(tokens) < 40
    assert tokens[: tokens.index(END) + 1] == [*CALL, *ten, END]


def test_under_a_grammar_the_unsure_waits_but_the_first() -> None:
    canvas = blank(12, constraint=constraint("ten two minutes"))
    size = 12
    canvas.take(wanting(*((50, 0.95),) * size))
    known = len(canvas.decided)
    before = canvas.tokens
    canvas.take(wanting(*((60 + at, 0.01) for at in range(size))))
    assert canvas.tokens[:known] == before[:known]
    assert len(canvas.decided) >= min(known + 1, size)
