"""Recognises the family of a checkpoint directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlm.loading.families.family import Family
from dlm.loading.families.llada import LLADA
from dlm.loading.families.llada2 import LLADA2, LLADA21
from dlm.loading.families.llama import LLAMA
from dlm.loading.families.quicksilver import QUICKSILVER
from dlm.loading.families.qwen2 import DREAM, FAST_DLLM
from dlm.loading.families.qwen3 import A2D, SDAR
from dlm.network.config import ModelConfig

FAMILIES = (QUICKSILVER, SDAR, A2D, FAST_DLLM, DREAM, LLADA, LLADA2, LLADA21, LLAMA)


def recognise(directory: Path) -> tuple[Family, ModelConfig]:
    """The family of a checkpoint directory, and the shape of its model.

    Ids that config.json does not name are taken from generation_config.json.

    Raises:
        FileNotFoundError: There is no config.json.
        ValueError: The checkpoint is of no known family, or malformed; the text says which.
    """
    raw = _json(directory / "config.json")
    generation = directory / "generation_config.json"
    if generation.is_file():
        ids = _json(generation)
        raw = {k: ids[k] for k in ("mask_token_id", "eos_token_id") if ids.get(k)} | {
            key: value for key, value in raw.items() if value is not None
        }
    family = _family(raw)
    if family is None:
        known = ", ".join(sorted(family.model_type for family in FAMILIES))
        raise ValueError(
            f"{directory}: model_type: got {raw.get('model_type')!r} "
            f"(architectures {raw.get('architectures')}), expected one of {known}"
        )
    try:
        return family, family.read(raw)
    except ValueError as error:
        raise ValueError(f"{directory}/config.json: {error}") from error


def _family(raw: dict[str, Any]) -> Family | None:
    given = set(raw.get("architectures") or ())
    for family in FAMILIES:
        if raw.get("model_type") != family.model_type:
            continue
        if not family.architectures or not given or given.intersection(family.architectures):
            return family
    return None


def _json(file: Path) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"{file}: got {type(raw).__name__}, expected an object")
    return raw
