"""From the bytes of a body to a checked model, or to the field that is wrong.

Fields that are unknown do no harm: they are left out, and named in the answer's ``warning``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from dlm.server.errors import ApiError, invalid

# Accepted for the sake of clients that always send them; they change nothing here.
HARMLESS = {
    "metadata",
    "prompt_cache_key",
    "realtime",
    "reasoning_summary_wait",
    "safety_identifier",
    "service_tier",
    "store",
    "user",
}
# What is not offered, with the values that ask for nothing.
NOT_OFFERED: dict[str, tuple[Any, ...]] = {
    "audio": (None,),
    "best_of": (None, 1),
    "echo": (None, False),
    "frequency_penalty": (None, 0),
    "function_call": (None,),
    "functions": (None, []),
    "logprobs": (None, False),
    "modalities": (None, ["text"]),
    "presence_penalty": (None, 0),
    "repetition_penalty": (None, 1),
    "top_k": (None, -1, 0),
    "top_logprobs": (None, 0),
    "web_search_options": (None,),
}


class Body(BaseModel):
    """A request's body."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    def warning(self) -> str | None:
        """What of the request has no effect."""
        ignored = sorted((self.model_extra or {}).keys() - HARMLESS - NOT_OFFERED.keys())
        return f"ignored: {', '.join(ignored)}" if ignored else None


class Part(BaseModel):
    """An object inside a body."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


Checked = TypeVar("Checked", bound=Body)


def read(kind: type[Checked], body: bytes) -> Checked:
    """Check a body.

    Raises:
        ApiError: It is not JSON, or not what the endpoint takes.
    """
    try:
        raw = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ApiError(400, f"the body is not JSON: {error}", "invalid_json") from error
    if not isinstance(raw, dict):
        raise ApiError(400, "the body is not a JSON object", "invalid_json")
    try:
        checked = kind.model_validate(raw)
    except ValidationError as error:
        raise _first(error, raw) from error
    for name, neutral in NOT_OFFERED.items():
        value = (checked.model_extra or {}).get(name)
        # In Python True equals 1, and False 0; but 0 as ``logprobs`` asks for the chosen tokens'.
        if not any(
            value == one and isinstance(value, bool) == isinstance(one, bool) for one in neutral
        ):
            raise invalid(name, "is not supported", "unsupported_parameter")
    return checked


def _first(error: ValidationError, raw: dict[str, Any]) -> ApiError:
    """The error that lies deepest: of a union's branches, the one that fits best."""
    told = [(_path(one, raw), one) for one in error.errors(include_url=False)]
    path, found = max(told, key=lambda one: len(one[0]))
    param = _written(path)
    missing = found["type"] == "missing"
    code = "missing_required_parameter" if missing else "invalid_value"
    return invalid(param, found["msg"].lower() if missing else found["msg"], code)


def _path(error: ErrorDetails, raw: Any) -> list[str | int]:
    """Where in the body an error lies, without the names of a union's branches."""
    path: list[str | int] = []
    here = raw
    loc = error["loc"]
    for step in loc:
        if isinstance(step, int) and isinstance(here, list) and step < len(here):  # noqa: SIM114
            here = here[step]
        elif isinstance(here, dict) and step in here:
            here = here[step]
        elif step != loc[-1] or not isinstance(here, dict) or error["type"] != "missing":
            continue
        else:
            here = None
        path.append(step)
    return path


def _written(path: Sequence[str | int]) -> str:
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(parts).removeprefix(".")
