from __future__ import annotations

import json
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dlm.hub import find

COMMIT = "0123456789abcdef0123456789abcdef01234567"
HELD = ("config.json", "model.safetensors", "tokenizer.json", "modeling.py", "weights.bin")
PROGRAM = "import sys; from dlm.hub import find; print(find(sys.argv[1]))"


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


class Hub(BaseHTTPRequestHandler):
    """As much of a hub as a download asks for: what a repository holds, and its files."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, with_body: bool) -> None:
        asked = self.path.partition("?")[0]
        file = asked.rpartition(f"/resolve/{COMMIT}/")[2]
        if asked.startswith("/api/models/owner/name/revision/"):
            body = json.dumps(
                {"id": "owner/name", "sha": COMMIT, "siblings": [{"rfilename": f} for f in HELD]}
            )
        elif asked.startswith("/api/models/owner/name/tree/"):
            body = json.dumps(
                [{"type": "file", "path": f, "size": 2, "oid": hex(i)} for i, f in enumerate(HELD)]
            )
        else:
            body = "{}" if file in HELD else ""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{zlib.crc32(asked.encode())}"')
        if not body:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        if with_body:
            self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


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
