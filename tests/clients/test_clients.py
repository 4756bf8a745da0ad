"""Clients as they are published, each in its own environment, talk to the running server."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dlm.engine.engine import SHIPPED
from dlm.loading.families.registry import recognise
from tests.clients.environments import PROGRAMS, node_home, python_of, report
from tests.clients.serving import KEY, MODEL

pytestmark = pytest.mark.e2e


def ask(client: str, program: str, server: str) -> dict[str, Any]:
    return report(python_of(client), PROGRAMS / program, server, KEY, MODEL)


def check_everyday(found: dict[str, Any]) -> None:
    """That what was asked for came, of the words that were there."""
    assert found["Person"] == {"name": "Anna", "age": 34}
    assert found["Customer"]["address"]["city"] == "Leeds"
    assert found["Fault"]["urgency"] in ("low", "high")
    assert set(found["Shopping"]["items"]) <= {"milk", "eggs", "bread"}
    assert found["Invoice"]["number"] in "Invoice B20 has no date."
    assert found["Invoice"]["due"] is None


def test_openai(server: str) -> None:
    found = ask("openai", "openai_sdk.py", server)
    assert MODEL in found["models"]
    created = found["created"]
    assert created["content"]
    assert created["reason"] == "stop"
    assert created["total"] == created["sum"] > 0
    assert created["steps"] > 0
    assert created["request_id"].startswith("req_")
    streamed = found["streamed"]
    assert {"content.delta", "content.done"} <= set(streamed["kinds"])
    assert streamed["content"] == created["content"]
    assert streamed["completion_tokens"] > 0
    parsed = found["parsed"]
    assert (parsed["tokens"] == 400) if parsed["length"] else parsed["plan"]["steps"] is not None
    called = found["called"]
    assert called["reason"] == "tool_calls"
    assert isinstance(called["minutes"], int)
    assert called["label"] in ("tea", "pasta", None)
    assert called["same"]
    assert len(set(called["ids"])) == 2
    assert found["failures"] == {
        "model": ["NotFoundError", 404, "model", "model_not_found"],
        "temperature": ["BadRequestError", 400, "temperature", "invalid_value"],
        "logprobs": ["BadRequestError", 400, "logprobs", "unsupported_parameter"],
        "key": ["AuthenticationError", 401, None, "invalid_api_key"],
    }


def test_inception_validating_strictly(server: str) -> None:
    found = ask("inceptionai", "inception_sdk.py", server)
    assert MODEL in found["models"]
    assert found["content"] == found["pieces"] == found["snapshots"][-1]
    assert len(found["snapshots"]) > 1
    assert found["summary"] == "skipped"
    # Word spans of what the user said, which is not the model's choice.
    assert found["call"]["duration"] in "set a timer for ten minutes"
    assert (found["fim"], found["edit"]) == ("text_completion", "edit.completion")


def test_langchain(server: str) -> None:
    found = ask("langchain", "langchain_sdk.py", server)
    assert found["content"] == found["pieces"]
    assert found["usage"] > 0
    ((name, arguments),) = found["calls"]
    assert name == "get_weather"
    assert arguments["place"] in ("Paris", "Tokyo")
    assert found["streamed"] == found["calls"]
    assert found["after"]
    assert found["ticket"]["urgency"] in ("low", "high")
    check_everyday(found["everyday"])


def test_litellm(server: str) -> None:
    found = ask("litellm", "litellm_sdk.py", server)
    assert found["content"] == found["pieces"]
    assert found["total"] > 0
    assert found["reason"] == "tool_calls"
    for made in (found["call"], found["ticket"]):
        assert made["urgency"] in ("low", "high")
        assert made["floor"] in (1, 2, 3)
    check_everyday(found["everyday"])


def test_instructor(server: str) -> None:
    found = ask("instructor", "instructor_sdk.py", server)
    assert sorted(found["tickets"]) == ["json_schema_mode", "tool_call"]
    for ticket in found["tickets"].values():
        assert ticket["urgency"] in ("low", "high")
        assert all(room["floor"] in (None, *range(10)) for room in ticket["rooms"])
    check_everyday(found["tool"])
    check_everyday(found["prompt"])


def test_pydantic_ai(server: str) -> None:
    found = ask("pydantic_ai", "pydantic_ai_sdk.py", server)
    check_everyday(found["tool"])
    check_everyday(found["schema"])


def test_vercel(server: str) -> None:
    home = node_home()
    found = report("node", "program.mjs", server, KEY, MODEL, cwd=home)
    assert found["text"] == found["pieces"]
    assert found["reason"] == "stop"
    assert found["tokens"] == found["streamed"] > 0
    (ran,) = found["ran"]
    assert ran["place"] in ("Paris", "Tokyo")
    assert 1 <= ran["days"] <= 9
    assert found["steps"] == 2
    assert found["object"]["urgency"] in ("low", "high")


def test_what_the_guides_show(server: str) -> None:
    found = ask("openai", "guides.py", server)
    loop = found["loop"]
    assert 2 <= loop["steps"] <= 6
    assert loop["reason"] in ("stop", "tool_calls", "length")
    assert {name for name, _ in loop["ran"]} <= {"get_stock_price", "convert_currency"}
    assert loop["ran"]
    ticket = Draft202012Validator(
        {
            "required": ["category", "priority", "needs_human", "tags"],
            "properties": {
                "category": {"enum": ["billing", "bug", "account", "other"]},
                "priority": {"enum": ["low", "medium", "high"]},
                "needs_human": {"type": "boolean"},
                "tags": {"maxItems": 2, "items": {"enum": ["payment", "crash", "login"]}},
            },
            "additionalProperties": False,
        }
    )
    assert len(found["tickets"]) == 3
    for made in found["tickets"]:
        ticket.validate(made)
    assert list(found["efforts"]) == ["instant", "low", "medium", "high"]
    steps = [told["steps"] for told in found["efforts"].values()]
    assert 0 < steps[0] <= steps[-1]
    tokens = [told["tokens"] for told in found["efforts"].values()]
    thought = [told["reasoning"] for told in found["efforts"].values()]
    assert tokens[0] == tokens[1]
    assert thought[:2] == [0, 0]
    if recognise(SHIPPED)[1].reasons:
        # More effort allows for a longer thought; who is done before stops.
        assert 0 < thought[2] <= thought[3]
        assert tokens[1] < min(tokens[2:])
    else:
        # Verified, who does not think says the same at any effort.
        assert tokens[1] == tokens[2] == tokens[3]
        assert thought[2:] == [0, 0]
    assert "".join(found["stream"])
