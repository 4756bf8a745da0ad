from __future__ import annotations

import itertools
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark
from dlm.train import batches as module
from dlm.train.batches import (
    POOL_ROWS,
    NothingToLearn,
    Place,
    Placed,
    Recipe,
    batches,
    generated,
    in_order,
    joined_batches,
    passes,
    prefetched,
    stream,
)
from dlm.train.config import TrainConfig
from dlm.train.data import Mixture, encode_row, learn
from dlm.train.pack import Dialogues
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


def test_what_several_dialogues_begin_with_counts_once_in_a_batch() -> None:
    def row(first: int, length: int) -> Encoded:
        ids = [*([first] * 100), int(Mark.USER), *range(300, 300 + length)]
        return Encoded(ids, [(len(ids) - 2, len(ids))])

    given = [row(200 + n % 2, 10 + n) for n in range(12)]
    made = [*joined_batches(given, 300, 1000)]
    assert [one for batch in made for one in batch] == given
    for batch in made[:-1]:
        bodies = sum(len(one.ids) - 100 for one in batch)
        assert bodies + 200 <= 300 < bodies + 200 + 25
    assert [*joined_batches(given, 50, 1000)] == [[one] for one in given]


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
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
    }
    encoded = encode_row(template(), row)
    (start, end), text = encoded.answers[0], tokenizer().decode(encoded.ids)
    assert tokenizer().decode(encoded.ids[start:end]) == " hello"
    assert text.startswith(" Be brief. set timer")
    assert (
        encode_row(template(), {**row, "system": ""}).ids
        == encoded.ids[1 + len(template().text("Be brief.")) + 1 :]
    )


def recipe(directory: Path, **changes: Any) -> Recipe:
    tokenizer().save(directory)
    return replace(Recipe(directory, 1, 2000, 900), **changes)


def told(placed: Iterable[Placed]) -> list[tuple[Place, list[list[int]]]]:
    return [(place, [row.ids for row in batch]) for place, batch in placed]


def test_a_place_is_where_to_go_on(tmp_path: Path) -> None:
    made = recipe(tmp_path, tokens_per_batch=40, max_length=60)

    def chunk(number: int) -> list[Encoded]:
        return rows(*np.random.default_rng(number).integers(5, 30, 20).tolist())

    whole = told(itertools.islice(in_order(chunk, made, Place()), 60))
    assert {place.chunk for place, _ in whole} > {0, 1, 2}
    for used in (1, 7, 30):
        rest = told(itertools.islice(in_order(chunk, made, whole[used - 1][0]), 60 - used))
        assert rest == whole[used:]


def test_a_chunk_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(NothingToLearn, match="max_length: got 900"):
        next(in_order(lambda _: [], recipe(tmp_path), Place()))


def test_each_pass_over_a_file_has_all_of_it_in_another_order(tmp_path: Path) -> None:
    lengths = list(range(5, 45))
    data = Dialogues.of(rows(*lengths))
    made = passes(data, recipe(tmp_path, tokens_per_batch=30), Place())
    seen: dict[int, list[int]] = {}
    for place, batch in made:
        if place.chunk == 3:
            break
        seen.setdefault(place.chunk, []).extend(len(row.ids) for row in batch)
    assert [sorted(found) for found in seen.values()] == [lengths] * 3
    assert seen[0] != seen[1] != seen[2]


def test_generated_batches_go_on_where_they_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_DIALOGUES", 12)
    made = recipe(tmp_path)
    whole = told(itertools.islice(generated(made, Place()), 8))
    assert whole[-1][0].chunk > 0
    assert told(itertools.islice(generated(made, whole[4][0]), 3)) == whole[5:]
    assert told(itertools.islice(generated(replace(made, seed=2), Place()), 8)) != whole


def test_as_many_dialogues_are_thought_about_as_the_recipe_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_DIALOGUES", 40)
    found = []
    for share in (0.0, 0.4):
        made = generated(recipe(tmp_path, mixture=Mixture(reasons=share)), Place())
        one = itertools.takewhile(lambda placed: placed[0].chunk == 0, made)
        dialogues = [row.ids for _, batch in one for row in batch]
        found.append(sum(Mark.THINK in ids for ids in dialogues))
    assert found[0] == 0
    assert 5 < found[1] < 35


def test_only_the_second_version_tells_of_parameters_and_makes_some_opaque(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_DIALOGUES", 60)
    told, opaque = [], []
    for version in (1, 2):
        made = generated(recipe(tmp_path, declarations=version, max_length=2000), Place())
        one = itertools.takewhile(lambda placed: placed[0].chunk == 0, made)
        found = [row.ids for _, batch in one for row in batch]
        told.append(sum(ids.count(Mark.TYPE) - ids.count(Mark.TOOL) for ids in found))
        texts = (recipe(tmp_path).template().decode(ids) for ids in found)
        opaque.append(sum(" p1" in text or " arg" in text or " x1" in text for text in texts))
    assert told[0] == opaque[0] == 0
    assert told[1] > 60 and opaque[1] > 0


def test_batches_are_made_by_another_process(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    expected = told(itertools.islice(generated(made, Place(0, 1)), 2))
    with closing(stream(made, Place(0, 1))) as batches_made:
        assert [told([next(batches_made)])[0] for _ in range(2)] == expected


def test_a_process_that_dies_is_told(tmp_path: Path) -> None:
    made = replace(recipe(tmp_path), tokenizer=tmp_path / "nowhere")
    with (
        closing(stream(made, Place())) as batches_made,
        pytest.raises(ChildProcessError, match="the data process ended with exit code 1"),
    ):
        next(batches_made)


def test_a_process_that_finds_nothing_to_learn_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_DIALOGUES", 12)
    reader, writer = multiprocessing.Pipe(duplex=False)
    module._produce(writer, recipe(tmp_path, max_length=5), Place())
    writer.close()
    with pytest.raises(NothingToLearn, match="max_length: got 5, expected more"):
        next(module._received(reader))


def test_the_first_process_of_a_program_does_not_hear_ctrl_c(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, signal\n"
        "from dlm.train.batches import _sigint_blocked\n"
        "def blocked(told):\n"
        "    told.send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    reader, writer = context.Pipe(duplex=False)\n"
        "    process = context.Process(target=blocked, args=(writer,))\n"
        "    with _sigint_blocked():\n"
        "        process.start()\n"
        "    print(reader.recv())\n"
        "    process.join()\n",
        encoding="utf-8",
    )
    root = Path(module.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    told = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout == "True\n"


def test_a_process_that_is_asked_to_end_ends_the_batches(tmp_path: Path) -> None:
    """As when a whole group of processes is; the run beside it saves then."""
    tokenizer().save(tmp_path)
    # One of another test may not have ended yet.
    before = set(multiprocessing.active_children())
    with closing(stream(recipe(tmp_path), Place())) as batches_made:
        next(batches_made)
        (process,) = set(multiprocessing.active_children()) - before
        process.terminate()
        assert len(list(batches_made)) <= 40


def test_who_makes_batches_ends_when_nobody_is_left_to_take_them(tmp_path: Path) -> None:
    tokenizer().save(tmp_path)
    reader, writer = multiprocessing.Pipe(duplex=False)
    reader.close()
    module._produce(writer, recipe(tmp_path), Place())


def test_a_batch_that_breaks_off_is_the_end() -> None:
    """As when the process that makes them is ended while it hands one over."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    writer.send((Place(), []))
    os.write(writer.fileno(), (1000).to_bytes(4, "big") + b"half")
    writer.close()
    assert list(module._received(reader)) == [(Place(), [])]


def test_items_taken_ahead_are_the_same() -> None:
    assert list(prefetched(iter(range(20)), 3)) == list(range(20))


def test_what_is_raised_ahead_is_raised_after_the_items_before_it() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ChildProcessError("no more")

    items = prefetched(broken(), 3)
    assert next(items) == 1
    with pytest.raises(ChildProcessError, match="no more"):
        next(items)


def test_no_more_is_taken_ahead_than_fits_and_leaving_ends_it() -> None:
    taken = []

    def counted() -> Iterator[int]:
        for number in itertools.count():
            taken.append(number)
            yield number

    items = prefetched(counted(), 2)
    with closing(items):
        assert next(items) == 0
    assert len(taken) <= 5


def test_a_vocabulary_knows_the_words_of_tools_and_dialogues() -> None:
    made = learn(None, TrainConfig(vocab_size=1400, tokenizer_dialogues=200))
    assert made.vocab_size == 1400
    for word in (" the", " weather", " please"):
        assert len(made.encode(word)) == 1
    assert made.decode(made.encode(" Zürich 12:30")) == " Zürich 12:30"
