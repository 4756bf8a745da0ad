from __future__ import annotations

from pathlib import Path

import pytest

from dlm.language.tokenizer import Mark, Tokenizer
from dlm.train.config import TrainConfig
from dlm.train.pack import PackedData, main, read
from tests.dlm.tiny import tokenizer

CONFIG = "vocab_size = 600\nmax_length = 900\nevaluate_dialogues = 5\ntokenizer_dialogues = 50\n"


def pack(directory: Path, *arguments: str) -> PackedData:
    (directory / "run.toml").write_text(CONFIG, encoding="utf-8")
    file = directory / "data.npz"
    main(["--out", str(file), "--config", str(directory / "run.toml"), *arguments])
    return read(file)


def test_so_many_tokens_are_packed_with_their_tokenizer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = pack(tmp_path, "--tokens", "5000", "--set", "seed = 9")
    told = capsys.readouterr().out
    assert 5000 <= len(data.train.ids) < 5900
    assert all(row.answers and len(row.ids) <= 900 for row in [*data.train, *data.heldout])
    assert len(data.heldout) == 5
    # Thoughts are learned from; what is held out is answered at once.
    assert any(Mark.THINK in row.ids for row in data.train)
    assert not any(Mark.THINK in row.ids for row in data.heldout)
    assert data.source["reasons"] == TrainConfig().reasons
    assert data.source["tokens"] == len(data.train.ids)
    assert data.source["seed"] == 9
    assert sum(data.source["shares"].values()) == pytest.approx(1.0)
    assert f"{len(data.train)} dialogues, {len(data.train.ids)} tokens, 5 held out" in told
    (tmp_path / "tokenizer.json").write_text(data.tokenizer, encoding="utf-8")
    learned = Tokenizer.load(tmp_path)
    assert learned.vocab_size == 600
    start, end = data.train[0].answers[0]
    assert data.train[0].ids[end - 1] == Mark.END
    assert learned.decode(data.train[0].ids[start:end])


def test_a_tokenizer_may_be_given(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "tokenizer")
    data = pack(tmp_path, "--tokens", "1000", "--tokenizer", str(tmp_path / "tokenizer"))
    assert int(data.train.ids.max()) < tokenizer().vocab_size


def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "tokenizer")
    (tmp_path / "run.toml").write_text(CONFIG, encoding="utf-8")
    file = tmp_path / "runs" / "data.npz"
    where = ["--out", str(file), "--tokenizer", str(tmp_path / "tokenizer")]
    main(["--tokens", "1000", "--config", str(tmp_path / "run.toml"), *where])
    assert len(read(file).train.ids) >= 1000


def test_what_cannot_be_read_or_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").write_text("no folder", encoding="utf-8")
    missing = ["--config", str(tmp_path / "none.toml")]
    for out, rest in (("runs/data.npz", []), ("data.npz", missing)):
        with pytest.raises(SystemExit) as left:
            main(["--tokens", "10", "--out", str(tmp_path / out), *rest])
        assert left.value.code == 2
    assert "none.toml" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["data.bin", "data"])
def test_the_file_has_its_ending(
    tmp_path: Path, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--tokens", "10", "--out", str(tmp_path / out)])
    assert "expected a name that ends in .npz" in capsys.readouterr().err


def test_a_tokenizer_that_is_too_large_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer().save(tmp_path)
    with pytest.raises(SystemExit):
        pack(tmp_path, "--tokens", "10", "--tokenizer", str(tmp_path), "--set", "vocab_size = 300")
    assert "more than the 300" in capsys.readouterr().err
