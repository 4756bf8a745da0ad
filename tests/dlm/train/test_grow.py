from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dlm.loading.weights import load_model, save_model
from dlm.train.grow import grown, main
from tests.dlm.tiny import model, tokenizer


@torch.no_grad()
def test_a_deeper_model_computes_the_same_until_it_learns() -> None:
    shallow = model()
    deep = grown(shallow, [0, 0, 1, 1, 1])
    assert deep.config.num_hidden_layers == len(deep.layers) == 5
    ids = torch.arange(24).view(2, 12)
    positions = torch.arange(12).expand(2, 12)
    assert torch.equal(deep(ids, positions), shallow(ids, positions))
    deep.state_dict()["layers.1.self_attn.o_proj.weight"].add_(0.1)
    assert not torch.equal(deep(ids, positions), shallow(ids, positions))


def test_copies_learn_although_they_write_nothing_yet() -> None:
    deep = grown(model(), [0, 1, 1]).requires_grad_(True)
    ids = torch.arange(12).view(1, 12)
    deep(ids, torch.arange(12).view(1, 12)).square().sum().backward()
    found = {name: p.grad for name, p in deep.named_parameters() if name.startswith("layers.2.")}
    for name in ("mlp.down_proj", "self_attn.o_proj"):
        grad = found[f"layers.2.{name}.weight"]
        assert grad is not None and grad.any()


def test_the_command_writes_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(model(), tmp_path / "small")
    tokenizer().save(tmp_path / "small")
    main([str(tmp_path / "small"), "--layers", "0,1,1", "--out", str(tmp_path / "deep")])
    assert "deep: 3 layers, " in capsys.readouterr().out
    written = load_model(tmp_path / "deep").state_dict()
    first, copy = (written[f"layers.{place}.mlp.gate_up_proj.weight"] for place in (1, 2))
    assert torch.equal(first, copy)
    assert not written["layers.2.mlp.down_proj.weight"].any()
    assert (tmp_path / "deep" / "tokenizer.json").is_file()


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ("0", "expected 0 to 1 in order, each"),
        ("0,1,0", "got [0, 1, 0]"),
        ("0,1,2", "got [0, 1, 2]"),
        ("a", "invalid literal"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    layers: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(model(), tmp_path / "small")
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "small"), "--layers", layers, "--out", str(tmp_path / "deep")])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "deep").exists()


def test_a_checkpoint_is_not_written_over_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(model(), tmp_path)
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--layers", "0,1,1", "--out", str(tmp_path)])
    assert "got the checkpoint's own directory" in capsys.readouterr().err
