from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlm.language.template import Encoded
from dlm.train.pack import Dialogues, PackedData, read, write

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


def test_no_dialogues_are_possible() -> None:
    assert list(Dialogues.of([])) == []


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
