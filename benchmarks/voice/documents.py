"""Does a question find its document? ``benchmarks.voice.documents NAME=FOLDER...``.

Questions in everyday words over public manuals that are not part of the project: Node.js's API
(``node``, of Debian's nodejs-doc) and npm's documentation (``npm``). A line of the JSONL file has
the ``folder``'s name, the ``file`` that answers it, without suffix, what is asked (``ask``), and
whether it was kept ``aside`` while the ranking was chosen. Files of one name in several formats
count as one.

Results: benchmarks/results/documents.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Program, percentiles, share
from voice.tools.builtin.documents import Documents

QUESTIONS = Path(__file__).with_suffix(".jsonl")


def place(documents: Documents, question: Mapping[str, Any]) -> int:
    """At which place the right file is found, from 1; 0 where it is not."""
    names = dict.fromkeys(Path(path).stem for path in documents.ranked(question["ask"]))
    return next((at for at, name in enumerate(names, 1) if name == question["file"]), 0)


def figures(places: Sequence[int]) -> dict[str, Any]:
    """Shares of questions whose file came first, and among the first three."""
    first, three = places.count(1), sum(1 <= place <= 3 for place in places)
    return {"first": share(first, len(places)), "first_three": share(three, len(places))}


def main() -> None:
    """Ask all questions, and write how many found their files."""
    program = Program("benchmarks.voice.documents", __doc__)
    program.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    program.add_argument("--questions", type=Path, default=QUESTIONS)
    program.add_argument("--failures", action="store_true", help="print tuned ones that failed")
    options = program.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    places: dict[tuple[str, bool], list[int]] = {}
    indexed, took_ms = {}, []
    for name, _, folder in (given.partition("=") for given in options.folders):
        began_s = time.process_time()
        documents = Documents(Path(folder), "")
        documents.read()
        indexed[name] = round(time.process_time() - began_s, 1)
        for question in (one for one in questions if one["folder"] == name):
            began_s = time.process_time()
            found = place(documents, question)
            took_ms.append((time.process_time() - began_s) * 1000)
            places.setdefault((name, question["aside"]), []).append(found)
            if options.failures and found != 1 and not question["aside"]:
                best = [Path(path).stem for path in documents.ranked(question["ask"])[:3]]
                print(f"{question['file']}: {question['ask']} → {found}: {best}")
        documents.close()
    halves: dict[str, dict[str, Any]] = {}
    for half, aside in (("tuned", False), ("kept_aside", True)):
        parts = {name: found for (name, one), found in places.items() if one == aside}
        halves[half] = {name: figures(found) for name, found in parts.items()}
        halves[half]["all"] = figures([at for found in parts.values() for at in found])
    for half, found in halves.items():
        print(half, {name: one["first"]["rate"] for name, one in found.items()})
    program.write(
        {**halves, "indexing_cpu_s": indexed, "search_cpu_ms": percentiles(took_ms, digits=1)}
    )


if __name__ == "__main__":
    main()
