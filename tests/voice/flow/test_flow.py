"""``python -m voice.flow``: what is wrong with a flow's tools, and its picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.flow.__main__ import main

HEAD = 'name = "desk"\ninstructions = "Be brief."\n'


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            'tools = ["calculat"]\n',
            "steps.first.tools: got 'calculat', which is no tool; did you mean 'calculate'?",
        ),
        (
            'needs.name = { tool = "calculate", argument = "expression", ask = "Name?" }\n',
            "steps.first.needs.name.tool: got 'calculate', so that no tool can learn it; expected"
            " one of the step's tools, []",
        ),
        (
            'tools = ["calculate"]\n'
            'needs.name = { tool = "calculate", argument = "expresion", ask = "Name?" }\n',
            "steps.first.needs.name.argument: got 'expresion', which calculate does not have, so"
            " that no tool can learn it; did you mean 'expression'?",
        ),
        (
            'tools = ["calculate"]\nneeds.name = { tool = "calculate", ask = "Shall I?" }\n',
            "steps.first.needs.name.argument: got nothing, and calculate cannot be called without"
            " ['expression']; expected one of ['expression']",
        ),
        (
            'tools = ["calculate"]\ncalls.calculat = ["name"]\n',
            "steps.first.calls: got 'calculat', which is no tool; did you mean 'calculate'?",
        ),
        (
            'tools = ["calculate"]\ncalls.calculate = ["name"]\n',
            "steps.first.calls: got 'calculate', which needs ['expression']; expected groups of"
            " these names in 'name'",
        ),
        (
            'tools = ["calculate"]\ncalls.calculate = ["(?P<expression>.+) (?P<way>now)"]\n',
            "steps.first.calls: got the groups ['way'], no arguments of 'calculate'",
        ),
        (
            'tools = ["free_bikes"]\n',
            "steps.first.tools: got 'free_bikes', which is no tool; expected one that ships, or a"
            " function under @tool() in a module of tools.modules; a tool of an MCP server cannot"
            " be named here, the model alone calls it",
        ),
        (
            '[kept]\nthings = ["sum"]\ntell = "calculate"\n',
            "kept: got 'calculate', which needs ['expression']; expected a tool that needs none but"
            " 'message', or patterns under calls in its place: calls.calculate = ['…"
            " (?P<expression>.+)']",
        ),
    ],
)
def test_what_no_tool_can_learn_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str, expected: str
) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(f"{HEAD}[steps.first]\n{step}", encoding="utf-8")
    assert main([str(file)]) == 1
    assert capsys.readouterr().err == f"{file}: {expected}\n"


def test_a_tool_of_an_agent_that_is_none_is_told_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(f'{HEAD}tools = ["calculat"]\n', encoding="utf-8")
    assert main([str(file)]) == 1
    got = "tools: got 'calculat', which is no tool; did you mean 'calculate'?"
    assert capsys.readouterr().err == f"{file}: {got}\n"


def test_a_flow_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clinic"]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert drawn[0] == "flowchart TD"
    (booking,) = (line for line in drawn if 'clinic_booking["' in line)
    assert "booking<br>needs day<br>needs time<br>needs name<br>takes part<br>" in booking
    assert "  clinic_triage --> clinic_booking" in drawn
    assert "  clinic -.->|hands over| nurse" in drawn


def test_a_branch_is_drawn_with_its_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(
        f'{HEAD}hand_over = ["nurse"]\n[steps.first]\ngoes_to = "end"\n'
        'needs.problem = { kind = "words", ask = "What?" }\n'
        '[[steps.first.branches]]\nvalue = "problem"\nequals = "a fever"\ngoes_to = "nurse"\n'
        "[steps.end]\n[takes_over]\nwhen = 'Back.'\n",
        encoding="utf-8",
    )
    assert main([str(file)]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert "  desk_first -->|problem is a fever| nurse_number" in drawn
    assert "  desk_first --> desk_end" in drawn
