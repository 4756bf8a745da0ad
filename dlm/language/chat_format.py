"""What the engine needs to know of a checkpoint's language: ids, dialogues, answers, calls.

A dialect turns dialogues into ids and generated ids into answers. There are two:
`dlm.language.template` speaks in marks, as the shipped checkpoints do; `dlm.language.chat_template`
speaks as the chat template of a foreign checkpoint says. Neither knows models, forwards or
requests.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dlm.language.messages import Answer, Tool, Turn

NEVER_SPELLED = "\0"
"""What no text holds; special tokens are spelled with it for grammars."""


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
class ThoughtMarks:
    """How a thought stands before an answer: the opening token, words, the closing token.

    Attributes:
        opening: Ends the prompt of an answer that begins with a thought.
        closing: Id of the token behind which the answer begins.
        outside: Ids that a thought does not hold though an answer may.
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
        """One more than the highest id it knows; a model may have more, which mean nothing."""

    @property
    def calls(self) -> MarkedCalls | JsonCalls | None:
        """How an answer spells a call; None where the checkpoint has no way to call."""

    @property
    def thought(self) -> ThoughtMarks | None:
        """How a thought stands before an answer; None where the checkpoint has no way to think."""

    def text(self, text: str) -> list[int]:
        """Ids of text that an answer begins with. No text reaches a special token."""

    def prompt(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """Ids of a dialogue, up to where the next answer begins.

        Raises:
            ValueError: A role is unknown, the turns do not follow each other as the checkpoint's
                template wants, or tools are given and it has no place for them.
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
        """Of an answer's tokens, drafted or final, those of its text: before its first call or end.

        The mask counts as a word.
        """

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of tokens; special ones are left out, bytes of half a character become U+FFFD."""

    def answer(self, tokens: Sequence[int], tools: Sequence[Tool]) -> Answer:
        """Read a generated answer back; what follows the first end is left out.

        Raises:
            AnswerError: It is malformed, calls a tool that is not offered, or with arguments that
                do not fit its schema.
        """

    def unspellable(self) -> Mapping[str, Any]:
        """The tokenizer as tokenizer.json has it, special tokens spelled as no text is.

        llguidance takes it: it looks for special tokens in text that a grammar forces, and a tool
        called by the name of one would end the answer.
        """


def unspellable(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """A tokenizer.json whose added tokens are spelled as no text is."""
    raw = copy.deepcopy(dict(tokenizer))
    vocabulary = raw["model"]["vocab"]
    for added in raw["added_tokens"]:
        spelled = added["content"]
        added["content"] = NEVER_SPELLED + spelled
        # Else it would be text to a grammar, which any words may hold.
        added["special"] = True
        if spelled in vocabulary:
            vocabulary[added["content"]] = vocabulary.pop(spelled)
    return raw
