"""The list of models and the OpenAPI description."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from dlm.server.description import ModelCard, openapi


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    return set().union(*(references(value) for value in node)) if isinstance(node, list) else set()


def test_every_reference_leads_somewhere() -> None:
    described = openapi("1.2.3", ["m"])
    found = references(described)
    assert "#/components/schemas/ChatRequest" in found
    for reference in found:
        here: Any = described
        for step in reference.removeprefix("#/").split("/"):
            here = here[step]
    assert described["info"]["version"] == "1.2.3"
    assert json.loads(json.dumps(described)) == described


def test_every_endpoint_is_described() -> None:
    paths = openapi("0", ["m"])["paths"]
    assert sorted(paths) == [
        "/v1/apply/completions",
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/edit/completions",
        "/v1/fim/completions",
        "/v1/models",
        "/v1/models/{name}",
        "/v1/responses",
    ]
    for path in paths.values():
        (operation,) = path.values()
        assert {"200", "400", "401", "429"} <= operation["responses"].keys()


def test_a_model_that_thinks_says_so() -> None:
    card = ModelCard(("a",), 4096, 16_384)
    assert "reasoning" not in card.body("a")["supported_features"]
    assert "reasoning" in replace(card, reasons=True).body("a")["supported_features"]
