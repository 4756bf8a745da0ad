"""The alert rules and the dashboard, against Prometheus itself and what a server offers it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.patience import PATIENCE_S
from tests.support.serving import receive_until, send
from tests.voice.realtime.test_over_sockets import running
from voice.demo.server import free_port
from voice.session.resources import Resources

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PROGRAMS = ("prometheus", "promtool")

needs_prometheus = pytest.mark.skipif(
    any(shutil.which(name) is None for name in PROGRAMS),
    reason="Prometheus is not installed (Debian: prometheus)",
)


def rules() -> dict[str, str]:
    """The expression of each alert."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    return {rule["alert"]: rule["expr"] for rule in group["rules"]}


def panels() -> Iterator[str]:
    """The expressions of the dashboard, with values in place of Grafana's variables."""
    for panel in json.loads((DEPLOY / "grafana.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")


async def offered(address: str) -> set[str]:
    """The names of all series that a server's /metrics has, or will have."""
    async with httpx.AsyncClient() as http:
        text = (await http.get(f"http://{address}/metrics")).text
    names = set()
    for family in text_string_to_metric_families(text):
        ends = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",)}
        names |= {family.name + end for end in ends.get(family.type, ("",))}
    return names


async def test_every_metric_is_one_that_the_server_offers(embedded_parts: Resources) -> None:
    async with running(embedded_parts) as url:
        names = await offered(url.split("/")[2])
    for expression in (*rules().values(), *panels()):
        used = set(re.findall(r"quicksilver_\w+", expression))
        assert used <= names, expression
        assert used or expression == rules()["QuicksilverDown"]


@needs_prometheus
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ],
)
def test_promtool_is_content(arguments: tuple[str, ...]) -> None:
    command = ["promtool", *arguments]
    done = subprocess.run(command, cwd=DEPLOY, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr


@asynccontextmanager
async def prometheus(target: str, folder: Path) -> AsyncGenerator[httpx.AsyncClient, None]:
    """Prometheus with the alert rules, which asks a server every second."""
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    config["global"]["scrape_interval"] = "1s"
    config["rule_files"] = [str(DEPLOY / "alerts.yml")]
    (job,) = config["scrape_configs"]
    del job["authorization"]
    job["static_configs"] = [{"targets": [target]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/series",
        f"--web.listen-address={address}",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        url = f"http://{address}/api/v1/"
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as http:
            yield http
    finally:
        process.terminate()
        await process.wait()


async def asked(http: httpx.AsyncClient, expression: str) -> list[dict[str, Any]]:
    """What Prometheus answers to an expression; once it does."""
    answer = (await http.get("query", params={"query": expression})).json()
    assert answer["status"] == "success", (expression, answer)
    found: list[dict[str, Any]] = answer["data"]["result"]
    return found


async def until_there(http: httpx.AsyncClient, expression: str) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                if found := await asked(http, expression):
                    return found
            except (httpx.TransportError, json.JSONDecodeError):
                pass  # It starts, or reads its journal.
            await asyncio.sleep(0.1)


@needs_prometheus
async def test_prometheus_evaluates_all_of_it_over_a_real_server(
    embedded_parts: Resources, tmp_path: Path
) -> None:
    from websockets.asyncio.client import connect

    async with running(embedded_parts) as url, prometheus(url.split("/")[2], tmp_path) as http:
        await until_there(http, 'up{job="quicksilver"} == 1')
        async with connect(url) as client:
            await send(client, "session.update", session={"type": "realtime"})
            await send(client, "response.create")
            await receive_until(client, "response.done")
            await until_there(http, "quicksilver_live_sessions == 1")
        await until_there(http, 'increase(quicksilver_replies_total{status="completed"}[1m]) > 0')
        for name, expression in rules().items():
            assert await asked(http, expression) == [], name
        answers = [await asked(http, expression) for expression in panels()]
        loaded = (await http.get("rules")).json()["data"]["groups"]
    assert sum(map(bool, answers)) > len(answers) / 3
    (group,) = loaded
    assert {rule["name"]: rule["health"] for rule in group["rules"]}.keys() == rules().keys()
    assert "err" not in {rule["health"] for rule in group["rules"]}
