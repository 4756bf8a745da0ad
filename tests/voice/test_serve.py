import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.support.imports import imported_by_default
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive, receive_until, send
from voice.config import ServerConfig, TelephonyConfig
from voice.errors import ConfigError
from voice.serve import (
    _patience,
    listen,
    listen_for_audiosocket,
    main,
    parse_arguments,
    url_of,
    uvicorn_config,
)

TYPED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}


def test_arguments_override_the_file() -> None:
    overrides = ["--set", "server.port=1", "--set", "turn.interrupt=false"]
    named = ["--agent", "coffee", "--host", "localhost", "--port", "0"]
    config = parse_arguments([*overrides, *named])
    assert config.agent == "coffee"
    assert (config.server.host, config.server.port) == ("localhost", 0)
    assert config.turn.interrupt is False


def test_without_arguments_the_file_holds() -> None:
    assert parse_arguments([]) == parse_arguments(["--config", "default"])


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_free_port_is_found_and_shown_with_an_address_to_click_on(host: str) -> None:
    with listen(ServerConfig(host=host, port=0)) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        assert url_of(listener) == f"http://127.0.0.1:{port}/"


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 on this machine")
def test_ipv6() -> None:
    with listen(ServerConfig(host="::1", port=0)) as listener:
        assert url_of(listener) == f"http://[::1]:{listener.getsockname()[1]}/"


def test_a_port_that_is_taken_is_told() -> None:
    with listen(ServerConfig(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"server\.port.*{port}"):
            listen(ServerConfig(port=port))


@pytest.mark.parametrize("host", ["203.0.113.77", "a" * 80, "a\0b", "a b"])
def test_an_address_that_is_not_ours_is_told(host: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.(host|port)"):
        listen(ServerConfig(host=host, port=0))


def test_audiosocket_has_no_port_unless_it_is_wanted() -> None:
    assert listen_for_audiosocket(TelephonyConfig()) is None


@pytest.mark.parametrize(
    ("host", "told"), [("127.0.0.1", "port: cannot listen on"), ("a" * 80, "host: cannot use")]
)
def test_what_audiosocket_cannot_have_is_told(host: str, told: str) -> None:
    with listen(ServerConfig(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"telephony\.audiosocket_{told}"):
            listen_for_audiosocket(TelephonyConfig(audiosocket_host=host, audiosocket_port=port))


def test_uvicorn_is_told_the_limits() -> None:
    config = uvicorn_config(lambda: None, ServerConfig(max_message_bytes=4096))  # type: ignore[arg-type,misc]
    assert config.ws_max_size == 4096
    assert not config.ws_per_message_deflate
    assert not config.proxy_headers


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "nowhere"], "--config: nowhere: got an unknown name"),
        (["--set", "asr.engin=sphinx"], "did you mean 'engine'"),
        (["--port", "99999"], "error: --port: got 99999; expected less than or equal to 65535"),
        (["--set", "server.port=1", "--port", "-1"], "error: --port: got -1; expected"),
        (["--agent", "true"], "agent: true: got an unknown name; expected the path of"),
        (["--host", "0.0.0.0", "--port", "0"], "QUICKSILVER_API_KEY"),
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
        assert main(arguments) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert told in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert shown.out == ""


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ("ulimit -Sn 200", "200 896"),
        ("ulimit -n 895", "at most 511"),
        ("ulimit -n 100", "at most 0"),
    ],
)
def test_there_is_a_file_for_every_connection(limits: str, told: str) -> None:
    """Without one, each attempt to accept a connection is an error in the log."""
    look = (
        "import resource; from voice.serve import make_room_for;"
        "n = lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0];"
        "before = n(); make_room_for(512); print(before, n())"
    )
    command = f'{limits} && exec "$0" -c "$1"'
    ran = subprocess.run(
        ["bash", "-c", command, sys.executable, look], capture_output=True, text=True, check=False
    )
    assert told in ran.stdout + ran.stderr


@pytest.mark.parametrize("module", ["voice.serve", "voice.cluster", "voice.cluster.update"])
def test_a_program_is_called_by_its_own_name(repo_root: Path, module: str) -> None:
    arguments = (sys.executable, "-m", module, "--port", "x")
    done = subprocess.run(arguments, cwd=repo_root, capture_output=True, text=True, check=False)
    assert f"usage: python -m {module} " in done.stderr


def test_a_start_shows_something_before_it_takes_long() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with redirect_stdout(Terminal()) as shown, _patience("Loading"):
        assert shown.getvalue() == "Loading"
    assert shown.getvalue() == "Loading\n"
    # What is shown next comes behind these.
    slow = "{'uvicorn', 'starlette', 'sqlalchemy', 'torch'}"
    look = f"import sys, voice.serve; print({slow} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_no_door_is_imported_before_it_is_used(repo_root: Path) -> None:
    packages = {name.partition(".")[0] for name in imported_by_default(repo_root, "")}
    assert "starlette" in packages
    assert not packages & {"aiortc", "aioice", "mcp", "pypdf", "ray", "wyoming", "zeroconf"}
    # What only some calls need, or is loaded once the server answers.
    assert not packages & {"alembic", "httpx", "markdown_it", "pint", "rich"}


@pytest.mark.e2e
async def test_the_server_says_what_it_uses_answers_and_ends_on_a_signal(repo_root: Path) -> None:
    async with program(cwd=repo_root) as (process, lines, address):
        assert len(lines) >= 3
        async with httpx.AsyncClient(base_url=f"http://{address}") as client:
            assert (await client.get("/healthz")).json()["status"] == "ok"
        async with connect(f"ws://{address}/v1/realtime", max_size=None) as socket_:
            assert (await receive(socket_))["type"] == "session.created"
            await send(socket_, "conversation.item.create", item=TYPED)
            await receive_until(socket_, "conversation.item.done")
            await send(socket_, "response.create")
            events = await receive_until(socket_, "response.done")
            assert events[-1]["response"]["status"] == "completed"
            process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed):
                while True:
                    json.loads(await socket_.recv())
            assert socket_.close_code == 1012
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()


HANGING = """
import time
from voice.tools import tool

@tool(read_only=True)
def hang() -> str:
    \"\"\"Hang for long.\"\"\"
    time.sleep(600)
    return "never"
"""


@pytest.mark.e2e
async def test_a_tool_that_hangs_does_not_hold_up_the_end(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hanging.py").write_text(HANGING)
    agent = tmp_path / "agent.toml"
    agent.write_text('name = "hanging"\ninstructions = "Be brief."\ntools = ["hang"]\n')
    path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    options = ["--set", 'tools.modules=["hanging"]', "--set", "turn.tool_timeout_s=0.5"]
    async with program("--agent", str(agent), *options, cwd=repo_root) as (process, _, address):
        async with connect(f"ws://{address}/v1/realtime", max_size=None) as socket_:
            await receive_until(socket_, "session.created")
            await send(socket_, "conversation.item.create", item=TYPED)
            forced = {"tool_choice": {"type": "function", "name": "hang"}}
            await send(socket_, "response.create", response=forced)
            await receive_until(socket_, "response.done")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        told = (await process.stderr.read()).decode()
    assert told == "WARNING voice.tools.execution: left behind unfinished: tool hang\n"
