from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from dlm.decoding.verify import Verdict, draft_under_grammar, verify
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.tool_choice import ToolChoice
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import LIGHT, TIMER, template, tokenizer

SIZE = 352
END = int(Mark.END)
FACTORY = GrammarFactory(tokenizer(), SIZE)
MUST = AnswerRules((TIMER,), "required", ("ten minutes",))
CALL = [
    int(Mark.CALL),
    *template().text("set timer"),
    int(Mark.KEY),
    *template().text("duration"),
    int(Mark.VALUE),
]


def wanting(*tokens: int) -> Tensor:
    """Logits of a causal forward that wants these tokens, row by row."""
    rows = torch.zeros(len(tokens), SIZE)
    rows[torch.arange(len(tokens)), torch.tensor(tokens)] = 1.0
    return rows


@pytest.mark.parametrize(
    ("draft", "greedy", "verdict"),
    [
        ([20, 21, 22], [20, 21, 22, 23], Verdict([20, 21, 22], [23])),
        ([20, 21, 22], [30, 21, 22, 23], Verdict([], [30])),
        ([20, 21, 22], [20, 30, 22, 23], Verdict([20], [30])),
        ([20, 21, 22], [20, 21, 30, 23], Verdict([20, 21], [30])),
        ([20, END], [20, END, 40], Verdict([20, END], [])),
        ([20, 21], [20, END, 40], Verdict([20], [END])),
        ([END], [20, 40], Verdict([], [20])),
        ([20, 21], [20, 21, END], Verdict([20, 21], [END])),
        ([], [20], Verdict([], [20])),
        ([], [END], Verdict([], [END])),
    ],
)
def test_the_longest_run_that_agrees_is_accepted(
    draft: Sequence[int], greedy: Sequence[int], verdict: Verdict
) -> None:
    assert verify(draft, wanting(*greedy), None, END) == verdict


def test_rows_and_draft_must_fit() -> None:
    with pytest.raises(ValueError, match="got 2 rows of logits, expected 3"):
        verify([20, 21], wanting(20, 21), None, END)


def test_forced_tokens_that_the_draft_has_are_accepted() -> None:
    ten = template().text("ten minutes")
    draft = [*CALL, *ten, END]
    # Rows below forced tokens are not asked: 50 would be refused there.
    greedy = [Mark.CALL, *[50] * (len(CALL) - 1), *ten, END, 50]
    verdict = verify(draft, wanting(*greedy), FACTORY.matcher(MUST), END)
    assert verdict == Verdict(draft, [])
    assert not set(verdict.decided) & set(range(1, len(CALL)))
    assert verdict.decided[-1] == len(draft) - 1


@pytest.mark.parametrize("size", range(5))
def test_forced_tokens_beyond_the_draft_are_given(size: int) -> None:
    draft = CALL[:size]
    verdict = verify(draft, wanting(*[50] * (size + 1)), FACTORY.matcher(MUST), END)
    assert verdict == Verdict(draft, CALL[size:])


def test_a_draft_that_breaks_the_grammar_is_cut_there() -> None:
    draft = [CALL[0], 50, 51]
    verdict = verify(draft, wanting(*draft, 52), FACTORY.matcher(MUST), END)
    assert verdict == Verdict([CALL[0]], CALL[1:])


def test_a_draft_under_a_grammar_has_what_is_forced() -> None:
    matcher = FACTORY.matcher(MUST)
    ten = template().text("ten minutes")
    # Nothing that it drafted is allowed but the value.
    drafted = [*[50] * len(CALL), *ten, END, 50, 50]
    out = draft_under_grammar(torch.tensor(drafted), wanting(*drafted), matcher).tokens
    assert out == [*CALL, *ten, END]
    # The answer's own matcher still stands at its beginning, and verifies all of it.
    assert verify(out, wanting(*out, 50), matcher, END) == Verdict(out, [])
    assert (
        len(
            draft_under_grammar(
                torch.tensor([50] * 3), wanting(50, 50, 50), FACTORY.matcher(MUST)
            ).tokens
        )
        == 3
    )


def test_tokens_chosen_elsewhere_are_verified_as_logits_are() -> None:
    assert verify([20, 21, 22], [20, 21, 30, 23], None, END) == Verdict([20, 21], [30])
    matcher, other = FACTORY.matcher(MUST), FACTORY.matcher(MUST)
    draft = [CALL[0], CALL[1], 20]
    wanted = [CALL[0], CALL[1], CALL[2], 20]
    expected = verify(draft, wanting(*wanted), matcher, END)
    assert verify(draft, wanted, other, END) == expected


def test_a_draft_without_logits_ends_before_what_is_refused() -> None:
    matcher = FACTORY.matcher(MUST)
    forced = draft_under_grammar(torch.tensor([CALL[0], 20, 20, 20, 20, 20]), None, matcher).tokens
    assert forced == CALL[: len(forced)]
    assert draft_under_grammar(torch.tensor([20, 21, 22]), None, matcher).tokens == []


TOOLS = (TIMER, LIGHT)
EITHER = AnswerRules(TOOLS, "required", ("ten minutes",))


def between_two() -> tuple[Matcher, int, int]:
    """A matcher behind the mark of a call, and the tokens with which the two names begin."""
    spelled = {one.name: template().text(one.name.replace("_", " ")) for one in TOOLS}
    assert spelled["set_timer"][:2] == spelled["set_light"][:2]
    matcher = FACTORY.matcher(EITHER, ToolChoice(int(Mark.CALL), spelled))
    matcher.follow([int(Mark.CALL), *spelled["set_timer"][:2]])
    return matcher, spelled["set_timer"][2], spelled["set_light"][2]


def test_a_doubt_between_tools_ends_the_verification_before_it() -> None:
    matcher, timer, light = between_two()
    rows = wanting(timer, 50) + 0.5 * wanting(light, 50)
    assert verify([timer], rows, matcher, END) == Verdict([], [], in_doubt=True)
    matcher.set_gains({"set_timer": -3.0, "set_light": 0.0})
    verdict = verify([timer], rows, matcher, END)
    assert verdict.accepted == [] and verdict.added[0] == light
    assert not matcher.needs_logits


def test_a_draft_that_chooses_a_tool_in_doubt_says_so() -> None:
    matcher, timer, light = between_two()
    torn = wanting(timer) + 0.5 * wanting(light)
    assert draft_under_grammar(torch.tensor([timer]), torn, matcher).in_doubt
    assert not draft_under_grammar(torch.tensor([timer]), 100 * wanting(timer), matcher).in_doubt
    matcher.set_gains({"set_timer": 0.0, "set_light": -3.0})
    assert not draft_under_grammar(torch.tensor([timer]), torn, matcher).in_doubt
