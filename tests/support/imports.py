"""What a server imports that was asked for nothing beyond its defaults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.patience import PATIENCE_S

_PROGRAM = """
import json, sys
from tests.support.fakes import FakeParts, fake_app
from voice.config import Config
fake_app(FakeParts(), Config())
import voice.serve, voice.session.resources
print(json.dumps(sorted(sys.modules)))
"""


def imported_by_default(repo_root: Path, part: str) -> list[str]:
    """The modules with a part in their names that such a server, in a process of its own, has."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=repo_root,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return [name for name in json.loads(done.stdout) if part in name]
