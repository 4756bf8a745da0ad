from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dlm.engine.engine import Engine, Request
from dlm.language.messages import Turn
from dlm.language.tokenizer import Tokenizer
from dlm.loading.weights import load_model, save_model
from dlm.train import __main__ as program
from dlm.train import loop
from dlm.train.__main__ import main
from dlm.train.config import TrainConfig
from dlm.train.export import main as export
from dlm.train.loop import Run
from dlm.train.pack import Dialogues, PackedData, write
from dlm.train.pack import main as pack
from tests.dlm.tiny import model, tokenizer
from tests.dlm.train.disk import full_disk

CONFIG = """
vocab_size = 600
hidden_size = 32
intermediate_size = 48
num_hidden_layers = 1
head_dim = 8
total_steps = 30
ar_share = 0.5
tokens_per_step = 300
max_length = 900
tokenizer_dialogues = 150
threads = 1
"""


def test_a_run_from_nothing_learns_its_tokenizer_and_writes_a_checkpoint(tmp_path: Path) -> None:
    file, out = tmp_path / "run.toml", tmp_path / "run"
    file.write_text(CONFIG, encoding="utf-8")
    main(["--config", str(file), "--out", str(out)])
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["step"] == 30
    assert record["tokens"] > record["step"]
    assert record["config"]["hidden_size"] == 32
    assert record["machine"]["torch"] == torch.__version__
    assert sum(record["data"]["shares"].values()) == pytest.approx(1.0)
    assert Tokenizer.load(out).vocab_size == 600
    assert load_model(out).config.reasons
    engine = Engine.load(out)
    try:
        answered = engine.answer(
            Request((Turn("user", "hello"),), max_tokens=8, tool_choice="none")
        )
    finally:
        engine.close()
    assert answered.usage.answer_tokens > 0


def lines(command: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(command)
    return capsys.readouterr().out.splitlines()


def test_a_gpu_run_in_small_on_a_packed_file(
    repo_root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The commands of configs/train/gpu.toml, with all that only its machine has left out."""
    # A busy machine takes few steps in the time.
    monkeypatch.setattr(loop, "LOG_STEPS", 1)
    small = ["vocab_size = 600", "hidden_size = 32", "intermediate_size = 48", "head_dim = 8"]
    small += ["num_hidden_layers = 1", "num_attention_heads = 4", "num_key_value_heads = 2"]
    small += ["tokenizer_dialogues = 50", "evaluate_dialogues = 6", "tokens_per_step = 2048"]
    small += ["total_minutes = 0.1", "evaluate_minutes = 0.01", "pad_to = 32", "peak_tflops = 0.01"]
    small += ["reasons = 0.0"]
    small += ["device = 'cpu'", "compiled = false"]
    config = ["--config", str(repo_root / "configs" / "train" / "gpu.toml")]
    config += [word for change in small for word in ("--set", change)]
    data, out = tmp_path / "data.npz", tmp_path / "run"
    pack([*config, "--tokens", "9000", "--out", str(data)])
    command = [*config, "--data", str(data), "--out", str(out)]
    first = lines([*command, "--minutes", "0.05"], capsys)
    second = lines([*command, "--minutes", "0.05"], capsys)
    assert f"new run in {out}, step 0" in first
    assert any(line.startswith(f"resumed run in {out}, step ") for line in second)
    rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert {row["phase"] for row in rows} == {"ar", "joint"}
    assert all(row["utilisation"] > 0 for row in rows)
    assert any("heldout_denoising" in row for row in rows)
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["data"]["tokens"] >= 9000
    export([str(out), "--out", str(tmp_path / "shipped"), "--int8", "--shard-mib", "0.02"])
    shape = load_model(tmp_path / "shipped").config
    # Its data held no thoughts.
    assert (shape.vocab_size, shape.reasons) == (600, False)
    assert (record["data"]["declarations"], shape.declarations) == (2, 2)
    assert Tokenizer.load(tmp_path / "shipped").vocab_size == 600


def refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command that cannot be done says, which is one line."""
    with pytest.raises(SystemExit) as told:
        main(command)
    assert told.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("dlm.train: ")
    assert error.count("\n") == 1
    return error


def test_data_of_another_tokenizer_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "data.npz", PackedData(Dialogues.of([]), Dialogues.of([]), "{}", {}))
    tokenizer().save(tmp_path / "run")
    command = ["--data", str(tmp_path / "data.npz"), "--out", str(tmp_path / "run")]
    assert "packed with another tokenizer" in refused(command, capsys)


def test_a_vocabulary_larger_than_the_model_s_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tokenizer().bpe.to_str(pretty=True)
    write(tmp_path / "data.npz", PackedData(Dialogues.of([]), Dialogues.of([]), text, {}))
    command = ["--data", str(tmp_path / "data.npz"), "--out", str(tmp_path / "run")]
    told = refused([*command, "--set", "vocab_size = 300"], capsys)
    assert "330 entries, more than the vocab_size of 300" in told


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    save_model(model(), tmp_path / "shipped")
    tokenizer().save(tmp_path / "shipped")
    return tmp_path / "shipped"


def test_a_checkpoint_learns_examples(
    shipped: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "LOG_STEPS", 1)
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi!"}]
    file, out = tmp_path / "mine.jsonl", tmp_path / "run"
    file.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    command = ["--init", str(shipped), "--data", str(file), "--out", str(out)]
    small = ("replay = 0.0", "tokens_per_step = 100", "learning_rate = 5e-3", "total_steps = 100")
    command += [word for change in small for word in ("--set", change)]
    told = lines([*command, "--minutes", "10"], capsys)
    assert told[0] == "mine.jsonl: 1 dialogue; calls of no tool"
    assert told[1] == f"new run in {out}, step 0"
    assert told[-1].startswith("done: step 100, ")
    assert load_model(out).config == replace(load_model(shipped).config, reasons=True)
    text = (out / "tokenizer.json").read_text(encoding="utf-8")
    assert text == (shipped / "tokenizer.json").read_text(encoding="utf-8")
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["data"]["examples"] == "mine.jsonl"
    rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["causal"] < rows[0]["causal"]
    assert {row["phase"] for row in rows} == {"joint"}


@pytest.mark.parametrize(
    ("init", "wanted", "packed", "version"),
    [(1, 0, 0, 1), (1, 2, 0, 2), (2, 0, 0, 2), (2, 1, 0, 1), (1, 0, 2, 2), (1, 2, 1, 1)],
)
def test_a_run_keeps_the_declarations_of_its_checkpoint_or_takes_those_of_its_data(
    tmp_path: Path, init: int, wanted: int, packed: int, version: int
) -> None:
    save_model(model(declarations=init), tmp_path / "init")
    tokenizer().save(tmp_path / "init")
    command = ["--init", str(tmp_path / "init"), "--out", str(tmp_path / "run")]
    if packed:
        empty, file = Dialogues.of([]), tmp_path / "data.npz"
        text = tokenizer().bpe.to_str(pretty=True)
        write(file, PackedData(empty, empty, text, {"declarations": packed} if packed > 1 else {}))
        command += ["--data", str(file)]
    options = program._parser().parse_args(command)
    run = program.begin(TrainConfig(declarations=wanted), options).run
    run.save()
    assert (run.config.declarations, load_model(tmp_path / "run").config.declarations) == (
        version, version,
    )  # fmt: skip


def test_a_mistake_in_examples_is_told_before_anything_begins(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"messages": []}\n', encoding="utf-8")
    command = ["--init", str(shipped), "--data", str(file), "--out", str(tmp_path / "run")]
    assert "mine.jsonl:1: messages: " in refused(command, capsys)
    assert not (tmp_path / "run").exists()
    assert "missing.jsonl" in refused([*command, "--data", str(tmp_path / "missing.jsonl")], capsys)
    told = refused([*command, "--set", "replays = 0.5"], capsys)
    assert "--set 'replays = 0.5': unknown key 'replays', did you mean 'replay'?" in told


@pytest.mark.parametrize("step", [None, 0])
def test_a_run_with_another_tokenizer_than_its_checkpoint_is_refused(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], step: int | None
) -> None:
    """Else the checkpoint's weights would learn another's ids, in silence."""
    out = tmp_path / "run"
    Tokenizer.train([" words of quite another vocabulary"] * 3, 330).save(out)
    if step is not None:
        Run(TrainConfig().shaped(model().config), out, model()).save()
    command = ["--init", str(shipped), "--out", str(out), "--minutes", "0"]
    assert "tokenizer.json: not the tokenizer of " in refused(command, capsys)
    command = ["--init", str(shipped), "--out", f"{shipped}/../{shipped.name}", "--minutes", "0"]
    assert "the directory of --init; expected another" in refused(command, capsys)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--corpora", "nowhere"], "--corpora: got nowhere, expected a directory"),
        (["--set", "device = 'gpu'"], "device: got 'gpu', which cannot be used here"),
        (["--init", "nowhere"], "nowhere/config.json"),
    ],
)
def test_what_is_not_there_is_told_before_anything_begins(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    command = ["--init", str(shipped), "--out", str(tmp_path / "run"), "--minutes", "0"]
    assert told in refused([*command, *options], capsys)
    assert not (tmp_path / "run").exists()


def test_a_disk_that_fills_up_is_no_traceback(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--init", str(shipped), "--out", str(tmp_path / "run"), "--minutes", "0"]
    with full_disk(60_000):
        told = refused(command, capsys)
    assert told.rstrip().endswith("what was saved before stands")


def test_dialogues_to_learn_need_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.jsonl"
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi!"}]
    file.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    command = ["--data", str(file), "--out", str(tmp_path / "run")]
    assert "go with --init CHECKPOINT" in refused(command, capsys)
    only = ["--out", str(tmp_path / "run"), "--set", "initial_share = 0.3"]
    assert "go with --init CHECKPOINT" in refused(only, capsys)


def test_a_command_ends_with_where_the_run_is(tmp_path: Path) -> None:
    run = Run(TrainConfig(total_minutes=10), tmp_path / "a run", model())
    run.step, run.elapsed_s = 40, 150.0
    assert program._ending(run, ["--out", "a run", "--minutes", "3"]) == (
        f"saved: step 40, 2.5 of 10 minutes, in {tmp_path}/a run; "
        "go on with: python -m dlm.train --out 'a run' --minutes 3"
    )
    run.elapsed_s = 600.5
    assert program._ending(run, []) == (
        f"done: step 40, 10.0 of 10 minutes, in {tmp_path}/a run; "
        "it goes on with a larger total_minutes"
    )
    run.config = replace(run.config, total_steps=40)
    run.elapsed_s = 150.0
    assert program._ending(run, []).endswith("it goes on with a larger total_steps")


@pytest.mark.parametrize("reads", [False, True])
def test_a_checkpoint_that_reads_goes_on_reading_and_no_other_begins(
    tmp_path: Path, reads: bool
) -> None:
    begun = model()
    begun.config = replace(begun.config, reads=reads)
    save_model(begun, tmp_path)
    made, config = program._initial(tmp_path, TrainConfig(readings=0.4), teaching=True)
    assert (made.config.reads, config.readings) == (reads, 0.4 if reads else 0.0)
    made, config = program._initial(tmp_path, TrainConfig(readings=0.4), teaching=False)
    assert (made.config.reads, config.readings) == (True, 0.4)


def test_ctrl_c_before_the_first_step_is_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(threads: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "prepare", interrupted)
    with pytest.raises(SystemExit) as told:
        main(["--out", str(tmp_path / "run")])
    assert told.value.code == 130
    assert capsys.readouterr().err == "dlm.train: stopped before the first step\n"


def test_a_run_needs_no_web_framework() -> None:
    code = (
        "import sys; sys.modules |= dict.fromkeys(('starlette', 'anyio', 'uvicorn'))\n"
        "import dlm.datagen.examples, dlm.train.__main__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
