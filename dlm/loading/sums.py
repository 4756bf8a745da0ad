"""SHA-256 sums beside exported weights: files that differ from theirs are not loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

SUMS = "SHA256SUMS"
"""Name of the file with the sums, in sha256sum's format."""


def write_sums(files: Iterable[Path], directory: Path) -> None:
    """Write the SHA-256 sums of a checkpoint's files, for `check_sums`."""
    lines = [f"{sha256(file)}  {file.relative_to(directory)}\n" for file in files]
    (directory / SUMS).write_text("".join(lines), encoding="utf-8")


def check_sums(directory: Path) -> None:
    """Compare a checkpoint's files with their sums, if it has any.

    Raises:
        ValueError: A file differs; the text names it.
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
