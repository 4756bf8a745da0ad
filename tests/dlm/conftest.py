from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from dlm.engine.engine import Engine
from tests.dlm.tiny import model, taught, tokenizer


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    """Models this small only lose by being spread over threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Numbers drawn from torch's own generator are the same in every run."""
    torch.manual_seed(0)


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    """An engine that knows `DIALOGUES` by heart."""
    made = Engine(taught(), tokenizer())
    yield made
    made.close()


@pytest.fixture(scope="package")
def babbler() -> Iterator[Engine]:
    """An engine of random weights, which never comes to an end."""
    made = Engine(model(1), tokenizer())
    yield made
    made.close()
