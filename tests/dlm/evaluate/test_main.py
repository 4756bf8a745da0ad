from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dlm.evaluate.__main__ import main
from dlm.language.tokenizer import Tokenizer
from dlm.loading.weights import save_model
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer
from tests.dlm.evaluate.api import CALL, Api
from tests.support.patience import PATIENCE_S


def test_a_checkpoint_gets_a_table(tmp_path: Path, repo_root: Path) -> None:
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    tokenizer.save(tmp_path)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    save_model(Transformer(config), tmp_path, torch.float32)
    out, failures = tmp_path / "figures.json", tmp_path / "failures.jsonl"
    command = [sys.executable, "-m", "dlm.evaluate", "--checkpoint", str(tmp_path), "--quick"]
    options = ["--sets", "own", "--scale", "0.005", "--threads", "1"]
    done = subprocess.run(
        [*command, *options, "--json", str(out), "--failures", str(failures)],
        cwd=repo_root,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["sets"]["own"]["decision_cases"] == 2
    assert "own" in done.stdout
    assert failures.exists()


def test_an_endpoint_gets_the_same_table(
    api: Api, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    api.says = {"content": None, "tool_calls": [CALL]}
    out = tmp_path / "theirs.json"
    options = ["--sets", "own,asking", "--scale", "0.02", "--free", "--json", str(out)]
    command = ["dlm.evaluate", "--endpoint", api.url, "--model", "theirs"]
    monkeypatch.setattr(sys, "argv", [*command, *options])
    main()
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["checkpoint"] == "theirs"
    assert figures["sets"]["own"]["decision_cases"] == 8
    assert "speed" not in figures
    assert "theirs" in capsys.readouterr().out
    assert all(body["model"] == "theirs" for body, _ in api.heard)


@pytest.mark.parametrize(("left", "sets"), [(10, {"own": 8, "asking": 2}), (0, None)])
def test_an_endpoint_that_fails_midway_leaves_what_was_measured(
    left: int,
    sets: dict[str, int] | None,
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    api.says = {"content": None, "tool_calls": [CALL]}
    api.left = left
    out, failures = tmp_path / "theirs.json", tmp_path / "wrong.jsonl"
    command = ["dlm.evaluate", "--endpoint", api.url, "--model", "theirs", "--sets", "own,asking"]
    options = ["--scale", "0.02", "--json", str(out), "--failures", str(failures)]
    monkeypatch.setattr(sys, "argv", [*command, *options])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "status 503" in capsys.readouterr().err.splitlines()[-1]
    assert out.exists() == failures.exists() == (sets is not None)
    if sets is not None:
        figures = json.loads(out.read_text(encoding="utf-8"))
        assert "status 503" in figures["incomplete"]
        cases = {name: scores["decision_cases"] for name, scores in figures["sets"].items()}
        assert cases == sets


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--checkpoint", "nowhere"], "nowhere: no such checkpoint directory"),
        (["--endpoint", "localhost:1", "--model", "any"], "url must begin with http://"),
        (["--endpoint", "http://127.0.0.1:1/v1", "--model", "any"], "127.0.0.1:1/v1"),
        (["--data", "mine.jsonl"], "mine.jsonl:1: messages: "),
        (["--data", "missing.jsonl"], "missing.jsonl"),
        (["--sets", "own,mine"], "got 'mine'"),
        (["--endpoint", "http://127.0.0.1:1/v1"], "--endpoint and --model go together"),
        (["--json", "nowhere/figures.json"], "there is no directory nowhere"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    options: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text('{"messages": []}\n', encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["dlm.evaluate", "--quick", "--scale", "0.005", *options])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err.splitlines()[-1]
