"""A model that several tests load, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny_whisper import make_tiny_whisper


@pytest.fixture(scope="session")
def tiny_whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a Whisper model that says `tests.tiny_whisper.SENTENCE`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return make_tiny_whisper(tmp_path_factory.mktemp("whisper"))
