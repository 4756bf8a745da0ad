"""Scenarios: who calls and why, how they speak, and what must be true when they have hung up.

They are TOML files; unknown keys are errors. A fact replaces its {name} in lines and expectations,
in patterns as plain words; if it has several values, the seed draws one. Axes vary how a caller
speaks, one thing at a time.
`voice.prove.script` decides what a caller says next, `voice.prove.sound` how it sounds.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from voice.config import CONFIGS_DIR
from voice.config.options import Section, find_file, listed, read_options
from voice.errors import ConfigError
from voice.prove.words import plain

SCENARIOS_DIR = CONFIGS_DIR / "scenarios"
AXES_DIR = CONFIGS_DIR / "axes"
PLACE = re.compile(r"\{([A-Za-z]\w*)\}")
"""The place of a fact in a text."""
MARK = re.compile(r"\[([^\[\]]*)\]")
KNOWN_MARK = re.compile(r"pause [1-9]\d{0,4}|cough|spell .+")


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"got {pattern!r}; expected a regular expression: {error}") from error
    return pattern


def _marked(text: str) -> str:
    for mark in MARK.findall(text):
        if not KNOWN_MARK.fullmatch(mark):
            raise ValueError(f"got [{mark}]; expected [pause MS], [cough] or [spell WORD]")
    return text


Pattern = Annotated[str, AfterValidator(_compiled)]
"""A regular expression over plain words: lower case, numbers spelled out, no punctuation."""
Spoken = Annotated[str, AfterValidator(_marked)]
"""Words, with marks between them: [pause 700] in ms, [cough], [spell Miller]."""
Texts = Annotated[tuple[Spoken, ...], BeforeValidator(listed), Field(min_length=1)]


class Behaviour(Section):
    """How a caller speaks, and what the room and the line do to the sound."""

    voice: str = "hibari:heart"
    """hibari:, piper: or espeak: and a voice, as `python -m voice.voices` lists them; or flite: and
    a voice of the flite command, such as flite:slt."""
    rate: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    """Rate of speaking; 1 is the voice's own."""
    noise: str = ""
    """Noise around the caller: pink, babble, or the path of a recording; empty for a quiet room."""
    noise_db: Annotated[float, Field(ge=-10.0, le=60.0)] = 20.0
    """Level of the speech over that of the noise."""
    reverb_s: Annotated[float, Field(ge=0.0, le=3.0)] = 0.0
    """Reverberation time of the room, for 60 dB; 0 for none."""
    telephone: bool = False
    """Whether the sound goes over a telephone line: 300 to 3400 Hz, mu-law."""
    hesitation_ms: Annotated[int, Field(ge=0, le=5000)] = 0
    """Length of a pause inside each line of four words or more."""
    reaction_s: Annotated[float, Field(ge=0.0, le=10.0)] = 0.4
    """Time from the agent's last word to the caller's first."""


class Line(Section):
    """Something that the caller says."""

    says: Texts
    """The words; if there are several versions, the seed draws one."""
    hears: Pattern = ""
    """The line is said when the agent's words match this; without it, in the order of the file."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often it may be said; a line without `hears` is said once."""


class TalkOver(Section):
    """Something that is heard at the caller's end, once, while the agent speaks."""

    says: Spoken
    """The words, or [cough]."""
    at: str = ""
    """The agent's word at which it begins; if empty, a second after the agent's first sound."""
    kind: Literal["interruption", "backchannel", "bystander"] = "interruption"
    """An interruption should silence the agent, which then answers it. A backchannel or a cough,
    and a bystander, who has another voice and is 12 dB softer, should change nothing."""


class ExpectedCall(Section):
    """A call that must have been made."""

    tool: str
    arguments: dict[str, Pattern] = Field(default_factory=dict)
    """Name → pattern that the whole value must match; other arguments may be anything."""
    times: Annotated[int, Field(ge=1)] = 1


class Expected(Section):
    """What must be true at the end."""

    calls: tuple[ExpectedCall, ...] = ()
    may_call: tuple[str, ...] = ()
    """Tools that may be called as well, any number of times."""
    must_not_call: tuple[str, ...] = ()
    must_say: tuple[Pattern, ...] = ()
    must_not_say: tuple[Pattern, ...] = ()
    store: dict[str, tuple[dict[str, Pattern], ...]] = Field(default_factory=dict)
    """Table → its rows at the end, in any order; not checked if the store cannot be read. A time
    (`due`) is written as "tuesday 10:30"."""


class Scenario(Section):
    """One caller."""

    caller: str
    """Who calls; for readers."""
    goal: str
    """Why they call; for readers."""
    facts: dict[str, Texts] = Field(default_factory=dict)
    """Name → words; if there are several versions, the seed draws one."""
    lines: tuple[Line, ...] = Field(min_length=1)
    over: tuple[TalkOver, ...] = ()
    """What is said over the agent, in order, at most one in each reply."""
    otherwise: Spoken = "I don't know."
    """Said to a question that no line fits, at most twice in a row, while lines are left."""
    goodbye: Spoken = ""
    """Said before hanging up."""
    turns: Annotated[int, Field(ge=1, le=100)] = 12
    """After this many turns the caller gives up."""
    behaviour: Behaviour = Behaviour()
    recordings: dict[str, str] = Field(default_factory=dict)
    """Words of a line → path of a recording that is played instead."""
    expected: Expected = Expected()

    @property
    def asides(self) -> tuple[str, ...]:
        """What the caller may say besides the lines."""
        over = (one.says for one in self.over if one.kind != "bystander")
        return (*over, self.otherwise, *([self.goodbye] if self.goodbye else ()))


class ScenarioFile(Section):
    """The scenarios of one agent."""

    agent: str
    """Name of an agent, or its file, for a server that is started."""
    scenarios: dict[str, Scenario] = Field(min_length=1)


class AxesFile(Section):
    """What is varied."""

    axes: dict[str, dict[str, Behaviour]] = Field(min_length=1)
    """Axis → value → what it changes in a scenario's behaviour."""


@dataclass(frozen=True, slots=True)
class Take:
    """A scenario as it is run, with facts drawn and at most one thing varied.

    Attributes:
        axis: What is varied, such as "noise"; empty if nothing is.
        value: Name of the variation, such as "pink 10 dB".
    """

    name: str
    agent: str
    scenario: Scenario
    seed: int
    axis: str = ""
    value: str = ""

    @property
    def id(self) -> str:
        """Its name in a scorecard."""
        varied = f"+{self.axis}={self.value}" if self.axis else ""
        return f"{Path(self.agent).stem}/{self.name}{varied}#{self.seed}"


def load(name_or_path: str) -> ScenarioFile:
    """Read a file of scenarios.

    Args:
        name_or_path: A path, or the bare name of a file in configs/scenarios/.

    Raises:
        ConfigError: The file is missing or malformed, or a text names an unknown fact.
    """
    file = find_file(name_or_path, SCENARIOS_DIR, "scenarios")
    read = read_options(ScenarioFile, file)
    for name, scenario in read.scenarios.items():
        for wrong in _mistakes(scenario):
            raise ConfigError(f"{file}: scenarios.{name}{wrong}")
    return read


def _mistakes(scenario: Scenario) -> Iterator[str]:
    """What is wrong with a scenario as a whole, after its name."""
    from voice.tools.database.tables import TABLES

    told = scenario.model_dump(exclude={"facts"})
    for place in sorted(set(PLACE.findall(str(told))) - scenario.facts.keys()):
        close = difflib.get_close_matches(place, scenario.facts, n=1)
        hint = f"did you mean {{{close[0]}}}?" if close else f"facts: {sorted(scenario.facts)}"
        yield f": no fact for {{{place}}}; {hint}"
    for place in PLACE.findall(str(scenario.facts)):
        yield f".facts: got {{{place}}}; expected words, since no fact is filled into another"
    said = {*scenario.asides, *(one.says for one in scenario.over)}
    said |= {text for line in scenario.lines for text in line.says}
    for text in scenario.recordings.keys() - said:
        yield f".recordings: got {text!r}; expected words that are said, as they are written there"
    for table in scenario.expected.store.keys() - {table.name for table in TABLES}:
        known = ", ".join(table.name for table in TABLES)
        yield f".expected.store: got {table!r}; expected one of {known}"


def load_axes(name_or_path: str) -> AxesFile:
    """Read a file of axes, as `load` reads scenarios; the bare name is of one in configs/axes/."""
    return read_options(AxesFile, find_file(name_or_path, AXES_DIR, "--axes"))


def takes(files: Iterable[ScenarioFile], axes: AxesFile | None, seeds: Sequence[int]) -> list[Take]:
    """Every scenario as it is and with each value of the axes, for every seed."""
    varied: list[tuple[str, str, Behaviour]] = [("", "", Behaviour())]
    for axis, values in axes.axes.items() if axes else ():
        varied += [(axis, value, change) for value, change in values.items()]
    return [
        Take(name, file.agent, _drawn(name, scenario, seed, change), seed, axis, value)
        for file in files
        for axis, value, change in varied
        for name, scenario in file.scenarios.items()
        for seed in seeds
    ]


def _drawn(name: str, scenario: Scenario, seed: int, change: Behaviour) -> Scenario:
    rng = random.Random(f"{seed} {name}")
    facts = {fact: rng.choice(words) for fact, words in scenario.facts.items()}
    told = _filled(scenario.model_dump(exclude={"facts"}), facts)
    told["behaviour"] |= change.model_dump(include=change.model_fields_set)
    return Scenario.model_validate({**told, "facts": facts})


def _filled(told: Any, facts: Mapping[str, str], written: Callable[[str], str] = str) -> Any:
    if isinstance(told, str):
        return PLACE.sub(lambda place: written(facts[place[1]]), told)
    if isinstance(told, dict):
        return {
            _filled(key, facts, written): _filled(value, facts, _WRITTEN.get(key, written))
            for key, value in told.items()
        }
    return (
        [_filled(one, facts, written) for one in told] if isinstance(told, list | tuple) else told
    )


def _as_pattern(words: str) -> str:
    return plain(MARK.sub(lambda mark: mark[1].partition("spell ")[2], words))


_WRITTEN: Mapping[str, Callable[[str], str]] = {
    "hears": _as_pattern, "expected": _as_pattern, "due": re.escape
}  # fmt: skip
"""Key → how facts are written below it, if it is of patterns."""
