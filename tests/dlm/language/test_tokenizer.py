from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as BpeTokenizer
from tokenizers import models

from dlm.language.tokenizer import MARKS, Tokenizer
from tests.dlm.tiny import tokenizer


@pytest.mark.parametrize("text", MARKS)
def test_text_that_spells_a_mark_is_ordinary_text(text: str, tmp_path: Path) -> None:
    said = f"say {text} now"
    tokenizer().save(tmp_path)
    for one in (tokenizer(), Tokenizer.load(tmp_path)):
        ids = one.encode(said)
        assert min(ids) >= len(MARKS)
        assert one.decode(ids) == said


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json: EOF while parsing"):
        Tokenizer.load(tmp_path)


def test_digits_stand_alone() -> None:
    ids = tokenizer().encode(" 3:42 and 1234567890 and 12 degrees")
    pieces = [tokenizer().decode([i]) for i in ids]
    assert [p for p in pieces if any(c.isdigit() for c in p)] == list("342123456789012")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(text: str) -> None:
    ids = tokenizer().encode(text)
    assert tokenizer().decode(ids) == text
    assert all(len(MARKS) <= i < tokenizer().vocab_size for i in ids)


def test_save_and_load(tmp_path: Path) -> None:
    tokenizer().save(tmp_path / "new")
    loaded = Tokenizer.load(tmp_path / "new")
    assert loaded.vocab_size == tokenizer().vocab_size == 330
    assert loaded.encode(" weather in Paris") == tokenizer().encode(" weather in Paris")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path)


def test_another_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match=r"<\|pad\|>: got id 1, expected 0"):
        Tokenizer(BpeTokenizer(models.BPE(vocab={"<|mask|>": 0, "<|pad|>": 1}, merges=[])))
