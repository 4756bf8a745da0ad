"""What programs for the command line share: numbers within bounds, and how a mistake is told."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

N = TypeVar("N", int, float)


def number(kind: type[N], least: float = 1, most: float = math.inf) -> Callable[[str], N]:
    """A type of option for `argparse`: a number within bounds, which are part of it."""

    def read(text: str) -> N:
        try:
            value = kind(text)
        except ValueError:
            value = kind(least) - 1
        if not least <= value <= most:
            bounds = f"at least {least:g}" if most == math.inf else f"{least:g} to {most:g}"
            raise argparse.ArgumentTypeError(f"got {text}, expected {bounds}")
        return value

    return read


@contextmanager
def told(parser: argparse.ArgumentParser, *errors: type[Exception]) -> Iterator[None]:
    """Tell an error by its text, without a traceback, where a user can mend it.

    Args:
        errors: Types of such errors, besides those of wrong values and of files.

    Raises:
        SystemExit: With status 2, after such an error.
    """
    mended: tuple[type[Exception], ...] = (ValueError, OSError, *errors)
    try:
        yield
    except mended as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
