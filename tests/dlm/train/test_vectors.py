from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dlm.language.tokenizer import Mark
from dlm.loading.weights import load_model, save_model
from dlm.network.model import Transformer
from dlm.train.loop import initialised
from dlm.train.vectors import on_vectors, plain_state
from tests.dlm.tiny import config

WIDTH = 48


def vectors() -> torch.Tensor:
    return torch.randn(config().vocab_size, WIDTH, generator=torch.Generator().manual_seed(3))


def test_words_move_together_and_marks_alone() -> None:
    model = on_vectors(initialised(Transformer(config())), vectors())
    first = model.embed_tokens.weight.detach().clone()
    assert first[len(Mark) :].std() == pytest.approx(0.02, rel=0.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    # Only one word is seen, yet all words change; of the marks only the one that is seen.
    hidden = model(torch.tensor([[int(Mark.USER), 100]]), torch.arange(2)[None])
    hidden.square().sum().backward()
    optimizer.step()
    moved = (model.embed_tokens.weight - first).abs().amax(dim=1) > 0
    assert moved[len(Mark) :].all()
    assert moved[: len(Mark)].nonzero().tolist() == [[int(Mark.USER)]]


def test_the_checkpoint_is_a_plain_model(tmp_path: Path) -> None:
    model = on_vectors(initialised(Transformer(config())), vectors())
    save_model(model, tmp_path, torch.float32, state=plain_state(model))
    read = load_model(tmp_path)
    ids, at = torch.arange(20, 40)[None], torch.arange(20)[None]
    with torch.no_grad():
        torch.testing.assert_close(read(ids, at), model(ids, at))
        expected = model.logits(model(ids, at))
        torch.testing.assert_close(read.logits(read(ids, at)), expected)


def test_vectors_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(ValueError, match="got 7, expected 352"):
        on_vectors(Transformer(config()), torch.ones(7, WIDTH))
