from __future__ import annotations

import itertools
import json
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dlm.engine.engine import Engine, Request
from dlm.language.messages import Call, Turn
from dlm.loading.weights import load_model, save_model
from dlm.network.model import Transformer
from dlm.train.batches import Place, Recipe, passes
from dlm.train.config import TrainConfig
from dlm.train.distill import Case, answered, cases, encoded, main, right, tokens_per_forward
from dlm.train.loop import Run
from dlm.train.objective import ar_step, collate
from dlm.train.pack import Dialogues, PackedData, read, write
from tests.dlm.tiny import DIALOGUES, TOOLS, model, template, tokenizer
from tests.dlm.train.interrupting import interrupted

ASKED = "\nstopping after this step; the same again quits at once\n"
ROW = {
    "system": "Be brief.",
    "tools": [{"name": t.name, "description": "", "parameters": t.parameters} for t in TOOLS],
    "messages": [
        {"role": "assistant", "content": "Hello, I am here."},
        {"role": "user", "content": "set a timer for ten minutes"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"name": "set_timer", "arguments": {"duration": "ten minutes"}}],
        },
        {"role": "tool", "content": "Timer set."},
        {"role": "assistant", "content": "It runs."},
    ],
}


def test_a_case_is_an_answer_and_what_stands_before_it() -> None:
    made = list(cases([ROW] * 30, 0))
    assert {len(request.turns) for request, _ in made} == {3, 5}
    for request, wanted in made:
        assert request.turns[:2] == (
            Turn("system", "Be brief."),
            Turn("assistant", "Hello, I am here."),
        )
        assert request.copy_sources == ("set a timer for ten minutes",)
        assert [tool.name for tool in request.tools] == ["set_timer", "get_weather"]
        calls = (Call("set_timer", {"duration": "ten minutes"}),)
        assert wanted == (Turn("assistant", "", calls) if len(request.turns) == 3 else wanted)
    assert list(cases([ROW | {"messages": ROW["messages"][:2]}], 0)) == []


def verifier() -> Transformer:
    """A model that answers `DIALOGUES` rightly, and has never denoised anything."""
    made = model(seed=1, hidden_size=48, intermediate_size=96)
    made.requires_grad_(True)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() == 2:
                parameter.mul_(0.3)
    rows = collate([template().dialogue(turns, TOOLS) for turns in DIALOGUES], 0.0)
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-2, weight_decay=0.0)
    for _ in range(60):
        ar_step(made, rows)["causal"].backward()
        optimizer.step()
        optimizer.zero_grad()
    return made


def asked() -> list[Case]:
    """The first answer of each dialogue, of any words."""
    return [(Request(tuple(turns[:1]), TOOLS), turns[1]) for turns in DIALOGUES]


@pytest.fixture(scope="module")
def init(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("init")
    save_model(verifier(), directory, torch.float32)
    tokenizer().save(directory)
    yield directory


def answers(checkpoint: Path) -> tuple[list[str], float]:
    engine = Engine.load(checkpoint)
    try:
        told = [str(finished.answer) for _, finished in answered(engine, asked())]
        return told, tokens_per_forward(engine, asked())
    finally:
        engine.close()


def test_a_model_distilled_on_its_own_answers_needs_fewer_forwards(
    init: Path, tmp_path: Path
) -> None:
    before, slow = answers(init)
    assert len(before) == len(DIALOGUES)
    engine = Engine.load(init)
    made = [encoded(template(), case[0], finished) for case, finished in answered(engine, asked())]
    engine.close()
    assert [len(row.answers) for row in made] == [1] * len(DIALOGUES)
    config = TrainConfig(
        ar_share=0.0,
        total_minutes=10_000.0,
        warmup_steps=5,
        learning_rate=4e-3,
        weight_decay=0.0,
        prompt_weight=0.0,
        uncertainty_weight=1.0,
    )
    run = Run(config.shaped(load_model(init).config), tmp_path, load_model(init))
    recipe = Recipe(tmp_path, 0, 4096, 900)
    seen: list[dict[str, Any]] = []
    run.train(itertools.islice(passes(Dialogues.of(made), recipe, Place()), 100), 9, seen.append)
    for name in ("denoising", "uncertainty"):
        assert seen[-1][name] < 0.6 * seen[0][name]
    tokenizer().save(tmp_path)
    after, fast = answers(tmp_path)
    assert after == before
    assert fast > 1.3 * slow


def test_wrong_calls_and_unfinished_answers_are_not_learned_but_measured(init: Path) -> None:
    engine = Engine.load(init)
    try:
        request, wanted = asked()[2]
        assert wanted.calls
        short = Request(request.turns, TOOLS, max_tokens=2)
        others = [(request, Turn("assistant", "No.")), (short, Turn("assistant", ""))]
        made = list(answered(engine, [(request, wanted), *others]))
        assert [right(case, finished) for case, finished in made] == [True, False, False]
        whole = tokens_per_forward(engine, [(request, wanted)])
        assert tokens_per_forward(engine, others[:1]) == whole
        impossible = Request((*request.turns, Turn("user", "word " * 9000)), TOOLS)
        assert list(answered(engine, [(impossible, wanted)])) == []
    finally:
        engine.close()


def test_the_program_answers_trains_and_measures(
    init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(**given: Any) -> Iterator[dict[str, Any]]:
        tools = [{"name": t.name, "description": "", "parameters": t.parameters} for t in TOOLS]
        for turns in itertools.cycle(DIALOGUES[:1]):
            messages = [{"role": turn.role, "content": turn.content} for turn in turns]
            yield {"system": "", "tools": tools, "messages": messages}

    # A model this small answers no dialogue of the real generator.
    monkeypatch.setattr("dlm.datagen.dialogues.generate", rows)
    monkeypatch.setattr("dlm.train.distill.HELD_OUT_ANSWERS", 4)
    (tmp_path / "run.toml").write_text("prompt_weight = 0.0\nuncertainty_weight = 2.0\n")
    out = tmp_path / "run"
    command = ["--init", str(init), "--out", str(out), "--config", str(tmp_path / "run.toml")]
    for _ in range(2):
        main([*command, "--answers", "6", "--minutes", "0.01"])
    told = capsys.readouterr().out.splitlines()
    assert len(read(out / "answers.npz").train) == 6
    assert told[0].startswith(f"{out / 'answers.npz'}: 6 answers, ")
    assert all(line.endswith(" tokens per forward") for line in told[-2:])
    steps = [int(line.split()[1].rstrip(",")) for line in told if line.startswith("step ")]
    assert 0 < steps[0] < steps[1]
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["step"] == steps[1]
    assert record["data"]["asked"] == 6
    assert set(record["tokens_per_forward"]) == {"before", "after"}


def test_a_signal_stops_the_program_after_its_step_and_the_run_goes_on_later(
    repo_root: Path, tmp_path: Path
) -> None:
    """The program itself, as a process that a terminal or a supervisor stops."""
    small = tmp_path / "small"
    save_model(model(), small)
    tokenizer().save(small)
    out = tmp_path / "a run"
    out.mkdir()
    rows = Dialogues.of(template().dialogue(turns, TOOLS) for turns in DIALOGUES)
    whole = tokenizer().bpe.to_str(pretty=True)
    write(out / "answers.npz", PackedData(rows, rows, whole, {"asked": len(rows)}))
    words = ["--init", str(small), "--out", str(out), "--minutes", "500"]
    words += ["--set", "threads = 1", "--set", "total_minutes = 500"]
    program = [sys.executable, "-m", "dlm.train.distill"]
    _, told, errors, status = interrupted([*program, *words], repo_root, signal.SIGTERM)
    assert (status, errors) == (128 + signal.SIGTERM, ASKED)
    said, last = told.splitlines()[-2:]
    assert last == f"saved; go on with: python {shlex.join([*program[1:], *words])}"
    state = torch.load(out / "state.pt", weights_only=True)
    kept = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert said.startswith(f"step {state['step']}, ")
    assert kept["step"] == state["step"] >= 20
    assert "tokens_per_forward" not in kept


def test_ctrl_c_before_the_first_step_leaves_no_answers(
    init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(**given: Any) -> Iterator[dict[str, Any]]:
        yield ROW
        signal.raise_signal(signal.SIGINT)
        yield ROW

    monkeypatch.setattr("dlm.datagen.dialogues.generate", rows)
    with pytest.raises(SystemExit) as told:
        main(["--init", str(init), "--out", str(tmp_path), "--answers", "6"])
    assert told.value.code == 130
    assert capsys.readouterr().err == "dlm.train.distill: stopped before the first step\n"
    assert not (tmp_path / "answers.npz").exists()


def test_a_mistake_is_told_in_one_line(
    init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    nothing = Dialogues.of([])
    write(out / "answers.npz", PackedData(nothing, nothing, "{}", {}))
    for words, told in (
        (["--init", str(init), "--out", str(out)], "answers.npz: not of the tokenizer of "),
        (["--init", "nowhere", "--out", str(out)], "nowhere/tokenizer.json: no such"),
        (["--init", str(init), "--out", str(out), "--set", "seed = 1.5"], "seed: got 1.5"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert error.startswith("dlm.train.distill: ") and told in error
    assert not (out / "tokenizer.json").exists()
