from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from dlm.decoding.decoder import Decoder, Plan
from dlm.decoding.forwards import Forward, Steps, drive
from dlm.decoding.unmask import Proposal, propose
from dlm.effort import Refinement
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark
from dlm.network.model import Attend
from dlm.train.attention import Joint
from dlm.train.objective import (
    Copies,
    Rows,
    ar_step,
    causal_loss,
    collate,
    copies_see,
    denoising_loss,
    joint_step,
    laid_out,
    noisy_copies,
    parts_of,
)
from tests.dlm.tiny import DIALOGUES, TOOLS, model, template, vocabulary

BLOCK = 8
MASK = int(Mark.MASK)


def encoded(count: int = 4) -> list[Encoded]:
    return [template().dialogue(turns, TOOLS) for turns in DIALOGUES[:count]]


def made(count: int = 4, prompt_weight: float = 0.3) -> Rows:
    return collate(encoded(count), prompt_weight)


def copies_of(rows: Rows, seed: int = 0, block_size: int = BLOCK, multiple: int = 1) -> Copies:
    return noisy_copies(rows, block_size, np.random.default_rng(seed), multiple)


def blocks(copies: Copies) -> list[tuple[int, slice]]:
    """Row and columns of each copy."""
    out = []
    for row, numbers in enumerate(copies.blocks.tolist()):
        for number in sorted(set(numbers) - {-1}):
            columns = [i for i, n in enumerate(numbers) if n == number]
            assert columns == list(range(columns[0], columns[-1] + 1))
            out.append((row, slice(columns[0], columns[-1] + 1)))
    return out


def test_dialogues_are_padded_at_the_right() -> None:
    rows = made()
    for row, dialogue in enumerate(encoded()):
        size = len(dialogue.ids)
        assert rows.ids[row, :size].tolist() == dialogue.ids
        assert set(rows.ids[row, size:].tolist()) <= {int(Mark.PAD)}
        assert rows.answers[row] == dialogue.answers


def test_weights_are_those_of_answers_and_of_the_prompt_behind_the_declarations() -> None:
    rows = made(prompt_weight=0.25)
    for row, dialogue in enumerate(encoded()):
        body = dialogue.ids.index(Mark.USER)
        inside = {i for start, end in dialogue.answers for i in range(start, end)}
        for at, weight in enumerate(rows.weights[row].tolist()):
            if at >= len(dialogue.ids) or at < body:
                assert weight == 0.0
            else:
                assert weight == (1.0 if at in inside else 0.25)


def test_without_a_user_all_but_answers_is_prompt() -> None:
    dialogue = template().dialogue((Turn("system", "x"), Turn("assistant", "y")))
    start = dialogue.ids.index(Mark.AGENT)
    assert collate([dialogue], 0.5).weights[0, : start + 1].tolist() == [0.0] * start + [0.5]


def test_a_message_of_the_agent_that_is_no_answer_is_not_learned() -> None:
    dialogue = encoded(1)[0]
    (start, end), *answers = dialogue.answers
    made = collate([Encoded(dialogue.ids, answers)], 0.25)
    assert set(made.weights[0, start:end].tolist()) == {0.0}
    assert made.weights[0, start - 1] == 0.25
    kept = collate([dialogue], 0.25).weights
    assert made.weights[0, end:].equal(kept[0, end:])


def test_the_first_token_of_an_answer_may_weigh_more() -> None:
    dialogue = encoded(1)[0]
    plain, more = (collate([dialogue], 0.5, opening_weight=w).weights[0] for w in (1.0, 7.0))
    changed = (plain != more).nonzero()[:, 0].tolist()
    assert changed == [start for start, _ in dialogue.answers]
    assert set(more[changed].tolist()) == {7.0}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("block_size", [2, 3, 8, 16])
def test_copies_are_blocks_of_the_answers(seed: int, block_size: int) -> None:
    rows = made()
    copies = copies_of(rows, seed, block_size)
    starts: list[set[int]] = [set() for _ in rows.answers]
    for row, columns in blocks(copies):
        assert columns.stop - columns.start == block_size
        positions = copies.positions[row, columns].tolist()
        start = positions[0]
        starts[row].add(start)
        assert positions == list(range(start, start + block_size))
        assert set(copies.starts[row, columns].tolist()) == {start}
        assert (copies.targets[row, columns] != -100).any()
        end = next(b for a, b in rows.answers[row] if a <= start < b)
        for at, noisy, target in zip(
            positions,
            copies.ids[row, columns].tolist(),
            copies.targets[row, columns].tolist(),
            strict=True,
        ):
            clean = rows.ids[row, at].item() if at < end else None
            if at == start:
                assert (noisy, target) == (clean, -100)
            elif at >= end:
                assert (noisy, target) == (MASK, -100)
            else:
                assert (noisy, target) in ((MASK, clean), (clean, -100))
    for row, answers in enumerate(rows.answers):
        # Each answer's first block starts where it does; the others tile what follows an offset.
        for begin, end in answers:
            others = sorted(s for s in starts[row] if begin < s < end)
            assert all((b - a) % block_size == 0 for a, b in itertools.pairwise(others))
            assert end - 1 not in others


def test_half_of_the_blocks_are_masked_whole_and_the_others_by_all_shares() -> None:
    rows = made()
    shares = []
    for seed in range(60):
        copies = copies_of(rows, seed)
        for row, columns in blocks(copies):
            start = int(copies.starts[row, columns.start])
            end = next(b for a, b in rows.answers[row] if a <= start < b)
            size = min(BLOCK, end - start) - 1
            if size == BLOCK - 1:
                masked = (copies.targets[row, columns] != -100).sum().item()
                shares.append(masked / size)
    whole = sum(share == 1.0 for share in shares) / len(shares)
    assert 0.5 <= whole < 0.65
    assert {round(share * 7) for share in shares} == set(range(1, 8))


def test_offsets_are_spread_over_a_block() -> None:
    rows = made(1)
    begin, _ = rows.answers[0][0]
    offsets = set()
    for seed in range(80):
        starts = set(copies_of(rows, seed).starts[0].tolist()) - {-1, begin}
        offsets.add((min(starts) - begin - 1) % BLOCK + 1)
    assert offsets == set(range(1, BLOCK + 1))


def test_the_same_seed_is_the_same_noise() -> None:
    rows = made()
    one, two, other = copies_of(rows, 3), copies_of(rows, 3), copies_of(rows, 4)
    assert torch.equal(one.ids, two.ids)
    assert one.ids.shape != other.ids.shape or not torch.equal(one.ids, other.ids)


@pytest.mark.parametrize("seed", range(3))
def test_the_mask_says_what_copies_see(seed: int) -> None:
    rows = made()
    copies = copies_of(rows, seed)
    length, width = rows.ids.shape[1], copies.ids.shape[1]
    mask = copies_see(length, copies)
    assert mask.shape == (4, 1, width, length + width)
    for row in range(4):
        block, start = copies.blocks[row].tolist(), copies.starts[row].tolist()
        for query, key in itertools.product(range(width), range(length + width)):
            expected = key < start[query] if key < length else block[query] == block[key - length]
            assert mask[row, 0, query, key].item() == expected
        # No row of the softmax is empty.
        assert mask[row, 0].any(dim=-1).all()


@pytest.mark.parametrize("multiple", [1, 5, 32])
def test_lengths_are_multiples_and_what_is_added_is_padding(multiple: int) -> None:
    plain, rows = made(), collate(encoded(), 0.3, multiple)
    size = plain.ids.shape[1]
    assert rows.ids.shape[1] % multiple == 0 <= rows.ids.shape[1] - size < multiple
    assert torch.equal(rows.ids[:, :size], plain.ids)
    assert not rows.weights[:, size:].any()
    copies = noisy_copies(rows, BLOCK, np.random.default_rng(0), multiple)
    expected = copies_of(plain)
    width = expected.ids.shape[1]
    assert copies.ids.shape[1] % multiple == 0 <= copies.ids.shape[1] - width < multiple
    for name in ("ids", "targets", "positions", "blocks", "starts"):
        assert torch.equal(getattr(copies, name)[:, :width], getattr(expected, name))
    assert set(copies.blocks[:, width:].flatten().tolist()) <= {-1}
    assert set(copies.targets[:, width:].flatten().tolist()) <= {-100}
    losses = joint_step(model(1), rows, copies)
    for name, loss in joint_step(model(1), plain, expected).items():
        torch.testing.assert_close(losses[name], loss, atol=1e-5, rtol=1e-5)


def joint_hidden(rows: Rows, copies: Copies, seed: int = 1) -> torch.Tensor:
    length = rows.ids.shape[1]
    own = torch.arange(length).expand(len(rows.ids), -1)
    return model(seed)(
        torch.cat((rows.ids, copies.ids), dim=1),
        torch.cat((own, copies.positions), dim=1),
        Joint(length, copies_see(length, copies)),
    )


def test_the_clean_half_is_an_ordinary_causal_forward() -> None:
    rows = made()
    length = rows.ids.shape[1]
    mask = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
    expected = model(1)(rows.ids, torch.arange(length)[None], mask)
    hidden = joint_hidden(rows, copies_of(rows))[:, :length]
    torch.testing.assert_close(hidden, expected, atol=1e-5, rtol=1e-5)


def fully_masked(copies: Copies) -> Copies:
    """The same copies as at the first denoising step: all but a block's first token masked."""
    first = copies.positions == copies.starts
    ids = torch.where(first, copies.ids, MASK)
    return Copies(ids, copies.targets, copies.positions, copies.blocks, copies.starts)


class _Spied(Decoder):
    """Remembers the logits that it saw last."""

    def choices(
        self, asked: Forward, plan: Plan, allowed: Callable[[], NDArray[np.int32]] | None = None
    ) -> Steps[Proposal]:
        self.seen = yield from self.logits(asked)
        return propose(self.seen)


@pytest.mark.parametrize("known", [1, 2, 5])
def test_training_sees_what_a_draft_sees(known: int) -> None:
    """Logits of a masked block in the joint forward are those of `Decoder.draft`."""
    rows = made()
    copies = fully_masked(copies_of(rows))
    hidden = joint_hidden(rows, copies)[:, rows.ids.shape[1] :]
    trained = model(1)
    compared = 0
    for row, columns in blocks(copies):
        start = int(copies.starts[row, columns.start])
        begin = start - known + 1
        answer = next(a for a, b in rows.answers[row] if a <= start < b)
        if begin < answer:
            continue
        ids = rows.ids[row].tolist()
        cache = KVCache(trained.config, 400)
        running = _Spied(cache, ids[:begin], trained.config.block_size, vocabulary())
        drive(trained, running.cache, running.logits(Forward(ids[:begin], begin)))
        running.cache.commit(begin)
        plan = Plan(Refinement(1, 0.5), True, 99)
        drive(trained, running.cache, running.draft(ids[begin : start + 1], plan))
        expected = trained.logits(hidden[row, columns][1:])
        expected = expected.masked_fill(running.seen == -torch.inf, -torch.inf)
        torch.testing.assert_close(running.seen, expected, atol=1e-4, rtol=1e-4)
        compared += 1
    assert compared > 3


def test_causal_loss_is_weighted_cross_entropy() -> None:
    rows = made(prompt_weight=0.3)
    hidden = torch.randn(*rows.ids.shape, 32)
    logits = model(1).logits(hidden)[:, :-1]
    each = functional.cross_entropy(logits.transpose(1, 2), rows.ids[:, 1:], reduction="none")
    weights = rows.weights[:, 1:]
    expected = (each * weights).sum() / weights.sum()
    torch.testing.assert_close(causal_loss(hidden, model(1), rows), expected)


def test_denoising_loss_is_the_mean_over_masked_tokens() -> None:
    copies = copies_of(made())
    hidden = torch.randn(*copies.ids.shape, 32)
    logits = model(1).logits(hidden)
    expected = functional.cross_entropy(
        logits.flatten(0, 1), copies.targets.flatten(), ignore_index=-100
    )
    torch.testing.assert_close(denoising_loss(hidden, model(1), copies), expected)


def test_nothing_masked_is_no_loss() -> None:
    rows = collate([template().dialogue((Turn("user", "x"), Turn("assistant", "")))], 0.0)
    copies = copies_of(rows)
    assert not (copies.targets != -100).any()
    losses = joint_step(model(1), rows, copies_of(rows))
    assert losses["denoising"].item() == 0.0
    assert losses["causal"].item() > 0.0


def test_both_phases_have_the_same_causal_loss() -> None:
    rows = made()
    alone = ar_step(model(1), rows)
    joint = joint_step(model(1), rows, copies_of(rows))
    assert set(alone) == {"causal"}
    torch.testing.assert_close(alone["causal"], joint["causal"], atol=1e-5, rtol=1e-5)


def test_all_losses_reach_every_weight() -> None:
    for loss in ("causal", "denoising", "uncertainty"):
        learner = model(1).requires_grad_(True)
        joint_step(learner, made(), copies_of(made()), sharpen=True)[loss].backward()
        for name, parameter in learner.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


def seen(rows: Rows, copies: Copies, attend: Attend) -> torch.Tensor:
    """What the model makes of [x_0, x_t], (S, D) of one row."""
    ids = torch.cat((rows.ids, copies.ids), dim=1)
    positions = torch.cat((rows.positions, copies.positions), dim=1)
    return model(1)(ids, positions, attend)[0]


@pytest.mark.parametrize("greeted", [False, True])
@pytest.mark.parametrize("multiple", [1, 64])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_dialogues_laid_end_to_end_are_as_they_are_alone(
    count: int, multiple: int, greeted: bool
) -> None:
    dialogues = encoded(count)
    if greeted:
        greeting = Turn("assistant", "hi.")
        dialogues = [template().dialogue((greeting, *t), TOOLS) for t in DIALOGUES[:count]]
    rows = laid_out(dialogues, 0.3, opening_weight=2.0)
    copies = copies_of(rows, multiple=multiple)
    assert (rows.ids.shape[1] + copies.ids.shape[1]) % multiple == 0
    assert rows.spans is not None
    found = seen(rows, copies, parts_of(rows, copies, torch.device("cpu")))
    length, drafted = rows.ids.shape[1], 0
    bodies = [span for span in rows.spans if count == 1 or span.shared is not None]
    assert len(bodies) == count
    for dialogue, span in zip(dialogues, bodies, strict=True):
        (start, end), alone = span.own, collate([dialogue], 0.3, opening_weight=2.0)
        cut = len(dialogue.ids) - (end - start)
        # The copies of this dialogue as they would stand beside it alone.
        of_it = (copies.starts[0] >= start) & (copies.starts[0] < end)
        own = Copies(
            *(
                getattr(copies, name)[:, of_it]
                for name in ("ids", "targets", "positions", "blocks")
            ),
            copies.starts[:, of_it] - start + cut,
        )
        size = alone.ids.shape[1]
        expected = seen(alone, own, Joint(size, copies_see(size, own)))
        torch.testing.assert_close(found[start:end], expected[cut:size], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(found[length:][of_it], expected[size:], atol=1e-5, rtol=1e-5)
        assert rows.weights[0, start + 1 : end].equal(alone.weights[0, cut + 1 :])
        # Nobody could know its first token from what stands before it.
        assert rows.weights[0, start] == 0
        drafted += int(of_it.sum())
    assert drafted == (copies.blocks >= 0).sum()
    assert (copies.targets[copies.blocks < 0] == -100).all()
    for shared in {span.shared for span in rows.spans} - {None}:
        first, last = rows.spans[shared].own
        assert rows.ids[0, first:last].tolist() == dialogues[0].ids[: last - first]
        assert not rows.weights[0, first:last].any()


def test_next_tokens_alone_are_learned_of_dialogues_end_to_end_as_well() -> None:
    rows = laid_out(encoded(), 0.3)
    copies = copies_of(rows)
    clean = joint_step(model(1), rows, copies)["causal"]
    torch.testing.assert_close(ar_step(model(1), rows)["causal"], clean, atol=1e-5, rtol=1e-5)
    # The weights are of targets, so as many as those of the dialogues alone but for the first.
    apart = sum(float(collate([one], 0.3).weights.sum()) - 0.3 for one in encoded())
    assert float(rows.weights.sum()) == pytest.approx(apart)
