"""What is drawn for a seed, and what is held out, never changes unmeant; see `golden`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dlm.datagen import golden

CORPORA = Path(__file__).parents[3].parent / "shared" / "data" / "text"
EXPECTED = json.loads(Path(__file__).with_name("golden.json").read_text())


def test_draws_without_corpora() -> None:
    assert dict(golden.drawn(None)) == EXPECTED["alone"]


@pytest.mark.skipif(not CORPORA.is_dir(), reason="no text corpora at ../shared/data/text")
def test_draws_with_corpora(tmp_path: Path) -> None:
    golden.excerpts(CORPORA, tmp_path)
    assert dict(golden.drawn(tmp_path)) == EXPECTED["corpora"]
