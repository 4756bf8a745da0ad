"""SHA-256 sums beside exported weights: what differs from them is not loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

SUMS = "SHA256SUMS"
"""The file, as sha256sum writes it."""


def write_sums(files: Iterable[Path], directory: Path) -> None:
    """Write the SHA-256 of a checkpoint's files, which `check_sums` compares."""
    lines = [f"{sha256(file)}  {file.relative_to(directory)}\n" for file in files]
    (directory / SUMS).write_text("".join(lines), encoding="utf-8")


def check_sums(directory: Path) -> None:
    """Compare a checkpoint's files with their sums, where it has any.

    Raises:
        ValueError: One differs; the text names it.
    """
    sums = directory / SUMS
    if not sums.is_file():
        return
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        if (got := sha256(directory / name)) != expected:
            raise ValueError(f"{directory / name}: got SHA-256 {got}, expected {expected}")


def sha256(file: Path) -> str:
    """The hexadecimal SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
