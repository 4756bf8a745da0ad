"""How the server describes itself: the list of models, and its OpenAPI 3.1 description.

The OpenAPI schemas are derived from the types that check requests and make up answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from dlm.server.bodies import ChatRequest, CompletionRequest, FimRequest, RewriteRequest
from dlm.server.errors import ErrorBody
from dlm.server.response_objects import ResponseObject
from dlm.server.response_requests import ResponseRequest
from dlm.server.responses import Completion, TextCompletion

_TEMPLATE = "#/components/schemas/{model}"
_POSTS: tuple[tuple[str, str, type[BaseModel], Any], ...] = (
    ("chat/completions", "Answer a dialogue", ChatRequest, Completion),
    ("responses", "Answer a dialogue, as a response", ResponseRequest, ResponseObject),
    ("completions", "Go on with a text", CompletionRequest, TextCompletion),
    ("fim/completions", "Fill in between two texts", FimRequest, TextCompletion),
    ("edit/completions", "Rewrite a section of a file", RewriteRequest, Completion),
    ("apply/completions", "Apply an update to a file", RewriteRequest, Completion),
)
_FAILURES = {
    "400": "A field is wrong; `param` names it",
    "401": "The key is missing or wrong",
    "403": "The host or origin is not allowed",
    "404": "There is no such model",
    "408": "The body took too long to arrive",
    "413": "The body is too long",
    "429": "The model is busy; `Retry-After` says when to try again",
    "500": "The server failed",
    "503": "The model is not available",
}


class Pricing(TypedDict):
    """Price of a token."""

    prompt: str
    completion: str


class ModelBody(TypedDict):
    """An entry of the list of models."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    name: str
    description: str
    context_length: int
    max_output_length: int
    input_modalities: list[str]
    output_modalities: list[str]
    supported_endpoints: list[str]
    supported_features: list[str]
    supported_sampling_parameters: list[str]
    pricing: Pricing


class ModelList(TypedDict):
    """The list of models."""

    object: Literal["list"]
    data: list[ModelBody]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Describes a model that is served.

    Attributes:
        names: Names that clients may use; the first is the model's id.
        context_length: Most tokens of prompt and answer together.
        max_output_length: Longest answer, in tokens.
        created: When the model was made, in seconds since the epoch.
        reasons: Whether the model reasons before it answers, at medium and high effort.
        description: A description for clients.
        generates: Whether a language model generates the answers, so that all its features can be
            used.
    """

    names: tuple[str, ...]
    context_length: int
    max_output_length: int
    created: int = 0
    reasons: bool = False
    description: str = "A diffusion language model"
    generates: bool = True

    def body(self, name: str) -> ModelBody:
        """The model's entry in the list, under one of its names."""
        return {
            "id": name,
            "object": "model",
            "created": self.created,
            "owned_by": "quicksilver",
            "name": name,
            "description": self.description,
            "context_length": self.context_length,
            "max_output_length": min(self.max_output_length, self.context_length),
            "input_modalities": ["text"],
            "output_modalities": ["text"],
            "supported_endpoints": ["chat.completions", "responses"]
            + self.generates
            * [
                *("completions", "fim.completions", "edit.completions", "apply.completions"),
            ],
            "supported_features": ["streaming"]
            + self.generates
            * [
                *("tools", "json_mode", "structured_outputs"),
                *(("reasoning",) if self.reasons else ()),
            ],
            "supported_sampling_parameters": self.generates
            * ["temperature", "top_p", "seed", "stop", "max_tokens"],
            "pricing": {"prompt": "0", "completion": "0"},
        }


def openapi(version: str, models: Sequence[str]) -> dict[str, Any]:
    """The OpenAPI description of a version of this package, for a model with some names."""
    schemas: dict[str, Any] = {}
    paths = {
        f"/v1/{path}": {"post": _post(summary, request, reply, schemas)}
        for path, summary, request, reply in _POSTS
    }
    for _, _, request, _ in _POSTS:
        schemas[request.__name__]["properties"]["model"]["enum"] = list(models)
    names = {"type": "string", "enum": list(models)}
    name = {"name": "name", "in": "path", "required": True, "schema": names}
    listing = _operation("List the models", ModelList, schemas)
    one = {**_operation("Describe a model", ModelBody, schemas), "parameters": [name]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Quicksilver", "version": version},
        "security": [{"key": []}, {}],
        "paths": {**paths, "/v1/models": {"get": listing}, "/v1/models/{name}": {"get": one}},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _post(
    summary: str, request: type[BaseModel], reply: Any, schemas: dict[str, Any]
) -> dict[str, Any]:
    content = {"application/json": {"schema": _schema(request, schemas)}}
    operation = _operation(summary, reply, schemas)
    answers = operation["responses"]["200"]["content"]
    # Sent if the request says `stream: true`; its events are chunks, and the last is "[DONE]".
    answers["text/event-stream"] = {}
    return {**operation, "requestBody": {"required": True, "content": content}}


def _operation(summary: str, reply: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    answer = {"content": {"application/json": {"schema": _schema(reply, schemas)}}}
    failure = {"content": {"application/json": {"schema": _schema(ErrorBody, schemas)}}}
    failures = {status: {"description": why, **failure} for status, why in _FAILURES.items()}
    return {
        "summary": summary,
        "responses": {"200": {"description": "The answer", **answer}, **failures},
    }


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, str]:
    """A reference to a type's schema, which is added to ``schemas`` with all that it refers to."""
    made = TypeAdapter(kind).json_schema(ref_template=_TEMPLATE)
    schemas.update(made.pop("$defs", {}))
    schemas[kind.__name__] = made
    return {"$ref": _TEMPLATE.format(model=kind.__name__)}
