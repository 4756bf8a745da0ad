from pathlib import Path

import pytest

CORPORA = Path(__file__).parents[3].parent / "shared" / "data" / "text"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Directory of the text corpora; skips where they are not at hand."""
    if not (CORPORA / "slot_values.jsonl.xz").exists():
        pytest.skip(f"no text corpora in {CORPORA}")
    return CORPORA
