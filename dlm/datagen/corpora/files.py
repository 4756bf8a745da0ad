"""Reads the text corpora, which are compressed JSON lines."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a corpus, one after the other.

    Raises:
        FileNotFoundError: There is no such corpus.
    """
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
