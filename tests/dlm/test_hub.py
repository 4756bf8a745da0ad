from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dlm.hub import find

PROGRAM = "import sys; from dlm.hub import find; print(find(sys.argv[1]))"


def found(name: str, cache: Path, repo_root: Path) -> subprocess.CompletedProcess[str]:
    """`find` in a process of its own: the hub's client reads its settings when imported."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env={"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(repo_root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def snapshot(cache: Path, *files: str) -> Path:
    """A repository as the hub's client keeps it."""
    root = cache / "models--owner--name"
    place = root / "snapshots" / "abc123"
    place.mkdir(parents=True)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("abc123", encoding="utf-8")
    for file in files:
        (place / file).write_text("{}", encoding="utf-8")
    return place


def test_a_directory_is_itself(tmp_path: Path) -> None:
    assert find(tmp_path) == find(str(tmp_path)) == tmp_path


@pytest.mark.parametrize(
    "name", [Path("owner/name"), "nowhere", "/no/where", "a/b/c", "~/no where"]
)
def test_what_is_neither_directory_nor_name_is_missing(name: str | Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such checkpoint directory"):
        find(name)


def test_a_cached_repository_is_used_without_the_hub(tmp_path: Path, repo_root: Path) -> None:
    place = snapshot(tmp_path, "config.json", "model.safetensors")
    result = found("owner/name", tmp_path, repo_root)
    assert result.stdout.strip() == str(place), result.stderr


def test_offline_is_said_clearly(tmp_path: Path, repo_root: Path) -> None:
    # A download that broke off has an index and not all of its shards.
    place = snapshot(tmp_path, "config.json", "a.safetensors")
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (place / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for name, told in (("owner/other", "not in the local"), ("owner/name", "not whole in the")):
        result = found(name, tmp_path, repo_root)
        assert result.returncode == 1
        last = result.stderr.strip().splitlines()[-1]
        assert last.startswith(f"FileNotFoundError: {name}: no such directory, {told}")
