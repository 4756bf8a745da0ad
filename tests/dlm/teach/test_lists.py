"""What lists of tools are read as, and which of them cannot be learned."""

from __future__ import annotations

import json
import runpy
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from dlm.teach import folder, sources
from dlm.teach.learnable import faults, remarks
from dlm.teach.listed import Listed
from dlm.teach.requests import Asking
from voice.prove.words import plain
from voice.tools.registry import as_tool

ORDER = {
    "openapi": "3.0.2",
    "servers": [{"url": "https://pets.example/v3"}],
    "paths": {
        "/pet/{petId}": {
            "parameters": [{"$ref": "#/components/parameters/petId"}],
            "get": {"operationId": "getPetById", "summary": "Find a pet by its number."},
            "delete": {
                "summary": "Remove a pet",
                "parameters": [{"name": "api_key", "in": "header", "schema": {"type": "string"}}],
            },
        },
        "/order": {
            "post": {
                "operationId": "placeOrder",
                "description": "Order a pet. It takes a day.",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Order"}}
                    },
                },
            }
        },
    },
    "components": {
        "parameters": {
            "petId": {
                "name": "petId",
                "in": "path",
                "required": True,
                "description": "Number on the pet's collar. It is never zero.",
                "schema": {"type": "integer"},
            }
        },
        "schemas": {
            "Order": {
                "type": "object",
                "required": ["petId", "tags"],
                "properties": {
                    "petId": {"type": "integer", "format": "int64"},
                    "status": {"type": "string", "enum": ["placed", "approved"]},
                    "shipDate": {"type": "string", "format": "date-time"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            }
        },
    },
}
FUNCTIONS = '''
from typing import Literal

def lights(mode: Literal["on", "off"], room: str | None = None) -> str:
    """Switch the lights.

    More words."""

def _hidden() -> None:
    """No tool."""
'''
SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("shelf")

@server.tool()
def find_book(title: str) -> str:
    """Find a book on the shelf. It may take long."""
    return title

server.run()
'''


def faults_of(*tools: Listed) -> list[str]:
    return faults([Asking.of(tool) for tool in tools])


def tool(name: str, description: str, **properties: Any) -> Listed:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return sources.listed(name, description, parameters)


def test_operations_become_tools_and_say_how_they_are_sent(tmp_path: Path) -> None:
    file = tmp_path / "pets.json"
    file.write_text(json.dumps(ORDER), encoding="utf-8")
    found, removed, order = sources.read(str(file))
    assert (found.name, found.description) == ("getPetById", "Find a pet by its number.")
    told = {"type": "integer", "description": "Number on the pet's collar."}
    assert found.parameters["properties"] == {"petId": told}
    assert removed.name == "delete_pet_petId" and list(removed.properties) == ["petId"]
    assert removed.request == ("DELETE", "/pet/{petId}", {"petId": "path"})
    assert order.description == "Order a pet."
    assert order.left_out == ("shipDate",)
    assert order.unsayable == {"tags": "is an array"}
    assert order.properties["status"]["enum"] == ["placed", "approved"]
    assert sources.base_url(str(file)) == "https://pets.example/v3"


def test_functions_become_tools(tmp_path: Path) -> None:
    file = tmp_path / "house.py"
    file.write_text(FUNCTIONS, encoding="utf-8")
    (lights,) = sources.read(str(file))
    assert lights.spec == {
        "name": "lights",
        "description": "Switch the lights.",
        "parameters": {
            "type": "object",
            "properties": {
                "mode": {"enum": ["on", "off"], "type": "string"},
                "room": {"type": "string"},
            },
            "required": ["mode"],
        },
    }


def test_a_server_lists_its_tools(tmp_path: Path) -> None:
    file = tmp_path / "shelf.py"
    file.write_text(SERVER, encoding="utf-8")
    (book,) = sources.read("", f"{sys.executable} {file}")
    assert (book.name, book.description) == ("find_book", "Find a book on the shelf.")
    assert book.required == ("title",)


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "not JSON"), ("[]", "no tools"), ('[{"description": "x"}]', "tool 1 has no name")],
)
def test_what_is_no_list_is_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "list.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(sources.ListError, match=told):
        sources.read(str(file))


def test_two_tools_that_say_the_same_are_told() -> None:
    old = tool(
        "read_file",
        "Read the complete contents of a file as text. Deprecated.",
        path={"type": "string"},
    )
    new = tool(
        "read_text_file",
        "Read the complete contents of a file from the disk as text.",
        path={"type": "string"},
    )
    (told,) = faults_of(old, new)
    assert "read_file and read_text_file say the same" in told
    start = tool("start_engine", "Start the engine of the vehicle.")
    stop = tool("stop_engine", "Stop the engine of the vehicle.")
    assert faults_of(start, stop) == []


def test_what_a_model_cannot_read_or_say_is_told() -> None:
    (bare,) = faults_of(tool("do_it", ""))
    assert "do_it: no description" in bare
    (kinds,) = faults_of(tool("tag", "Tag a picture.", tag={"type": ["string", "integer"]}))
    assert "tag is required and is a value of several kinds" in kinds
    (tags,) = faults_of(
        tool("tag", "Tag a picture.", tags={"type": "array", "items": {"type": "string"}})
    )
    assert "tags is required and is an array" in tags
    both = {"tag-id": {"type": "string"}, "tag_id": {"type": "string"}}
    (twice,) = faults_of(tool("tag", "Tag a picture.", **both))
    assert twice == "tag: tag-id and tag_id: the names read alike"
    optional = {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}}
    assert remarks([sources.listed("tag", "Tag it.", optional)]) == [
        "tag: when left out, no caller can say such a value"
    ]


def test_values_that_nobody_can_mean_are_no_options() -> None:
    mode = {"type": ["string", "null"], "enum": ["a", "b", None]}
    assert tool("set_mode", "Set the mode.", mode=mode).properties == {
        "mode": {"type": "string", "enum": ["a", "b"]}
    }


def test_functions_with_dataclasses_and_of_other_names_are_read(tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n"
        "@dataclass\nclass Book:\n    title: str\n\n"
        'def sell(book: str) -> str:\n    """Sell a book."""\n    return Book(book).title\n',
        encoding="utf-8",
    )
    (sell,) = sources.read(str(file))
    assert sell.required == ("book",)
    odd = tmp_path / "my-shop.py"
    odd.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(sources.ListError, match="can be imported"):
        sources.read(str(odd))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"swagger": "2.0"}, "got Swagger 2"),
        ({"paths": {"/a": {"get": {"parameters": [{"$ref": "b.yaml#/X"}]}}}}, "not in this file"),
        ({"paths": {"/a": {"get": {"parameters": [{"$ref": "#/X/Y"}]}}}}, "#/X/Y: not in this"),
        ({"paths": {"/a": {"get": {"parameters": None}}}}, r"list\.json: malformed: TypeError"),
        ({"paths": {"/a": {"get": {"operationId": "!"}}}}, "got a tool of the name ''"),
    ],
)
def test_descriptions_that_would_lose_something_are_refused(
    tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    file = tmp_path / "list.json"
    file.write_text(json.dumps({**ORDER, **changed}), encoding="utf-8")
    with pytest.raises(sources.ListError, match=told):
        sources.read(str(file))


def test_what_is_written_is_python_whatever_the_names_are(tmp_path: Path) -> None:
    text = {"type": "string"}
    names = ("from", "to", "ask", "2nd", "_id")
    move = tool("move", "Move a thing.", **dict.fromkeys(names, text))
    asking = replace(move, request=("GET", "/move", {"from": "query", "to": "query"}))
    written = folder.module("moves", (move, asking), folder.SILENT, folder.SILENT_IMPORTS)
    compile(written, "moves", "exec")
    assert "(from_: str, to: str, ask_: str, n_2nd: str, id: str)" in written
    # Only what the service itself calls a reading may run before the user has finished.
    assert written.count("@tool()") == written.count("@tool(read_only=True)") == 1


async def test_a_place_in_a_path_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = tool("find", "Find a pet.", **{"pet.id": {"type": "string"}})
    asking = replace(find, request=("GET", "/pet/{pet.id}", {"pet.id": "path"}))
    imports = folder.ASKING_IMPORTS.format(variable="PETS_URL", base="http://pets.example")
    file = tmp_path / "pets_tools.py"
    file.write_text(folder.module("pets", [asking], folder.ASKING, imports), encoding="utf-8")
    service = httpx.MockTransport(lambda request: httpx.Response(200, text=request.url.path))
    monkeypatch.setattr(httpx, "AsyncClient", partial(httpx.AsyncClient, transport=service))
    assert await runpy.run_path(str(file))["find"]("7") == "/pet/7"


def test_tables_have_names_of_any_letters() -> None:
    table = {"größe": 1, "a b": {"c": 2}}
    assert tomllib.loads(folder.toml(table)) == table


def test_values_are_expected_as_they_are_compared() -> None:
    for value in (7, 105, 2.5, 0.75, -3, "Room 12"):
        assert folder._heard(value) == plain(str(value))


def test_schemas_of_odd_shapes_are_read(tmp_path: Path) -> None:
    properties = {
        "any": True,
        "$": {"type": "string"},
        "q": {"type": "string", "description": None},
    }
    tool = sources.listed("find", "Find it.", {"properties": properties})
    assert (tool.notes, tool.left_out) == ({"any": "", "q": ""}, ("$",))
    file = tmp_path / "list.yaml"
    file.write_text(
        "openapi: 3.0.0\npaths:\n  /a b/{id}:\n    parameters:\n"
        "    - {name: id, in: path, required: true, schema: {enum: [2024-01-01]}}\n"
        "    get: {operationId: find, summary: Find it.}\n"
        "    put:\n      operationId: keep\n      parameters:\n"
        "      - $ref: '#/paths/~1a%20b~1{id}/parameters/0'\n",
        encoding="utf-8",
    )
    for tool in sources.read(str(file)):
        assert tool.properties == {"id": {"enum": ["2024-01-01"]}}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def f(*args: str): ...", r"got \*args: str, which no call can give"),
        ("def f(_id: int): ...", "got _id: int, which no call can give"),
        ("def f(x: 'list['): ...", "f: Forward reference must be an expression"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_file_of_functions_that_no_call_can_reach_is_refused(
    tmp_path: Path, code: str, told: str
) -> None:
    file = tmp_path / "tools.py"
    file.write_text(code, encoding="utf-8")
    with pytest.raises(sources.ListError, match=told):
        sources.read(str(file))


def test_marks_of_ones_own_functions_stay(tmp_path: Path) -> None:
    file = tmp_path / "marked_tools.py"
    file.write_text(
        "from voice.tools import tool\n\n@tool(read_only=True)\ndef look() -> str:\n"
        '    """Look around."""\n    return "Trees."\n\n'
        'def walk() -> str:\n    """Walk on."""\n    return "Done."\n',
        encoding="utf-8",
    )
    module = tmp_path / "served.py"
    module.write_text(folder.of_functions(file, sources.read(str(file))), encoding="utf-8")
    made = runpy.run_path(str(module))
    assert as_tool(made["look"]).spec.read_only and not as_tool(made["walk"]).spec.read_only
