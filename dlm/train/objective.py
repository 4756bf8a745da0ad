"""What the model is trained on: next tokens of the dialogue, and masked blocks of the answers.

One forward serves both. The clean dialogue x_0 is read causally, exactly as committed positions
are at run time; copies of answer blocks with masked tokens, x_t, are appended behind it. A copy
looks at x_0 before its own block and at its own block in both directions; x_0 never looks at a
copy. So the same weights draft a block in parallel and verify it causally.

The first position of a block is always clean: at run time it is the token that the causal forward
of the block before has already given.

Source: BD3-LM (arXiv 2503.09573) for the two-part sequence; plain cross entropy over masked tokens
as in arXiv 2602.15014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dlm.model import Transformer
from dlm.template import Encoded
from dlm.tokenizer import Mark
from dlm.train.loss import linear_cross_entropy


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of dialogues.

    Attributes:
        ids: (B, T) int64, padded at the right.
        weights: (B, T) float32, of each token as a target of next-token prediction; 0 is padding.
        answers: For each row, ranges [start, end) of its answers.
    """

    ids: Tensor
    weights: Tensor
    answers: list[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Copies:
    """Noisy blocks of a batch, each row's laid end to end.

    Attributes:
        ids: (B, A) int64, masked in part.
        targets: (B, A) int64, -100 where there is no loss.
        positions: (B, A) int64, of the dialogue.
        blocks: (B, A) int64, number of the copy within its row; -1 is padding.
        starts: (B, A) int64, position at which the copy's block starts.
    """

    ids: Tensor
    targets: Tensor
    positions: Tensor
    blocks: Tensor
    starts: Tensor


def collate(dialogues: Sequence[Encoded], prompt_weight: float) -> Rows:
    """Pad dialogues to one length.

    Args:
        dialogues: Each with at least one token.
        prompt_weight: Weight of next-token loss on what is neither an answer nor part of the
            declarations before the first user message, which are arbitrary and weigh nothing.
    """
    length = max(len(d.ids) for d in dialogues)
    ids = np.full((len(dialogues), length), int(Mark.PAD), dtype=np.int64)
    weights = np.zeros((len(dialogues), length), dtype=np.float32)
    for row, dialogue in enumerate(dialogues):
        size = len(dialogue.ids)
        ids[row, :size] = dialogue.ids
        body = dialogue.ids.index(Mark.USER) if Mark.USER in dialogue.ids else 0
        weights[row, body:size] = prompt_weight
        for start, end in dialogue.answers:
            weights[row, start:end] = 1.0
    return Rows(torch.from_numpy(ids), torch.from_numpy(weights), [d.answers for d in dialogues])


def noisy_copies(rows: Rows, block_size: int, rng: np.random.Generator) -> Copies:
    """Cut every answer into blocks and mask a share of each.

    One block begins where the answer does; the others follow at a random offset, for a verified
    draft may end anywhere. Half of the blocks are masked whole, as at the first denoising step;
    the others by shares spread evenly over (0, 1).
    """
    starts = [
        [
            start
            for a, b in answers
            for start in (a, *range(a + int(rng.integers(1, block_size + 1)), b - 1, block_size))
        ]
        for answers in rows.answers
    ]
    ends = [{s: b for a, b in answers for s in range(a, b)} for answers in rows.answers]
    width = max(1, max(len(row) for row in starts)) * block_size
    shape = (len(starts), width)
    ids = np.full(shape, int(Mark.MASK), dtype=np.int64)
    targets = np.full(shape, -100, dtype=np.int64)
    positions = np.zeros(shape, dtype=np.int64)
    blocks = np.full(shape, -1, dtype=np.int64)
    block_starts = np.zeros(shape, dtype=np.int64)
    clean = rows.ids.numpy()
    share = (np.arange(sum(map(len, starts))) + rng.random()) / max(1, sum(map(len, starts)))
    rng.shuffle(share)
    count = 0
    for row, row_starts in enumerate(starts):
        for number, start in enumerate(row_starts):
            at = number * block_size
            size = min(block_size, ends[row][start] - start)
            tokens = clean[row, start : start + size]
            masked = rng.random(size) < max(0.05, min(1.0, 2 * share[count]))
            masked[0] = False
            count += 1
            ids[row, at : at + size] = np.where(masked, int(Mark.MASK), tokens)
            targets[row, at : at + size] = np.where(masked, tokens, -100)
            positions[row, at : at + block_size] = start + np.arange(block_size)
            blocks[row, at : at + block_size] = number
            block_starts[row, at : at + block_size] = start
    return Copies(*(torch.from_numpy(a) for a in (ids, targets, positions, blocks, block_starts)))


def joint_mask(length: int, copies: Copies) -> Tensor:
    """Who sees whom in [x_0, x_t].

    Args:
        length: T, of x_0.
        copies: Of B rows, A positions each.

    Returns:
        (B, 1, T + A, T + A) bool. Padding sees itself, so that no row of the softmax is empty.
    """
    rows, width = copies.ids.shape
    mask = torch.zeros(rows, length + width, length + width, dtype=torch.bool)
    mask[:, :length, :length] = torch.ones(length, length, dtype=torch.bool).tril()
    mask[:, length:, :length] = torch.arange(length) < copies.starts[:, :, None]
    mask[:, length:, length:] = copies.blocks[:, :, None] == copies.blocks[:, None, :]
    return mask[:, None]


def causal_loss(hidden: Tensor, model: Transformer, rows: Rows) -> Tensor:
    """Weighted mean cross entropy of the next token. ``hidden`` is (B, T, D) of x_0."""
    weights = rows.weights[:, 1:].to(hidden.device).reshape(-1)
    keep = (weights > 0).nonzero()[:, 0]
    targets = rows.ids[:, 1:].to(hidden.device).reshape(-1)[keep]
    flat = hidden[:, :-1].reshape(-1, hidden.shape[-1])[keep]
    share = weights[keep] / weights.sum()
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets, share)


def denoising_loss(hidden: Tensor, model: Transformer, copies: Copies) -> Tensor:
    """Mean cross entropy over masked tokens. ``hidden`` is (B, A, D) of x_t."""
    targets = copies.targets.to(hidden.device).reshape(-1)
    keep = (targets != -100).nonzero()[:, 0]
    flat = hidden.reshape(-1, hidden.shape[-1])[keep]
    share = torch.full((len(keep),), 1 / max(1, len(keep)), device=hidden.device)
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets[keep], share)


def ar_step(model: Transformer, rows: Rows) -> dict[str, Tensor]:
    """Loss of the autoregressive phase."""
    length = rows.ids.shape[1]
    device = model.embed_tokens.weight.device
    mask = torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]
    positions = torch.arange(length, device=device)[None]
    hidden = model(rows.ids.to(device), positions, mask)
    return {"causal": causal_loss(hidden, model, rows)}


def joint_step(model: Transformer, rows: Rows, rng: np.random.Generator) -> dict[str, Tensor]:
    """Losses of the joint phase, from one forward."""
    length = rows.ids.shape[1]
    device = model.embed_tokens.weight.device
    copies = noisy_copies(rows, model.config.block_size, rng)
    mask = joint_mask(length, copies).to(device)
    ids = torch.cat((rows.ids, copies.ids), dim=1).to(device)
    own = torch.arange(length).expand(len(rows.ids), -1)
    hidden = model(ids, torch.cat((own, copies.positions), dim=1).to(device), mask)
    return {
        "causal": causal_loss(hidden[:, :length], model, rows),
        "denoising": denoising_loss(hidden[:, length:], model, copies),
    }
