"""Figures that are kept as they come, so that a run that is cut off loses nothing and can go on."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.report import RESULTS, machine, write


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a series on a command line."""
    parser.add_argument("--minutes", type=float, help="begin nothing new after so many")
    parser.add_argument("--go-on", action="store_true", help="keep what the results file holds")


class Series:
    """Figures by name, written to benchmarks/results after each of them.

    Args:
        name: Of the results file.
        module: The benchmark's module, as it is run.
        options: A command line with `add_options`.
    """

    def __init__(self, name: str, module: str, options: argparse.Namespace) -> None:
        self._name, self._module = name, module
        self._began = machine()
        minutes = options.minutes
        self._end = None if minutes is None else time.monotonic() + 60 * minutes
        self._left = 0
        file = RESULTS / f"{name}.json"
        self.figures: dict[str, Any] = {}
        if options.go_on and file.is_file():
            self.figures = json.loads(file.read_text(encoding="utf-8"))["figures"]

    def tell(self, figures: Mapping[str, Any]) -> None:
        """Add figures that cost nothing to make."""
        self.figures |= figures

    def add(self, key: str, measure: Callable[[], Any]) -> None:
        """Measure, unless that is done already or the time is over; print and write it."""
        if key in self.figures:
            return
        if self._end is not None and time.monotonic() > self._end:
            self._left += 1
            return
        self.figures[key] = measure()
        print(key, self.figures[key], flush=True)
        write(self._name, self._module, self.figures, self._began)

    def close(self) -> None:
        """Say where the figures are, and how many are missing."""
        print(write(self._name, self._module, self.figures, self._began))
        if self._left:
            print(f"{self._left} figures are left for --go-on")
