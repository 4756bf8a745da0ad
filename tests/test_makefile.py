"""The recipes of the Makefile, as make expands them, are shell that can be read."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TARGETS = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[0].split()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("index", ["", "https://download.pytorch.org/whl/cpu"])
def test_a_recipe_is_valid_shell(target: str, index: str, tmp_path: Path) -> None:
    # Without an environment there is all of an installation to do.
    command = ["make", "--dry-run", f"VENV={tmp_path}/none", f"TORCH_INDEX={index}", target]
    # What `make test` hands on is of that make.
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    recipe = subprocess.run(
        command, cwd=ROOT, env=outer, check=True, capture_output=True, text=True
    ).stdout
    assert recipe
    read = subprocess.run(["bash", "-n"], input=recipe, capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
