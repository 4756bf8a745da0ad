"""How well dictation writes what was meant: ``python -m benchmarks.voice.dictation FILE``.

FILE has one pair a line: ``{"id", "kind", "said", "meant", "also"}``, where ``said`` is what a
recogniser gave, ``meant`` is what a careful writer would have written, and ``also`` lists other
texts that are as good. Or it is the corpus disfl_qa.jsonl.xz, of questions that correct themselves.
Each row of the table has the pairs of one kind, as said and as edited: how many are exactly as
meant; alike except for case and the end mark; the same words, however written ("twenty" and "20").
Then follow word errors against the text that was meant, and words that neither were said nor stand
for what was said, of which there must be none.
Results: with --name, benchmarks/results/NAME.json.
"""

from __future__ import annotations

import json
import lzma
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.report import Program, percentiles, share
from voice.dictation.editor import edited
from voice.hearing.spoken_form import spoken_form
from voice.prove.words import errors as distance

MOST_TIMED = 200
_NAME = 3
"""Fewest letters of a word that may differ by one letter from a word that was said."""
_LIST_MARK = re.compile(r"^(?:- |\w[.)] )", re.M)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")


@dataclass(frozen=True, slots=True)
class Judged:
    """One text beside what was meant.

    Attributes:
        words: Number of words in what was meant.
        errors: Words that are wrong, missing or too many, against the closest good text.
        invented: Words that were not said.
    """

    kind: str
    exact: bool
    alike: bool
    same_words: bool
    words: int
    errors: int
    invented: tuple[str, ...]


def read(file: Path) -> list[dict[str, Any]]:
    """The pairs of a file."""
    content = file.read_bytes()
    text = (lzma.decompress(content) if file.suffix == ".xz" else content).decode("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if "disfluent" not in rows[0]:
        return rows
    said = ({"said": row["disfluent"], "meant": row["fluent"], "kind": "questions"} for row in rows)
    # Some pairs reorder the words, which editing never does; they are left out.
    return [pair | {"id": ""} for pair in said if not list(invented(pair["said"], pair["meant"]))]


def written(said: str) -> str:
    """What dictation writes into an empty text."""
    return edited(said).strip("\n")


def judged(pair: Mapping[str, Any], text: str) -> Judged:
    """Judge a text against what was said and meant."""
    good = [pair["meant"], *pair.get("also", ())]
    own = words(text)
    errors = min(distance(words(one), own) for one in good)
    return Judged(
        pair["kind"],
        text in good,
        loose(text) in map(loose, good),
        errors == 0,
        len(words(pair["meant"])),
        errors,
        tuple(invented(pair["said"], text)),
    )


def loose(text: str) -> str:
    """A text without case and without its end mark."""
    return re.sub(r"[.!?]+$", "", text.lower())


def words(text: str) -> list[str]:
    """The words of a text as they are spoken, numbers alike, without the marks of lists."""
    return re.sub(r"\b([ap]) m\b", r"\1m", spoken_form(_LIST_MARK.sub("", text))).split()


def invented(said: str, text: str) -> Iterator[str]:
    """Words of a text that were not said, or not in this order.

    Figures and signs do not count, as they stand for words. Nor does a word that was spelled, or
    that differs by one letter from a word that was said.
    """
    source = _letters_only(said)
    letters = "".join(word for word in source if len(word) == 1)
    at = 0
    for word in _letters_only(_LIST_MARK.sub("", text)):
        place = next((i for i in range(at, len(source)) if source[i] == word), None)
        if place is not None:
            at = place + 1
        elif not _stands_for(word, source, letters):
            yield word


def _letters_only(text: str) -> list[str]:
    """The words of a text, without its figures."""
    plain = re.sub(r"\b([ap])\.? ?m\b", r"\1m", text.lower())
    return _WORD.findall(re.sub(r"\d+(?:st|nd|rd|th)?", " ", plain))


def _stands_for(word: str, source: Sequence[str], letters: str) -> bool:
    """Whether a word was spelled in letters, or differs by one letter from a word that was said."""
    if word in letters or len(word) < _NAME:
        return word in letters
    return any(distance(list(one), list(word)) == 1 for one in source)


def figures(results: Sequence[Judged]) -> dict[str, Any]:
    """Shares and counts over some judged texts."""
    count = len(results)
    return {
        "exact": share(sum(one.exact for one in results), count),
        "alike": share(sum(one.alike for one in results), count),
        "same_words": share(sum(one.same_words for one in results), count),
        "word_errors": share(
            sum(one.errors for one in results), max(1, sum(one.words for one in results))
        ),
        "invented": len(list(chain.from_iterable(one.invented for one in results))),
    }


def measured(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Judge the pairs as they were said and as they are edited, by kind and over all."""
    before = [judged(pair, pair["said"]) for pair in pairs]
    after = [judged(pair, written(pair["said"])) for pair in pairs]
    kinds = [*dict.fromkeys(pair["kind"] for pair in pairs), "all"]
    return {
        kind: {
            "pairs": sum(kind in (pair["kind"], "all") for pair in pairs),
            **{
                name: figures([one for one in some if kind in (one.kind, "all")])
                for name, some in (("said", before), ("edited", after))
            },
        }
        for kind in kinds
    }


def timed(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """CPU milliseconds per edit; each utterance is edited again after every word."""
    taken = []
    for pair in pairs:
        said = pair["said"].split()
        for count in range(1, len(said) + 1):
            began = time.process_time()
            edited(" ".join(said[:count]))
            taken.append((time.process_time() - began) * 1000)
    return percentiles(taken, 2)


def table(by_kind: Mapping[str, Any]) -> str:
    """The figures by kind, as said → as edited."""
    names = ("exact", "alike", "same_words", "word_errors", "invented")
    lines = [f"{'':13}{'pairs':>6}" + "".join(f"{name:>18}" for name in names)]
    for kind, row in by_kind.items():
        cells = (
            f"{_cell(row['said'][name])} → {_cell(row['edited'][name])}".rjust(18) for name in names
        )
        lines.append(f"{kind:13}{row['pairs']:>6}" + "".join(cells))
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"{100 * value['rate']:.1f}%"


def main() -> None:
    """Judge a file and print the table."""
    program = Program("benchmarks.voice.dictation", __doc__, "name")
    program.add_argument("file", type=Path, help="pairs, JSON lines")
    program.add_argument("--show", action="store_true", help="print what is not as it was meant")
    options = program.parse_args()
    pairs = read(options.file)
    by_kind, cpu_ms = measured(pairs), timed(pairs[:MOST_TIMED])
    if options.show:
        for pair in pairs:
            if not judged(pair, text := written(pair["said"])).exact:
                print(f"{pair['id']}: {pair['said']!r}\n  {text!r}\n  {pair['meant']!r}")
    print(table(by_kind))
    print(f"CPU ms for a word more: {cpu_ms}")
    if options.name:
        program.write({"by_kind": by_kind, "cpu_ms": cpu_ms}, options.name)


if __name__ == "__main__":
    main()
