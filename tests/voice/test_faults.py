"""What befalls the program: it is stopped, its clients die, it is told to end in the middle."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import signal
import sys
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until, send
from voice.callers import LOCAL, Owner
from voice.demo.client import RealtimeClient, at_client_rate
from voice.demo.recordings import load
from voice.server.seldom import MOST, PER_S
from voice.tools.database import Database
from voice.tools.store import AlertKind, Store
from voice.types import SAMPLE_RATE_HZ

STOPPED_S = 5.0
SENDING = ("connect", "sendto", "sendmsg", "sendmmsg")
FAR = re.compile(r"sa_family=AF_(?!UNIX|NETLINK|UNSPEC)\w+")
NEAR = re.compile(r'inet_addr\("127\.|"::1"')


def far_calls(trace: str) -> list[str]:
    """The system calls that name an address on another machine."""
    calls = [line for line in trace.splitlines() if FAR.search(line)]
    return [line for line in calls if not NEAR.search(line) and "listen(" not in line]


def test_what_counts_as_far() -> None:
    far = (
        '12 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16'
    )
    assert far_calls(far) == [far]
    near = far.replace("10.0.0.1", "127.0.0.53")
    assert far_calls(f'{near}\n12 connect(3, {{sa_family=AF_UNIX, sun_path="/run/x"}}, 9)') == []


@pytest.mark.e2e
async def test_the_default_server_connects_nowhere_and_may_be_stopped_for_a_while(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    trace = tmp_path / "trace"
    calls = f"trace=listen,{','.join(SENDING)}"
    # As a grandchild, so that the process is the server.
    under = [strace, "-D", "-f", "--seccomp-bpf", "-qq", "-e", calls, "-o", str(trace)]
    async with program(cwd=repo_root, under=under, settings=()) as (process, _, address):
        url = f"ws://{address}/v1/realtime"
        async with RealtimeClient.open(url, greet=False) as client:
            speech = at_client_rate(load("assistant-4-add"), SAMPLE_RATE_HZ)
            turn = asyncio.create_task(client.turn(speech, timeout_s=2 * PATIENCE_S))
            await client.wait_for("input_audio_buffer.speech_started", timeout_s=PATIENCE_S)
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(STOPPED_S)
            process.send_signal(signal.SIGCONT)
            said = await turn
        process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
    told = trace.read_text()
    assert "listen(" in told
    assert far_calls(told) == []
    assert said.transcript, said
    with closing(Database(str(tmp_path / "quicksilver" / "voice.sqlite3"))) as database:
        assert Store(database, Owner("assistant", LOCAL)).items("shopping") == ["milk"]


CROWD = 40


async def answered(
    socket: ClientConnection, text: str = "what is twelve times seven"
) -> dict[str, Any]:
    """The reply to a typed message."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    await send(socket, "response.create")
    done: dict[str, Any] = (await receive_until(socket, "response.done"))[-1]["response"]
    return done


@pytest.mark.e2e
async def test_where_no_file_is_left_a_call_goes_on_and_others_wait(repo_root: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("no limit of another process can be set here")
    async with program(cwd=repo_root) as (process, _, address), AsyncExitStack() as stack:
        url = f"ws://{address}/v1/realtime"
        call = await stack.enter_async_context(connect(url, max_size=None))
        # The units are read behind the start, from files of which none may be open any more.
        reply = await answered(call, "how many feet are two miles")
        assert "10560 feet" in str(reply["output"]), reply
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        taken = set(map(int, os.listdir(f"/proc/{process.pid}/fd")))
        free = min(set(range(len(taken) + 1)) - taken)
        began_s = time.monotonic()
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (free, before[1]))
        newcomers = [asyncio.create_task(opened(stack, url)) for _ in range(CROWD)]
        for _ in range(3):
            assert (await answered(call))["status"] == "completed"
        assert not any(task.done() for task in newcomers)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*newcomers)
        process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        log = (await process.stderr.read()).decode()
    most = MOST + PER_S * (time.monotonic() - began_s)
    assert 1 <= log.count("out of system resource") <= most, log


async def opened(stack: AsyncExitStack, url: str) -> None:
    """A further client, taken or sent away."""
    socket = await stack.enter_async_context(
        connect(url, open_timeout=PATIENCE_S, ping_interval=None)
    )
    await socket.recv()


SLOW = """
import os, time
from voice.tools import tool

@tool()
def slow() -> str:
    \"\"\"Do something that takes long.\"\"\"
    with open(os.environ["DONE"], "a", buffering=1) as done:
        done.write("begun ")
        time.sleep(3)
        done.write("done ")
    return "It is done."
"""


@pytest.mark.e2e
async def test_what_has_begun_is_finished_once_and_what_was_not_heard_is_kept(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client is killed and the server told to end while a tool runs and an alert is spoken."""
    (tmp_path / "slow.py").write_text(SLOW)
    agent = tmp_path / "agent.toml"
    agent.write_text('name = "slow"\ninstructions = "Be brief."\ntools = ["slow", "set_timer"]\n')
    done, file = tmp_path / "done", str(tmp_path / "voice.sqlite3")
    monkeypatch.setenv("DONE", str(done))
    path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    with closing(Database(file)) as database:
        store, due = Store(database, Owner("slow", LOCAL)), time.time() - 5
        # It takes longer to say than the other call needs to come to its tool on a busy machine.
        store.add_alert(AlertKind.REMINDER, "water the plants, " * 20, due, "before")
    settings = (f'tools.database="{file}"', 'tools.modules=["slow"]', "server.max_sessions=2")
    async with program("--agent", str(agent), cwd=repo_root, settings=settings) as (
        process,
        _,
        address,
    ):
        url = f"ws://{address}/v1/realtime"
        async with connect(url, max_size=None) as heard:
            await receive_until(heard, "response.output_audio.delta")
            async with connect(url, max_size=None) as killed:
                await receive_until(killed, "session.created")
                forced = {"tool_choice": {"type": "function", "name": "slow"}}
                await send(killed, "response.create", response=forced)
                while not done.exists():
                    await asyncio.sleep(0.01)
                killed.transport.abort()
            process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed):
                while True:
                    await heard.recv()
            assert heard.close_code == 1012
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        assert "Traceback" not in (await process.stderr.read()).decode()
    assert done.read_text() == "begun done "
    with closing(Database(file)) as database:
        (alert,) = Store(database, Owner("slow", LOCAL)).alerts()
        assert Store(database, Owner("slow", LOCAL)).take_alert(alert, due, due + 1)
