from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dlm.decoding.decoder import Plan
from dlm.decoding.forwards import Forward, drive, logits_of
from dlm.effort import Refinement
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from tests.dlm.greedy import SPEAKABLE
from tests.dlm.tiny import LIGHT, TIMER, decoder, model, template, tokenizer

PROMPT = template().prompt(
    (Turn("user", "set a timer for ten minutes in the café"),), (TIMER, LIGHT)
)


@pytest.mark.parametrize("steps", [1, 2, 3, 30])
def test_a_draft_is_decided_whatever_the_steps(steps: int) -> None:
    net = model(2)
    made = decoder(net, PROMPT)
    drafted = drive(net, made.cache, made.draft([20], Plan(Refinement(steps, 0.999), True, 9)))
    assert len(drafted) == 7
    assert int(Mark.MASK) not in drafted
    assert made.progress.forwards == made.progress.steps == min(steps, 7)


def test_a_draft_reads_the_known_tokens_as_they_will_be_committed() -> None:
    net = model(4)
    made = decoder(net, PROMPT)
    with torch.inference_mode():
        logits_of(net, [(made.cache, Forward(PROMPT, len(PROMPT)))])
        made.cache.commit(len(PROMPT))

        def logits(ids: list[int], causal: int, first: int = 0) -> Tensor:
            return logits_of(net, [(made.cache, Forward(ids, causal, first))])[0]

        known = [20, 21, 22]
        together = logits([*known, 1, 1], causal=2, first=3)
        whole = logits([*known, 1, 1], causal=2)
        assert together.shape == (2, 352)
        torch.testing.assert_close(together, whole[3:], atol=1e-5, rtol=1e-5)
        # The first two see nothing of what follows them.
        causal = logits([20, 21, 99, 99], causal=4)
        torch.testing.assert_close(whole[:2], causal[:2], atol=1e-5, rtol=1e-5)
        logits(known[:2], causal=2)
        made.cache.commit(2)
        torch.testing.assert_close(
            logits([22, 1, 1], causal=0, first=1), together, atol=1e-5, rtol=1e-5
        )


def test_marks_that_never_answer_are_banned() -> None:
    net = model(0)
    made = decoder(net, PROMPT)
    logits = drive(net, made.cache, made.logits(Forward(PROMPT[:5], 5)))
    banned = {i for i in range(352) if bool((logits[:, i] == -torch.inf).all())}
    assert banned == set(range(16)) - SPEAKABLE | set(range(tokenizer().vocab_size, 352))
