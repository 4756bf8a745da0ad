"""Agents that are interrupted: of what they were saying, the dialogue keeps what was heard.

That is how `voice.dialogue.history` shows a conversation to the model, so the model must know it: a
reply that ends in the middle, or none behind a tool's result, and then the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

SHARE = 0.2
"""Of the dialogues that have a message to interrupt."""

UNHEARD = 0.2
"""Of the interrupted replies to a tool's result, those of which not a word was heard."""

Row = dict[str, Any]


def interrupted(row: Row, rng: Random, share: float = SHARE) -> Row:
    """A dialogue in which the user may speak up while the agent does.

    Args:
        row: Of the training data. Its last message is whole: nobody speaks after it.
        rng: Source of chance.
        share: How often, 0 to 1.

    Returns:
        The row, or one with a message that ends early and whose ``cut`` is true: it is no answer to
        learn. Of a reply behind a result it may be that nothing is left.
    """
    messages = row["messages"]
    found = [at for at in range(len(messages) - 1) if _can_be_cut(messages, at)]
    if rng.random() >= share or not found:
        return row
    at = rng.choice(found)
    words = messages[at]["content"].split()
    heard = words[: rng.randint(1, len(words) - 1)]
    left = [{**messages[at], "content": " ".join(heard), "cut": True}]
    if _behind_result(messages, at) and rng.random() < UNHEARD:
        left = []
    return {**row, "messages": [*messages[:at], *left, *messages[at + 1 :]]}


def _can_be_cut(messages: Sequence[Mapping[str, Any]], at: int) -> bool:
    """Whether a message is said to a user, and nothing later needs the words that would be lost."""
    one = messages[at]
    if one["role"] != "assistant" or messages[at + 1]["role"] != "user":
        return False
    said = one.get("content") or ""
    if len(said.split()) < 2:
        return False
    # What is to be repeated can be told from a result, else from nothing.
    again = any(later.get("content") == said for later in messages[at + 1 :])
    return _behind_result(messages, at) or not again


def _behind_result(messages: Sequence[Mapping[str, Any]], at: int) -> bool:
    return at > 0 and messages[at - 1]["role"] == "tool"
