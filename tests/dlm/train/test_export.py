from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from dlm.loading.weights import load_model, save_model
from dlm.train.export import blended, export, main, quantised, shards, write
from tests.dlm.tiny import model, tokenizer
from tests.dlm.train.disk import full_disk


@pytest.fixture
def run(tmp_path: Path) -> Path:
    save_model(model(), tmp_path / "run")
    tokenizer().save(tmp_path / "run")
    return tmp_path / "run"


def size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.glob("*.safetensors"))


def test_shards_hold_the_same_weights(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = export(run, out, int8=False, limit=25_000)
    assert len(files) > 2
    assert all(file.stat().st_size < 25_000 + 4096 for file in files)
    assert not (out / "model.safetensors").exists()
    index = json.loads((out / "model.safetensors.index.json").read_text(encoding="utf-8"))
    assert set(index["weight_map"].values()) == {file.name for file in files}
    whole = load_model(run).state_dict()
    for name, weight in load_model(out).state_dict().items():
        assert torch.equal(weight, whole[name])


def test_two_runs_are_mixed_by_share(run: Path, tmp_path: Path) -> None:
    silent = model()
    for parameter in silent.parameters():
        parameter.zero_()
    save_model(silent, tmp_path / "other")
    options = ["--blend", str(tmp_path / "other"), "--blend-share", "0.25"]
    main([str(run), "--out", str(tmp_path / "out"), *options])
    whole = load_model(run).state_dict()
    for name, weight in load_model(tmp_path / "out").state_dict().items():
        assert torch.allclose(weight, 0.75 * whole[name], rtol=0.01)


def test_checkpoints_in_several_files_are_read_as_well(run: Path, tmp_path: Path) -> None:
    assert len(export(run, tmp_path / "cut", int8=False, limit=25_000)) > 2
    export(tmp_path / "cut", tmp_path / "out", int8=False, limit=10**9, blend=(run, 0.5))
    whole = load_model(run).state_dict()
    for name, weight in load_model(tmp_path / "out").state_dict().items():
        assert torch.equal(weight, whole[name])


def test_eight_bits_are_mixed_as_the_numbers_they_stand_for(run: Path, tmp_path: Path) -> None:
    small, again = tmp_path / "small", tmp_path / "again"
    export(run, small, int8=True, limit=10**9)
    export(small, again, int8=True, limit=10**9)
    whole = load_model(small).state_dict()
    for name, weight in load_model(again).state_dict().items():
        torch.testing.assert_close(weight, whole[name], rtol=0.0, atol=1e-6)
    for mixed in ((small, again), (run, small)):
        export(mixed[0], tmp_path / "out", int8=False, limit=10**9, blend=(mixed[1], 0.5))
        for name, weight in load_model(tmp_path / "out").state_dict().items():
            bound = 0.02 * whole[name].abs().max()
            assert (weight - whole[name]).abs().max() <= bound
    assert size(tmp_path / "out") == size(run)


def test_what_lies_there_stands_until_the_new_is_written(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "out", int8=False, limit=10**9)
    before = (tmp_path / "out" / "model.safetensors").read_bytes()
    with full_disk(20_000), pytest.raises(OSError, match="cannot be written"):
        write({"a": torch.zeros(100), "b": torch.zeros(10_000)}, tmp_path / "out", 40_000)
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == before
    assert not list((tmp_path / "out").glob("*.partial"))


def test_a_damaged_file_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(SystemExit):
        main([str(run), "--out", str(tmp_path / "out")])
    assert "model.safetensors: " in capsys.readouterr().err


def test_runs_of_another_shape_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="one shape"):
        blended({"a": torch.ones(2)}, {"a": torch.ones(3)}, 0.5)


def test_one_file_needs_no_index(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "out", int8=False, limit=25_000)
    files = export(run, tmp_path / "out", int8=False, limit=10**9)
    assert [file.name for file in files] == ["model.safetensors"]
    assert not (tmp_path / "out" / "model.safetensors.index.json").exists()
    load_model(tmp_path / "out")


def test_eight_bits_are_half_as_large_and_nearly_the_same(run: Path, tmp_path: Path) -> None:
    main([str(run), "--out", str(tmp_path / "out"), "--int8"])
    assert size(tmp_path / "out") < 0.65 * size(run)
    whole = load_model(run).state_dict()
    for name, weight in load_model(tmp_path / "out").state_dict().items():
        if weight.dim() == 2:
            bound = whole[name].abs().amax(dim=1, keepdim=True) / 127 * 0.51
            assert ((weight - whole[name]).abs() <= bound).all()
        else:
            assert torch.equal(weight, whole[name])


def test_rows_keep_their_own_scale_and_zeros_stay() -> None:
    given = torch.tensor([[1000.0, -500.0], [0.001, 0.002], [0.0, 0.0]])
    made = quantised({"a": given, "norm": torch.ones(3)})
    assert made["a"].dtype == torch.int8
    torch.testing.assert_close(made["a"].float() * made["a_scale"], given, rtol=0.01, atol=0.0)
    assert set(made) == {"a", "a_scale", "norm"}


def test_a_weight_that_fits_no_file_is_told() -> None:
    with pytest.raises(ValueError, match="big: got 400 bytes, expected at most 300"):
        shards({"big": torch.zeros(100)}, 300)


def test_groups_are_filled_in_order() -> None:
    made = shards({name: torch.zeros(25) for name in "abcde"}, 250)
    assert [list(group) for group in made] == [["a", "b"], ["c", "d"], ["e"]]


def test_old_weights_go(tmp_path: Path) -> None:
    tensors = {name: torch.zeros(25) for name in "abc"}
    assert len(write(tensors, tmp_path, 100)) == 3
    assert len(write(tensors, tmp_path, 200)) == 2
    assert len(list(tmp_path.glob("*.safetensors"))) == 2


def test_what_cannot_be_written_replaces_nothing(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "out", int8=False, limit=10**9)
    with pytest.raises(ValueError, match="expected at most 300"):
        export(run, tmp_path / "out", int8=False, limit=300)
    load_model(tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["nowhere", "--out", "out"], "nowhere/model.safetensors"),
        (["RUN", "--out", "RUN", "--int8"], "got the run's own directory"),
        (["RUN", "--out", "out", "--shard-mib", "0.0001"], "expected at most 104 for a file"),
        (["RUN", "--out", "out", "--blend", "RUN", "--blend-share", "3"], "share: got 3.0"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    run: Path,
    options: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    with pytest.raises(SystemExit) as stopped:
        main([word.replace("RUN", str(run)) for word in options])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before


def test_weights_that_changed_on_disk_are_refused(run: Path, tmp_path: Path) -> None:
    """Zeroed weights load and answer nonsense, where nothing says what they should be."""
    out = tmp_path / "out"
    (file,) = export(run, out, int8=True, limit=10**9)
    load_model(out)
    whole = bytearray(file.read_bytes())
    whole[-200:] = bytes(200)
    file.write_bytes(whole)
    with pytest.raises(ValueError, match=r"model\.safetensors: got SHA-256 \w+, expected \w+"):
        load_model(out)
    save_model(model(), out)
    load_model(out)
