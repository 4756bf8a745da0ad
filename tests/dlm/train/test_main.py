from __future__ import annotations

import json
import queue
import subprocess
import sys
from pathlib import Path

import pytest

from dlm.engine import Engine, Event, Failed, Finished, Request
from dlm.template import Turn
from dlm.tokenizer import Tokenizer

CONFIG = """
vocab_size = 600
hidden_size = 32
intermediate_size = 48
num_hidden_layers = 1
head_dim = 8
total_minutes = 0.12
ar_share = 0.5
tokens_per_step = 300
max_length = 900
tokenizer_dialogues = 150
threads = 1
"""


def train(repo_root: Path, directory: Path, *arguments: str) -> str:
    file = directory / "run.toml"
    file.write_text(CONFIG, encoding="utf-8")
    command = [sys.executable, "-m", "dlm.train", "--config", str(file), "--out"]
    done = subprocess.run(
        [*command, str(directory / "run"), *arguments],
        cwd=repo_root,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outputs(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The directory of a run of two invocations, and what each printed."""
    directory = tmp_path_factory.mktemp("train")
    first = train(repo_root, directory, "--minutes", "0.06")
    second = train(repo_root, directory, "--minutes", "0.06")
    return directory / "run", [first, second]


def test_a_run_begins_and_goes_on(outputs: tuple[Path, list[str]]) -> None:
    directory, (first, second) = outputs
    assert first.startswith(f"new run in {directory}, step 0")
    assert second.startswith(f"resumed run in {directory}, step ")
    assert not second.startswith(f"resumed run in {directory}, step 0")


def test_the_log_tells_both_phases(outputs: tuple[Path, list[str]]) -> None:
    directory, _ = outputs
    lines = (directory / "log.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["step"] for row in rows] == sorted({row["step"] for row in rows})
    assert all(row["causal"] > 0 for row in rows)
    assert {row["phase"] for row in rows} == {"ar", "joint"}


def test_what_is_written_is_a_checkpoint(outputs: tuple[Path, list[str]]) -> None:
    directory, _ = outputs
    assert Tokenizer.load(directory).vocab_size == 600
    events: queue.Queue[Event] = queue.Queue()
    engine = Engine.load(directory)
    try:
        engine.submit(Request((Turn("user", "hello"),), max_tokens=8), events.put)
        while not isinstance(last := events.get(timeout=30), Finished | Failed):
            pass
    finally:
        engine.close()
    assert isinstance(last, Finished)
