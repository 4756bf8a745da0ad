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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dlm.model import Attend, Transformer
from dlm.template import Encoded
from dlm.tokenizer import Mark
from dlm.train.attention import Flex, Joint, causal
from dlm.train.loss import linear_cross_entropy, uncertainty


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of dialogues.

    Attributes:
        ids: (B, T) int64, padded at the right.
        weights: (B, T) float32, of each token as a target of next-token prediction; 0 is padding.
        answers: For each row, ranges [start, end) of its answers, those that are drafted.
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


def collate(
    dialogues: Sequence[Encoded],
    prompt_weight: float,
    multiple: int = 1,
    reading_weight: float = 1.0,
) -> Rows:
    """Pad dialogues to one length.

    Args:
        dialogues: Each with at least one token.
        prompt_weight: Weight of next-token loss on what is neither an answer nor part of the
            declarations before the first user message, which are arbitrary and weigh nothing.
        multiple: The length is one of this number, so that few shapes occur.
        reading_weight: Of the user's words where they stand among the answers; nobody drafts them.
    """
    length = rounded(max(len(d.ids) for d in dialogues), multiple)
    ids = np.full((len(dialogues), length), int(Mark.PAD), dtype=np.int64)
    weights = np.zeros((len(dialogues), length), dtype=np.float32)
    drafted: list[list[tuple[int, int]]] = []
    for row, dialogue in enumerate(dialogues):
        size = len(dialogue.ids)
        ids[row, :size] = dialogue.ids
        body = dialogue.ids.index(Mark.USER) if Mark.USER in dialogue.ids else 0
        weights[row, body:size] = prompt_weight
        drafted.append([])
        for start, end in dialogue.answers:
            read = start > 0 and dialogue.ids[start - 1] == Mark.USER
            weights[row, start:end] = reading_weight if read else 1.0
            if not read:
                drafted[-1].append((start, end))
    return Rows(torch.from_numpy(ids), torch.from_numpy(weights), drafted)


def rounded(count: int, multiple: int) -> int:
    """The next multiple of a number."""
    return -(-count // multiple) * multiple


def noisy_copies(
    rows: Rows, block_size: int, rng: np.random.Generator, multiple: int = 1
) -> Copies:
    """Cut every answer into blocks and mask a share of each.

    One block begins where the answer does; the others follow at a random offset, for a verified
    draft may end anywhere. Half of the blocks are masked whole, as at the first denoising step;
    the others by shares spread evenly over (0, 1).

    Args:
        rows: The dialogues, on the CPU.
        block_size: L.
        rng: Draws offsets and masks.
        multiple: Of the width, as in `collate`.
    """
    cuts = [
        [
            (start, b)
            for a, b in answers
            for start in (a, *range(a + int(rng.integers(1, block_size + 1)), b - 1, block_size))
        ]
        for answers in rows.answers
    ]
    count = sum(map(len, cuts))
    row = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
    number = np.concatenate([np.arange(len(c)) for c in cuts])
    starts, ends = np.array([c for row_cuts in cuts for c in row_cuts]).reshape(-1, 2).T[:, :, None]
    places = starts + np.arange(block_size)
    inside = places < ends
    tokens = rows.ids.numpy()[row[:, None], np.minimum(places, rows.ids.shape[1] - 1)]
    share = (np.arange(count) + rng.random()) / max(1, count)
    rng.shuffle(share)
    masked = rng.random(places.shape) < np.clip(2 * share, 0.05, 1.0)[:, None]
    masked[:, 0] = False
    masked &= inside
    copies = max(1, *map(len, cuts))
    width = rounded(copies * block_size, multiple)

    def laid(values: np.ndarray[Any, Any], empty: int) -> Tensor:
        out = np.full((len(cuts), width), empty, dtype=np.int64)
        out[:, : copies * block_size].reshape(len(cuts), copies, block_size)[row, number] = values
        return torch.from_numpy(out)

    return Copies(
        ids=laid(np.where(inside & ~masked, tokens, int(Mark.MASK)), int(Mark.MASK)),
        targets=laid(np.where(masked, tokens, -100), -100),
        positions=laid(places, 0),
        blocks=laid(number[:, None], -1),
        starts=laid(starts, 0),
    )


def copies_see(length: int, copies: Copies) -> Tensor:
    """Which keys of [x_0, x_t] each position of x_t may look at.

    Args:
        length: T, of x_0.
        copies: Of B rows, A positions each.

    Returns:
        (B, 1, A, T + A) bool. Padding sees padding, so that no row of the softmax is empty.
    """
    before = torch.arange(length, device=copies.starts.device) < copies.starts[:, :, None]
    own = copies.blocks[:, :, None] == copies.blocks[:, None, :]
    return torch.cat((before, own), dim=2)[:, None]


def causal_loss(hidden: Tensor, model: Transformer, rows: Rows) -> Tensor:
    """Weighted mean cross entropy of the next token. ``hidden`` is (B, T, D) of x_0."""
    weights = rows.weights[:, 1:].reshape(-1)
    keep = (weights > 0).nonzero()[:, 0]
    targets = rows.ids[:, 1:].reshape(-1)[keep].to(hidden.device)
    share = (weights[keep] / weights.sum()).to(hidden.device)
    flat = hidden[:, :-1].reshape(-1, hidden.shape[-1])[keep.to(hidden.device)]
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets, share)


def masked_part(hidden: Tensor, copies: Copies) -> tuple[Tensor, Tensor]:
    """Hidden states (N, D) of the masked positions of x_t, (B, A, D), and their targets (N,)."""
    targets = copies.targets.reshape(-1)
    keep = (targets != -100).nonzero()[:, 0]
    flat = hidden.reshape(-1, hidden.shape[-1])[keep.to(hidden.device)]
    return flat, targets[keep].to(hidden.device)


def denoising_loss(hidden: Tensor, model: Transformer, copies: Copies) -> Tensor:
    """Mean cross entropy over masked tokens. ``hidden`` is (B, A, D) of x_t."""
    flat, targets = masked_part(hidden, copies)
    share = torch.full((len(flat),), 1 / max(1, len(flat)), device=hidden.device)
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets, share)


def ar_step(model: Transformer, rows: Rows) -> dict[str, Tensor]:
    """Loss of the autoregressive phase."""
    device = model.embed_tokens.weight.device
    positions = torch.arange(rows.ids.shape[1], device=device)[None]
    hidden = model(rows.ids.to(device), positions, causal)
    return {"causal": causal_loss(hidden, model, rows)}


def joint_step(
    model: Transformer, rows: Rows, copies: Copies, sharpen: bool = False, flex: bool = False
) -> dict[str, Tensor]:
    """Losses of the joint phase, from one forward.

    Args:
        model: On any device.
        rows: x_0, on the CPU.
        copies: x_t, on the CPU.
        sharpen: Whether the uncertainty of what is predicted rightly is a loss too.
        flex: Whether FlexAttention does the attention; for CUDA.
    """
    length = rows.ids.shape[1]
    device = model.embed_tokens.weight.device
    there = replace(copies, blocks=copies.blocks.to(device), starts=copies.starts.to(device))
    attend: Attend
    if flex:
        attend = Flex.joint(length, there.blocks, there.starts)
    else:
        attend = Joint(length, copies_see(length, there))
    ids = torch.cat((rows.ids, copies.ids), dim=1).to(device)
    own = torch.arange(length).expand(len(rows.ids), -1)
    hidden = model(ids, torch.cat((own, copies.positions), dim=1).to(device), attend)
    losses = {
        "causal": causal_loss(hidden[:, :length], model, rows),
        "denoising": denoising_loss(hidden[:, length:], model, copies),
    }
    if sharpen:
        losses["uncertainty"] = uncertainty(
            *masked_part(hidden[:, length:], copies), model.embed_tokens.weight
        )
    return losses
