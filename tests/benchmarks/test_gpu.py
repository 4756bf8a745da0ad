from __future__ import annotations

import pytest

from benchmarks import gpu


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


def test_a_failure_ends_it() -> None:
    with pytest.raises(SystemExit) as ended:
        gpu.run(["benchmarks.no_such_part"])
    assert ended.value.code == 1
