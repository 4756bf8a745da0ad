"""Schemathesis sends what the API's description allows, and what it does not: nothing breaks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.environments import python_of
from tests.clients.serving import KEY, program

pytestmark = pytest.mark.e2e

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
EXAMPLES = 20


def test_nothing_that_the_description_allows_breaks_the_server(
    repo_root: Path, tmp_path: Path
) -> None:
    # Short answers: what is tried is the reading of requests.
    with program("--max-tokens", "12", cwd=repo_root) as (_, url):
        root = url.removesuffix("/v1")
        command = [
            *(python_of("schemathesis"), "-m", "schemathesis.cli", "run", f"{root}/openapi.json"),
            *("--url", root, "--header", f"Authorization: Bearer {KEY}"),
            *("--checks", CHECKS, "--max-examples", str(EXAMPLES), "--mode", "all"),
            *("--phases", "fuzzing", "--generation-database", "none", "--seed", "7"),
            "--suppress-health-check=all",
        ]
        done = subprocess.run(
            list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout[-6000:]
    told = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert told, done.stdout[-6000:]
    assert int(told[1]) == int(told[2]) > 100
