from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.serving import program


@pytest.fixture(scope="package")
def server(repo_root: Path) -> Iterator[str]:
    """A running server's API; one for all clients."""
    with program(cwd=repo_root) as (_, url):
        yield url
