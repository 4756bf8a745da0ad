"""Files of scenarios: what is refused and how, and what a seed draws."""

import re
from pathlib import Path

import pytest

from voice.config import ToolsConfig, TurnConfig, load_agent
from voice.errors import ConfigError
from voice.prove.__main__ import ALL
from voice.prove.scenario import load, load_axes, takes
from voice.prove.sound import told
from voice.tools import Toolbox
from voice.tools.database.tables import TABLES

COLUMNS = {table.name: {column.name for column in table.columns} for table in TABLES}

FILE = """
agent = "assistant"
[scenarios.timer]
caller = "somebody"
goal = "a timer"
facts.minutes = ["ten", "twelve", "twenty"]
lines = [{ says = ["a timer for {minutes} minutes", "{minutes} minutes please"] }]
expected.calls = [{ tool = "set_timer", arguments.duration = "{minutes} minutes" }]
"""


@pytest.fixture(scope="module")
def toolbox():
    return Toolbox(ToolsConfig(database=":memory:"), TurnConfig())


def read(folder: Path, text: str):
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return load(str(file))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("says = [", "sayz = [", r"scenarios\.timer\.lines\.0\.sayz: unknown key; did you mean"),
        ("goal", "gaol", r"scenarios\.timer\.gaol: unknown key; did you mean 'goal'"),
        (
            "{minutes} minutes p",
            "{minuts} p",
            r"scenarios\.timer: .*minuts.*did you mean \{minutes\}",
        ),
        (
            '"{minutes} minutes" }',
            '"(ten" }',
            r"calls\.0\.arguments\.duration: .*regular expression",
        ),
        (
            "minutes please",
            "minutes [paws 9]",
            r"lines\.0\.says\.1: got \[paws 9\]; expected \[pause",
        ),
        (
            "{minutes} minutes p",
            "{Minutes} p",
            r"scenarios\.timer: .*Minutes.*did you mean \{minutes\}",
        ),
        ('"twelve"', '"{hours}"', r"scenarios\.timer\.facts: got \{hours\}; expected words"),
        (
            "goal =",
            "expected.store.ordrs = []\ngoal =",
            r"store: got 'ordrs'; expected one of .*orders",
        ),
        ("goal =", 'recordings."ten" = "a.wav"\ngoal =', r"recordings: got 'ten'; expected words"),
        ('goal = "a timer"', "", r"scenarios\.timer\.goal: got nothing"),
        ("caller =", "behaviour.rate = 9\ncaller =", r"behaviour\.rate: got 9; expected less than"),
    ],
)
def test_a_mistake_is_refused_by_the_name_of_its_key(tmp_path, old, new, message):
    assert old in FILE
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, FILE.replace(old, new))


def test_the_same_seed_draws_the_same_and_others_differ(tmp_path):
    file = read(tmp_path, FILE)
    assert takes([file], None, range(20)) == takes([file], None, range(20))
    drawn = {take.scenario.facts["minutes"] for take in takes([file], None, range(20))}
    assert drawn == {("ten",), ("twelve",), ("twenty",)}
    for take in takes([file], None, range(20)):
        [minutes] = take.scenario.facts["minutes"]
        assert take.scenario.lines[0].says[1] == f"{minutes} minutes please"
        assert take.scenario.expected.calls[0].arguments["duration"] == f"{minutes} minutes"


def test_a_fact_is_compared_as_it_sounds_in_patterns(tmp_path):
    facts = 'facts.who = "Anna [pause 300] (the boss)"\nfacts.day = "Tuesday"\n'
    expected = (
        'expected.must_say = ["{who}"]\nexpected.store.alerts = [{ due = "{day} 10:30" }]\n'
        'over = [{ says = "{who}" }]\n'
    )
    changed = FILE.replace('"ten", "twelve", "twenty"', '"10"').replace(
        "lines =", f"{facts}lines ="
    )
    [take] = takes([read(tmp_path, changed + expected)], None, [1])
    told = take.scenario
    assert told.lines[0].says[1] == "10 minutes please"
    assert told.over[0].says == "Anna [pause 300] (the boss)"
    assert told.expected.calls[0].arguments == {"duration": "ten minutes"}
    assert told.expected.must_say == ("anna the boss",)
    assert re.fullmatch(told.expected.store["alerts"][0]["due"], "Tuesday 10:30")


def test_an_axis_changes_one_thing_and_leaves_the_rest(tmp_path):
    file = read(tmp_path, FILE + "behaviour.rate = 1.5\n")
    axes = tmp_path / "axes.toml"
    axes.write_text("[axes.line]\ntelephone = { telephone = true }\n", encoding="utf-8")
    plain, varied = takes([file], load_axes(str(axes)), [7])
    assert (plain.id, varied.id) == ("assistant/timer#7", "assistant/timer+line=telephone#7")
    assert varied.scenario.behaviour == plain.scenario.behaviour.model_copy(
        update={"telephone": True}
    )
    assert varied.scenario.lines == plain.scenario.lines


def test_what_ships_is_read_and_is_enough():
    found = takes([load(name) for name in ALL], load_axes("axes"), [1])
    assert len({take.id for take in found}) == len(found) >= 120
    assert len([take for take in found if not take.axis]) == 40


@pytest.mark.parametrize("take", takes(map(load, ALL), None, [1, 2, 3]), ids=lambda take: take.id)
def test_what_a_scenario_expects_can_be(take, toolbox):
    expected = take.scenario.expected
    named = [*expected.may_call, *expected.must_not_call, *(call.tool for call in expected.calls)]
    front = load_agent(take.agent)
    agents = [front, *map(load_agent, front.hand_over)]
    steps = [step for agent in agents for step in agent.steps.values()]
    known = {*toolbox.names, *(name for step in steps for name in step.tools)}
    assert {name for name in named if not name.startswith("hand_over_to_")} <= known
    for call in expected.calls:
        [spec] = toolbox.specs([call.tool])
        assert call.arguments.keys() <= spec.parameters["properties"].keys()
    for table, rows in expected.store.items():
        assert {key for row in rows for key in row} <= COLUMNS[table]
    lines = take.scenario.lines
    assert any(not line.hears for line in lines) or front.greeting
    assert len(lines) <= take.scenario.turns


def test_words_of_a_marked_text_are_those_that_are_said():
    assert told("my name [pause 300] is [cough] [spell Ann]") == "my name is A N N"
