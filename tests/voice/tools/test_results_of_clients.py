"""Results of clients' tools, JSON and texts, are said with every value and nothing false.

A line of ``results.jsonl`` is a result; each value has one of the forms of ``must_say``, and no
words of ``never`` may be said.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from voice.speech.normalization import spoken
from voice.tools.spoken_results import spoken_result

LINES = Path(__file__).with_name("results.jsonl").read_text(encoding="utf-8").splitlines()


def form(text: str) -> str:
    """Letters, digits and the points between these, in one form for both sides of a comparison."""
    folded = text.casefold().translate(str.maketrans("øđłæı", "odlai"))
    bare = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    bare = re.sub(r"(?<=\d),(?=\d{3})", "", bare.replace("p.m.", "pm").replace("a.m.", "am"))
    bare = bare.replace("&", " and ").replace("’", "'")
    bare = re.sub(r"(?<!\d)\.|\.(?!\d)", " ", bare)
    bare = re.sub(r"(?:(?<=\s)|^)[-−](?=\d)", "minus ", bare)
    words = " ".join(re.sub(r"[^\w.']", " ", bare).split())
    return f" {words} "


def heard(said: str, forms: list[str]) -> bool:
    """Whether one of the forms is in a reply, as it is written or as it is spoken."""
    return any(form(one) in text for one in forms for text in (form(said), form(spoken(said))))


@pytest.mark.parametrize("line", LINES, ids=lambda line: json.loads(line)["id"])
def test_every_value_of_a_result_is_said_and_nothing_false(line: str) -> None:
    case = json.loads(line)
    result = case["result"]
    said = spoken_result(result if isinstance(result, str) else json.dumps(result))
    assert [forms[0] for forms in case["must_say"] if not heard(said, forms)] == []
    assert [words for words in case["never"] if heard(said, [words])] == []


def test_the_comparison_tells_what_was_said_from_what_was_not() -> None:
    assert heard("It costs €26.80.", ["twenty six euros and eighty cents"])
    assert not heard("It is 21 degrees.", ["2"])
