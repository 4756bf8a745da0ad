"""What an agent's file holds; `voice.config` reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import Field, PrivateAttr, field_validator

from voice.config.answers import AnswerConfig
from voice.config.flow import PLACE, Calls, KeptConfig, StepConfig, hint
from voice.config.moments import Moment, Moments, found_anywhere
from voice.config.options import AgentSection
from voice.config.shop import ShopConfig

LONGEST_EXAMPLE = 80
"""Characters that a button of the page holds."""


class TakesOverConfig(AgentSection):
    """How other agents hand a conversation over to this one; its `greeting` comes then."""

    when: str = ""
    """Description, for the model, of the tool that hands over to this agent, such as "Hand over to
    a nurse."."""
    say: str = "One moment, I will hand you over."
    """What the other agent says before it hands over."""
    patterns: tuple[str, ...] = ()
    """How people ask for this agent: regular expressions over plain words, each found anywhere in a
    message, as in configs/moments. Such a message is handed over without asking the model."""

    @cached_property
    def found(self) -> re.Pattern[str]:
        """Finds the patterns in plain words; nothing where there are none."""
        return found_anywhere("takes_over.patterns", self.patterns)


class AgentConfig(AgentSection):
    """An agent: what it is told, what it says first, what it can do and what it expects to hear."""

    _file: str = PrivateAttr("")
    name: str
    """Short name."""
    instructions: str
    """System message for the model."""
    greeting: str = ""
    """Said when a conversation opens; empty waits for the user."""
    public: bool = False
    """Whether the agent serves all kinds of people, as a shop does. This machine's user and the
    holder of the server's key then do not count as one caller: each of their conversations is a
    stranger's."""
    examples: tuple[str, ...] = Field(default=(), max_length=5)
    """What a user may say to begin with; the page offers these sentences."""
    offers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What is on offer, such as a menu, by title; the page lists it."""
    tools: tuple[str, ...] = ()
    """Names of the tools that it may call."""
    phrases: tuple[str, ...] = ()
    """Example phrases for the recogniser; {slot} names a list in `values`."""
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Lists of words for the slots of `phrases`."""
    voice: str = ""
    """Its voice, as `python -m voice.voices` lists them; empty means the server's own."""
    calls: Calls = Field(default_factory=dict)
    """Tool → how people ask for it, in patterns like those of `takes_over`. Such a message calls
    the tool without asking the model. A named group, (?P<fact>.+), is an argument of the tool in
    the user's own words; an argument `message` gets the whole message. The model may call the tool
    too only if `tools` has it."""
    answers: str = ""
    """Tool that every other factual question calls, without asking the model; otherwise as in
    `calls`. It has no effect if there are steps or other agents."""
    hand_over: tuple[str, ...] = ()
    """Names of the agents that it may hand the conversation over to. Their files are beside its own
    or in configs/agents."""
    shop: ShopConfig = ShopConfig()
    """What its shop sells and says, if it has one."""
    takes_over: TakesOverConfig = TakesOverConfig()
    """How others hand over to it."""
    steps: dict[str, StepConfig] = Field(default_factory=dict)
    """The steps of its flow by name, the first one first; see docs/flows.md."""
    kept: KeptConfig = KeptConfig()
    """What the flow makes, such as an appointment, and callers may ask about in any step."""

    asides: dict[str, AnswerConfig] = Field(default_factory=dict)
    """Questions beside the flow, by name, with answers after which the flow goes on."""
    cannot_say: str = ""
    """Answer to any other question in a flow; empty leaves it to the model."""
    moments: dict[str, Moment] = Field(default_factory=dict)
    """Fixed answers that are given at once to certain messages, by name. For `emergency`,
    `self_harm`, `abuse`, `rudeness`, `person` ("are you a person?") and `name` ("who are you?")
    their texts replace those of configs/moments/english.toml, and their lists are added to it; see
    docs/tools.md."""

    @property
    def where(self) -> str:
        """How errors name it: by its file, if it is from one."""
        return self._file or f"agent {self.name}"

    def of_file(self, file: Path) -> Self:
        """The same, from a file."""
        agent = self.model_copy()
        agent._file = str(file)
        return agent

    def mistakes(self) -> Iterator[str]:
        """Names that stand for nothing, each with its place; `flow.mistakes` has those of steps."""
        for name, moment in self.moments.items():
            if moment.offers and moment.offers not in self.hand_over:
                expected = f"expected a name of hand_over, {[*self.hand_over]}"
                yield f"moments.{name}.offers: got {moment.offers!r}; {expected}"
        filled = [slot for slot, words in self.values.items() if words]
        for phrase in self.phrases:
            for slot in PLACE.findall(phrase):
                if slot not in filled:
                    got = f"got {{{slot}}} in {phrase!r}, for which values has no words"
                    yield f"phrases: {got}; {hint(slot, filled)}"

    @cached_property
    def fixed_words(self) -> Moments:
        """Finds the moments.

        Raises:
            ValueError: As `Moments`.
        """
        return Moments(self.moments)

    @field_validator("examples")
    @classmethod
    def _check_examples(cls, examples: tuple[str, ...]) -> tuple[str, ...]:
        for example in examples:
            if not 0 < len(example.strip()) <= LONGEST_EXAMPLE:
                raise ValueError(f"got {example!r}; expected 1 to {LONGEST_EXAMPLE} characters")
        return examples

    @field_validator("tools")
    @classmethod
    def _check_tools(cls, tools: tuple[str, ...]) -> tuple[str, ...]:
        twice = [name for name, times in Counter(tools).items() if times > 1]
        if twice:
            raise ValueError(f"got {twice[0]!r} more than once; expected each name once")
        return tools
