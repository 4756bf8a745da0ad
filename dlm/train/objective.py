"""What the model is trained on: next tokens of the dialogue, and masked blocks of the answers.

One forward serves both. The clean dialogue x_0 is read causally, exactly as committed positions
are at run time; copies of answer blocks with masked tokens, x_t, are appended to it. A copy
looks at x_0 before its own block and at its own block in both directions; x_0 never looks at a
copy. So the same weights draft a block in parallel and verify it causally.

The first position of a block is always clean: at run time the causal forward of the previous block
has already produced that token.

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

from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark
from dlm.network.model import Attend, Transformer
from dlm.train.attention import Joint, Part, Parts, causal, causal_mask
from dlm.train.loss import linear_cross_entropy, uncertainty
from dlm.train.low_rank import learned_rows

GRAIN = 64
"""Attention lengths of a dialogue within a row are rounded up to multiples of this: oneDNN
generates code for every new shape, which takes longer than the multiplication."""


@dataclass(frozen=True, slots=True)
class Span:
    """One of several dialogues in a row, or a beginning that several of them share.

    Attributes:
        own: Range [start, end) of its tokens.
        shared: Number of the span with its beginning if that is shared, else None.
    """

    own: tuple[int, int]
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of dialogues.

    Attributes:
        ids: (B, T) int64, padded at the right.
        weights: (B, T) float32, the weight of each token as a target of next-token prediction; 0
            for padding, for instructions and declarations, and for what the agent said that is not
            to be learned.
        answers: For each row, ranges [start, end) of the answers that are drafted.
        positions: (B, T) int64, of each token in its dialogue.
        spans: Where the dialogues are, if they are laid end to end in one row; None if each row is
            one dialogue.
    """

    ids: Tensor
    weights: Tensor
    answers: list[list[tuple[int, int]]]
    positions: Tensor
    spans: tuple[Span, ...] | None = None


@dataclass(frozen=True, slots=True)
class Copies:
    """Noisy blocks of a batch, each row's laid end to end.

    Attributes:
        ids: (B, A) int64, partly masked.
        targets: (B, A) int64, -100 where there is no loss.
        positions: (B, A) int64, positions in the dialogue.
        blocks: (B, A) int64, number of the copy within its row; -1 for padding.
        starts: (B, A) int64, index in the row at which the copy's block starts; -1 for padding.
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
    opening_weight: float = 1.0,
) -> Rows:
    """Pad dialogues to one length.

    Args:
        dialogues: Each with at least one token.
        prompt_weight: Weight of next-token loss on users' messages, results and marks. Instructions
            and declarations before the first message are arbitrary and weigh nothing; nor does a
            message of the agent that is not an answer to learn.
        multiple: The length is rounded up to a multiple of this, so that few shapes occur.
        reading_weight: Weight of the user's words where they count as an answer; they are not
            drafted.
        opening_weight: Weight of the first token of an answer.
    """
    size = rounded(max(len(d.ids) for d in dialogues), multiple)
    shape = len(dialogues), size
    ids = np.full(shape, int(Mark.PAD), dtype=np.int64)
    weights = np.zeros(shape, dtype=np.float32)
    drafted: list[list[tuple[int, int]]] = []
    for row, dialogue in enumerate(dialogues):
        ids[row, : len(dialogue.ids)] = dialogue.ids
        targets = _weighted(dialogue, prompt_weight, reading_weight, opening_weight)
        weights[row, : len(dialogue.ids)], answers = targets
        drafted.append(answers)
    texts = torch.from_numpy(ids), torch.from_numpy(weights)
    positions = torch.arange(size).expand(shape)
    return Rows(*texts, drafted, positions)


def _weighted(
    dialogue: Encoded, prompt_weight: float, reading_weight: float, opening_weight: float
) -> tuple[np.ndarray[Any, Any], list[tuple[int, int]]]:
    """Weights (T,) of a dialogue's tokens, and the answers to draft; arguments as in `collate`."""
    weights = np.zeros(len(dialogue.ids), dtype=np.float32)
    weights[beginning(dialogue) :] = prompt_weight
    for at, one in enumerate(dialogue.ids):
        if one == Mark.AGENT:
            # What the agent said is learned only where it is an answer.
            weights[at + 1 : dialogue.ids.index(Mark.END, at) + 1] = 0.0
    drafted = []
    for start, end in dialogue.answers:
        read = start > 0 and dialogue.ids[start - 1] == Mark.USER
        weights[start:end] = reading_weight if read else 1.0
        if not read:
            weights[start] = opening_weight
            drafted.append((start, end))
    return weights, drafted


def beginning(dialogue: Encoded) -> int:
    """Number of tokens of instructions and declarations, before the first message."""
    said = (at for at, one in enumerate(dialogue.ids) if one in (Mark.USER, Mark.AGENT))
    return next(said, 0)


def laid_out(
    dialogues: Sequence[Encoded],
    prompt_weight: float,
    reading_weight: float = 1.0,
    opening_weight: float = 1.0,
) -> Rows:
    """Lay dialogues end to end in one row, with a beginning that several share stored once.

    This saves much because an agent's instructions and declarations may be longer than a dialogue.
    No dialogue sees another, and there is no padding.

    The weights are those of `collate`.
    """
    groups: dict[tuple[int, ...], list[Encoded]] = {}
    for dialogue in dialogues:
        groups.setdefault(tuple(dialogue.ids[: beginning(dialogue)]), []).append(dialogue)
    ids: list[int] = []
    positions: list[int] = []
    weights: list[np.ndarray[Any, Any]] = []
    answers: list[tuple[int, int]] = []
    spans: list[Span] = []
    for start, some in groups.items():
        cut = len(start) if len(some) > 1 else 0
        shared = len(spans) if cut else None
        if cut:
            spans.append(Span((len(ids), len(ids) + cut)))
            ids += start
            positions += range(cut)
            weights.append(np.zeros(cut, dtype=np.float32))
        for dialogue in some:
            shift = len(ids) - cut
            own, drafted = _weighted(dialogue, prompt_weight, reading_weight, opening_weight)
            # The token before it may belong to another dialogue.
            own[cut] = 0.0
            weights.append(own[cut:])
            answers += [(a + shift, b + shift) for a, b in drafted]
            spans.append(Span((len(ids), shift + len(dialogue.ids)), shared))
            positions += range(cut, len(dialogue.ids))
            ids += dialogue.ids[cut:]
    texts = torch.tensor([ids]), torch.from_numpy(np.concatenate(weights)[None])
    return Rows(*texts, [answers], torch.tensor([positions]), tuple(spans))


def rounded(count: int, multiple: int) -> int:
    """A count rounded up to a multiple of a number."""
    return -(-count // multiple) * multiple


def noisy_copies(
    rows: Rows, block_size: int, rng: np.random.Generator, multiple: int = 1
) -> Copies:
    """Cut every answer into blocks and mask a share of each.

    One block begins where the answer does; the others follow at a random offset, since a verified
    draft may end anywhere. Half of the blocks are masked entirely except for their first token, as
    at the first denoising step, the others by shares spread evenly over (0.05, 1). Blocks in which
    nothing is masked are left out.

    Args:
        rows: The dialogues, on the CPU.
        multiple: The length of a row with its copies is rounded up to a multiple of this.
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
    starts, ends = np.array([c for row_cuts in cuts for c in row_cuts]).reshape(-1, 2).T[:, :, None]
    places = starts + np.arange(block_size)
    inside = places < ends
    tokens = rows.ids.numpy()[row[:, None], np.minimum(places, rows.ids.shape[1] - 1)]
    share = (np.arange(count) + rng.random()) / max(1, count)
    rng.shuffle(share)
    masked = rng.random(places.shape) < np.clip(2 * share, 0.05, 1.0)[:, None]
    masked[:, 0] = False
    masked &= inside
    # Nothing is learned from a block without a mask.
    kept = masked.any(axis=1)
    row, starts, tokens, inside, masked = (x[kept] for x in (row, starts, tokens, inside, masked))
    number = np.arange(len(row)) - np.searchsorted(row, row)
    placed = rows.positions.numpy()[row[:, None], starts] + np.arange(block_size)
    copies = max(1, int(np.bincount(row, minlength=1).max()))
    length = rows.ids.shape[1]
    width = rounded(length + copies * block_size, multiple) - length

    def laid(values: np.ndarray[Any, Any], empty: int) -> Tensor:
        out = np.full((len(cuts), width), empty, dtype=np.int64)
        out[:, : copies * block_size].reshape(len(cuts), copies, block_size)[row, number] = values
        return torch.from_numpy(out)

    return Copies(
        ids=laid(np.where(inside & ~masked, tokens, int(Mark.MASK)), int(Mark.MASK)),
        targets=laid(np.where(masked, tokens, -100), -100),
        positions=laid(placed, 0),
        blocks=laid(number[:, None], -1),
        starts=laid(starts, -1),
    )


def copies_see(length: int, copies: Copies) -> Tensor:
    """Which keys of [x_0, x_t] each position of x_t may look at.

    Args:
        length: T, the length of x_0.
        copies: B rows of A positions each.

    Returns:
        (B, 1, A, T + A) bool. Padding sees padding, so that no row of the softmax is empty.
    """
    before = torch.arange(length, device=copies.starts.device) < copies.starts[:, :, None]
    own = copies.blocks[:, :, None] == copies.blocks[:, None, :]
    return torch.cat((before, own), dim=2)[:, None]


def parts_of(rows: Rows, copies: Copies | None, device: torch.device) -> Parts:
    """Which positions each dialogue of a joined row, and its copies, may look at."""
    assert rows.spans is not None
    starts = torch.empty(0, dtype=torch.int64) if copies is None else copies.starts[0]
    blocks = starts if copies is None else copies.blocks[0]
    parts: list[Part] = []
    lengths: list[int] = []
    for span in rows.spans:
        begin, end = span.own
        # Copies are in the order of their dialogues.
        here = (starts >= begin) & (starts < end)
        before = torch.arange(begin, end) < starts[here, None]
        same = blocks[here, None] == blocks[None, here]
        own = causal_mask(end - begin)
        first, last = (0, 0) if span.shared is None else rows.spans[span.shared].own
        sees = torch.cat(
            (
                torch.ones(len(own) + len(same), last - first, dtype=torch.bool),
                torch.cat((own, before)),
                torch.cat((own.new_zeros(len(own), len(same)), same)),
            ),
            dim=1,
        )
        parts.append(Part(span.shared, _widened(sees).to(device)))
        lengths.append(len(same))
    own_lengths = (end - begin for begin, end in (span.own for span in rows.spans))
    lengths.append(len(starts) - sum(lengths))
    return Parts(tuple(parts), (*own_lengths, *lengths))


def _widened(sees: Tensor) -> Tensor:
    """A mask padded to multiples of `GRAIN`; the queries added see everything."""
    asked, known = (rounded(length, GRAIN) for length in sees.shape)
    whole = torch.ones(asked, known, dtype=torch.bool)
    whole[: len(sees)] = False
    whole[: len(sees), : sees.shape[1]] = sees
    return whole


def causal_loss(hidden: Tensor, model: Transformer, rows: Rows) -> Tensor:
    """Weighted mean cross entropy of the next token. ``hidden`` is (B, T, D) of x_0."""
    weights = rows.weights[:, 1:].reshape(-1)
    keep = (weights > 0).nonzero()[:, 0]
    targets = rows.ids[:, 1:].reshape(-1)[keep].to(hidden.device)
    share = (weights[keep] / weights.sum()).to(hidden.device)
    there = keep.to(hidden.device)
    flat = hidden[:, :-1].reshape(-1, hidden.shape[-1])[there]
    head = model.embed_tokens.weight
    return linear_cross_entropy(flat, head, targets, share, learned_rows(model))


def masked_part(hidden: Tensor, copies: Copies) -> tuple[Tensor, Tensor]:
    """Hidden states (N, D) and targets (N,) of the masked positions of x_t, (B, A, D)."""
    targets = copies.targets.reshape(-1)
    keep = (targets != -100).nonzero()[:, 0]
    there = keep.to(hidden.device)
    return hidden.flatten(0, 1)[there], targets[keep].to(hidden.device)


def denoising_loss(hidden: Tensor, model: Transformer, copies: Copies) -> Tensor:
    """Mean cross entropy over masked tokens. ``hidden`` is (B, A, D) of x_t."""
    flat, targets = masked_part(hidden, copies)
    share = torch.full((len(flat),), 1 / max(1, len(flat)), device=hidden.device)
    head = model.embed_tokens.weight
    return linear_cross_entropy(flat, head, targets, share, learned_rows(model))


def ar_step(model: Transformer, rows: Rows) -> dict[str, Tensor]:
    """Loss of the autoregressive phase."""
    device = model.embed_tokens.weight.device
    attend: Attend = causal if rows.spans is None else parts_of(rows, None, device)
    hidden = model(rows.ids.to(device), rows.positions.to(device), attend)
    return {"causal": causal_loss(hidden, model, rows)}


def joint_step(
    model: Transformer,
    rows: Rows,
    copies: Copies,
    sharpen: bool = False,
) -> dict[str, Tensor]:
    """Losses of the joint phase, from one forward.

    Args:
        model: On any device.
        rows: x_0, on the CPU.
        copies: x_t, on the CPU.
        sharpen: Whether the uncertainty of correct predictions is a loss too.
    """
    length = rows.ids.shape[1]
    device = model.embed_tokens.weight.device
    there = replace(copies, blocks=copies.blocks.to(device), starts=copies.starts.to(device))
    attend: Attend
    if rows.spans is not None:
        attend = parts_of(rows, copies, device)
    else:
        attend = Joint(length, copies_see(length, there))
    ids = torch.cat((rows.ids, copies.ids), dim=1).to(device)
    positions = torch.cat((rows.positions, copies.positions), dim=1).to(device)
    hidden = model(ids, positions, attend)
    losses = {
        "causal": causal_loss(hidden[:, :length], model, rows),
        "denoising": denoising_loss(hidden[:, length:], model, copies),
    }
    if sharpen:
        flat, targets = masked_part(hidden[:, length:], copies)
        losses["uncertainty"] = uncertainty(flat, targets, model.embed_tokens.weight)
    return losses
