"""Finds Piper voices: a local file, the hub's cache on this machine, or the hub."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import httpx

from voice.errors import ModelError

REPOSITORY = "rhasspy/piper-voices"
_NAME = re.compile(r"(?P<code>(?P<family>[a-z]{2,3})_[A-Z]{2,3})-(?P<speaker>\w+)-(?P<quality>\w+)")


def local_voice(voice: str) -> Path | None:
    """The .onnx file of a voice on this machine, its .onnx.json beside it; None if not here.

    Args:
        voice: Path of an .onnx file, or a hub name such as "en_US-lessac-medium".

    Raises:
        ModelError: The path or the name cannot be one of a voice.
    """
    if voice.endswith(".onnx"):
        path = Path(voice).expanduser()
        for file in (path, Path(f"{path}.json")):
            if not file.is_file():
                raise ModelError(f"Piper voice: no such file: {file}")
        return path
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    model, settings = _hub_files(voice)
    try:
        huggingface_hub.hf_hub_download(REPOSITORY, settings, local_files_only=True)
        return Path(huggingface_hub.hf_hub_download(REPOSITORY, model, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def download_voice(voice: str) -> Path:
    """Fetch a voice from the hub into its cache, with a progress bar.

    Raises:
        ModelError: The hub cannot be reached, or has no such voice.
    """
    import huggingface_hub

    model, settings = _hub_files(voice)
    try:
        huggingface_hub.hf_hub_download(REPOSITORY, settings)
        return Path(huggingface_hub.hf_hub_download(REPOSITORY, model))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"Piper voice {voice} cannot be downloaded: {error}") from error


def hub_answers(voice: str, timeout_s: float) -> bool:
    """Whether the hub answers within the time that it has the voice."""
    import huggingface_hub
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    url = huggingface_hub.hf_hub_url(REPOSITORY, _hub_files(voice)[1], endpoint=constants.ENDPOINT)
    answers: list[bool] = []
    # A host name lookup has no timeout, so it runs in a daemon thread, which may be left behind.
    asking = threading.Thread(target=_ask, args=(url, timeout_s, answers), daemon=True)
    asking.start()
    asking.join(timeout_s)
    return answers == [True]


def _ask(url: str, timeout_s: float, answers: list[bool]) -> None:
    try:
        response = httpx.head(url, timeout=timeout_s, follow_redirects=True)
        answers.append(response.is_success)
    except httpx.HTTPError:
        answers.append(False)


def _hub_files(voice: str) -> tuple[str, str]:
    """Paths of a voice's model and settings in the repository."""
    match = _NAME.fullmatch(voice)
    if match is None:
        raise ModelError(
            f"Piper voice: got {voice!r}; expected a path ending in .onnx, or a name like"
            " en_US-lessac-medium"
        )
    folder = "/".join((match["family"], match["code"], match["speaker"], match["quality"]))
    model = f"{folder}/{voice}.onnx"
    return model, f"{model}.json"
