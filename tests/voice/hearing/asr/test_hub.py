"""Where models are looked for: the hub is a local server, the cache a temporary folder."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from tests.support.patience import PATIENCE_S
from voice.errors import ModelError
from voice.hearing.asr.hub import find_model, repository_of, tokenizer_problem


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return tmp_path


@pytest.fixture
def hub_404(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Nothing) as server:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


def put_in_cache(cache: Path, repository: str) -> Path:
    home = cache / f"models--{repository.replace('/', '--')}"
    snapshot = home / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for name in ("model.bin", "config.json"):
        (snapshot / name).write_text("{}")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("abc")
    return snapshot


def test_names() -> None:
    assert repository_of("base.en") == "Systran/faster-whisper-base.en"
    assert repository_of("someone/some-whisper") == "someone/some-whisper"
    with pytest.raises(ModelError, match="got 'bass'; expected a folder"):
        repository_of("bass")


@pytest.mark.parametrize("name", ["", "/no/such/folder", "~/models/x", "a/b/c", "./x", "a b/c"])
def test_what_is_neither_a_folder_nor_a_name_is_told(name: str) -> None:
    with pytest.raises(ModelError, match="expected a folder, owner/repository, or one of base"):
        find_model(name, 1)


def test_a_folder_at_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "whisper").mkdir()
    assert find_model("~/whisper", 1).path == tmp_path / "whisper"


def test_a_cached_model_needs_no_hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    snapshot = put_in_cache(cache, "Systran/faster-whisper-base.en")
    found = find_model("base.en", 1)
    assert (found.path, found.reason) == (snapshot, "found in the local cache")


def test_a_hub_that_is_not_there(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    assert find_model("base.en", 1).reason.endswith("the hub cannot be reached")


def test_a_hub_that_does_not_answer(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        assert find_model("base.en", 0.1).reason.endswith("did not answer within 0.1 s")


def test_a_name_that_is_looked_up_for_long_is_not_waited_for(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    looked_up = socket.getaddrinfo

    def slow(*asked: Any, **how: Any) -> Any:
        over.wait(PATIENCE_S)
        return looked_up("127.0.0.1", *asked[1:], **how)

    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr(constants, "ENDPOINT", f"http://hub.invalid:{port}")
    found = find_model("base.en", 0.1)
    assert not over.is_set()
    over.set()
    assert found.reason.endswith("did not answer within 0.1 s")


@pytest.mark.usefixtures("hub_404")
def test_a_model_that_the_hub_does_not_have(cache: Path) -> None:
    assert find_model("someone/some-whisper", 5).reason.endswith("the hub answered 404")


def test_a_missing_tokenizer_is_asked_of_the_cache_and_of_the_hub(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert tokenizer_problem(model, 1) == "has no tokenizer.json, and HF_HUB_OFFLINE is set"
    snapshot = put_in_cache(cache, "openai/whisper-tiny")
    (snapshot / "tokenizer.json").write_text("{}")
    assert tokenizer_problem(model, 1) == ""


def test_a_model_with_its_tokenizer_needs_no_hub(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    assert tokenizer_problem(tmp_path, 1) == ""


@pytest.mark.usefixtures("hub_404")
def test_a_hub_without_the_tokenizer_is_told(cache: Path, tmp_path: Path) -> None:
    assert tokenizer_problem(tmp_path, 5).endswith("and the hub answered 404")
