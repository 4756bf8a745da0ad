"""Figures that are written as they come, so that a run that was cut off can continue.

A results file names one commit and one machine, so a run can continue only on these.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.report import RESULTS, differences, machine, write


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a series to a command line."""
    parser.add_argument("--minutes", type=float, help="begin nothing new after so many")
    parser.add_argument(
        "--go-on",
        action="store_true",
        help="keep what the results file holds, of the same commit and machine",
    )


class Series:
    """Figures by name; the results file is written after each.

    Args:
        options: Parsed from a command line with `add_options`.

    Raises:
        SystemExit: The figures to continue from are of another commit or machine.
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
            told = json.loads(file.read_text(encoding="utf-8"))
            if other := differences(told, self._began):
                sys.exit(_refusal(name, other))
            self.figures = told["figures"]

    def tell(self, figures: Mapping[str, Any]) -> None:
        """Add figures that need no measuring; ``device`` names what the others are measured on.

        Raises:
            SystemExit: The figures kept from the earlier run are of another device.
        """
        old = self.figures.get("device")
        new = figures.get("device", old)
        if old not in (None, new):
            sys.exit(_refusal(self._name, f"device {old!r}, now {new!r}"))
        self.figures |= figures

    def add(self, key: str, measure: Callable[[], Any]) -> None:
        """Measure, print and write a figure, unless it is there already or the time is over."""
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


def _refusal(name: str, other: str) -> str:
    return f"{name}.json holds another run's figures ({other}); expected the same run for --go-on"
