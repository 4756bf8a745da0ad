"""The chat format of a checkpoint: how dialogues become ids, and ids become answers.

A dialect turns dialogues into ids and generated ids into answers. There are two:
`dlm.language.template` writes marks, as the shipped checkpoints do; `dlm.language.chat_template`
fills the chat template of a foreign checkpoint. Neither knows models, forwards or requests.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dlm.language.messages import Answer, Tool, Turn

NEVER_SPELLED = "\0"
"""A character that no text holds, with which grammars spell special tokens."""


@dataclass(frozen=True, slots=True)
class MarkedCalls:
    """Calls in marks: call mark, tool's name, key mark, parameter, value mark, value, and so on.

    Attributes:
        call: Id of the mark that opens a call.
        key: Id of the mark before a parameter's name.
        value: Id of the mark before a parameter's value.
    """

    call: int
    key: int
    value: int


@dataclass(frozen=True, slots=True)
class JsonCalls:
    r"""Calls in JSON: the opening token, ``\n{"name": …, "arguments": {…}}\n``, the closing token.

    Several calls follow one another with a line break between them.

    Attributes:
        opening: Id of the token that opens a call.
        closing: Id of the token that closes a call.
    """

    opening: int
    closing: int


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """How reasoning is written before an answer: the opening token, words, the closing token.

    Attributes:
        opening: Id of the token that opens reasoning; the last token of the prompt.
        closing: Id of the token after which the answer begins.
        outside: Ids that an answer may hold but reasoning may not.
        stops: Ids that end a sentence.
    """

    opening: int
    closing: int
    outside: tuple[int, ...]
    stops: frozenset[int]


class Dialect(Protocol):
    """Turns dialogues into ids and back, for one checkpoint. Threads may share it."""

    @property
    def mask(self) -> int:
        """The id that stands for a position that is not decided yet."""

    @property
    def end(self) -> int:
        """The id that ends an answer, and a message of a dialogue."""

    @property
    def ends(self) -> frozenset[int]:
        """Ids that end an answer; `end` is among them."""

    @property
    def never(self) -> tuple[int, ...]:
        """Ids below `size` that an answer never holds, the mask among them."""

    @property
    def size(self) -> int:
        """One more than the highest id; a model may have further logits, which mean nothing."""

    @property
    def calls(self) -> MarkedCalls | JsonCalls | None:
        """How an answer spells calls; None if the checkpoint has no calls."""

    @property
    def reasoning(self) -> ReasoningMarks | None:
        """How reasoning is written before an answer; None if the checkpoint has none."""

    def text(self, text: str) -> list[int]:
        """Ids of a text as the beginning of an answer; no special token is among them."""

    def prompt(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of a dialogue, up to where the next answer begins.

        Raises:
            ValueError: A role is unknown, the checkpoint's template refuses the order of the turns,
                or tools are given that the template has no place for.
        """

    def ended(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of a dialogue, up to and including the end of the last message.

        Raises:
            ValueError: As in `prompt`.
        """

    def spell(self, answer: Answer, tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of an answer as the model would write it with these tools, end mark included.

        Raises:
            ValueError: The answer holds a call, but the checkpoint has no calls.
        """

    def words(self, tokens: Sequence[int]) -> list[int]:
        """The tokens of an answer's text: those before its first call or end, masks included."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of tokens; special tokens are left out, and half a character becomes U+FFFD."""

    def answer(self, tokens: Sequence[int], tools: Sequence[Tool]) -> Answer:
        """Read a generated answer; tokens after its first end mark are ignored.

        Raises:
            AnswerError: The answer is malformed, calls a tool that is not offered, or has arguments
                that do not fit the tool's schema.
        """

    def unspellable(self) -> Mapping[str, Any]:
        """tokenizer.json as an object, with special tokens spelled as no text can be.

        This is for llguidance, which looks for special tokens in text that a grammar forces. A tool
        that is named like one could otherwise end the answer.
        """


def unspellable(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a tokenizer.json whose added tokens are spelled as no text can be."""
    raw = copy.deepcopy(dict(tokenizer))
    vocabulary = raw["model"]["vocab"]
    for added in raw["added_tokens"]:
        spelled = added["content"]
        added["content"] = NEVER_SPELLED + spelled
        # Otherwise a grammar would take it for text.
        added["special"] = True
        if spelled in vocabulary:
            vocabulary[added["content"]] = vocabulary.pop(spelled)
    return raw
