"""Material by people who saw neither generator nor code: ``python -m benchmarks.dlm.strangers``.

``results``: a user's question and what a tool of any kind returned; the engine answers in the
model's own words, without the voice server. A reply is true and complete when it has every fact (in
one of the fact's wordings), none of the listed wrong ones, and no number other than those of the
result, the question, the call and the facts. ``texts``: paragraphs, and a schema for the values a
developer wants from them; exact when every field has the expected value or another that the author
accepts, upper and lower case alike. ``agents``: what callers say to assistants that authors
invented, each message after the dialogue as it was written; right when exactly the written calls
are made, or none where none is written. Replies to results are judged as in `dlm.evaluate.scores`.

Files in ``strangers/open`` may be read to find faults. ``aside`` is kept apart: look at its counts,
never at its rows. Results: benchmarks/results/strangers.json.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.report import Program, share
from dlm.datagen.authored import dialogues, read
from dlm.datagen.examples import row_of
from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine, Request
from dlm.evaluate.cases import cases as cases_of
from dlm.evaluate.run import ask_engine
from dlm.evaluate.scores import Scores, compare
from dlm.grammar.formats import JsonSchema
from dlm.language.messages import Call, Tool, Turn

FOLDER = Path(__file__).with_name("strangers")
SETS = ("open", "aside")
MOST_TOKENS = 400

Case = dict[str, Any]
Judged = tuple[bool, str, str]
"""Whether the answer is right, the case's kind, and the answer."""


def rows(folder: Path, what: str) -> list[Case]:
    """The cases of a set."""
    if what != "agents":
        text = (folder / f"{what}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]
    return [
        {"id": one["about"], "case": case, "reference": case.wanted.content or case.wanted.calls}
        for one in read([folder / "agents.jsonl.xz"])
        for case in cases_of(map(row_of, dialogues(one)))
    ]


def told(engine: Engine, case: Case, effort: Effort) -> str:
    """The model's reply to a tool's result."""
    tool = Tool(**case["tool"])
    result = case["result"]
    turns = (
        Turn("user", case["user"]),
        Turn("assistant", calls=(Call(tool.name, case["call"]),)),
        Turn("tool", result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)),
    )
    request = Request(turns, (tool,), tool_choice="none", effort=effort, max_tokens=MOST_TOKENS)
    return engine.answer(request).answer.content


def is_true(case: Case, reply: str) -> bool:
    """Whether the reply has all the facts that were asked for, and nothing wrong or invented."""
    said = _plain(reply)
    whole = all(any(_stands_in(one, said) for one in fact) for fact in case["facts"])
    wrong = any(_stands_in(one, said) for one in case["not"])
    known = json.dumps([case["result"], case["user"], case["call"]], ensure_ascii=False)
    # A fact may have a number that the result has not: a count, a conversion, a difference.
    known += json.dumps(case["facts"], ensure_ascii=False)
    invented = set(re.findall(r"\d+", said)) - set(re.findall(r"\d+", _plain(known)))
    return whole and not wrong and not invented


def _stands_in(wording: str, said: str) -> bool:
    """Whether a wording is in a text; a number does not count as part of a longer one."""
    return re.search(rf"(?<!\d){re.escape(_plain(wording))}(?!\d)", said) is not None


def _plain(text: str) -> str:
    return re.sub(
        r"(?<=\d),(?=\d{3})", "", text.casefold().replace("’", "'").replace("\N{MINUS SIGN}", "-")
    )


def extracted(engine: Engine, case: Case, effort: Effort) -> str:
    """The JSON that the model reads from a text."""
    turns = tuple(Turn(message["role"], message["content"]) for message in case["messages"])
    form = JsonSchema(case["schema"])
    return engine.answer(
        Request(turns, format=form, effort=effort, max_tokens=MOST_TOKENS)
    ).answer.content


def fields_right(case: Case, answer: str) -> dict[str, bool]:
    """Whether each field is right, over the expected fields and those that were given.

    A field of a nested object is named with a dot. A missing field counts as null.
    """
    try:
        got = _flat(json.loads(answer))
    except ValueError:
        got = {}
    expected, others = _flat(case["expected"]), case.get("alternatives", {})
    return {
        name: any(
            _folded(got.get(name)) == _folded(value)
            for value in (expected.get(name), *others.get(name, ()))
        )
        for name in dict.fromkeys((*expected, *got))
    }


def _flat(values: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= (
            _flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
        )
    return found


def _folded(value: object) -> object:
    if isinstance(value, str):
        return value.casefold().strip(" .,;:!?\"'")
    if isinstance(value, list):
        return sorted(map(str, map(_folded, value)))
    return value


def results_of(engine: Engine, cases: list[Case], effort: Effort) -> Iterator[Judged]:
    """Ask for the replies to results, and judge them."""
    for case in cases:
        reply = told(engine, case, effort)
        yield is_true(case, reply), case["kind"], reply


def texts_of(engine: Engine, cases: list[Case], effort: Effort) -> Iterator[Judged]:
    """Ask for the values of texts, and judge them; the kind says how many fields are right."""
    for case in cases:
        answer = extracted(engine, case, effort)
        right = fields_right(case, answer)
        yield all(right.values()), f"{sum(right.values())} of {len(right)}", answer


def agents_of(engine: Engine, cases: list[Case], effort: Effort) -> Iterator[Judged]:
    """Ask for the answers to callers' messages and to tools' results, and judge them."""
    ask = ask_engine(engine)
    for case in (one["case"] for one in cases):
        finished = ask(replace(case.request(), effort=effort))
        right = compare(Scores(), case, finished)
        answer = finished.answer if finished else None
        yield right, case.kind, str(answer and (answer.content or answer.calls))


ASKED: dict[str, Callable[[Engine, list[Case], Effort], Iterator[Judged]]] = {
    "results": results_of,
    "texts": texts_of,
    "agents": agents_of,
}


def figures(judged: list[Judged]) -> dict[str, Any]:
    """How many answers are right, in all and by kind."""
    kinds = defaultdict[str, list[bool]](list)
    for right, kind, _ in judged:
        kinds[kind].append(right)
    return {
        "right": share(sum(right for right, _, _ in judged), len(judged)),
        "kinds": {kind: share(sum(found), len(found)) for kind, found in sorted(kinds.items())},
    }


def fields_of(judged: list[Judged]) -> dict[str, Any]:
    """How many answers are exact, and how many of their fields are right."""
    counts = [tuple(map(int, kind.split(" of "))) for _, kind, _ in judged]
    return {
        "right": share(sum(right for right, _, _ in judged), len(judged)),
        "fields": share(sum(right for right, _ in counts), sum(of for _, of in counts)),
    }


def main() -> None:
    """Ask, judge and write."""
    program = Program("benchmarks.dlm.strangers", __doc__, "name")
    program.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--effort", type=Effort, default=Effort.INSTANT)
    program.add_argument("--failures", action="store_true", help="print those of open")
    given = program.parse_args()
    engine = Engine.load(given.checkpoint)
    found: dict[str, Any] = {}
    try:
        for name in given.sets:
            for what, ask in ASKED.items():
                cases = rows(FOLDER / name, what)
                judged = list(ask(engine, cases, given.effort))
                made = fields_of if what == "texts" else figures
                found.setdefault(name, {})[what] = made(judged)
                print(name, what, json.dumps(found[name][what]), flush=True)
                if given.failures and name == "open":
                    for case, (right, _, answer) in zip(cases, judged, strict=True):
                        if not right:
                            print(
                                case["id"], answer, "|", case.get("expected", case.get("reference"))
                            )
    finally:
        engine.close()
    program.write(found, given.name)


if __name__ == "__main__":
    main()
