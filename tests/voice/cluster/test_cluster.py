"""The server's parts as processes of Ray Serve: a real cluster of two ingresses and one engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.clients.environments import python_beside
from tests.e2e import test_agents_client, test_openai_client
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until, send
from tests.voice.realtime import test_contexts_over_sockets as contexts
from voice.demo.server import as_arguments

KEY = "the-key-of-this-cluster"
TEXT = {"output_modalities": ["text"]}
PARTS = ("cluster.ingress.least=2", "cluster.ingress.most=2", "cluster.drain_s=1")
MANY_CALLS = ("server.max_sessions=8", "server.max_sessions_per_key=8")
COMPUTES_S = 0.02
"""More than a process takes that waits."""

PLACEMENT = """
import json
from voice.cluster.deployments import application
from voice.config import load_config

def options(app):
    part = app._bound_deployment
    yield part.name, part.ray_actor_options
    for given in part.init_args:
        if isinstance(given, type(app)):
            yield from options(given)

settings = ["cluster.engine.gpus=0.5", "cluster.engine.cpus=2", "cluster.ears.gpus=1"]
print(json.dumps(dict(options(application(load_config(None, settings))))))
"""

in_one_loop = pytest.mark.asyncio(loop_scope="module")


def ray() -> Path:
    """The interpreter of an environment that has Ray beside ours."""
    return python_beside("ray", "ray[serve]==2.60.0")


def test_cores_and_gpus_are_set_aside_for_each_part(repo_root: Path) -> None:
    command = (ray(), "-c", PLACEMENT)
    told = subprocess.run(command, cwd=repo_root, capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == {
        "ingress": {"num_cpus": 0.25, "num_gpus": 0.0},
        "engine": {"num_cpus": 2.0, "num_gpus": 0.5},
        "ears": {"num_cpus": 0.25, "num_gpus": 1.0},
        "voice": {"num_cpus": 0.25, "num_gpus": 0.0},
    }


@pytest.mark.parametrize(
    ("settings", "environ", "told"),
    [
        (
            ('telephony.doors=["twilio"]', "cluster.ingress.most=2"),
            {},
            "twilio beside cluster.ingress.most above 1: a cluster does not have that",
        ),
        ((), {"RAY_ADDRESS": "nowhere"}, "Ray does not start, or cannot be reached: Invalid"),
    ],
    ids=["twilio", "no address"],
)
def test_what_cannot_be_had_is_told_in_one_line(
    repo_root: Path, settings: Sequence[str], environ: dict[str, str], told: str
) -> None:
    ended = subprocess.run(
        (ray(), "-m", "voice.cluster", "--port", "0", *as_arguments(settings)),
        cwd=repo_root,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert told in line and "Traceback" not in ended.stderr


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    place = tmp_path_factory.mktemp("cluster") / "entries.sqlite"
    settings = (*PARTS, f'tools.database="{place}"', *MANY_CALLS)
    command = (str(ray()), "-m", "voice.cluster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUICKSILVER_API_KEY", KEY)
        patch.setenv("OPENAI_API_KEY", KEY)
        async with program(cwd=repo_root, settings=settings, command=command) as started:
            yield started[-1]


def replicas(part: str) -> Iterator[int]:
    """Process ids of a part's replicas."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_text()
        except OSError:
            continue
        if line.startswith(f"ray::ServeReplica:quicksilver:{part}"):
            yield int(folder.name)


async def computing(process: int) -> None:
    """Wait until a process does something."""

    def spent_s() -> float:
        tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    before_s = spent_s()
    while spent_s() < before_s + COMPUTES_S:
        await asyncio.sleep(0.001)


async def conversation(
    stack: AsyncExitStack, address: str, key: str, **options: Any
) -> ClientConnection:
    """A call of a client with a key; in text, unless its options tell otherwise."""
    headers = {"Authorization": f"Bearer {key}"}
    socket = await stack.enter_async_context(
        connect(f"ws://{address}/v1/realtime", additional_headers=headers, proxy=None)
    )
    await send(socket, "session.update", session={"type": "realtime", **TEXT, **options})
    await receive_until(socket, "session.updated")
    return socket


async def ask(socket: ClientConnection, text: str) -> dict[str, Any]:
    """The reply to a typed message, whatever became of it."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    await send(socket, "response.create")
    done: dict[str, Any] = (await receive_until(socket, "response.done"))[-1]["response"]
    return done


async def told(socket: ClientConnection, text: str) -> str:
    """The words of the reply to a typed message."""
    return words(await ask(socket, text))


def words(response: dict[str, Any]) -> str:
    """What a reply says, written or spoken."""
    parts = [part for item in response["output"] for part in item.get("content", ())]
    return " ".join(part.get("text", part.get("transcript", "")) for part in parts)


async def adas_key(address: str) -> str:
    """A key of Ada's, from any ingress."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(headers=headers, timeout=PATIENCE_S) as client:
        url = f"http://{address}/v1/realtime/client_secrets"
        made = await client.post(url, json={"user": "ada", "session": {"type": "realtime"}})
        return str(made.json()["value"])


@pytest.mark.e2e
@in_one_loop
async def test_clients_find_what_they_find_at_a_server_alone(address: str, tmp_path: Path) -> None:
    async with asyncio.timeout(10 * PATIENCE_S):
        openai, agents = await asyncio.gather(
            test_openai_client.reported(address, tmp_path),
            test_agents_client.reported(address, tmp_path),
        )
    test_openai_client.judge(openai)
    test_agents_client.judge(agents)


@pytest.mark.parametrize(
    "hold", [found for name, found in vars(contexts).items() if name.startswith("test_")]
)
@in_one_loop
async def test_messages_tools_and_results_are_what_they_may_be_at_a_server_alone(
    address: str, hold: Callable[[ClientConnection], Awaitable[None]]
) -> None:
    async with asyncio.timeout(10 * PATIENCE_S), AsyncExitStack() as stack:
        await hold(await conversation(stack, address, KEY, tools=[contexts.SEARCH]))


@in_one_loop
async def test_where_a_part_dies_other_calls_go_on_and_nothing_is_done_twice(address: str) -> None:
    async with asyncio.timeout(10 * PATIENCE_S), AsyncExitStack() as stack:
        key = await adas_key(address)
        calls = [await conversation(stack, address, key) for _ in range(4)]
        assert "milk" in await told(calls[0], "add milk to the shopping list")
        for call in calls:
            assert "milk" in await told(call, "what is on the shopping list")

        (engine,) = replicas("engine")
        os.kill(engine, signal.SIGSTOP)
        asking = asyncio.create_task(told(calls[0], "add eggs to the shopping list"))
        await asyncio.sleep(1)
        os.kill(engine, signal.SIGKILL)
        # Another replica makes the answer, which nobody had begun.
        assert "eggs" in await asking

        (engine,) = replicas("engine")
        long = "Be brief. " * 200
        await send(calls[1], "session.update", session={"type": "realtime", "instructions": long})
        await receive_until(calls[1], "session.updated")
        writing = asyncio.create_task(ask(calls[1], "add bread to the shopping list"))
        await computing(engine)
        os.kill(engine, signal.SIGKILL)
        # The one that was being written is lost.
        assert (await writing)["status"] == "failed"
        assert "milk" in await told(calls[2], "what is on the shopping list")
        assert "bread" in await told(calls[1], "add bread to the shopping list")

        os.kill(next(replicas("ingress")), signal.SIGKILL)
        answers = await asyncio.gather(
            *(told(call, "what is on the shopping list") for call in calls), return_exceptions=True
        )
        ended = [answer for answer in answers if isinstance(answer, ConnectionClosed)]
        assert 0 < len(ended) < len(calls), answers
        for answer in answers:
            assert answer in ended or "milk" in str(answer)
        again = await conversation(stack, address, key)
        listed = await told(again, "what is on the shopping list")
        assert [listed.count(item) for item in ("milk", "eggs", "bread")] == [1, 1, 1], listed
