from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlm.loading import hub as hub_module
from dlm.loading.hub import find, reach
from tests.support.hub import serving
from tests.support.patience import PATIENCE_S

HELD = ("config.json", "model.safetensors", "tokenizer.json", "modeling.py", "weights.bin")
PROGRAM = "import sys; from dlm.loading.hub import find; print(find(sys.argv[1]))"


def found(
    name: str, cache: Path, repo_root: Path, hub: str = ""
) -> subprocess.CompletedProcess[str]:
    """`find` in a process of its own: the hub's client reads its settings when imported.

    Args:
        name: Of the repository.
        cache: Where copies are kept.
        repo_root: Of this project.
        hub: Address of a hub; empty for being offline.
    """
    where = {"HF_ENDPOINT": hub, "HF_HUB_DISABLE_XET": "1"} if hub else {"HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env={"HF_HUB_CACHE": str(cache), "PYTHONPATH": str(repo_root), **where},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
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


@pytest.fixture
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hub")
    for file in HELD:
        (folder / file).write_text("{}", encoding="utf-8")
    with serving("owner/name", folder) as address:
        yield address


def test_weights_configs_and_tokenizers_are_fetched_and_no_code(
    tmp_path: Path, repo_root: Path, hub: str
) -> None:
    first = found("owner/name", tmp_path, repo_root, hub)
    assert first.returncode == 0, first.stderr
    place = Path(first.stdout.strip().splitlines()[-1])
    assert {file.name for file in place.iterdir()} == set(HELD) - {"modeling.py", "weights.bin"}
    # From then on it is there.
    assert found("owner/name", tmp_path, repo_root).stdout == first.stdout


def test_a_repository_that_the_hub_has_not_is_named(
    tmp_path: Path, repo_root: Path, hub: str
) -> None:
    result = found("owner/other", tmp_path, repo_root, hub)
    assert result.returncode == 1
    told = result.stderr.strip()
    assert "FileNotFoundError: owner/other: no such directory, not in the local hub cache" in told
    assert "404" in told.rpartition("FileNotFoundError")[2]


def test_a_directory_is_itself(tmp_path: Path) -> None:
    assert find(tmp_path) == find(str(tmp_path)) == tmp_path


@pytest.mark.parametrize(
    "name",
    [Path("owner/name"), "nowhere", "/no/where", "a/b/c", "~/no where", "./nope", "a--b/c", "a/b."],
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


def test_a_hub_that_cannot_be_reached_is_not_asked_again_and_again(
    tmp_path: Path, repo_root: Path
) -> None:
    result = found("owner/name", tmp_path, repo_root, "http://127.0.0.1:9")
    assert result.returncode == 1
    assert "http://127.0.0.1:9 cannot be reached: " in result.stderr.strip().splitlines()[-1]
    assert "Retry" not in result.stderr


def test_a_hub_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setattr(hub_module, "_ANSWERS_IN_S", 0.1)
        with pytest.raises(ConnectionError, match=f"{address} cannot be reached"):
            reach()
