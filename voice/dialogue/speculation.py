"""Drafting: which words are worth a draft, what a draft does, and what became of it.

A draft is the agent's side of the conversation played through on a copy of the dialogue, as if
the turn had ended with the words heard so far. It leaves no trace: the conversation later asks the
same questions of its own accord, and finds those answered that a draft has asked. Without I/O and
without a clock, like `voice.dialogue.conversation`; `voice.session.preemptive_generation` runs it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from voice.dialogue.commands import Command
from voice.dialogue.history import History
from voice.dialogue.reply_loop import ReplyLoop
from voice.hearing.completeness import Completeness, reads_complete
from voice.inputs import ModelAnswered, ModelSaid, SessionOptions, ToolAnswered
from voice.llm.base import Prompt
from voice.types import Role, ToolSpec

_WORD = re.compile(r"\w+(?:['’]\w+)*")


class Outcome(StrEnum):
    """What became of a turn's drafts.

    Attributes:
        STOOD: The reply is the draft, made before the turn was over.
        REVISED: The reply was made from the draft, of which tokens stand.
        DISCARDED: None of it was of use.
        NEEDLESS: The model was never asked for a reply: nothing had been understood, or the user
            went on.
    """

    STOOD = "stood"
    REVISED = "revised"
    DISCARDED = "discarded"
    NEEDLESS = "needless"


class Wording:
    """Which words of one turn are worth a draft.

    While the user speaks, a transcript counts once it is stable: it has every word of the one
    before it where that had it, alike but for case and punctuation, unless it breaks off in the
    middle of something. At a pause whatever has been decoded counts. No words count twice, but
    those that counted while the user spoke count once more at a pause: they are likelier to be all.

    Args:
        least: Words from which on a transcript counts while the user speaks; 0 takes none at all.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._before: list[str] = []
        self._drafted = ""
        self._at_pause = False

    def take(self, text: str, paused: bool) -> str:
        """The words to draft a reply to, now that this is the newest transcript; maybe none."""
        words = normalised(text).split()
        before, self._before = self._before, words
        stable = bool(before) and words[: len(before)] == before and len(words) >= self._least
        if not self._least or not words or not (paused or stable):
            return ""
        if not paused and reads_complete(text) is Completeness.INCOMPLETE:
            return ""
        bare = " ".join(words)
        if bare == self._drafted and (self._at_pause or not paused):
            return ""
        self._drafted, self._at_pause = bare, paused
        return text.strip()


class SpeculativeReply:
    """The reply that would follow, should the turn end with certain words.

    Takes what the model and read-only tools bring, and gives the commands that the reply would
    give. What has side effects is not to be carried out.

    Args:
        dialogue: A copy that nobody else changes, the words in it.
        tools: The tools that run here, by name.
        max_tool_calls: In one reply.
        max_history: Messages that the model sees.
    """

    def __init__(
        self,
        dialogue: History,
        tools: Mapping[str, ToolSpec],
        max_tool_calls: int,
        max_history: int,
    ) -> None:
        numbers = itertools.count(1)
        self._agent = ReplyLoop(
            dialogue, tools, lambda prefix: f"draft_{prefix}_{next(numbers)}", max_tool_calls,
            max_history,
        )  # fmt: skip

    def begin(self, turn_id: int, options: SessionOptions) -> list[Command]:
        """Begin the reply."""
        return self._agent.start(turn_id, options)

    def feed(self, event: ModelSaid | ModelAnswered | ToolAnswered) -> list[Command]:
        """Take what the draft has brought."""
        return self._agent.feed(event)


@dataclass(slots=True)
class Tally:
    """What a turn's drafts cost, in requests and in forwards of the model.

    Attributes:
        made: Drafts begun.
        skipped: Drafts not begun because the machine was busy.
        unlikely: Drafts not begun because the words are not likely to be all.
        judged: Forwards made to find that out.
        revised: Drafts of which tokens come from the one before.
        spent: Forwards made for drafts, those included.
        used: Of these, forwards whose answer is part of the reply.
        outcome: None while the turn has not been answered.
    """

    made: int = 0
    skipped: int = 0
    unlikely: int = 0
    judged: int = 0
    revised: int = 0
    spent: int = 0
    used: int = 0
    outcome: Outcome | None = None


def normalised(text: str) -> str:
    """Words alone, in lower case.

    >>> normalised("Set a timer, please!")
    'set a timer please'
    """
    return " ".join(_WORD.findall(text.lower()))


def same_question(first: Prompt, second: Prompt) -> bool:
    """Whether an answer to one prompt answers the other: the user's words are the same words."""
    return first == second or _bare(first) == _bare(second)


def _bare(prompt: Prompt) -> Prompt:
    messages = tuple(
        replace(message, content=normalised(message.content))
        if message.role is Role.USER
        else message
        for message in prompt.messages
    )
    return replace(prompt, messages=messages)
