"""Environments that hold one client each, made on first use and kept in ``.venv-clients``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
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
    home = HOMES / f"api-{client}"
    python = home / "bin" / "python"
    if not _made(home, requirements.read_bytes()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", home], check=True)
        # All that is needed is named, so nothing has to be resolved.
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet"),
                *("--disable-pip-version-check", "--no-compile", "--no-deps"),
                *("--requirement", requirements),
            ],
            check=True,
        )
        _seal(home, requirements.read_bytes())
    return python


def python_with(name: str, requirement: str) -> Path:
    """The interpreter of an environment that holds a package as its users install it: the newest.

    Args:
        name: Of the environment.
        requirement: As pip takes it; several are separated by spaces.
    """
    home = HOMES / name
    python = home / "bin" / "python"
    if not _made(home, requirement.encode()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *requirement.split()], check=True
        )
        _seal(home, requirement.encode())
    return python


def python_beside(name: str, requirement: str) -> Path:
    """The interpreter of an environment that holds a package on top of this environment's own.

    For one that changes how others work where it is installed.
    """
    home = HOMES / name
    python = home / "bin" / "python"
    if not _made(home, requirement.encode()):
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        below = sysconfig.get_path("purelib", vars={"base": home})
        (Path(below) / "below.pth").write_text(sysconfig.get_path("purelib"))
        pins = ["--constraint", ROOT / "constraints.txt"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *pins, requirement], check=True)
        _seal(home, requirement.encode())
    return python


def node_home() -> Path:
    """A folder with the Vercel AI SDK, and the program that uses it."""
    home = HOMES / "api-vercel"
    lock = (VERCEL / "package-lock.json").read_bytes()
    if not _made(home, lock):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(VERCEL / name, home)
        npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(npm, cwd=home, check=True)
        _seal(home, lock)
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
    home = HOMES / name
    wanted = " ".join(packages).encode()
    if not _made(home, wanted):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        (home / "package.json").write_text('{"private": true}')
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*npm, *packages], cwd=home, check=True)
        _seal(home, wanted)
    return home


def report(*command: str | Path, cwd: Path = ROOT) -> dict[str, Any]:
    """What a client's program found, as JSON on its last line."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _made(home: Path, wanted: bytes) -> bool:
    seal = home / "complete"
    return seal.is_file() and seal.read_text() == sha256(wanted).hexdigest()


def _seal(home: Path, wanted: bytes) -> None:
    (home / "complete").write_text(sha256(wanted).hexdigest())
