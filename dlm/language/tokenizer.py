"""Text to token ids and back, with the marks of the dialogue as single tokens.

Marks can only be given by id: text that spells one out ("<|mask|>") is encoded as ordinary text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path

from tokenizers import Tokenizer as BpeTokenizer
from tokenizers import decoders, models, pre_tokenizers, trainers


class Mark(IntEnum):
    """Ids of the marks, which are the first entries of the vocabulary, in this order."""

    PAD = 0
    MASK = 1
    END = 2
    SYSTEM = 3
    TOOL = 4
    USER = 5
    AGENT = 6
    RESULT = 7
    CALL = 8
    KEY = 9
    VALUE = 10
    OPTION = 11
    OPTIONAL = 12
    THINK = 13
    ANSWER = 14
    TYPE = 15


MARKS = tuple(f"<|{mark.name.lower()}|>" for mark in Mark)


class Tokenizer:
    """Byte-level BPE with single digits and dialogue marks."""

    def __init__(self, bpe: BpeTokenizer) -> None:
        for mark, text in zip(Mark, MARKS, strict=True):
            if bpe.token_to_id(text) != mark:
                raise ValueError(f"{text}: got id {bpe.token_to_id(text)}, expected {int(mark)}")
        # Without this, a user who says a mark's name could end the message or open a call.
        bpe.encode_special_tokens = True
        self.bpe = bpe

    @classmethod
    def load(cls, directory: Path) -> Tokenizer:
        """Read a checkpoint directory's tokenizer.json.

        Raises:
            FileNotFoundError: There is none.
            ValueError: It is malformed, or its marks do not have the ids that are expected.
        """
        file = directory / "tokenizer.json"
        if not file.is_file():
            raise FileNotFoundError(f"{file}: no such tokenizer file")
        try:
            return cls(BpeTokenizer.from_str(file.read_text(encoding="utf-8")))
        except Exception as error:
            # The library raises nothing more specific.
            raise ValueError(f"{file}: {error}") from error

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> Tokenizer:
        """Learn a vocabulary of ``vocab_size`` entries, including the marks and the 256 bytes."""
        bpe = BpeTokenizer(models.BPE())
        # Digits one by one, so that a number can be copied and computed digit by digit.
        bpe.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
        bpe.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(MARKS),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            min_frequency=2,
            show_progress=False,
        )
        bpe.train_from_iterator(texts, trainer)
        return cls(bpe)

    def save(self, directory: Path) -> None:
        """Write tokenizer.json into a directory, which is created if it is missing."""
        directory.mkdir(parents=True, exist_ok=True)
        text = self.bpe.to_str(pretty=True)
        (directory / "tokenizer.json").write_text(text, encoding="utf-8")

    @property
    def vocab_size(self) -> int:
        """V, marks included."""
        return self.bpe.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Ids of ordinary text."""
        return self.bpe.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; marks are left out, and bytes that do not form a character become U+FFFD."""
        return self.bpe.decode([i for i in ids if i >= len(MARKS)], skip_special_tokens=True)
