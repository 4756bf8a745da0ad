from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch

from dlm.config import ModelConfig
from dlm.model import Transformer
from dlm.tokenizer import Tokenizer
from dlm.weights import save_model


def test_a_checkpoint_gets_a_table(tmp_path: Path, repo_root: Path) -> None:
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    tokenizer.save(tmp_path)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    save_model(Transformer(config), tmp_path, torch.float32)
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "dlm.evaluate", "--checkpoint", str(tmp_path)]
    done = subprocess.run(
        [*command, "--count", "2", "--threads", "1", "--json", str(out)],
        cwd=repo_root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["dialogues"] == 2
    assert 0.0 <= figures["decision"] <= 1.0
    assert "decision" in done.stdout
