from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from tests.support.hub import serving
from tests.support.patience import PATIENCE_S
from tests.support.tiny_piper import make_tiny_piper
from voice.errors import ModelError
from voice.speech.tts.voices import REPOSITORY, download_voice, hub_answers, local_voice

VOICE = "en_US-tiny-low"
FOLDER = "en/en_US/tiny/low"


def use_hub(patch: pytest.MonkeyPatch, endpoint: str, cache: Path) -> None:
    from huggingface_hub import constants

    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    patch.setattr(constants, "ENDPOINT", endpoint)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    patch.setattr(constants, "HF_HUB_CACHE", str(cache))
    patch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The voice's folder on the hub; this machine's cache is empty."""
    make_tiny_piper(tmp_path / "hub" / FOLDER, VOICE)
    with serving(REPOSITORY, tmp_path / "hub") as address:
        use_hub(monkeypatch, address, tmp_path / "cache")
        yield tmp_path / "hub" / FOLDER


def test_a_voice_is_downloaded_once(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_voice(VOICE) is None
    assert hub_answers(VOICE, 3.0)
    path = download_voice(VOICE)
    assert path.read_bytes() == (hub / f"{VOICE}.onnx").read_bytes()
    assert Path(f"{path}.json").is_file()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert local_voice(VOICE) == path


def test_a_voice_that_the_hub_lacks_is_an_error(hub: Path) -> None:
    assert not hub_answers("en_US-nobody-low", 3.0)
    with pytest.raises(ModelError, match="en_US-nobody-low cannot be downloaded"):
        download_voice("en_US-nobody-low")


def test_a_half_fetched_voice_is_not_there(hub: Path) -> None:
    (hub / f"{VOICE}.onnx").unlink()
    with pytest.raises(ModelError, match="cannot be downloaded"):
        download_voice(VOICE)
    assert local_voice(VOICE) is None


def test_a_hub_that_is_not_there_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_hub(monkeypatch, "http://127.0.0.1:9", tmp_path)
    assert not hub_answers(VOICE, 3.0)


def test_a_hub_that_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use_hub(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path)
        answers: list[bool] = []
        asking = Thread(target=lambda: answers.append(hub_answers(VOICE, 0.2)), daemon=True)
        asking.start()
        asking.join(PATIENCE_S)
        assert answers == [False]


def test_offline_mode_asks_nobody(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert not hub_answers(VOICE, 3.0)


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = make_tiny_piper(tmp_path)
    assert local_voice(str(path)) == path
    path.with_name(path.name + ".json").unlink()
    with pytest.raises(ModelError, match=r"no such file: .*\.onnx\.json"):
        local_voice(str(path))


@pytest.mark.parametrize("name", ["", "lessac", "../../etc/passwd", "en_US-a-b/../c"])
def test_a_name_that_cannot_be_one_is_an_error(name: str) -> None:
    with pytest.raises(ModelError, match=r"expected a path ending in \.onnx, or a name"):
        local_voice(name)
