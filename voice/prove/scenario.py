"""Scenarios: who calls, what for, how he speaks, and what must be true when he has hung up.

They are TOML files, read strictly. A fact is words that stand as {name} in lines and expectations;
of several the seed draws one. Axes vary how a caller speaks, one thing at a time. What a caller
says next is `voice.prove.script`'s, how it sounds `voice.prove.sound`'s.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from voice.config import CONFIGS_DIR
from voice.config.options import Section, find_file, listed, read_options
from voice.errors import ConfigError

SCENARIOS_DIR = CONFIGS_DIR / "scenarios"
PLACE = re.compile(r"\{([a-z]\w*)\}")
"""In a text, a fact."""
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
"""A regular expression over plain words: lower case, numbers spelled out, without marks."""
Spoken = Annotated[str, AfterValidator(_marked)]
"""Words, with marks between them: [pause 700] in ms, [cough], [spell Miller]."""
Texts = Annotated[tuple[Spoken, ...], BeforeValidator(listed), Field(min_length=1)]


class Behaviour(Section):
    """How a caller speaks, and what his line and his room do to it."""

    voice: str = "hibari:heart"
    """hibari:, piper: or espeak: and a voice, as `python -m voice.voices` lists them; or flite:slt
    and other voices of the flite command."""
    rate: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    """Of speaking; 1 is the voice's own."""
    noise: str = ""
    """Around the caller: pink, babble, or the path of a recording; empty is a quiet room."""
    noise_db: Annotated[float, Field(ge=-10.0, le=60.0)] = 20.0
    """Power of the speech over that of the noise."""
    reverb_s: Annotated[float, Field(ge=0.0, le=3.0)] = 0.0
    """Time in which the room's echo falls by 60 dB; 0 is no echo."""
    telephone: bool = False
    """Whether a telephone carries it: 300 to 3400 Hz, mu-law."""
    hesitation_ms: Annotated[int, Field(ge=0, le=5000)] = 0
    """Length of a pause inside each line of four words or more."""
    reaction_s: Annotated[float, Field(ge=0.0, le=10.0)] = 0.4
    """From the agent's last word to the caller's first."""


class Line(Section):
    """Something that the caller says."""

    says: Texts
    """The words; of several the seed draws one."""
    hears: Pattern = ""
    """Said where the agent's words have this in them; without it, in the order of the file."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often at most; a line without `hears` is said once."""


class TalkOver(Section):
    """Something that is heard at the caller's end while the agent speaks; once."""

    says: Spoken
    """The words, or [cough]."""
    at: str = ""
    """The agent's word at which it begins; empty: a second after the agent's first sound."""
    kind: Literal["interruption", "backchannel", "bystander"] = "interruption"
    """An interruption is to silence the agent, and is answered. A backchannel, a cough too, and a
    bystander, who is 12 dB softer and has another voice, are to change nothing."""


class ExpectedCall(Section):
    """A call that must have been made."""

    tool: str
    arguments: dict[str, Pattern] = Field(default_factory=dict)
    """What the whole value must be; the others may be anything."""
    times: Annotated[int, Field(ge=1)] = 1


class Expected(Section):
    """What must be true at the end."""

    calls: tuple[ExpectedCall, ...] = ()
    may_call: tuple[str, ...] = ()
    """Tools that may be called besides, as often as the agent likes."""
    must_not_call: tuple[str, ...] = ()
    must_say: tuple[Pattern, ...] = ()
    must_not_say: tuple[Pattern, ...] = ()
    store: dict[str, tuple[dict[str, Pattern], ...]] = Field(default_factory=dict)
    """Where the server is one of ours: table → its rows, in any order. A moment (`due`) is told as
    "tuesday 10:30"."""


class Scenario(Section):
    """One caller."""

    caller: str
    """Who calls; for readers."""
    goal: str
    """What for; for readers."""
    facts: dict[str, Texts] = Field(default_factory=dict)
    """Name → words; of several the seed draws one."""
    lines: tuple[Line, ...] = Field(min_length=1)
    over: tuple[TalkOver, ...] = ()
    """In order, at most one in each reply."""
    otherwise: Spoken = "I don't know."
    """Said, twice at most, to a question that nothing fits, while a line waits for its cue."""
    goodbye: Spoken = ""
    """Said before hanging up."""
    turns: Annotated[int, Field(ge=1, le=100)] = 12
    """After so many the caller gives up."""
    behaviour: Behaviour = Behaviour()
    recordings: dict[str, str] = Field(default_factory=dict)
    """Words of a line → path of a recording that is played in their place."""
    expected: Expected = Expected()

    @property
    def asides(self) -> tuple[str, ...]:
        """What may be said besides the lines."""
        over = (one.says for one in self.over if one.kind != "bystander")
        return (*over, self.otherwise, *([self.goodbye] if self.goodbye else ()))


class ScenarioFile(Section):
    """The scenarios of one agent."""

    agent: str
    """Name of an agent, or its file: what a server of ours is started with."""
    scenarios: dict[str, Scenario] = Field(min_length=1)


class AxesFile(Section):
    """What is varied."""

    axes: dict[str, dict[str, Behaviour]] = Field(min_length=1)
    """Axis → value → what it changes of a scenario's behaviour."""


@dataclass(frozen=True, slots=True)
class Take:
    """A scenario as it is called: facts drawn, one thing varied.

    Attributes:
        axis: What is varied, such as "noise"; empty where nothing is.
        value: To what, such as "pink 10 dB".
    """

    name: str
    agent: str
    scenario: Scenario
    seed: int
    axis: str = ""
    value: str = ""

    @property
    def id(self) -> str:
        """Names it in a scorecard."""
        varied = f"+{self.axis}={self.value}" if self.axis else ""
        return f"{Path(self.agent).stem}/{self.name}{varied}#{self.seed}"


def load(name_or_path: str) -> ScenarioFile:
    """Read a file of scenarios.

    Args:
        name_or_path: A path, or the bare name of a file in configs/scenarios/.

    Raises:
        ConfigError: It is missing or malformed, or a text names a fact that there is not.
    """
    file = find_file(name_or_path, SCENARIOS_DIR)
    read = read_options(ScenarioFile, file)
    for name, scenario in read.scenarios.items():
        told = scenario.model_dump(exclude={"facts"})
        for place in sorted(set(PLACE.findall(str(told))) - scenario.facts.keys()):
            close = difflib.get_close_matches(place, scenario.facts, n=1)
            hint = f"did you mean {{{close[0]}}}?" if close else f"facts: {sorted(scenario.facts)}"
            raise ConfigError(f"{file}: scenarios.{name}: no fact for {{{place}}}; {hint}")
    return read


def load_axes(name_or_path: str) -> AxesFile:
    """Read a file of axes, as `load` reads scenarios."""
    return read_options(AxesFile, find_file(name_or_path, SCENARIOS_DIR))


def takes(files: Iterable[ScenarioFile], axes: AxesFile | None, seeds: Sequence[int]) -> list[Take]:
    """Every scenario as it is, and with each value of the axes; each by every seed."""
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


def _filled(told: Any, facts: Mapping[str, str]) -> Any:
    if isinstance(told, str):
        return PLACE.sub(lambda place: facts[place[1]], told)
    if isinstance(told, dict):
        return {_filled(key, facts): _filled(value, facts) for key, value in told.items()}
    return [_filled(one, facts) for one in told] if isinstance(told, list | tuple) else told
