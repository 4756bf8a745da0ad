from __future__ import annotations

import torch
from torch import Tensor

from dlm.decoding.decoder import Plan
from dlm.decoding.masked_block import Constraint, MaskedBlock
from dlm.effort import Refinement
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


def plan(threshold: float = 0.9) -> Plan:
    return Plan(Refinement(8, threshold), False, 50)


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
    block = blank(3)
    block.denoise(wanting((20, 0.5), (21, 0.95), (22, 0.4)))
    assert block.tokens == [MASK, 21, MASK]
    assert block.decided == []
    assert not block.complete
    block.denoise(wanting((20, 0.95), (99, 0.99), (22, 0.4)))
    assert block.decided == [20, 21]
    block.denoise(wanting((20, 0.9), (21, 0.9), (23, 0.2)))
    assert block.tokens == block.decided == [20, 21, 23]
    assert block.complete


def test_an_end_is_the_end_once_all_before_it_is_decided() -> None:
    block = blank(4)
    block.denoise(wanting((20, 0.5), (END, 0.95), (22, 0.1), (23, 0.1)))
    assert not block.complete
    block.denoise(wanting((20, 0.95), (99, 0.9), (22, 0.1), (23, 0.1)))
    assert block.complete
    assert block.decided == [20, END]


def test_an_earlier_answer_stays_where_it_is_not_doubted() -> None:
    block = MaskedBlock([20, 21, 22, MASK], 0, plan(), vocabulary())
    assert not block.complete
    # The first is right, the second mask_doubted, the third another one.
    block.denoise(wanting((20, 0.95), (21, 0.6), (40, 0.97), (41, 0.2)))
    assert block.tokens == [20, MASK, 40, MASK]


def test_the_first_position_may_be_known_from_before() -> None:
    block = blank(2)
    block.decide_first(wanting((40, 0.1)))
    assert block.decided == [40]
    block = MaskedBlock([20, 21], 0, plan(), vocabulary())
    block.decide_first(wanting((40, 0.5)))
    assert block.tokens == [40, 21]
    block.denoise(wanting((99, 0.99), (21, 0.95)))
    assert block.tokens == [40, 21]


def constraint(*said: str) -> Constraint:
    rules = AnswerRules((TIMER,), "required", said or ("ten minutes",), parallel=False)
    return Constraint(GrammarFactory(tokenizer(), SIZE).matcher(rules))


def test_under_a_grammar_a_run_from_the_left_is_decided() -> None:
    ten = template().text("ten minutes")
    rules = constraint()
    block = blank(12, constraint=rules)
    # What the model wants is not allowed; what is forced takes no step of its own.
    block.denoise(wanting(*((50, 0.95),) * 12))
    assert block.decided == CALL[: len(block.decided)]
    assert len(block.decided) > 1
    tokens = list(block.tokens)
    stretch = 0
    while not (block.complete and END in tokens):
        if block.complete:
            # What is forced beyond a stretch stands at the beginning of the next.
            stretch += 12
            block = MaskedBlock([MASK] * 12, stretch, plan(), vocabulary(), rules)
            tokens += block.tokens
        whole = [*CALL, *ten, END, *[50] * 24]
        block.denoise(wanting(*((token, 0.95) for token in whole[stretch : stretch + 12])))
        tokens[stretch:] = block.tokens
        assert len(tokens) < 40
    assert tokens[: tokens.index(END) + 1] == [*CALL, *ten, END]
