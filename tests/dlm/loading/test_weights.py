from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from dlm.engine.engine import SHIPPED
from dlm.loading.sums import SUMS, write_sums
from dlm.loading.weights import load_model, save_model
from dlm.train.export import write
from tests.dlm.tiny import config, model

Q = "model.layers.1.self_attn.q_proj.weight"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    save_model(model(seed=1), tmp_path / "made", torch.float32)
    return tmp_path / "made"


def tensors(checkpoint: Path) -> dict[str, Tensor]:
    return load_file(checkpoint / "model.safetensors")


def rewrite(checkpoint: Path, changed: dict[str, Tensor]) -> None:
    save_file(changed, checkpoint / "model.safetensors")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"weight_map": {"a": 3}}'])
def test_an_index_that_is_malformed_is_named(checkpoint: Path, text: str) -> None:
    (checkpoint / "model.safetensors.index.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"model\.safetensors\.index\.json: "):
        load_model(checkpoint)


def test_weights_that_are_replaced_leave_no_shards(checkpoint: Path) -> None:
    write(tensors(checkpoint), checkpoint, 50_000)
    assert (checkpoint / "model.safetensors.index.json").is_file()
    save_model(model(seed=2), checkpoint, torch.float32)
    expected = model(seed=2).state_dict()
    loaded = load_model(checkpoint).state_dict()
    assert all(torch.equal(loaded[name], expected[name]) for name in expected)
    assert sorted(file.name for file in checkpoint.iterdir()) == [
        "config.json",
        "model.safetensors",
    ]


def test_weights_that_are_not_what_their_sums_say_are_not_loaded(checkpoint: Path) -> None:
    file = checkpoint / "model.safetensors"
    write_sums((file,), checkpoint)
    load_model(checkpoint)
    rewrite(checkpoint, {name: torch.zeros_like(one) for name, one in tensors(checkpoint).items()})
    with pytest.raises(ValueError, match=r"model\.safetensors: got SHA-256"):
        load_model(checkpoint)


def test_the_shipped_weights_have_their_sums() -> None:
    named = {line.split()[1] for line in (SHIPPED / SUMS).read_text().splitlines()}
    weights = {str(file.relative_to(SHIPPED)) for file in SHIPPED.rglob("*.safetensors")}
    assert weights and weights <= named


def test_round_trip(checkpoint: Path) -> None:
    expected, loaded = model(seed=1).state_dict(), load_model(checkpoint)
    assert loaded.config == config()
    assert not loaded.training
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


def test_names_on_disk_are_qwen3s(checkpoint: Path) -> None:
    names = set(tensors(checkpoint))
    assert {n for n in names if "layers" not in n} == {
        "model.embed_tokens.weight",
        "model.norm.weight",
    }
    assert {n.removeprefix("model.layers.0.") for n in names if "layers.0." in n} == {
        *(f"self_attn.{part}_proj.weight" for part in "qkvo"),
        *(f"self_attn.{part}_norm.weight" for part in "qk"),
        *(f"mlp.{part}_proj.weight" for part in ("gate", "up", "down")),
        "input_layernorm.weight",
        "post_attention_layernorm.weight",
    }


def test_weights_are_written_and_read_in_the_dtype_asked_for(tmp_path: Path) -> None:
    save_model(model(seed=1), tmp_path)
    assert {t.dtype for t in tensors(tmp_path).values()} == {torch.bfloat16}
    loaded = load_model(tmp_path, torch.float16)
    assert {p.dtype for p in loaded.parameters()} == {torch.float16}


def test_shards_are_put_together(checkpoint: Path) -> None:
    whole = tensors(checkpoint)
    names = sorted(whole)
    files = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in files.items():
        save_file({name: whole[name] for name in part}, checkpoint / file)
    (checkpoint / "model.safetensors").unlink()
    index = {"weight_map": {name: file for file, part in files.items() for name in part}}
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    expected = model(seed=1).state_dict()
    for name, tensor in load_model(checkpoint).state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    (checkpoint / "b.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.safetensors: no such weights file"):
        load_model(checkpoint)


def test_a_missing_weight_is_named(checkpoint: Path) -> None:
    changed = tensors(checkpoint)
    del changed[Q]
    rewrite(checkpoint, changed)
    with pytest.raises(ValueError, match=f"missing weight {Q}"):
        load_model(checkpoint)


def test_unexpected_weights_are_named(checkpoint: Path) -> None:
    rewrite(checkpoint, tensors(checkpoint) | {"model.layers.9.extra": torch.zeros(1)})
    with pytest.raises(ValueError, match=r"unexpected weights \['model.layers.9.extra'\]"):
        load_model(checkpoint)


def test_a_weight_of_another_shape_is_named(checkpoint: Path) -> None:
    changed = tensors(checkpoint)
    # Fused with the key's and value's, it would still have the right sum of rows.
    changed[Q] = changed[Q][:-8].clone()
    changed[Q.replace("q_proj", "k_proj")] = torch.zeros(24, 32)
    rewrite(checkpoint, changed)
    with pytest.raises(ValueError, match=rf"{Q}: got shape \(24, 32\), expected \(32, 32\)"):
        load_model(checkpoint)


def test_a_tied_head_may_be_written_out_as_well(checkpoint: Path) -> None:
    whole = tensors(checkpoint)
    rewrite(checkpoint, whole | {"lm_head.weight": whole["model.embed_tokens.weight"].clone()})
    load_model(checkpoint)


def test_a_missing_file_is_named(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        load_model(checkpoint)


def test_a_weight_of_a_type_that_is_no_fraction_is_named(checkpoint: Path) -> None:
    whole = tensors(checkpoint)
    rewrite(checkpoint, whole | {Q: whole[Q].to(torch.int8)})
    with pytest.raises(ValueError, match=f"{Q}: got type I8, expected one of"):
        load_model(checkpoint)


def test_a_tied_head_that_is_not_the_embedding_is_refused(checkpoint: Path) -> None:
    whole = tensors(checkpoint)
    rewrite(checkpoint, whole | {"lm_head.weight": whole["model.embed_tokens.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head\.weight: differs from the embedding"):
        load_model(checkpoint)


def test_a_head_of_its_own_is_written_and_must_be_there(tmp_path: Path) -> None:
    save_model(model(seed=1, tie_word_embeddings=False), tmp_path, torch.float32)
    loaded = load_model(tmp_path)
    assert torch.equal(loaded.lm_head.weight, tensors(tmp_path)["lm_head.weight"])
    whole = tensors(tmp_path)
    del whole["lm_head.weight"]
    rewrite(tmp_path, whole)
    with pytest.raises(ValueError, match=r"missing weight lm_head\.weight"):
        load_model(tmp_path)


def test_a_shard_that_holds_what_the_index_puts_elsewhere_is_refused(checkpoint: Path) -> None:
    whole = tensors(checkpoint)
    (checkpoint / "model.safetensors").unlink()
    save_file(whole, checkpoint / "a.safetensors")
    index = {"weight_map": {name: "a.safetensors" for name in whole if name != Q}}
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(ValueError, match=f"a.safetensors: got weight {Q}, which the index puts"):
        load_model(checkpoint)


def test_a_file_that_holds_no_weights_is_named(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ValueError, match=r"model\.safetensors: "):
        load_model(checkpoint)


def test_loading_leaves_the_compiler_of_torch_alone(checkpoint: Path, repo_root: Path) -> None:
    """Importing it takes longer than loading a small model, and a hundred megabytes."""
    program = (
        "import sys; from pathlib import Path; from dlm.loading.weights import load_model\n"
        f"load_model(Path({str(checkpoint)!r})); print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repo_root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
