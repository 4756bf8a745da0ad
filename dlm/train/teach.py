"""``python -m dlm.train.teach --init TEACHER --learner DIR --data FILE``: targets.

A chat model reads the answers of examples, and its likeliest tokens at each place are kept in a
file beside them, which ``dlm.train --data`` then mixes into the targets. Both vocabularies spell
tokens alike (`dlm.train.carve`); what the teacher has and the learner has not is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer, PretrainedConfig

from dlm.datagen.examples import read
from dlm.language.messages import Answer, Turn
from dlm.language.template import Template, turn_of
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.train.attention import causal
from dlm.train.data import LISTED
from dlm.train.machine import prepare
from dlm.train.rehearse import BRIEF

KEPT = 16
"""Tokens at each place."""


def origin(teacher: dict[str, int], learner: Tokenizer, end: int) -> list[int]:
    """For each entry of the learner's vocabulary the teacher's id, -1 for none."""
    names = (str(learner.bpe.id_to_token(number)) for number in range(learner.vocab_size))
    ids = [teacher.get(name, -1) for name in names]
    ids[: len(Mark)] = [-1] * len(Mark)
    ids[Mark.END] = end
    return ids


@torch.inference_mode()
def predictions(
    teacher: Checkpoint, turns: Sequence[Turn], answer: Sequence[int], ids: Tensor
) -> tuple[Tensor, Tensor]:
    """The likeliest tokens at each place of an answer.

    Args:
        teacher: Positions are committed causally.
        turns: Before the answer.
        answer: The learner's ids, end included.
        ids: See `origin`.

    Returns:
        Ids of the learner's and shares, each (n, `KEPT`). At the first place all shares are 0:
        the learner's texts begin with a space and the teacher's do not.
    """
    prompt = teacher.dialect.prompt([Turn("system", BRIEF), *turns])
    whole = torch.tensor([[*prompt, *ids[torch.tensor(answer[:-1])].tolist()]])
    hidden = teacher.model(whole, torch.arange(whole.shape[1])[None], causal)[0]
    logits = teacher.model.logits(hidden[len(prompt) - 1 :]).float()
    shares = logits.softmax(dim=-1)[:, ids.clamp(min=0)] * (ids >= 0)
    top, tokens = shares.topk(KEPT, dim=-1)
    top[0] = 0
    return tokens, top


def listed(teacher: Checkpoint, teacher_ids: dict[str, int], learner: Path, data: Path) -> int:
    """Write the file beside the examples; returns how many tokens of answers it holds.

    Raises:
        ValueError: The examples are malformed.
    """
    template = Template(Tokenizer.load(learner))
    known = torch.tensor(origin(teacher_ids, template.tokenizer, teacher.dialect.end))
    parts: list[tuple[Any, Any]] = []
    for row in read(data):
        turns = [turn_of(message) for message in row["messages"]]
        answer = template.spell(Answer(turns[-1].content, turns[-1].calls))
        if any(known[token] < 0 for token in answer):
            empty = np.zeros((len(answer), KEPT))
            parts.append((empty, empty))
            continue
        tokens, shares = predictions(teacher, turns[:-1], answer, known)
        parts.append((tokens.numpy(), shares.numpy()))
    ends = np.cumsum([len(tokens) for tokens, _ in parts])
    np.savez(
        data.with_suffix(LISTED),
        ids=np.concatenate([tokens for tokens, _ in parts]).astype(np.uint16),
        shares=np.concatenate([shares for _, shares in parts]).astype(np.float16),
        ends=ends,
    )
    return int(ends[-1])


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the file.

    Raises:
        SystemExit: What was asked for cannot be done, 2.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.teach", description=__doc__)
    parser.add_argument("--init", type=Path, required=True, help="directory of the teacher")
    parser.add_argument("--learner", type=Path, required=True, help="checkpoint that will learn")
    parser.add_argument("--data", type=Path, required=True, help="examples, JSON lines")
    options = parser.parse_args(arguments)
    prepare(1)
    try:
        teacher = load_checkpoint(options.init, torch.bfloat16, "cpu")
        own = AutoTokenizer.from_pretrained(str(options.init), config=PretrainedConfig())
        count = listed(teacher, own.get_vocab(), options.learner, options.data)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    print(f"{options.data.with_suffix(LISTED)}: {count} tokens")


if __name__ == "__main__":
    main()
