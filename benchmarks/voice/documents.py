"""Does a question find its document? ``benchmarks.voice.documents NAME=FOLDER...``.

Asks questions in everyday words about public manuals that are not part of the project: Node.js's
API (``node``, from Debian's nodejs-doc) and npm's documentation (``npm``). Each line of the JSONL
file has the ``folder``'s name, the question (``ask``), the ``file`` that is meant, without suffix,
files that ``also`` answer it, and whether the question was kept ``aside`` while the ranking was
tuned. Files of one name in several formats count as one.

Results: benchmarks/results/documents.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Program, percentiles, share
from voice.tools.builtin.documents import Documents

QUESTIONS = Path(__file__).with_suffix(".jsonl")


def places(documents: Documents, question: Mapping[str, Any]) -> tuple[int, int]:
    """The rank of the file that is meant, and of the first that answers; from 1, or 0 for none."""
    names = list(dict.fromkeys(Path(path).stem for path in documents.ranked(question["ask"])))
    meant = [question["file"]]
    return _first(names, meant), _first(names, [*meant, *question.get("also", ())])


def _first(names: Sequence[str], right: Collection[str]) -> int:
    return next((at for at, name in enumerate(names, 1) if name in right), 0)


def figures(found: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Shares of questions whose file came first, and whose file was among the first three."""
    told: dict[str, Any] = {}
    for name, ranks in zip(("meant", "answers"), zip(*found, strict=True), strict=True):
        first, three = ranks.count(1), sum(1 <= rank <= 3 for rank in ranks)
        told[name] = {"first": share(first, len(ranks)), "first_three": share(three, len(ranks))}
    return told


def main() -> None:
    """Ask all questions, and write how many found their files."""
    program = Program("benchmarks.voice.documents", __doc__)
    program.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    program.add_argument("--questions", type=Path, default=QUESTIONS)
    program.add_argument("--failures", action="store_true", help="print tuned ones that failed")
    options = program.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    asked: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    indexed, took_ms = {}, []
    for name, _, folder in (given.partition("=") for given in options.folders):
        began_s = time.process_time()
        documents = Documents(Path(folder), "")
        documents.read()
        indexed[name] = round(time.process_time() - began_s, 1)
        for question in (one for one in questions if one["folder"] == name):
            began_s = time.process_time()
            found = places(documents, question)
            took_ms.append((time.process_time() - began_s) * 1000)
            asked.setdefault((name, question["aside"]), []).append(found)
            if options.failures and found[1] != 1 and not question["aside"]:
                best = [Path(path).stem for path in documents.ranked(question["ask"])[:3]]
                print(f"{question['file']}: {question['ask']} → {found}: {best}")
        documents.close()
    halves: dict[str, dict[str, Any]] = {}
    for half, aside in (("tuned", False), ("kept_aside", True)):
        parts = {name: found for (name, one), found in asked.items() if one == aside}
        halves[half] = {name: figures(found) for name, found in parts.items()}
        halves[half]["all"] = figures([at for found in parts.values() for at in found])
    for half, found in halves.items():
        print(half, {name: one["answers"]["first"]["rate"] for name, one in found.items()})
    program.write(
        {**halves, "indexing_cpu_s": indexed, "search_cpu_ms": percentiles(took_ms, digits=1)}
    )


if __name__ == "__main__":
    main()
