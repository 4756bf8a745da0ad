"""The container, the compose file and the systemd unit, as far as no daemon is needed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.patience import PATIENCE_S
from voice.config import Config, data_path
from voice.config.options import Section
from voice.serve import parse_arguments

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
UNIT = (DEPLOY / "quicksilver.service").read_text()
OTHERS = {
    *("HOME", "PATH", "PYTHONUNBUFFERED", "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK"),
    *("XDG_CACHE_HOME", "XDG_DATA_HOME", "PGPASSWORD", "OTEL_EXPORTER_OTLP_ENDPOINT"),
}
"""Variables that programs beside ours read, or ours by a rule of other programs."""


def steps(*kinds: str) -> list[tuple[str, str]]:
    """The instructions of the Dockerfile of some kinds, and what follows each."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    found = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    return [(kind, rest) for kind, rest in found if kind in kinds]


def variables(model: type[Section] = Config) -> Iterator[str]:
    """The environment variables that options name."""
    for name, field in model.model_fields.items():
        if name.endswith("_env"):
            yield field.default
        elif isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from variables(field.annotation)


def entry() -> list[str]:
    ((_, words),) = steps("ENTRYPOINT")
    python, module, name, *arguments = json.loads(words)
    assert (python, module, name) == ("python", "-m", "voice.serve")
    return list(arguments)


def test_what_is_copied_is_there_and_not_left_out() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    copied = [rest.split()[:-1] for _, rest in steps("COPY") if not rest.startswith("--from")]
    for source in (name for names in copied for name in names):
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source
    assert [line for line in ignored if fnmatch("../shared", line.lstrip("!"))] == ["*"]


def test_it_runs_as_nobody_and_keeps_its_data_in_a_volume(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, user),) = steps("USER")
    assert int(user) > 0
    ((_, volume),) = steps("VOLUME")
    written = dict(pair.split("=", 1) for _, rest in steps("ENV") for pair in shlex.split(rest))
    monkeypatch.setenv("XDG_DATA_HOME", written["XDG_DATA_HOME"])
    for place in (data_path("voice.sqlite3"), written["HOME"], written["XDG_CACHE_HOME"]):
        assert Path(place).is_relative_to(volume)
    service = COMPOSE["services"]["quicksilver"]
    assert service["read_only"] and service["tmpfs"] == ["/tmp"]
    assert service["volumes"] == [f"data:{volume}"]
    ((_, health),) = steps("HEALTHCHECK")
    python, option, code = json.loads(health.partition("CMD ")[2])
    assert (python, option) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    assert f":{Config().server.port}/healthz" in health


def test_commands_and_variables_are_options() -> None:
    service = COMPOSE["services"]["quicksilver"]
    config = parse_arguments([*entry(), *service["command"]])
    assert config.server.host == "0.0.0.0"
    targets = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]
    ((target,),) = (each["targets"] for each in targets["static_configs"])
    name, port = target.split(":")
    assert name in COMPOSE["services"] and name in config.server.allowed_hosts
    assert int(port) == config.server.port
    assert config.tools.database.split("@")[1].split("/")[0] in COMPOSE["services"]
    named = {*service["environment"]} | set(re.findall(r"(?<!\w)([A-Z_]{4,})=", UNIT))
    named |= {pair.split("=")[0] for _, rest in steps("ENV") for pair in shlex.split(rest)}
    assert named <= {*variables(), *OTHERS}


def test_files_of_the_compose_file_are_there() -> None:
    services = COMPOSE["services"]
    mounted = [volume.split(":")[0] for each in services.values() for volume in each["volumes"]]
    for name in mounted:
        if name.startswith("."):
            assert (DEPLOY / name).is_file(), name
        else:
            assert name in COMPOSE["volumes"]
    assert (DEPLOY / services["quicksilver"]["build"]["context"] / "Dockerfile").is_file()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit_and_finds_it_closed(tmp_path: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)
    assert line.split()[1:3] == ["-m", "voice.serve"]
    parse_arguments(line.split()[3:])
    unit = tmp_path / "quicksilver.service"
    here = UNIT.replace("/opt/quicksilver/.venv/bin/python", sys.executable)
    unit.write_text(here.replace("/opt/quicksilver", str(ROOT)))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout
