"""What an agent's file holds; `voice.config` reads it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import Field, PrivateAttr, field_validator

from voice.config.answers import AnswerConfig
from voice.config.flow import Calls, KeptConfig, StepConfig
from voice.config.moments import Moment, Moments, found_anywhere
from voice.config.options import Section
from voice.config.shop import ShopConfig

LONGEST_EXAMPLE = 80
"""Characters that a button of the page holds."""


class TakesOverConfig(Section):
    """How other agents hand a conversation over to this one; its `greeting` comes then."""

    when: str = ""
    """What the model is told of the tool that does it, such as "Hand over to a nurse."."""
    say: str = "One moment, I will hand you over."
    """Said before, by the other agent."""
    patterns: tuple[str, ...] = ()
    """How people ask for it, as regular expressions over plain words, each to be found anywhere, as
    in configs/moments: such a message is handed over without asking the model."""

    @cached_property
    def found(self) -> re.Pattern[str]:
        """Finds the patterns in plain words; nothing where there are none."""
        return found_anywhere("takes_over.patterns", self.patterns)


class AgentConfig(Section):
    """An agent: what it is told, what it says first, what it can do and what it expects to hear."""

    _file: str = PrivateAttr("")
    name: str
    """Short name."""
    instructions: str
    """System message."""
    greeting: str = ""
    """Said when a conversation opens; empty waits for the user."""
    public: bool = False
    """Whether all kinds of people converse with it, as with a shop: then this machine's user and
    the holder of the server's key are not taken for one caller, and each conversation of theirs is
    a stranger's."""
    examples: tuple[str, ...] = Field(default=(), max_length=5)
    """What a user may say, to begin with; the page offers it."""
    offers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What there is to be had, such as a menu, by a title; the page lists it."""
    tools: tuple[str, ...] = ()
    """Names of the tools it may call."""
    phrases: tuple[str, ...] = ()
    """Example phrases for the recogniser; {slot} names a list in `values`."""
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Lists of words for the slots of `phrases`."""
    voice: str = ""
    """Its voice, as `python -m voice.voices` lists them; empty is the server's own."""
    calls: Calls = Field(default_factory=dict)
    """Tool → how people ask for it, in patterns like those of `takes_over`: such a message calls it
    without asking the model. A named group, (?P<fact>.+), is an argument of the tool in the user's
    own words, and `message` is all that was said. The model may call the tool as well only if
    `tools` has it."""
    answers: str = ""
    """Tool that is called by every other question for facts, without asking the model; like one of
    `calls`. Where there are steps or other agents it has no effect."""
    hand_over: tuple[str, ...] = ()
    """Names of the agents that it may hand the conversation over to; their files lie beside its
    own or in configs/agents."""
    shop: ShopConfig = ShopConfig()
    """What its shop sells and says, where it has one."""
    takes_over: TakesOverConfig = TakesOverConfig()
    """How others hand over to it."""
    steps: dict[str, StepConfig] = Field(default_factory=dict)
    """The steps of its flow by name, the first one first; docs/flows.md says how they work."""
    kept: KeptConfig = KeptConfig()
    """What the flow makes, and callers may ask for in any step."""

    asides: dict[str, AnswerConfig] = Field(default_factory=dict)
    """Questions beside the flow by name, and what is said to them before it goes on."""
    cannot_say: str = ""
    """What is said to any other question in a flow; empty leaves it to the model."""
    moments: dict[str, Moment] = Field(default_factory=dict)
    """What is said at once to certain messages, by name, over what configs/moments/english.toml has
    for `emergency`, `self_harm`, `abuse`, `rudeness` and `person`."""

    @property
    def where(self) -> str:
        """How errors name it: by its file, if it is from one."""
        return self._file or f"agent {self.name}"

    def of_file(self, file: Path) -> Self:
        """The same, from a file."""
        agent = self.model_copy()
        agent._file = str(file)
        return agent

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
