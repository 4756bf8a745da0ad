from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from benchmarks import gpu
from benchmarks.report import ROOT


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run, and is not."""
    commands: list[list[str]] = []
    monkeypatch.setattr(gpu, "run", lambda arguments: commands.append(list(arguments)))
    return commands


def test_all_parts_follow_the_parity(ran: list[list[str]]) -> None:
    gpu.main(["--dry-run", "--go-on"])
    assert [command[0] for command in ran] == ["pytest", *gpu.PARTS.values()]
    assert [command[-1] for command in ran[1:]] == ["--dry-run"] * 3


def test_options_reach_the_parts(ran: list[list[str]]) -> None:
    gpu.main(["--only", "step", "kernels", "--minutes", "8", "--go-on"])
    bounded = ["--go-on", "--minutes", "8.0"]
    assert ran == [[gpu.PARTS["kernels"], *bounded], [gpu.PARTS["step"], *bounded]]


def test_what_is_run_is_there() -> None:
    for file in (*gpu.PARITY, *gpu.QUICK):
        assert (ROOT / file).exists()
    for module in gpu.PARTS.values():
        assert importlib.util.find_spec(module) is not None


def test_a_machine_without_pytest_goes_on(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    gpu.parity(gpu.QUICK)
    gpu.draw(Path("nowhere.json"), Path("nowhere.svg"))
    assert ran == []
    said = capsys.readouterr().out.splitlines()
    assert [line.split(" is not installed")[0] for line in said] == ["pytest", "matplotlib"]


def test_a_failure_ends_it() -> None:
    with pytest.raises(SystemExit) as ended:
        gpu.run(["benchmarks.no_such_part"])
    assert ended.value.code == 1


def test_without_the_plugins_of_pytest_tests_still_run() -> None:
    without = ("-p", "no:asyncio", "-p", "no:hypothesispytest")
    gpu.run(["pytest", *gpu.PYTEST, *without, "tests/kernels/test_checks.py"])


def test_a_plot_is_drawn(tmp_path: Path) -> None:
    told = {"ms": 2.0, "least_ms": 1.0}
    figures = {
        "device": "none",
        "8B_compiled_1024": 3.0,
        **{f"8B_{bits}_1024_{batch}": told for bits in ("plain", "int8") for batch in (1, 4)},
    }
    gpu.plot(figures, tmp_path / "plot.svg")
    drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert drawn.count("<!-- 8B -->") == 1
    assert "<!-- int8, 1024 before -->" in drawn


def test_without_a_step_nothing_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured, target = tmp_path / "gpu_step.json", tmp_path / "plot.svg"
    measured.write_text(json.dumps({"figures": {"device": "none"}}), encoding="utf-8")
    gpu.draw(measured, target)
    assert not target.exists()
    assert capsys.readouterr().out == f"{measured} holds no steps: nothing is drawn\n"
