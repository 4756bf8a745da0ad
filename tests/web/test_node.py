"""Runs the page's own tests, those of its pure modules, under ``node --test``."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S

HERE = Path(__file__).parent
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_modules_of_the_page() -> None:
    files = sorted(HERE.glob("*.test.mjs"))
    run = subprocess.run(
        [str(NODE), "--test", *map(str, files)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    passed = re.search(r"^# pass (\d+)$", run.stdout, re.MULTILINE)
    assert passed and int(passed[1]) >= len(files)
