"""The steps of a flow as a file has them: what is wrong is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.config import load_agent, load_team
from voice.errors import ConfigError

HEAD = 'name = "desk"\ninstructions = "Be brief."\n'
NEED = 'tool = "note_name", argument = "name", ask = "Name?"'
FIRST = f'[steps.first]\ntools = ["note_name"]\nneeds.name = {{ {NEED} }}\n'


def written(folder: Path, text: str, name: str = "desk") -> str:
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            '[steps.first]\nneeds.name = { kind = "choice", ask = "Which?" }\n',
            "steps.first.needs.name.of: got the options [] for kind 'choice'; expected options for",
        ),
        (
            '[steps.first]\nneeds.name = { kind = "day", tool = "t", ask = "Which?" }\n',
            "steps.first: needs.name: got both kind 'day' and tool 't'; expected one of them",
        ),
        (
            '[steps.first]\ntools = "ring"\nneeds.name = { kind = "person", ask = "Who?" }\n',
            "steps.first.tools: got 'ring'; expected a list",
        ),
        (
            '[steps.first]\ntools = 5\nneeds.name = { kind = "person", ask = "Who?" }\n',
            "steps.first.tools: got 5; expected a list",
        ),
        ("[calls]\nring = ['ring me', 'Ring (?:her|him)\\B']\n", "calls: ring: got 'Ring (?:her"),
        ("[asides.cost]\nasked = ['cost']\nsay = 5\n", "asides.cost.say: got 5; expected a text"),
        (
            '[steps.first]\nneeds.name = { kind = "person", offers = "nam", ask = "Who?" }\n',
            "steps.first.needs.name.offers: got 'nam', which no step needs; did you mean 'name'?",
        ),
        (
            '[steps.first]\ntools = ["t"]\nneeds.done = { tool = "t", ask = [] }\n',
            "steps.first.needs.done.ask: got none; expected a question",
        ),
        (
            '[steps.first]\nneeds.name = { ask = "Who?" }\n',
            "steps.first.needs.name: got neither tool nor kind",
        ),
        (
            '[asides.cost]\nasked = ["("]\nsay = "Nothing."\n',
            "asides.cost.asked: ",
        ),
        (
            f'{FIRST}goes_to = "secnd"\n[steps.second]\n',
            "steps.first.goes_to: got 'secnd', which is no step; did you mean 'second'?",
        ),
        (f"{FIRST}[steps.second]\n", "steps.second: nobody reaches it"),
        (
            f'{FIRST}goes_to = "second"\n[steps.second]\ngoes_to = "first"\n',
            "steps.first.goes_to: got a loop without an exit",
        ),
        (
            '[steps.a]\ngoes_to = "b"\n[steps.b]\ngoes_to = "a"\n'
            '[[steps.b.branches]]\nvalue = "x"\nequals = "y"\ngoes_to = "c"\n[steps.c]\n',
            "steps.a.needs: got a loop in which nothing is asked",
        ),
        (
            f'{FIRST}goes_to = "second"\n[steps.second]\nneeds.name = {{ {NEED} }}\n',
            "steps.second.needs.name: got a second value of this name",
        ),
        (
            f'{FIRST}says = "Hello {{nome}}."\n',
            "steps.first.says: got {nome}, which no step needs; did you mean 'name'?",
        ),
        (
            '[steps.first]\nneeds.name = { tool = "t", ask = "For {what}?" }\n',
            "steps.first.needs.name.ask: got {what}, which no step needs",
        ),
        (
            f'{FIRST}[[steps.first.branches]]\nvalue = "nam"\nequals = "x"\ngoes_to = "first"\n',
            "steps.first.branches.0.value: got 'nam', which no step needs; did you mean 'name'?",
        ),
        (
            f'{FIRST}[[steps.first.branches]]\nvalue = "name"\nequals = "x"\ngoes_to = "first"\n',
            "steps.first.goes_to: got nothing; expected where to go if no branch fits",
        ),
        (
            '[steps.first]\nneeds.name = { tool = "note_name", argument = "name" }\n',
            "steps.first.needs.name.ask: got nothing; expected a list",
        ),
        (
            f'{FIRST}go_to = "second"\n',
            "steps.first.go_to: unknown key; did you mean 'goes_to'?",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, steps: str, expected: str) -> None:
    file = written(tmp_path, HEAD + steps)
    with pytest.raises(ConfigError) as caught:
        load_agent(file)
    assert f"{file}: {expected}" in str(caught.value)


def test_a_loop_with_an_exit_is_a_flow(tmp_path: Path) -> None:
    branch = '[[steps.first.branches]]\nvalue = "name"\nequals = "again"\ngoes_to = "first"\n'
    agent = load_agent(written(tmp_path, f'{HEAD}{FIRST}goes_to = "end"\n{branch}[steps.end]\n'))
    assert [*agent.steps] == ["first", "end"]
    assert agent.steps["first"].needs["name"].ask == ("Name?",)


def test_agents_that_are_handed_over_to_are_read_as_well(tmp_path: Path) -> None:
    desk = written(tmp_path, f'{HEAD}hand_over = ["back"]\n')
    with pytest.raises(
        ConfigError, match=r"desk\.toml: hand_over: got 'back', for which there is no file; exp"
    ):
        load_team(desk)
    back = 'instructions = "x"\nhand_over = ["desk"]\n'
    written(tmp_path, f'name = "bock"\n{back}', "back")
    with pytest.raises(ConfigError, match=r"back\.toml: name: got 'bock'; expected 'back', as"):
        load_team(desk)
    written(tmp_path, f'name = "back"\n{back}[takes_over]\nwhen = "Hand over."\n', "back")
    # The first one is handed over to as well.
    with pytest.raises(ConfigError, match=r"desk\.toml: takes_over\.when: got nothing; exp"):
        load_team(desk)
    written(tmp_path, f'{HEAD}hand_over = ["back"]\n[takes_over]\nwhen = "Back."\n')
    assert [agent.name for agent in load_team(desk)] == ["desk", "back"]


def test_a_malformed_pattern_is_told_with_its_place(tmp_path: Path) -> None:
    file = written(tmp_path, f"{HEAD}[takes_over]\nwhen = 'x'\npatterns = ['(']\n")
    with pytest.raises(ConfigError, match=r"desk\.toml: takes_over\.patterns: got '\('"):
        load_agent(file)
