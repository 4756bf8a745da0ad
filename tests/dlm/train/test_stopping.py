from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from dlm.language.template import Encoded
from dlm.loading.weights import load_model, save_model
from dlm.train.batches import Place, Placed
from dlm.train.config import TrainConfig
from dlm.train.loop import SIGNALS, Run, stopping
from examples.fine_tuning.watering import main as write_watering
from tests.dlm.tiny import DIALOGUES, TOOLS, model, template, tokenizer
from tests.dlm.train.interrupting import interrupted

ASKED = "\nstopping after this step; the same again quits at once\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(TrainConfig(warmup_steps=5, total_minutes=1e4), tmp_path, model())


def data(*signals: signal.Signals, after: int = 2) -> Iterator[Placed]:
    """Batches without end; after so many the process gets signals."""
    rows: list[Encoded] = [template().dialogue(DIALOGUES[0], TOOLS)]
    for number in range(after):
        yield Place(0, number + 1), rows
    for one in signals:
        signal.raise_signal(one)
    while True:
        yield Place(1, 1), rows


def train(run: Run, batches: Iterator[Placed]) -> int:
    with stopping(run) as came:
        run.train(batches, 5, lambda row: None)
    return came[0] if came else 0


@pytest.mark.parametrize("one", SIGNALS)
def test_a_signal_stops_the_run_after_its_step_and_it_is_saved(
    run: Run, one: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    assert train(run, data(one)) == 128 + one
    assert run.step == 2
    state = torch.load(run.directory / "state.pt", weights_only=True)
    assert (state["step"], state["place"]) == (2, [0, 2])
    assert load_model(run.directory).config == run.model.config
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert capfd.readouterr().err == ASKED


def test_a_second_signal_quits_at_once(run: Run) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(SystemExit) as told:
        train(run, data(signal.SIGINT, signal.SIGTERM))
    assert told.value.code == 143
    assert not (run.directory / "state.pt").exists()
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_before_the_first_step_a_signal_quits_at_once(run: Run) -> None:
    with pytest.raises(SystemExit) as told:
        train(run, data(signal.SIGINT, after=0))
    assert told.value.code == 130
    assert run.step == 0


def test_no_signal_is_no_exit_code(run: Run) -> None:
    batches = data()
    assert train(run, (next(batches) for _ in range(2))) == 0


def test_another_thread_trains_without_signals(run: Run) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    seen = []

    def look() -> None:
        with stopping(run):
            seen.append([signal.getsignal(number) for number in SIGNALS])

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]


def test_ctrl_c_in_a_terminal_reaches_all_processes_and_the_run_goes_on_later(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program itself, its data process beside it, and the command that it ends with."""
    save_model(model(), tmp_path / "shipped")
    tokenizer().save(tmp_path / "shipped")
    file, out = tmp_path / "mine.jsonl", tmp_path / "a run"
    monkeypatch.setattr(sys, "argv", ["watering", "--out", str(file), "--count", "60"])
    write_watering()
    command = [sys.executable, "-m", "dlm.train"]
    words = ["--init", str(tmp_path / "shipped"), "--data", str(file), "--out", str(out)]
    words += ["--set", "threads = 1", "--set", "total_minutes = 500"]
    words += ["--set", "tokens_per_step = 200"]
    lines, told, errors, status = interrupted([*command, *words], repo_root, signal.SIGINT)
    assert (status, errors) == (130, ASKED)
    assert lines[0].startswith("mine.jsonl: 60 dialogues; calls of water_garden ")
    last = told.splitlines()[-1]
    assert last.startswith("saved: step ")
    again = last.partition("go on with: ")[2]
    assert again == shlex.join(["python", *command[1:], *words])
    recipe = repo_root / "configs/train/fine-tune.toml"
    config = TrainConfig.load(recipe, ["tokens_per_step = 200", "readings = 0"])
    saved = Run(config, out, load_model(tmp_path / "shipped"))
    assert saved.resume()
    assert saved.step == int(last.split()[2].rstrip(","))
