from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.loading.gguf import convert
from dlm.train import carve, teach
from dlm.train.data import Mixture, training_rows
from dlm.train.loss import Listed, linear_cross_entropy
from dlm.train.objective import collate
from dlm.train.rehearse import BRIEF, continued, sentences, talk
from tests.dlm.loading.test_gguf import written
from tests.dlm.tiny import template

SAID = "Why is it so?"
ANSWERED = "A cat sat at a mat."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    written(folder / "x.gguf")
    convert(folder / "x.gguf", folder)
    carve.write(folder, folder / "learner", 1, 290, [f" {SAID}", f" {ANSWERED}"] * 9)
    lines = [{"role": "user", "content": SAID}, {"role": "assistant", "content": ANSWERED}]
    (folder / "x.jsonl").write_text(json.dumps({"messages": lines}) + "\n", encoding="utf-8")
    return folder


def teacher(base: Path) -> Checkpoint:
    return load_checkpoint(base, torch.float32, "cpu")


def test_what_is_kept_is_what_the_teacher_predicts(base: Path) -> None:
    whole, learner = teacher(base), Tokenizer.load(base / "learner")
    names = whole.dialect.unspellable()["model"]["vocab"]
    ids = torch.tensor(teach.origin(names, learner, whole.dialect.end))
    answer = [*learner.encode(f" {ANSWERED}"), int(Mark.END)]
    tokens, shares = teach.predictions(whole, [Turn("user", SAID)], answer, ids)
    prompt = whole.dialect.prompt([Turn("system", BRIEF), Turn("user", SAID)])
    read = torch.tensor([[*prompt, *whole.dialect.text(f" {ANSWERED}")]])
    sees = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).tril()[None, None]
    logits = whole.model.logits(whole.model(read, torch.arange(read.shape[1])[None], sees))[0]
    expected = logits[len(prompt) - 1 :].softmax(dim=-1)
    assert len(tokens) == len(answer) == len(expected)
    torch.testing.assert_close(expected.gather(1, ids[tokens])[1:], shares[1:])
    assert shares[0].sum() == 0 and (shares[1:].diff(dim=1) <= 0).all()


def test_a_run_reads_what_was_kept(base: Path) -> None:
    words = ["--init", str(base), "--learner", str(base / "learner")]
    teach.main([*words, "--data", str(base / "x.jsonl")])
    template = teach.Template(Tokenizer.load(base / "learner"))
    mixture = Mixture(examples=base / "x.jsonl", replay=0.0)
    row = next(training_rows(template, mixture)(1))
    assert row.listed is not None
    rows = collate([row], 0.1)
    assert rows.listed is not None
    ids, shares = rows.listed
    (start, end) = row.answers[-1]
    assert np.array_equal(ids[0, start:end], row.listed[0])
    assert shares[0, :start].sum() == shares[0, end:].sum() == shares[0, start].sum() == 0
    assert shares[0, start + 1 : end].sum(dim=-1).min() > 0


def test_the_loss_is_cross_entropy_with_the_mixed_targets() -> None:
    generator = torch.Generator().manual_seed(4)
    hidden, head = (torch.randn(n, 8, generator=generator) for n in (5, 20))
    head.requires_grad_(True)
    targets, weights = torch.arange(5), torch.full((5,), 0.2)
    ids = torch.tensor([[7, 9], [1, 2], [3, 3], [4, 5], [0, 0]])
    shares = torch.tensor([[0.5, 0.2], [0.9, 0.1], [0.1, 0.3], [0.0, 0.0], [0.4, 0.0]])
    listed = Listed(ids, shares, 20)
    wanted = functional.one_hot(targets, 20) * (1 - shares.sum(dim=1, keepdim=True))
    wanted = wanted.scatter_add(1, ids, shares)
    expected = functional.cross_entropy(hidden @ head.T, wanted)
    loss = linear_cross_entropy(hidden, head, targets, weights, listed)
    torch.testing.assert_close(loss, expected)
    (ours,) = torch.autograd.grad(loss, head)
    (theirs,) = torch.autograd.grad(expected, head)
    torch.testing.assert_close(ours, theirs)


def test_greedy_talk_is_what_one_forward_gives(base: Path) -> None:
    whole, rng = teacher(base), torch.Generator().manual_seed(1)
    prompts = [whole.dialect.text(" a cat"), whole.dialect.text(" why")]
    for prompt, made in zip(prompts, continued(whole, prompts, 6, 0.0, rng), strict=True):
        ids = torch.tensor([[*prompt, *made]])
        sees = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()[None, None]
        logits = whole.model.logits(whole.model(ids, torch.arange(ids.shape[1])[None], sees))[0]
        assert logits[len(prompt) - 1 : -1].argmax(dim=-1).tolist() == made
    assert all(len(pair) == 2 for pair in talk(whole, 3, rng))


def test_only_whole_sentences_are_kept() -> None:
    assert sentences(" It is. Or is it? Per") == "It is. Or is it?"
    assert sentences("no end") == sentences("# Title.") == ""
    assert template().mask == int(Mark.MASK)
