"""As much of a hub of models as a download asks for: one repository, its files from a folder."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serving(repository: str, folder: Path) -> Iterator[str]:
    """A hub on this machine.

    Args:
        repository: The only one that it has, as ``owner/name``.
        folder: Its files, looked up whenever they are asked for.

    Yields:
        The hub's address.
    """

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            asked = self.path.partition("?")[0]
            body = _found(asked, repository, folder)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha1(body or b"").hexdigest()}"')
            if body is None:
                known = f"/{repository}/" in asked
                self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
            self.end_headers()
            if with_body:
                self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _found(asked: str, repository: str, folder: Path) -> bytes | None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in files]
    if asked.startswith(f"/api/models/{repository}/revision/"):
        siblings = [{"rfilename": name} for name in names]
        return json.dumps({"id": repository, "sha": COMMIT, "siblings": siblings}).encode()
    if asked.startswith(f"/api/models/{repository}/tree/"):
        entries = [
            {"type": "file", "path": name, "size": path.stat().st_size, "oid": hex(number)}
            for number, (name, path) in enumerate(zip(names, files, strict=True))
        ]
        return json.dumps(entries).encode()
    for revision in ("main", COMMIT):
        name = asked.removeprefix(f"/{repository}/resolve/{revision}/")
        if name in names:
            return (folder / name).read_bytes()
    return None
