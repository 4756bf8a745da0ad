"""Cases: one for each assistant message of a scripted dialogue.

The model gets the script's messages before it and should answer with that message. How answers are
scored is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dlm.engine.engine import Request
from dlm.grammar.formats import JsonSchema
from dlm.language.copy_sources import sources
from dlm.language.messages import Tool, Turn
from dlm.language.template import tools_of, turn_of

LONGEST_JSON = 512
"""Most tokens of an answer in JSON."""


class Kind(StrEnum):
    """The kind of answer that is wanted."""

    REQUEST = "request"
    PARALLEL = "parallel"
    FOLLOW_UP = "follow_up"
    ANSWERED = "answered"
    ASK = "ask"
    DECLINE = "decline"
    TALK = "talk"
    REPLY = "reply"
    JSON = "json"


CALLS = frozenset((Kind.REQUEST, Kind.PARALLEL, Kind.FOLLOW_UP, Kind.ANSWERED))
"""Kinds whose answer is a call: a direct request, several at once, one after an earlier call, and
one after the agent asked for a missing value."""


@dataclass(frozen=True, slots=True)
class Case:
    """A dialogue to answer.

    Attributes:
        turns: The dialogue so far, system message included.
        tools: The tools that the model is offered.
        wanted: The scripted answer.
        kind: Kind of the scripted answer.
        fitting: Replies that fit as well as the scripted one; empty if unknown.
        values: What a correct reply must contain, alternatives divided by "|"; empty if unknown.
        schema: Schema of the answer if it is to be JSON.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...]
    wanted: Turn
    kind: Kind
    fitting: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None

    def request(self, spans: bool = True) -> Request:
        """The engine's request; ``spans`` limits string arguments to words of the dialogue."""
        if self.schema is not None:
            return Request(self.turns, format=JsonSchema(self.schema), max_tokens=LONGEST_JSON)
        return Request(self.turns, self.tools, copy_sources=sources(self.turns) if spans else None)


def cases(rows: Iterable[Mapping[str, Any]]) -> Iterator[Case]:
    """Every case of dialogues in the training data's form; greetings are not cases."""
    for row in rows:
        tools = tools_of(row["tools"])
        turns = [Turn("system", row["system"])] if row.get("system") else []
        asked = False
        for message in row["messages"]:
            turn = turn_of(message)
            whole = not message.get("cut")
            if whole and turn.role == "assistant" and any(t.role == "user" for t in turns):
                kind = _kind(turns, turn, message.get("kind", ""), asked)
                asked = kind is Kind.ASK
                values = tuple(message.get("values", ()))
                yield Case(tuple(turns), tools, turn, kind, values=values)
            turns.append(turn)


def _kind(turns: list[Turn], wanted: Turn, named: str, asked: bool) -> Kind:
    if len(wanted.calls) > 1:
        return Kind.PARALLEL
    if wanted.calls:
        if asked:
            return Kind.ANSWERED
        return Kind.FOLLOW_UP if any(t.calls for t in turns) else Kind.REQUEST
    if turns[-1].role == "tool" or named == "told":
        return Kind.REPLY
    return Kind(named) if named else Kind.TALK
