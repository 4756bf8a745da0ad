"""Reads the text corpora, which are JSON lines."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a corpus, one after the other; a file named ``*.xz`` is compressed.

    Raises:
        FileNotFoundError: There is no such corpus.
        ValueError: It is damaged, or has other lines.
    """
    read = lzma.open if path.suffix == ".xz" else open
    with read(path, "rt", encoding="utf-8") as lines:
        try:
            yield from map(json.loads, filter(str.strip, lines))
        except (ValueError, EOFError, lzma.LZMAError) as error:
            raise ValueError(f"{path}: expected lines of JSON: {error}") from error
