"""What the model is trained on: next tokens of the dialogue, and masked blocks of the answers.

One forward serves both. The clean dialogue x_0 is read causally, exactly as committed positions
are at run time; copies of answer blocks with masked tokens, x_t, are appended to it. A copy
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

from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark
from dlm.network.model import Attend, Transformer
from dlm.train.attention import Flex, Joint, causal
from dlm.train.loss import Listed, Soft, linear_cross_entropy, uncertainty


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of dialogues.

    Attributes:
        ids: (B, T) int64, padded at the right.
        weights: (B, T) float32, of each token as a target of next-token prediction; 0 is padding.
        answers: For each row, ranges [start, end) of its answers, those that are drafted.
        replayed: (B,) bool, whether a row replays what a checkpoint already knew.
        listed: Ids int64 and shares float32, each (B, T, k), that another model gives each token;
            None where no row has any.
    """

    ids: Tensor
    weights: Tensor
    answers: list[list[tuple[int, int]]]
    replayed: Tensor
    listed: tuple[Tensor, Tensor] | None = None


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


@dataclass(frozen=True, slots=True)
class Teacher:
    """A model whose predictions are a part of the targets of replayed rows.

    Attributes:
        model: With the same vocabulary; does not learn.
        share: Of its predictions in these targets, in (0, 1].
    """

    model: Transformer
    share: float


@dataclass(frozen=True, slots=True)
class Taught:
    """A teacher's hidden states for a batch.

    Attributes:
        hidden: (B, S, D), for the same S positions of each row as the learner's.
        head: (V, D).
        share: (B,) float32, of its predictions in each row's targets.
    """

    hidden: Tensor
    head: Tensor
    share: Tensor

    def at(self, part: slice) -> Taught:
        """The same for some positions."""
        return replace(self, hidden=self.hidden[:, part])

    def soft(self, keep: Tensor) -> Soft:
        """Targets of the positions, (N,) of B * S laid end to end, that have a loss."""
        each = self.share.repeat_interleave(self.hidden.shape[1])
        return Soft(self.hidden.flatten(0, 1)[keep], self.head, each[keep])


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
        prompt_weight: Weight of next-token loss on what is neither an answer nor part of the
            declarations before the first user message, which are arbitrary and weigh nothing.
        multiple: The length is one of this number, so that few shapes occur.
        reading_weight: Of the user's words where they count as an answer; they are not drafted.
        opening_weight: Of the first token of an answer.
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
                weights[row, start] = opening_weight
                drafted[-1].append((start, end))
    replayed = torch.tensor([d.replayed for d in dialogues])
    listed = _listed(dialogues, length)
    return Rows(torch.from_numpy(ids), torch.from_numpy(weights), drafted, replayed, listed)


def _listed(dialogues: Sequence[Encoded], length: int) -> tuple[Tensor, Tensor] | None:
    given = [(row, d.answers[-1], d.listed) for row, d in enumerate(dialogues) if d.listed]
    if not given:
        return None
    shape = (len(dialogues), length, given[0][2][0].shape[1])
    ids, shares = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape)
    for row, (start, end), (tokens, parts) in given:
        ids[row, start:end] = torch.from_numpy(tokens.astype(np.int64))
        shares[row, start:end] = torch.from_numpy(parts.astype(np.float32))
    return ids, shares


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


def causal_loss(
    hidden: Tensor, model: Transformer, rows: Rows, taught: Taught | None = None
) -> Tensor:
    """Weighted mean cross entropy of the next token. ``hidden`` is (B, T, D) of x_0."""
    weights = rows.weights[:, 1:].reshape(-1)
    keep = (weights > 0).nonzero()[:, 0]
    targets = rows.ids[:, 1:].reshape(-1)[keep].to(hidden.device)
    share = (weights[keep] / weights.sum()).to(hidden.device)
    there = keep.to(hidden.device)
    flat = hidden[:, :-1].reshape(-1, hidden.shape[-1])[there]
    soft: Soft | Listed | None = None if taught is None else taught.at(slice(-1)).soft(there)
    if soft is None and rows.listed is not None:
        ids, parts = (x[:, 1:].flatten(0, 1)[keep].to(hidden.device) for x in rows.listed)
        soft = Listed(ids, parts, len(model.embed_tokens.weight))
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets, share, soft)


def masked_part(hidden: Tensor, copies: Copies) -> tuple[Tensor, Tensor, Tensor]:
    """Masked positions of x_t, (B, A, D): hidden states (N, D), targets (N,), indices (N,)."""
    targets = copies.targets.reshape(-1)
    keep = (targets != -100).nonzero()[:, 0]
    there = keep.to(hidden.device)
    return hidden.flatten(0, 1)[there], targets[keep].to(hidden.device), there


def denoising_loss(
    hidden: Tensor, model: Transformer, copies: Copies, taught: Taught | None = None
) -> Tensor:
    """Mean cross entropy over masked tokens. ``hidden`` is (B, A, D) of x_t."""
    flat, targets, there = masked_part(hidden, copies)
    share = torch.full((len(flat),), 1 / max(1, len(flat)), device=hidden.device)
    soft = None if taught is None else taught.soft(there)
    return linear_cross_entropy(flat, model.embed_tokens.weight, targets, share, soft)


def ar_step(model: Transformer, rows: Rows) -> dict[str, Tensor]:
    """Loss of the autoregressive phase."""
    device = model.embed_tokens.weight.device
    positions = torch.arange(rows.ids.shape[1], device=device)[None]
    hidden = model(rows.ids.to(device), positions, causal)
    return {"causal": causal_loss(hidden, model, rows)}


def joint_step(
    model: Transformer,
    rows: Rows,
    copies: Copies,
    sharpen: bool = False,
    flex: bool = False,
    teacher: Teacher | None = None,
) -> dict[str, Tensor]:
    """Losses of the joint phase, from one forward, and one of the teacher if rows are replayed.

    Args:
        model: On any device; so is the teacher.
        rows: x_0, on the CPU.
        copies: x_t, on the CPU.
        sharpen: Whether the uncertainty of what is predicted rightly is a loss too.
        flex: Whether FlexAttention does the attention; for CUDA.
        teacher: Of replayed rows; None for their tokens alone.
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
    positions = torch.cat((own, copies.positions), dim=1).to(device)
    hidden = model(ids, positions, attend)
    clean = noisy = None
    if teacher is not None and rows.replayed.any():
        with torch.no_grad():
            seen = teacher.model(ids, positions, attend)
        share = (rows.replayed * teacher.share).to(device)
        taught = Taught(seen, teacher.model.embed_tokens.weight, share)
        clean, noisy = taught.at(slice(length)), taught.at(slice(length, None))
    losses = {
        "causal": causal_loss(hidden[:, :length], model, rows, clean),
        "denoising": denoising_loss(hidden[:, length:], model, copies, noisy),
    }
    if sharpen:
        flat, targets, _ = masked_part(hidden[:, length:], copies)
        losses["uncertainty"] = uncertainty(flat, targets, model.embed_tokens.weight)
    return losses
