"""Environments that hold one client each, made on first use and kept in ``.venv-clients``."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HOMES = ROOT / ".venv-clients"
PROGRAMS = HERE / "programs"
VERCEL = HERE / "vercel"
TIMEOUT_S = 300


def python_of(client: str) -> Path:
    """The interpreter of an environment that holds a client and what it needs, nothing else.

    Args:
        client: Name of a file in ``requirements/``, which pins every package.
    """
    requirements = HERE / "requirements" / f"{client}.txt"

    def make(home: Path) -> None:
        # All that is needed is named, so nothing has to be resolved.
        _install(home, "--no-deps", "--requirement", requirements)

    return _home(f"api-{client}", requirements.read_bytes(), make) / "bin" / "python"


def python_with(name: str, requirement: str) -> Path:
    """The interpreter of an environment that holds a package as its users install it: the newest.

    Args:
        name: Of the environment.
        requirement: As pip takes it; several are separated by spaces.
    """
    wanted = requirement.split()
    home = _home(name, requirement.encode(), lambda home: _install(home, *wanted))
    return home / "bin" / "python"


def python_beside(name: str, requirement: str) -> Path:
    """The interpreter of an environment that holds a package on top of this environment's own.

    For one that changes how others work where it is installed.
    """

    def make(home: Path) -> None:
        _install(home, "--constraint", ROOT / "constraints.txt", requirement, beside=True)

    return _home(name, requirement.encode(), make) / "bin" / "python"


def node_home() -> Path:
    """A folder with the Vercel AI SDK, and the program that uses it."""

    def make(home: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(VERCEL / name, home)
        npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(npm, cwd=home, check=True)

    home = _home("api-vercel", (VERCEL / "package-lock.json").read_bytes(), make)
    # Node finds packages beside the program alone.
    shutil.copy(VERCEL / "program.mjs", home)
    return home


def npm_home(name: str, *packages: str) -> Path:
    """A folder with packages of npm; skips where npm is not installed.

    Args:
        name: Of the folder.
        *packages: As npm takes them, with their versions.
    """
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")

    def make(home: Path) -> None:
        (home / "package.json").write_text('{"private": true}')
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*npm, *packages], cwd=home, check=True)

    return _home(name, " ".join(packages).encode(), make)


def report(*command: str | Path, cwd: Path = ROOT) -> dict[str, Any]:
    """What a client's program found, as JSON on its last line."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _home(name: str, wanted: bytes, make: Callable[[Path], None]) -> Path:
    """A folder that was made of what is wanted, anew where it was made of anything else."""
    home, digest = HOMES / name, sha256(wanted).hexdigest()
    HOMES.mkdir(exist_ok=True)
    # Tests that run side by side want the same.
    with (HOMES / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        seal = home / "complete"
        if not (seal.is_file() and seal.read_text() == digest):
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            make(home)
            seal.write_text(digest)
    return home


def _install(home: Path, *wanted: str | Path, beside: bool = False) -> None:
    """Make an environment of packages, without pip and bytecode, which take longer than they do.

    Args:
        beside: Whether it has this environment's own packages, too.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    if beside:
        below = sysconfig.get_path("purelib", vars={"base": home})
        (Path(below) / "below.pth").write_text(sysconfig.get_path("purelib"))
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", home / "bin" / "python"]
    plainly = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, "install", *plainly, *wanted], check=True)
