"""Where a Whisper model is to be had: a folder, the hub's cache on this machine, or the hub."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from voice.errors import ModelError

_FILES = ("config.json", "preprocessor_config.json", "model.bin", "tokenizer.json", "vocabulary.*")
"""What faster-whisper loads of a repository."""
_TOKENIZERS = ("openai/whisper-tiny", "openai/whisper-tiny.en")
"""Whose tokenizer faster-whisper takes where a model has none."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """The outcome of a search.

    Attributes:
        path: Folder of the model, or None when it is not to be had.
        reason: Where it was found, or why it is not to be had; completes a sentence about it.
    """

    path: Path | None
    reason: str


def find_model(name: str, hub_timeout_s: float) -> FoundModel:
    """Find a model, downloading it with a progress bar when the hub is in reach.

    Args:
        name: A folder, a size that faster-whisper knows ("base.en"), or a hub repository.
        hub_timeout_s: Longest wait for the hub's first answer.

    Raises:
        ModelError: ``name`` is neither a folder, nor a known size, nor a repository's name.
    """
    from huggingface_hub.errors import HFValidationError

    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return FoundModel(folder, "found in a local folder")
    repository = repository_of(name)
    try:
        cached = _cached(repository)
    except HFValidationError as error:  # as a path has it where there is no folder
        raise _no_name(name) from error
    if cached is not None:
        return FoundModel(cached, "found in the local cache")
    problem = _hub_problem(repository, hub_timeout_s)
    if problem:
        return FoundModel(None, f"is not in the local cache and {problem}")
    try:
        return FoundModel(_download(repository), "downloaded from the hub")
    except Exception as error:  # the hub's client raises errors of several libraries
        return FoundModel(None, f"could not be downloaded: {type(error).__name__}")


def tokenizer_problem(model: Path, hub_timeout_s: float) -> str:
    """Why a model's tokenizer is not to be had; "" when it is.

    Args:
        model: Folder of the model.
        hub_timeout_s: Longest wait for the hub's first answer.
    """
    from huggingface_hub import try_to_load_from_cache

    name = "tokenizer.json"
    cached = (isinstance(try_to_load_from_cache(one, name), str) for one in _TOKENIZERS)
    if (model / name).is_file() or any(cached):
        return ""
    problem = _hub_problem(_TOKENIZERS[0], hub_timeout_s)
    return problem and f"has no {name}, and {problem}"


def repository_of(name: str) -> str:
    """The hub repository of a model's name.

    Raises:
        ModelError: faster-whisper knows no such size.
    """
    if "/" in name:
        return name
    from faster_whisper.utils import _MODELS

    if name not in _MODELS:
        raise _no_name(name)
    return str(_MODELS[name])


def _no_name(name: str) -> ModelError:
    from faster_whisper.utils import _MODELS

    return ModelError(
        f"asr.whisper.model: got {name!r}; expected a folder, owner/repository, or one of "
        f"{', '.join(sorted(_MODELS))}"
    )


def _cached(repository: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    model = try_to_load_from_cache(repository, "model.bin")
    config = try_to_load_from_cache(repository, "config.json")
    if isinstance(model, str) and isinstance(config, str):
        return Path(model).parent
    return None


def _hub_problem(repository: str, timeout_s: float) -> str:
    """Why the hub cannot serve the repository now; "" when it can."""
    import httpx
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    url = f"{constants.ENDPOINT}/api/models/{repository}"
    problems: list[str] = []

    def ask() -> None:
        try:
            answer = httpx.get(url, timeout=timeout_s, follow_redirects=True)
            problems.append("" if answer.is_success else f"the hub answered {answer.status_code}")
        except httpx.TimeoutException:
            problems.append(silent)
        except (httpx.HTTPError, httpx.InvalidURL):
            problems.append("the hub cannot be reached")

    silent = f"the hub did not answer within {timeout_s:g} s"
    # Looking up a host name heeds no timeout: it is left behind in a daemon thread.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(timeout_s)
    return problems[0] if problems else silent


def _download(repository: str) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(repository, allow_patterns=list(_FILES)))
