from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.train.config import TrainConfig
from dlm.train.pack import Dialogues, PackedData, main, read, write
from tests.dlm.tiny import tokenizer

ROWS = [
    Encoded([3, 500, 65_535], [(1, 3)]),
    Encoded([7], []),
    Encoded(list(range(300)), [(0, 5), (100, 300)]),
]


def test_dialogues_are_what_was_laid_end_to_end() -> None:
    made = Dialogues.of(iter(ROWS))
    assert list(made) == ROWS
    assert len(made) == 3
    assert made.ids.dtype == np.uint16
    with pytest.raises(IndexError, match="got dialogue 3, expected 0 to 2"):
        made[3]


def test_ids_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="up to id 65536, expected at most 65535"):
        Dialogues.of([Encoded([65_536], [])])


def test_a_file_holds_everything(tmp_path: Path) -> None:
    file = tmp_path / "data.npz"
    told = {"seed": 3, "shares": {"coffee": 0.5}}
    for text in ("old", '{"café": 1}'):
        data = PackedData(Dialogues.of(ROWS), Dialogues.of(ROWS[:1]), text, told)
        write(file, data)
    found = read(file)
    assert list(found.train) == ROWS
    assert list(found.heldout) == ROWS[:1]
    assert (found.tokenizer, found.source) == ('{"café": 1}', told)
    assert [f.name for f in tmp_path.iterdir()] == ["data.npz"]


def test_another_archive_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", ids=np.zeros(3))
    with pytest.raises(ValueError, match="expected packed dialogues of format 1"):
        read(tmp_path / "other.npz")


@pytest.mark.parametrize("kept", [0, 4, 500])
def test_a_file_that_broke_off_is_named(tmp_path: Path, kept: int) -> None:
    file = tmp_path / "data.npz"
    write(file, PackedData(Dialogues.of([]), Dialogues.of([]), "{}", {}))
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"data\.npz: expected packed dialogues of format"):
        read(file)


CONFIG = "vocab_size = 600\nmax_length = 900\nevaluate_dialogues = 5\ntokenizer_dialogues = 50\n"


def pack(directory: Path, *arguments: str) -> PackedData:
    (directory / "run.toml").write_text(CONFIG, encoding="utf-8")
    # A folder that is not there yet.
    file = directory / "runs" / "data.npz"
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
    assert data.source["declarations"] == 1
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
