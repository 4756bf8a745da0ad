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
            'tools = ["note_nam"]\n',
            "steps.first.tools: got 'note_nam', which is no tool; did you mean 'note_name'?",
        ),
        (
            'needs.name = { tool = "note_name", argument = "name", ask = "Name?" }\n',
            "steps.first.needs.name.tool: got 'note_name', so that no tool can learn it; expected"
            " one of the step's tools, []",
        ),
        (
            'tools = ["note_name"]\n'
            'needs.name = { tool = "note_name", argument = "nane", ask = "Name?" }\n',
            "steps.first.needs.name.argument: got 'nane', which note_name does not have, so that no"
            " tool can learn it; did you mean 'name'?",
        ),
        (
            'tools = ["note_name"]\nneeds.name = { tool = "note_name", ask = "Shall I?" }\n',
            "steps.first.needs.name.argument: got nothing, and note_name cannot be called without"
            " ['name']; expected one of ['name']",
        ),
        (
            'tools = ["note_name"]\ncalls.note_nam = ["name"]\n',
            "steps.first.calls: got 'note_nam', which is no tool; did you mean 'note_name'?",
        ),
        (
            'tools = ["note_name"]\ncalls.note_name = ["name"]\n',
            "steps.first.calls: got 'note_name', which needs ['name']; expected groups of these"
            " names in 'name'",
        ),
        (
            'tools = ["note_name"]\ncalls.note_name = ["(?P<name>.+) (?P<way>now)"]\n',
            "steps.first.calls: got the groups ['way'], no arguments of 'note_name'",
        ),
    ],
)
def test_what_no_tool_can_learn_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str, expected: str
) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(f"{HEAD}[steps.first]\n{step}", encoding="utf-8")
    assert main([str(file)]) == 1
    assert capsys.readouterr().err == f"agent desk: {expected}\n"


def test_a_flow_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clinic"]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert drawn[0] == "flowchart TD"
    assert '    clinic_booking["booking<br>needs day<br>needs time<br>needs name"]' in drawn
    assert "  clinic_triage --> clinic_booking" in drawn
    assert "  clinic -.->|hands over| nurse" in drawn


def test_a_branch_is_drawn_with_its_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "desk.toml"
    file.write_text(
        f'{HEAD}hand_over = ["nurse"]\n[steps.first]\ntools = ["note_problem"]\ngoes_to = "end"\n'
        'needs.problem = { tool = "note_problem", argument = "problem", ask = "What?" }\n'
        '[[steps.first.branches]]\nvalue = "problem"\nequals = "a fever"\ngoes_to = "nurse"\n'
        "[steps.end]\n[takes_over]\nwhen = 'Back.'\n",
        encoding="utf-8",
    )
    assert main([str(file)]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert "  desk_first -->|problem is a fever| nurse_number" in drawn
    assert "  desk_first --> desk_end" in drawn
