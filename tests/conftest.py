"""What every test shares: where things are, and that CI leaves nothing out.

On a machine without an NVIDIA device Triton runs kernels in its interpreter. It reads the variable
when it is first imported, which other packages may do at any time, so it is set here. So is the one
by which onnxruntime sends nothing, since some tests import it before our packages.

A shell script's background commands ignore Ctrl-C, and so do their children: tests that press it
would wait for nothing. So Python's own answer to it is restored.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.support.postgresql import PostgresqlServer
    from voice.session.resources import Resources

ROOT = Path(__file__).resolve().parent.parent
AUDIO = ROOT.parent / "shared" / "audio"
CORPORA = ROOT.parent / "shared" / "data" / "text"

if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# The same examples on every machine, which may take their time.
settings.register_profile(
    "certain", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("certain")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout's top directory."""
    return ROOT


@pytest.fixture(scope="session")
def shared_audio() -> Path:
    """Recordings of real people, which lie beside the checkout; skips where they do not."""
    if not AUDIO.is_dir():
        pytest.skip("no recordings of real people at ../shared/audio")
    return AUDIO


@pytest.fixture(scope="session")
def embedded_parts() -> Generator[Resources, None, None]:
    """The assistant's parts as they ship, loaded once for all tests."""
    from tests.support.embedded import embedded_config
    from voice.session.resources import Resources

    parts = Resources.load(embedded_config())
    yield parts
    asyncio.run(parts.close())


@pytest.fixture(scope="session")
def postgresql() -> Generator[PostgresqlServer, None, None]:
    """A PostgreSQL server; skips where none is installed."""
    from tests.support.postgresql import postgresql_server

    with postgresql_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `tools.database` can be: a file, and a database on a server."""
    if request.param == "sqlite":
        return str(tmp_path / "voice.sqlite3")
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    return server.new()


@pytest.fixture(scope="session")
def tiny_whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a Whisper model that says `tests.support.tiny_whisper.SENTENCE`."""
    from tests.support.tiny_whisper import make_tiny_whisper

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return make_tiny_whisper(tmp_path_factory.mktemp("whisper"))


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Directory of the text corpora, which lie beside the checkout; skips where they do not."""
    if not (CORPORA / "slot_values.jsonl.xz").exists():
        pytest.skip("no text corpora at ../shared/data/text")
    return CORPORA


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped test is a failed one, unless it needs a GPU."""
    report = yield
    if item.get_closest_marker("gpu") is None and not hasattr(report, "wasxfail"):
        _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In CI a skipped module is a failed one."""
    report = yield
    _forbid_skip(report)
    return report


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where everything but GPU tests must run: {reason}"
