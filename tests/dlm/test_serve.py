from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx
import pytest
import torch

from dlm.engine.engine import SHIPPED
from dlm.loading.weights import save_model
from dlm.serve import application, load, main, name_of, parser
from tests.dlm.server.asking import asking
from tests.dlm.tiny import model, tokenizer
from tests.support.patience import PATIENCE_S
from tests.support.server_program import START_S


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small checkpoint of random weights."""
    directory = tmp_path_factory.mktemp("checkpoints") / "tiny-random"
    save_model(model(1), directory)
    tokenizer().save(directory)
    return directory


def test_what_is_served_without_arguments() -> None:
    given = parser().parse_args([])
    assert given.checkpoint == str(SHIPPED)
    assert name_of(given.checkpoint) == SHIPPED.name
    assert name_of("owner/model") == "owner/model"
    assert (given.host, given.port) == ("127.0.0.1", 8000)


async def test_the_command_line_reaches_the_server(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEYS", "one,two")
    threads = torch.get_num_threads()
    given = parser().parse_args(
        [
            str(checkpoint),
            *("--name", "a", "--name", "b", "--max-live", "3", "--max-tokens", "5"),
            *("--allowed-host", "box.lan", "--threads", str(threads)),
        ]
    )
    engine = load(given)
    try:
        assert engine.max_requests == 3
        assert engine.model.embed_tokens.weight.dtype is torch.float32
        async with asking(application(given, engine)) as client:
            shown = {"authorization": "Bearer two", "host": "box.lan"}
            listed = (await client.get("/v1/models", headers=shown)).json()["data"]
            assert [entry["id"] for entry in listed] == ["tiny-random", "a", "b"]
            assert (await client.get("/v1/models")).status_code == 401
            body = {"model": "b", "messages": [{"role": "user", "content": "x"}]}
            reply = (await client.post("/v1/chat/completions", json=body, headers=shown)).json()
            assert reply["usage"]["completion_tokens"] <= 5
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "nowhere"),
        (["--dtype", "int4"], "--dtype: got 'int4'"),
        (["--dtype", "nothing"], "--dtype: got 'nothing'"),
        (["--host", "0.0.0.0"], "QUICKSILVER_API_KEY"),
        (["--device", "gpu"], "device: got 'gpu'"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("QUICKSILVER_API_KEY", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main([*arguments, "--port", "0"]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert told in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert shown.out == ""


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--max-live", "0", "got 0, expected at least 1"),
        ("--max-live", "many", "got many, expected at least 1"),
        ("--threads", "-1", "got -1, expected at least 0"),
        ("--port", "65536", "got 65536, expected 0 to 65535"),
    ],
)
def test_a_number_out_of_bounds_is_refused(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([f"{option}={value}"])
    assert f"argument {option}: {told}" in capsys.readouterr().err


@pytest.mark.e2e
async def test_answers_under_way_are_finished_when_it_is_told_to_end(
    checkpoint: Path, repo_root: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dlm.serve", str(checkpoint), "--port", "0", "--threads", "1"),
        cwd=repo_root,
        env={name: value for name, value in os.environ.items() if "API_KEY" not in name},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(START_S):
            line = (await process.stdout.readline()).decode()
        assert line.startswith("Serving tiny-random at http://127.0.0.1:")
        url = line.split(" at ")[1].strip()
        messages = [{"role": "user", "content": "hello"}]
        body = {"model": "tiny-random", "messages": messages, "max_tokens": 300, "stream": True}
        body |= {"temperature": 1.0, "seed": 5, "stream_options": {"include_usage": True}}
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
            async with client.stream("POST", "/chat/completions", json=body) as answer:
                lines = answer.aiter_lines()
                await anext(lines)
                process.send_signal(signal.SIGTERM)
                rest = [line async for line in lines if line]
            assert rest[-1] == "data: [DONE]"
            assert '"completion_tokens"' in rest[-2]
            # Refused, or dropped where the system had taken it in already; not answered. The
            # server looks ten times a second whether it is to end.
            with pytest.raises(httpx.TransportError):
                while True:
                    await client.get("/models")
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert b"Traceback" not in await process.stderr.read()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
