from __future__ import annotations

from pathlib import Path

import pytest

from dlm.train.config import TrainConfig


def written(directory: Path, text: str) -> Path:
    file = directory / "run.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    loaded = TrainConfig.load(written(tmp_path, "hidden_size = 32\nautocast = 'bfloat16'\n"))
    assert loaded == TrainConfig(hidden_size=32, autocast="bfloat16")
    assert loaded.model().hidden_size == 32


@pytest.mark.parametrize("name", ["small", "gpu", "fine-tune", "distill", "sweep"])
def test_the_shipped_files_are_read(repo_root: Path, name: str) -> None:
    assert TrainConfig.load(repo_root / "configs" / "train" / f"{name}.toml").total_minutes > 0


def test_changes_go_before_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "hidden_size = 32\nseed = 5\n")
    loaded = TrainConfig.load(file, ["seed = 7", "autocast = 'bfloat16'"])
    assert loaded == TrainConfig(hidden_size=32, seed=7, autocast="bfloat16")
    # As on other command lines the last one counts.
    assert TrainConfig.load(file, ["seed = 7", "seed = 8"]).seed == 8
    with pytest.raises(ValueError, match="--set 'seed 7': Expected '='"):
        TrainConfig.load(file, ["seed 7"])
    with pytest.raises(ValueError, match="unknown key 'sead', did you mean 'seed'"):
        TrainConfig.load(file, ["sead = 7"])


def test_a_model_reasons_where_its_data_do() -> None:
    assert TrainConfig().model().reasons
    assert not TrainConfig(reasons=0.0).model().reasons


def test_a_run_takes_the_shape_of_a_model() -> None:
    small = TrainConfig(hidden_size=32, num_hidden_layers=3, declarations=2)
    assert TrainConfig(seed=4).shaped(small.model()) == TrainConfig(
        seed=4, hidden_size=32, num_hidden_layers=3, declarations=2
    )
    assert TrainConfig().model().declarations == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hiden_size = 3", "unknown key 'hiden_size', did you mean 'hidden_size'"),
        ("zzz = 3", "unknown key 'zzz'$"),
        ("ar_share = 1.5", "ar_share: got 1.5, expected 0 to 1"),
        ("cooldown_share = -0.1", "cooldown_share: got -0.1"),
        ("total_minutes = 0", "total_minutes: got 0, expected > 0"),
        ("initial_share = 1.5", "initial_share: got 1.5, expected 0 to 1"),
        ("replay = -1", "replay: got -1, expected 0 to 1"),
        ("reasons = 1.5", "reasons: got 1.5, expected 0 to 1"),
        ("declarations = 3", "declarations: got 3, expected 0, 1 or 2"),
        ("pad_to = 0", "pad_to: got 0, expected > 0"),
        ("learning_rate = '5'", "learning_rate: got '5', expected a number"),
        ("total_minutes = '5'", "total_minutes: got '5', expected a number"),
        ("seed = 1.5", "seed: got 1.5, expected a whole number"),
        ("threads = true", "threads: got True, expected a whole number"),
        ("compiled = 1", "compiled: got 1, expected true or false"),
        ("device = 0", "device: got 0, expected a text"),
        ("threads = -1", "threads: got -1, expected >= 0"),
        ("replay 0.5", "run.toml: Expected '='"),
        ("total_steps = -1", "total_steps: got -1, expected >= 0"),
        ("opening_weight = -0.5", "opening_weight: got -0.5, expected >= 0"),
        ("seed = -1", "seed: got -1, expected >= 0"),
        ("autocast = 'bf16'", "autocast: got 'bf16', expected 'off', 'bfloat16' or 'auto'"),
    ],
)
def test_what_makes_no_run_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        TrainConfig.load(written(tmp_path, text))


def test_the_rate_warms_up_holds_and_falls() -> None:
    config = TrainConfig(learning_rate=1.0, warmup_steps=10, cooldown_share=0.25)
    assert [config.rate_at(step, 0.1) for step in (0, 4, 9, 500)] == [0.1, 0.5, 1.0, 1.0]
    assert config.rate_at(500, 0.75) == 1.0
    assert config.rate_at(500, 0.875) == pytest.approx(0.5)
    assert config.rate_at(500, 1.0) == pytest.approx(0.01)


def test_a_run_may_do_without_warmup_or_cooldown() -> None:
    config = TrainConfig(learning_rate=1.0, warmup_steps=0, cooldown_share=0.0)
    assert config.rate_at(0, 0.0) == config.rate_at(0, 0.999) == 1.0
