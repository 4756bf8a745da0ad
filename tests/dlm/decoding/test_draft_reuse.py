from __future__ import annotations

import pytest

from dlm.decoding.decoder import Plan, Progress
from dlm.decoding.draft_reuse import REACH, DraftReuse
from dlm.decoding.forwards import drive
from dlm.decoding.self_speculative import decode_causal
from dlm.decoding.verify import Verdict
from dlm.effort import REFINEMENT, Effort
from dlm.grammar.ending_matcher import LOOK_AHEAD
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.tiny import DIALOGUES, TOOLS, decoder, model, taught, template

END = int(Mark.END)
PROMPT = template().prompt((Turn("user", "tell me of timers"),))


def answered(
    net: Transformer,
    prompt: list[int],
    earlier: list[int],
    verified: bool = True,
    longest: int = 60,
) -> Progress:
    made = decoder(net, prompt)
    plan = Plan(REFINEMENT[Effort.INSTANT], verified, longest, earlier=tuple(earlier))
    drive(net, made.cache, decode_causal(made, plan))
    return made.progress


def learned() -> tuple[list[int], list[int]]:
    ids = template().dialogue(DIALOGUES[0], TOOLS)
    start, end = ids.answers[0]
    return ids.ids[:start], ids.ids[start:end]


def test_an_answer_near_its_end_is_not_proposed_blindly() -> None:
    assert LOOK_AHEAD >= REACH


def variants(answer: list[int]) -> dict[str, list[int]]:
    """Earlier answers that share more or less with what the answer will be."""
    middle = len(answer) // 2
    return {
        "the same": answer,
        "without its end": answer[:-1],
        "one replaced": [*answer[:middle], 77, *answer[middle + 1 :]],
        "one missing": [*answer[:middle], *answer[middle + 1 :]],
        "one more": [*answer[:middle], 77, *answer[middle:]],
        "three more": [*answer[:middle], 77, 78, 79, *answer[middle:]],
        "another beginning": [77, 78, *answer],
        "another end": [*answer[:middle], 77, 78, 79],
        "too short": [*answer[:2], END],
        "too long": [*answer[:-1], *answer],
        "nothing of it": [77, 78, 79, 80, END],
        "nothing": [],
        "only an end": [END],
    }


@pytest.mark.parametrize("name", variants([1]))
@pytest.mark.parametrize("seed", range(3))
def test_a_verified_revision_is_what_decoding_afresh_would_give(seed: int, name: str) -> None:
    net = model(seed)
    fresh = answered(net, PROMPT, [], longest=40)
    earlier = variants(fresh.tokens)[name]
    assert answered(net, PROMPT, earlier, longest=40).tokens == fresh.tokens
    for longest in (1, 2, 7):
        cut = answered(net, PROMPT, earlier, longest=longest)
        assert cut.tokens == fresh.tokens[:longest]


def test_an_answer_that_still_holds_costs_one_forward() -> None:
    prompt, answer = learned()
    progress = answered(taught(), prompt, answer)
    assert progress.tokens == answer
    assert progress.complete
    assert (progress.forwards, progress.steps, progress.kept) == (1, 0, len(answer))


@pytest.mark.parametrize("name", ["one replaced", "one missing", "one more", "three more"])
def test_what_differs_in_the_middle_costs_a_few_forwards(name: str) -> None:
    prompt, answer = learned()
    fresh = answered(taught(), prompt, [])
    progress = answered(taught(), prompt, variants(answer)[name])
    assert progress.tokens == answer
    assert progress.kept >= len(answer) - 3
    assert progress.forwards <= 5 < fresh.forwards


def test_a_long_earlier_answer_is_proposed_in_pieces() -> None:
    earlier = DraftReuse(range(20, 120))
    assert earlier.propose(500) == list(range(20, 20 + REACH))
    assert earlier.learn(Verdict(list(range(20, 20 + REACH)), [20 + REACH])) == REACH + 1
    assert earlier.propose(3) == list(range(21 + REACH, 24 + REACH))


@pytest.mark.parametrize(
    ("given", "then", "rest"),
    [
        # The new token stands a little further on: words were left out.
        (23, None, [24, 25, 26, 27]),
        # It does not: the old one was replaced.
        (99, None, [22, 23, 24, 25, 26, 27]),
        # Nor was it: something was put in.
        (99, 21, [22, 23, 24, 25, 26, 27]),
        # More was left out than one would think.
        (26, None, [22, 23, 24, 25, 26, 27]),
        (26, 27, []),
    ],
)
def test_where_they_part_there_are_guesses(given: int, then: int | None, rest: list[int]) -> None:
    earlier = DraftReuse([20, 21, 22, 23, 24, 25, 26, 27])
    earlier.propose(9)
    assert earlier.learn(Verdict([20], [given])) == 1
    if then is not None:
        assert earlier.propose(9)[0] == 22
        assert earlier.learn(Verdict([], [then])) == 0
    assert earlier.propose(9) == rest


def test_who_is_lost_finds_back_with_two_tokens() -> None:
    earlier = DraftReuse([20, 21, 22, 23, 24, 25])
    for given in (98, 99):
        assert earlier.propose(9)
        assert earlier.learn(Verdict([], [given])) == 0
    assert earlier.propose(9) == []
    assert earlier.learn(Verdict([50], [24])) == 0
    assert earlier.propose(9) == []
    assert earlier.learn(Verdict([51, 23], [24])) == 0
    assert earlier.propose(9) == [25]


def test_unverified_only_what_is_doubted_is_denoised() -> None:
    prompt, answer = learned()
    same = answered(taught(), prompt, answer, verified=False)
    assert same.tokens == answer
    assert (same.steps, same.kept) == (0, len(answer))
    changed = answered(taught(), prompt, variants(answer)["one replaced"], verified=False)
    assert changed.tokens == answer
    assert 0 < changed.steps <= 3
    assert len(answer) - 4 <= changed.kept < len(answer)
    assert changed.steps < answered(taught(), prompt, [], verified=False).steps
