from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import httpx
import pytest
from starlette.applications import Starlette

from dlm.engine.engine import Engine
from tests.dlm.server.asking import api_of, asking
from tests.dlm.tiny import model, taught, tokenizer


@pytest.fixture(scope="session")
def taught_engine() -> Iterator[Engine]:
    """An engine that knows some dialogues by heart."""
    made = Engine(taught(), tokenizer())
    yield made
    made.close()


@pytest.fixture(scope="session")
def babbler() -> Iterator[Engine]:
    """An engine of random weights, which rarely comes to an end."""
    made = Engine(model(1), tokenizer(), max_requests=4)
    yield made
    made.close()


@pytest.fixture
async def client(taught_engine: Engine) -> AsyncGenerator[httpx.AsyncClient, None]:
    async with asking(Starlette(routes=api_of(taught_engine).routes())) as made:
        yield made
