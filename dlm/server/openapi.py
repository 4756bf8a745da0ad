"""The API's description in OpenAPI 3.1, from the models that requests are checked with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from dlm.server.errors import ErrorBody
from dlm.server.models import ModelBody, ModelList
from dlm.server.replies import Completion, TextCompletion
from dlm.server.requests import ChatRequest, CompletionRequest, FimRequest, RewriteRequest

_TEMPLATE = "#/components/schemas/{model}"
_POSTS: tuple[tuple[str, str, type[BaseModel], Any], ...] = (
    ("chat/completions", "Answer a dialogue", ChatRequest, Completion),
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


def description(version: str, models: Sequence[str]) -> dict[str, Any]:
    """The whole description.

    Args:
        version: Of the package.
        models: What the model may be called.
    """
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
    told = operation["responses"]["200"]["content"]
    # Sent where the request says `stream: true`; its events are chunks, the last is "[DONE]".
    told["text/event-stream"] = {}
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
    """A reference to a type's schema, which is entered with all that it refers to."""
    made = TypeAdapter(kind).json_schema(ref_template=_TEMPLATE)
    schemas.update(made.pop("$defs", {}))
    schemas[kind.__name__] = made
    return {"$ref": _TEMPLATE.format(model=kind.__name__)}
