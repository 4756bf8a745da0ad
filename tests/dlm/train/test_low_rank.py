from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dlm.language.tokenizer import Mark
from dlm.loading.weights import load_model
from dlm.network.model import Transformer
from dlm.train.config import TrainConfig
from dlm.train.loop import Run
from dlm.train.low_rank import plain_state
from tests.dlm.tiny import model
from tests.dlm.train.test_loop import config, data, quiet


def rounded() -> Transformer:
    """The tiny model with matrices as bfloat16 has them."""
    made = model(seed=1)
    for parameter in made.parameters():
        parameter.data = parameter.data.bfloat16().float()
    return made


def settings() -> TrainConfig:
    return config(rank=2, ar_share=0.0, learning_rate=1e-2).shaped(model().config)


def test_it_begins_as_the_model_and_learns_products_and_marks_alone(tmp_path: Path) -> None:
    first = {name: tensor.clone() for name, tensor in rounded().state_dict().items()}
    run = Run(settings(), tmp_path, rounded())
    for name, tensor in plain_state(run.model).items():
        assert torch.equal(tensor, first[name]), name
    run.train(data(6), minutes=5, report=quiet)
    after = plain_state(run.model)
    assert after.keys() == first.keys()
    changed = {name for name in first if not torch.equal(after[name], first[name])}
    assert changed == {n for n in first if n.endswith("_proj.weight")} | {"embed_tokens.weight"}
    words = slice(len(Mark), None)
    assert torch.equal(after["embed_tokens.weight"][words], first["embed_tokens.weight"][words])
    for name in changed - {"embed_tokens.weight"}:
        assert torch.linalg.matrix_rank(after[name] - first[name], rtol=1e-4) == 2


def test_the_checkpoint_is_a_plain_model(tmp_path: Path) -> None:
    run = Run(settings(), tmp_path, rounded())
    run.train(data(4), minutes=5, report=quiet)
    read = load_model(tmp_path)
    ids, at = torch.arange(20, 40)[None], torch.arange(20)[None]
    with torch.no_grad():
        torch.testing.assert_close(read(ids, at), run.model(ids, at), atol=0.05, rtol=0.05)
        assert not torch.allclose(rounded()(ids, at), read(ids, at), atol=0.05, rtol=0.05)


def test_a_run_resumes_exactly_and_keeps_only_what_it_learned(tmp_path: Path) -> None:
    whole = Run(settings(), tmp_path / "whole", rounded())
    whole.train(data(6), minutes=5, report=quiet)
    half = Run(settings(), tmp_path / "half", rounded())
    half.train(data(3), minutes=5, report=quiet)
    rest = Run(settings(), tmp_path / "half", rounded())
    assert rest.resume()
    rest.train(data(6, first=3), minutes=5, report=quiet)
    for name, tensor in plain_state(whole.model).items():
        assert torch.equal(plain_state(rest.model)[name], tensor), name
    kept = torch.load(tmp_path / "half" / "state.pt", weights_only=True)["model"]
    assert not any(name.endswith("proj.weight") for name in kept)
    # What it learned would be added to other matrices, which may have it already.
    with pytest.raises(ValueError, match="of a run that began with other weights"):
        Run(settings(), tmp_path / "half", load_model(tmp_path / "half")).resume()
