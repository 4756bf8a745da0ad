from __future__ import annotations

import pytest

from tests.voice.realtime.wire import Wire


@pytest.fixture
def wire() -> Wire:
    """A protocol over a fake session."""
    return Wire()
