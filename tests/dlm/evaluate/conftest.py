from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.dlm.evaluate.api import Api


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()
