"""Weights that come with packages are read only if they are the ones that were looked at."""

from __future__ import annotations

import hashlib
from pathlib import Path

from voice.errors import ModelError


def checked(path: Path, sha256: str) -> bytes:
    """A file's bytes.

    Args:
        path: The file.
        sha256: Hexadecimal digest that it must have.

    Raises:
        ModelError: The file is missing, or its digest is another one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"weights cannot be read: {error}") from error
    return check(data, sha256, str(path))


def check(data: bytes, sha256: str, name: str) -> bytes:
    """The data itself.

    Raises:
        ModelError: Its digest is another one; the message begins with ``name``.
    """
    got = hashlib.sha256(data).hexdigest()
    if got != sha256:
        raise ModelError(f"{name}: got SHA-256 {got}, expected {sha256}")
    return data
