from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.voice.dictation import invented, judged, measured, read, table

PAIR = {
    "id": "1",
    "kind": "number",
    "said": "at um nine five",
    "meant": "At 9:05.",
    "also": ["At 905."],
}


@pytest.mark.parametrize(
    ("text", "exact", "alike", "errors"),
    [
        ("At 9:05.", True, True, 0),
        ("at 905", False, True, 0),
        ("At nine oh five.", False, False, 0),
        ("At um nine oh five.", False, False, 1),
        ("", False, False, 4),
    ],
)
def test_texts_are_judged(text: str, exact: bool, alike: bool, errors: int) -> None:
    found = judged(PAIR, text)
    assert (found.exact, found.alike, found.errors) == (exact, alike, errors)


def test_words_that_were_not_said_are_found() -> None:
    assert list(invented("call jeff g e o f f twenty", "- Call Geoff at 20.")) == ["at"]
    assert list(invented("one after the other", "The other after")) == ["after"]


def test_a_file_is_measured_before_and_after(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    rows = [PAIR, {"id": "2", "kind": "filler", "said": "um yes", "meant": "Yes."}]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    by_kind = measured(read(file))
    assert by_kind["filler"]["edited"]["exact"] == {"count": 1, "of": 1, "rate": 1.0}
    assert by_kind["filler"]["said"]["word_errors"]["count"] == 1
    assert by_kind["all"]["pairs"] == 2
    assert "50.0%" in table(by_kind) or "100.0%" in table(by_kind)


def test_the_corpus_of_questions_is_pairs(corpora: Path) -> None:
    pairs = read(corpora / "disfl_qa.jsonl.xz")
    assert len(pairs) > 5000
    assert pairs[0]["kind"] == "questions"
