"""Weights that come with packages are used only if they are the ones that were reviewed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from voice.errors import ModelError


def checked(path: Path, sha256: str) -> bytes:
    """Read a file whose digest is known.

    Args:
        path: The file.
        sha256: Hexadecimal digest that it must have.

    Raises:
        ModelError: The file cannot be read, or its digest differs.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"weights cannot be read: {error}") from error
    return check(data, sha256, str(path))


def check(data: bytes, sha256: str, name: str) -> bytes:
    """Return the data if its digest is the expected one.

    Raises:
        ModelError: The digest differs; the message begins with ``name``.
    """
    got = hashlib.sha256(data).hexdigest()
    if got != sha256:
        raise ModelError(f"{name}: got SHA-256 {got}, expected {sha256}")
    return data
