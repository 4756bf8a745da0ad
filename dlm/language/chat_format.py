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
"""A character that no text holds; grammars spell special tokens with it."""


@dataclass(frozen=True, slots=True)
class MarkedCalls:
    """Calls in marks: call, name, then key, parameter, value, text of the value, and so on.

    Attributes:
        call: Id of the mark that opens a call.
        key: Of the one before a parameter's name.
        value: Of the one before its value.
    """

    call: int
    key: int
    value: int


@dataclass(frozen=True, slots=True)
class JsonCalls:
    r"""Calls in JSON: the opening token, ``\n{"name": …, "arguments": {…}}\n``, the closing token.

    Several calls stand behind one another with a line break between them.

    Attributes:
        opening: Id of the token that opens a call.
        closing: Id of the one that closes it.
    """

    opening: int
    closing: int


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """How reasoning is written before an answer: the opening token, words, the closing token.

    Attributes:
        opening: Ends the prompt of an answer that begins with reasoning.
        closing: Id of the token behind which the answer begins.
        outside: Ids that an answer may hold and reasoning may not.
        stops: Ids that end a sentence.
    """

    opening: int
    closing: int
    outside: tuple[int, ...]
    stops: frozenset[int]


class Dialect(Protocol):
    """Dialogues to ids and back, for one checkpoint. Threads may share it."""

    @property
    def mask(self) -> int:
        """Stands for a position that is not decided yet."""

    @property
    def end(self) -> int:
        """Ends an answer, and a message of a dialogue."""

    @property
    def ends(self) -> frozenset[int]:
        """Ids that end an answer; `end` is among them."""

    @property
    def never(self) -> tuple[int, ...]:
        """Ids below `size` that an answer never holds, the mask among them."""

    @property
    def size(self) -> int:
        """One more than the highest id; a model may have more logits, which mean nothing."""

    @property
    def calls(self) -> MarkedCalls | JsonCalls | None:
        """How an answer spells a call; None where the checkpoint has no calls."""

    @property
    def reasoning(self) -> ReasoningMarks | None:
        """How reasoning is written before an answer; None where the checkpoint has none."""

    def text(self, text: str) -> list[int]:
        """Ids of text, as an answer begins with it; no special token is among them."""

    def prompt(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of a dialogue, up to where the next answer begins.

        Raises:
            ValueError: A role is unknown, the checkpoint's template refuses the order of the turns,
                or tools are given and it has no place for them.
        """

    def ended(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of a dialogue, up to and including the end of the last message.

        Raises:
            ValueError: As `prompt`.
        """

    def spell(self, answer: Answer, tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of an answer as the model would write it to these tools, end included.

        Raises:
            ValueError: It holds a call and the checkpoint has none.
        """

    def words(self, tokens: Sequence[int]) -> list[int]:
        """The tokens of an answer's text, masks included: those before its first call or end."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of tokens; special ones are left out, bytes of half a character become U+FFFD."""

    def answer(self, tokens: Sequence[int], tools: Sequence[Tool]) -> Answer:
        """Read a generated answer; tokens behind its first end are left out.

        Raises:
            AnswerError: It is malformed, calls a tool that is not offered, or with arguments that
                do not fit its schema.
        """

    def unspellable(self) -> Mapping[str, Any]:
        """tokenizer.json as an object, special tokens spelled as no text is.

        For llguidance, which looks for special tokens in text that a grammar forces: else a tool
        with the name of one would end the answer.
        """


def unspellable(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a tokenizer.json whose added tokens are spelled as no text is."""
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
