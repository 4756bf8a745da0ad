"""``python -m dlm.teach`` as it runs, with one step of training, and the folder in a server."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from dlm.teach import __main__ as program
from dlm.teach import sentences
from dlm.teach.__main__ import main
from dlm.teach.sources import read
from tests.dlm.teach.test_lists import ORDER
from voice.config import load_agent, load_config
from voice.demo.server import EMBEDDED, as_arguments, serving
from voice.prove.scenario import load
from voice.tools.registry import as_tool

EXAMPLES = [
    {
        "say": f"who is pet {number}",
        "calls": [{"name": "getPetById", "arguments": {"petId": number}}],
    }
    for number in (4, 5, 6, 7)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("taught")
    file, examples = place / "pets.json", place / "examples.jsonl"
    file.write_text(json.dumps(ORDER), encoding="utf-8")
    examples.write_text("".join(json.dumps(line) + "\n" for line in EXAMPLES), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "DIALOGUES", 40)
        patch.setattr(program, "PHRASINGS", 3)
        patch.setattr(program, "SHIPPED_DIALOGUES", 2)
        command = [str(file), "--out", str(place / "out"), "--examples", str(examples)]
        command += ["--without", "placeOrder", "--set", "total_steps = 1", "--set", "threads = 1"]
        command += ["--set", "tokens_per_step = 1024"]
        main(command)
        yield place / "out"
        # The same again makes nothing again, and keeps what was changed.
        shutil.rmtree(place / "out" / "run")
        (place / "out" / "pets_tools.py").write_text("mine", encoding="utf-8")
        main(command)
        assert not (place / "out" / "run").exists()
        assert (place / "out" / "pets_tools.py").read_text(encoding="utf-8") == "mine"


def test_the_report_tells_before_and_after(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for when in ("before", "after"):
        assert report[when]["examples"]["exact"][1] == 1
        assert report[when]["phrasings"]["exact"][1] == 3
        assert report[when]["shipped"]["exact"][1] > 0
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "| held-out phrasings: exact calls |" in text


def test_scenarios_and_agent_are_what_the_voice_reads(folder: Path) -> None:
    scenarios = load(str(folder / "scenarios.toml"))
    assert "get-pet-by-id-1" in scenarios.scenarios
    agent = load_agent(scenarios.agent)
    assert agent.tools == ("getPetById", "delete_pet_petId", "end_conversation")
    assert load_config(folder / "serve.toml").llm.checkpoint == str(folder / "checkpoint")


async def test_the_tools_of_an_openapi_file_ask_its_service(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.command, self.path))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"name": "Rex"}')

        def log_message(self, *arguments: Any) -> None:
            pass

    service = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=service.serve_forever)
    thread.start()
    try:
        monkeypatch.setenv("PETS_URL", f"http://127.0.0.1:{service.server_port}/v3")
        tools = runpy.run_path(str(folder / "pets_tools.py"))
        assert await tools["getPetById"](7) == '{"name": "Rex"}'
        await tools["getPetById"]("../admin?all=1#")
        # The model is taught what the agent will declare.
        (taught, _, _) = read(str(folder.parent / "pets.json"))
        assert as_tool(tools["getPetById"]).spec.parameters == taught.parameters
    finally:
        service.shutdown()
        thread.join()
        service.server_close()
    assert asked == [("GET", "/v3/pet/7"), ("GET", "/v3/pet/..%2Fadmin%3Fall%3D1%23")]


async def test_the_folder_answers_in_a_server(folder: Path) -> None:
    rehearsal = folder / "rehearsal"
    arguments = [*as_arguments(EMBEDDED), "--config", str(rehearsal / "serve.toml")]
    async with serving(arguments, {**os.environ, "PYTHONPATH": str(rehearsal)}) as server:
        client = AsyncOpenAI(base_url=f"http://{server.host}:{server.port}/v1", api_key="none")
        async with client, client.realtime.connect(model="quicksilver") as connection:
            await connection.session.update(
                session={"type": "realtime", "output_modalities": ["text"]}
            )
            await connection.conversation.item.create(
                item={
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "find pet 7"}],
                }
            )
            await connection.response.create()
            async for event in connection:
                assert event.type != "error", event
                if event.type == "response.done":
                    assert event.response.status == "completed"
                    break


def test_a_list_that_cannot_be_learned_is_told_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pets.json"
    file.write_text(json.dumps(ORDER), encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        main([str(file), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert "placeOrder: tags is required and is an array" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "foo = 1"], "unknown key 'foo'"),
        (["--minutes", "0"], "--minutes: got 0, expected at least 0.1"),
        (["--init", "nowhere"], "nowhere/config.json"),
        (["--corpora", "nowhere"], "--corpora: got nowhere, expected a directory"),
    ],
)
def test_a_wrong_option_is_told_before_the_list_is_read(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["nowhere.json", "--out", str(tmp_path / "out"), *options])
    shown = capsys.readouterr()
    assert (stopped.value.code, shown.out) == (2, "")
    assert told in shown.err


def test_a_stopped_run_says_how_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise SystemExit(130)

    monkeypatch.setattr(program, "teach", stop)
    with pytest.raises(SystemExit) as stopped:
        main(["pets.json", "--out", str(tmp_path)])
    assert stopped.value.code == 130
    assert f"go on with: python -m dlm.teach pets.json --out {tmp_path}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"say": "who is pet 5", "call": []}', "examples.jsonl:2: got 'call', expected say"),
        ('{"say": "pet 5", "also": [[{"name": "nope"}]]}', "examples.jsonl:2: .*got 'nope'"),
    ],
)
def test_a_line_of_examples_that_would_teach_something_else_is_refused(
    line: str, told: str, tmp_path: Path
) -> None:
    examples, pets = tmp_path / "examples.jsonl", tmp_path / "pets.json"
    pets.write_text(json.dumps(ORDER), encoding="utf-8")
    # To JSON, a line separator is a character like others.
    examples.write_text(f'{{"say": "who is\u2028pet 5"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        sentences.read(examples, read(str(pets)))
