"""Finds a checkpoint: a directory, or a copy of a Hugging Face repository in the local cache.

Only weights, configs and tokenizers are fetched, never code.
"""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

FILES = ("*.json", "*.safetensors", "*.jinja", "*.model", "merges.txt")

_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_ANSWERS_IN_S = 5.0


def reach() -> None:
    """Make sure that the hub answers at all, because its client would try for half a minute.

    Raises:
        ConnectionError: It does not answer within `_ANSWERS_IN_S`.
    """
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return
    failed: list[str] = []

    def ask() -> None:
        try:
            get_session().head(constants.ENDPOINT, timeout=_ANSWERS_IN_S)
        except Exception as error:  # of whichever HTTP library the client is built on
            failed.append(str(error) or type(error).__name__)

    # In a thread, because the timeout does not cover a name server that does not answer.
    asking = threading.Thread(target=ask, name="hub", daemon=True)
    asking.start()
    asking.join(_ANSWERS_IN_S)
    if asking.is_alive():
        failed.append(f"no answer in {_ANSWERS_IN_S:.0f} s")
    if failed:
        raise ConnectionError(f"{constants.ENDPOINT} cannot be reached: {failed[0]}")


def find(checkpoint: str | Path) -> Path:
    """The directory of a checkpoint; downloads a hub repository that is not in the cache yet.

    Args:
        checkpoint: A directory, or ``owner/name`` of a hub repository.

    Raises:
        FileNotFoundError: There is no such directory; or the repository is not in the cache and
            cannot be downloaded.
        ValueError: The copy in the cache is malformed.
    """
    directory = Path(checkpoint).expanduser()
    if directory.is_dir():
        return directory
    name = str(checkpoint)
    if isinstance(checkpoint, Path) or not _NAME.fullmatch(name):
        raise FileNotFoundError(f"{directory}: no such checkpoint directory")
    return _cached(name) or _download(name)


def _cached(name: str) -> Path | None:
    """The newest complete copy in the cache.

    Raises:
        FileNotFoundError: No repository can have this name.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        directory = Path(snapshot_download(name, local_files_only=True))
    except HFValidationError as error:
        raise FileNotFoundError(f"{name}: no such checkpoint directory") from error
    except LocalEntryNotFoundError:
        return None
    return directory if _complete(directory) else None


def placed(directory: Path) -> dict[str, str] | None:
    """The file that holds each weight of a checkpoint; None if there is no index.

    Raises:
        ValueError: The index is malformed.
    """
    index = directory / "model.safetensors.index.json"
    if not index.is_file():
        return None
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{index}: {error}") from error
    files = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        raise ValueError(f"{index}: got no weight_map, expected the file of each weight")
    return files


def weight_files(directory: Path) -> list[str]:
    """Names of the files that should hold a checkpoint's weights; they may be missing.

    Raises:
        ValueError: The index is malformed.
    """
    where = placed(directory)
    return ["model.safetensors"] if where is None else sorted(set(where.values()))


def _complete(directory: Path) -> bool:
    """Whether a snapshot, perhaps of an interrupted download, has its config and weights."""
    files = ("config.json", *weight_files(directory))
    return all((directory / file).is_file() for file in files)


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        reach()
        directory = Path(snapshot_download(name, allow_patterns=list(FILES)))
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise FileNotFoundError(
            f"{name}: no such directory, not in the local hub cache, and the hub cannot give it: "
            f"{type(error).__name__}: {reason}"
        ) from error
    # When offline, the client returns what it has of an interrupted download.
    if not _complete(directory):
        raise FileNotFoundError(
            f"{name}: no such directory, not whole in the local hub cache, and the hub cannot "
            f"give the rest: config.json or safetensors are missing in {directory}"
        )
    return directory
