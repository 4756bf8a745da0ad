"""The server's parts as processes of Ray Serve: a real cluster of two ingresses and one engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.voice.cluster import processes
from tests.clients.environments import python_beside
from tests.e2e import test_agents_client, test_openai_client
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until, send
from tests.voice.realtime import test_contexts_over_sockets as contexts
from voice.demo.server import as_arguments

KEY = "the-key-of-this-cluster"
TEXT = {"output_modalities": ["text"]}
COUNTED = ("ingress", "engine", "ears", "voice")
PARTS = (
    "cluster.ingress.least=2",
    "cluster.ingress.most=2",
    # There is room for two versions whatever the machine has.
    *(f"cluster.{part}.cpus=0.01" for part in COUNTED),
)
ONE_INGRESS = ("cluster.ingress.least=1", "cluster.ingress.most=1")
MANY_CALLS = ("server.max_sessions=8", "server.max_sessions_per_key=8")
ENVIRONMENT = {
    "QUICKSILVER_API_KEY": KEY,
    "OPENAI_API_KEY": KEY,
    # What cannot be started is not tried again.
    "RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT": "1",
    # A call goes where the fewest are, and a replica that is slow to tell its number is waited for.
    "RAY_SERVE_QUEUE_LENGTH_CACHE_TIMEOUT_S": "0",
    "RAY_SERVE_QUEUE_LENGTH_RESPONSE_DEADLINE_S": str(PATIENCE_S),
}
LONG = "Be brief. " * 500
"""Instructions over which an engine computes for two seconds and more."""
COMPUTES_S = 0.5
"""Much more than a process takes that waits, and much less than `LONG` does."""

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

STOPPED = """
import asyncio
import time

from ray import serve

from voice.cluster.remote_parts import RemoteSynthesizer, VoiceFacts
from voice.types import Segment

@serve.deployment
class Endless:
    over = False

    def facts(self, name):
        return VoiceFacts("endless", 16_000)

    async def synthesize(self, *given):
        try:
            while True:
                yield "sound"
                await asyncio.sleep(0.01)
        finally:
            self.over = True

    def is_over(self):
        return self.over

handle = serve.run(Endless.bind(), _local_testing_mode=True)
chunks = RemoteSynthesizer(handle).synthesize(Segment(1, 0, "so", "so"))
next(chunks)
chunks.close()
while not handle.is_over.remote().result():
    time.sleep(0.01)
"""

BROKEN = """
from ray import serve

from voice.cluster import deployments
from voice.cluster.connection import connected
from voice.config import load_config

class Part:
    def __init__(self, config):
        pass

class Ingress:
    def __init__(self, *given):
        raise ValueError("it cannot be started")

    async def __serve_build_asgi_app__(self):
        raise AssertionError("it has not been started")

for name in ("Engine", "Ears", "Voice"):
    setattr(deployments, name, type(name, (Part,), {}))
deployments.Ingress = Ingress
settings = [f"cluster.{part}.cpus=0.01" for part in ("ingress", "engine", "ears", "voice")]
config = load_config(None, settings)
with connected(config, "auto"):
    before = set(serve.status().applications)
    try:
        deployments.deploy(config)
    except RuntimeError as error:
        after = serve.status().applications
        print(error)
        print("left:", set(after) - before, "gone:", before - set(after))
        print("goes on:", after["quicksilver"].status.value)
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


def test_a_voice_that_nobody_listens_to_any_more_stops(repo_root: Path) -> None:
    subprocess.run((ray(), "-c", STOPPED), cwd=repo_root, check=True, timeout=PATIENCE_S)


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


@dataclass(frozen=True, slots=True)
class Cluster:
    """One that runs.

    Attributes:
        process: The one that has started it.
        ray: Where its Ray is.
        address: Where it serves.
        arguments: It was started with.
    """

    process: int
    ray: str
    address: str
    arguments: Sequence[str]

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a program that finds it."""
        return os.environ | {"RAY_ADDRESS": self.ray, "RAY_AUTH_MODE": "token"}

    def replicas(self, *parts: str) -> set[int]:
        """Process ids of the replicas of parts; of all unless some are named."""
        return {process for process, part in processes(self.process) if part in (parts or COUNTED)}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(
    repo_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    place = tmp_path_factory.mktemp("cluster") / "entries.sqlite"
    settings = (*PARTS, f'tools.database="{place}"', *MANY_CALLS)
    command = (str(ray()), "-m", "voice.cluster")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        async with program(cwd=repo_root, settings=settings, command=command) as started:
            process, lines, address = started
            at = lines[-2].removeprefix("Ray is at ")
            yield Cluster(process.pid, at, address, as_arguments(settings))
            process.terminate()
            async with asyncio.timeout(PATIENCE_S):
                assert await process.wait() == 0


async def computing(process: int) -> None:
    """Wait until a process does something."""

    def spent_s() -> float:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, told[11:13])) / os.sysconf("SC_CLK_TCK")

    before_s = spent_s()
    while spent_s() < before_s + COMPUTES_S:
        await asyncio.sleep(0.001)


def opened(address: str, key: str) -> connect:
    """A call of a client with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    url = f"ws://{address}/v1/realtime"
    return connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE_S)


async def conversation(
    stack: AsyncExitStack, address: str, key: str, **options: Any
) -> ClientConnection:
    """Such a call, in text unless its options tell otherwise."""
    socket = await stack.enter_async_context(opened(address, key))
    await send(socket, "session.update", session={"type": "realtime", **TEXT, **options})
    await receive_until(socket, "session.updated")
    return socket


async def instructions(address: str, key: str) -> str:
    """What the agent of a new call is told to be."""
    async with opened(address, key) as socket:
        session = (await receive_until(socket, "session.created"))[-1]["session"]
        return str(session["instructions"])


async def begin(socket: ClientConnection, text: str) -> None:
    """Type a message, and wait until a reply to it is begun."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    await send(socket, "response.create")
    await receive_until(socket, "response.created")


async def reply(socket: ClientConnection) -> dict[str, Any]:
    """The reply that is begun, whatever became of it."""
    done: dict[str, Any] = (await receive_until(socket, "response.done"))[-1]["response"]
    return done


async def told(socket: ClientConnection, text: str) -> str:
    """The words of the reply to a typed message."""
    await begin(socket, text)
    return words(await reply(socket))


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
async def test_clients_find_what_they_find_at_a_server_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with asyncio.timeout(4 * PATIENCE_S):
        openai, agents = await asyncio.gather(
            test_openai_client.reported(cluster.address, tmp_path),
            test_agents_client.reported(cluster.address, tmp_path),
        )
    test_openai_client.judge(openai)
    test_agents_client.judge(agents)


@pytest.mark.parametrize(
    "hold",
    # What is long is as long for a model in whichever process.
    [
        one
        for name, one in vars(contexts).items()
        if name.startswith("test_") and "_a_long_" not in name
    ],
)
@in_one_loop
async def test_messages_tools_and_results_are_what_they_may_be_at_a_server_alone(
    cluster: Cluster, hold: Callable[[ClientConnection], Awaitable[None]]
) -> None:
    async with asyncio.timeout(4 * PATIENCE_S), AsyncExitStack() as stack:
        await hold(await conversation(stack, cluster.address, KEY, tools=[contexts.SEARCH]))


@in_one_loop
async def test_where_new_ingresses_do_not_start_all_is_as_before(
    cluster: Cluster, repo_root: Path
) -> None:
    updating = await asyncio.create_subprocess_exec(
        *(ray(), "-c", BROKEN),
        cwd=repo_root,
        env=cluster.environ,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(4 * PATIENCE_S):
        told = (await updating.communicate())[0].decode()
    assert "it cannot be started\n" in told
    assert "left: set() gone: set()\n" in told
    # Where their update has failed, Ray does not replace ingresses that die.
    assert "goes on: RUNNING\n" in told


@in_one_loop
async def test_where_a_part_dies_other_calls_go_on_and_nothing_is_done_twice(
    cluster: Cluster,
) -> None:
    async with asyncio.timeout(4 * PATIENCE_S), AsyncExitStack() as stack:
        key = await adas_key(cluster.address)
        calls = [await conversation(stack, cluster.address, key) for _ in range(4)]
        assert "milk" in await told(calls[0], "add milk to the shopping list")
        for call in calls:
            assert "milk" in await told(call, "what is on the shopping list")

        (engine,) = cluster.replicas("engine")
        os.kill(engine, signal.SIGSTOP)
        await begin(calls[0], "add eggs to the shopping list")
        os.kill(engine, signal.SIGKILL)
        # Another replica makes the answer, which nobody had begun.
        assert "eggs" in words(await reply(calls[0]))

        (engine,) = cluster.replicas("engine")
        await send(calls[1], "session.update", session={"type": "realtime", "instructions": LONG})
        await receive_until(calls[1], "session.updated")
        await begin(calls[1], "add bread to the shopping list")
        await computing(engine)
        os.kill(engine, signal.SIGKILL)
        # The one that was being written is lost.
        assert (await reply(calls[1]))["status"] == "failed"
        assert "milk" in await told(calls[2], "what is on the shopping list")
        assert "bread" in await told(calls[1], "add bread to the shopping list")

        os.kill(cluster.replicas("ingress").pop(), signal.SIGKILL)
        answers = await asyncio.gather(
            *(told(call, "what is on the shopping list") for call in calls), return_exceptions=True
        )
        ended = [answer for answer in answers if isinstance(answer, ConnectionClosed)]
        assert 0 < len(ended) < len(calls), answers
        for answer in answers:
            assert answer in ended or "milk" in str(answer)
        again = await conversation(stack, cluster.address, key)
        listed = await told(again, "what is on the shopping list")
        assert [listed.count(item) for item in ("milk", "eggs", "bread")] == [1, 1, 1], listed


@in_one_loop
async def test_an_update_ends_no_call_and_new_calls_are_of_it(
    cluster: Cluster, repo_root: Path
) -> None:
    async with asyncio.timeout(4 * PATIENCE_S), AsyncExitStack() as stack:
        key = await adas_key(cluster.address)
        call = await conversation(stack, cluster.address, key)
        assert "candles" in await told(call, "add candles to the shopping list")
        before = cluster.replicas()
        updating = await asyncio.create_subprocess_exec(
            *(ray(), "-m", "voice.cluster.update", *cluster.arguments),
            *("--agent", "coffee", *as_arguments(ONE_INGRESS)),
            cwd=repo_root,
            env=cluster.environ,
        )
        # One of the two replicas may still be the old one, and a new call may reach it.
        of_it = 0
        while of_it < 8:
            of_it = of_it + 1 if "coffee shop" in await instructions(cluster.address, key) else 0
            # Every call takes time from what starts.
            await asyncio.sleep(0.1 if of_it else 1.0)
        assert "soap" in await told(call, "add soap to the shopping list")
        new = await conversation(stack, cluster.address, key)
        assert "latte" in await told(new, "a large latte please")

        listed = await told(call, "what is on the shopping list")
        assert [listed.count(item) for item in ("candles", "soap")] == [1, 1], listed
        assert updating.returncode is None
        await call.close()
        assert await updating.wait() == 0
        while before & cluster.replicas():
            await asyncio.sleep(0.1)
        assert "latte" in await told(new, "what is in my order")
