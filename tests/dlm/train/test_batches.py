from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dlm.template import Encoded
from dlm.train.batches import POOL_ROWS, batches, encode_row, stream
from tests.dlm.tiny import TIMER, template, tokenizer


def rows(*lengths: int) -> list[Encoded]:
    return [Encoded(list(range(length)), [(0, length)]) for length in lengths]


def cut(given: list[Encoded], tokens: int, longest: int = 10_000, seed: int = 0) -> list[list[int]]:
    made = batches(given, tokens, longest, np.random.default_rng(seed))
    return [[len(row.ids) for row in batch] for batch in made]


def test_every_row_comes_once_and_no_batch_is_too_large() -> None:
    lengths = np.random.default_rng(1).integers(5, 200, POOL_ROWS * 2 + 30).tolist()
    made = cut(rows(*lengths), tokens=500)
    assert sorted(itertools.chain(*made)) == sorted(lengths)
    assert all(len(batch) * max(batch) <= 500 for batch in made)
    padding = sum(len(batch) * max(batch) - sum(batch) for batch in made)
    assert padding < 0.1 * sum(lengths)


def test_a_row_longer_than_a_batch_comes_alone() -> None:
    assert [30] in cut(rows(30, 5, 5), tokens=12)


def test_rows_that_are_too_long_or_answer_nothing_are_left_out() -> None:
    silent = Encoded([1, 2, 3], [])
    assert cut([*rows(4, 11, 10), silent], tokens=100, longest=10) == [[10, 4]]


def test_the_order_of_batches_is_drawn() -> None:
    given = rows(*range(5, 60))
    assert cut(given, 60, seed=0) == cut(given, 60, seed=0) != cut(given, 60, seed=1)


def test_a_row_of_the_training_data_is_encoded() -> None:
    row = {
        "system": "Be brief.",
        "tools": [
            {"name": TIMER.name, "description": TIMER.description, "parameters": TIMER.parameters}
        ],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
        ],
    }
    encoded = encode_row(template(), row)
    (start, end), text = encoded.answers[0], tokenizer().decode(encoded.ids)
    assert tokenizer().decode(encoded.ids[start:end]) == " hello"
    assert text.startswith(" Be brief. set_timer")
    assert (
        encode_row(template(), {**row, "system": ""}).ids
        == encoded.ids[1 + len(template().text("Be brief.")) + 1 :]
    )


def test_batches_are_made_by_another_process(tmp_path: Path) -> None:
    tokenizer().save(tmp_path)
    with closing(stream(tmp_path, None, 1, 2000, 900, share_alike=False)) as made:
        first = [next(made), next(made)]
    for batch in first:
        assert batch
        for row in batch:
            assert len(row.ids) <= 900
            assert row.answers


def test_a_process_that_dies_is_told(tmp_path: Path) -> None:
    with (
        closing(stream(tmp_path / "nowhere", None, 1, 2000, 900, share_alike=False)) as made,
        pytest.raises(RuntimeError, match="the data process ended with exit code 1"),
    ):
        next(made)
