from __future__ import annotations

import pytest

from voice.config import DraftingConfig
from voice.load import Load


def test_requests_count_while_they_last() -> None:
    load, config = Load(), DraftingConfig(max_requests=2)
    with load.request():
        assert load.allows_draft(config, True, 0)
        with pytest.raises(RuntimeError), load.request():
            assert not load.allows_draft(config, True, 0)
            raise RuntimeError
        assert load.allows_draft(config, True, 0)
    assert load.requests == 0


def test_a_late_loop_is_forgiven_by_and_by() -> None:
    load, config = Load(), DraftingConfig(max_lag_ms=40)
    load.woke(100)
    assert not load.allows_draft(config, True, 0)
    load.woke(0)
    assert not load.allows_draft(config, True, 0)
    load.woke(0)
    assert load.allows_draft(config, True, 0)


def test_while_the_user_speaks_only_an_idle_model_is_asked() -> None:
    load, config = Load(), DraftingConfig(max_requests=3)
    assert load.allows_draft(config, False, 0)
    with load.request():
        assert not load.allows_draft(config, False, 0)
        assert load.allows_draft(config, True, 0)
        # What it takes the place of is no reason against it.
        assert load.allows_draft(config, False, 1)
