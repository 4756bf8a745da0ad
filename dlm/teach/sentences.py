"""Sentences with the calls that they ask for, as JSON lines: examples to learn or to measure with.

A line is ``{"say": "...", "calls": [{"name": ..., "arguments": {...}}]}``; a sentence without
``calls`` asks for none. Texts in arguments are words of the sentence. ``also`` may list
alternatives to ``calls`` that count as right when the sentence is used to measure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dlm.datagen.examples import call_of, row_of
from dlm.engine.engine import Engine
from dlm.evaluate.cases import cases
from dlm.evaluate.run import ask_engine
from dlm.evaluate.scores import Scores, compare, score
from dlm.teach.listed import Listed

Sentence = Mapping[str, Any]
Figures = dict[str, Any]
_KEYS = ("say", "calls", "also")


def read(file: Path, tools: Sequence[Listed]) -> list[Sentence]:
    """Read and check a file.

    Raises:
        ValueError: A line is malformed or its call does not fit the tools; the message says where.
        OSError: The file cannot be read.
    """
    found = []
    # JSON may contain characters that splitlines takes for line ends.
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
                if unknown := found[-1].keys() - _KEYS:
                    raise ValueError(f"got {min(unknown)!r}, expected {', '.join(_KEYS)}")
                for calls in (found[-1].get("calls", ()), *found[-1].get("also", ())):
                    dialogue({**found[-1], "calls": calls}, tools, "")
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{file}:{number}: {error}") from error
    return found


def dialogue(sentence: Sentence, tools: Sequence[Listed], system: str) -> dict[str, Any]:
    """A sentence as a dialogue in the training data's form, with the answer last.

    Raises:
        ValueError: A call does not fit the tools.
    """
    wanted = enumerate(sentence.get("calls", ()))
    calls = [call_of(f"c{n}", call["name"], call.get("arguments", {})) for n, call in wanted]
    answer = (
        {"role": "assistant", "tool_calls": calls}
        if calls
        else {"role": "assistant", "content": "Okay."}
    )
    messages = [{"role": "user", "content": sentence["say"]}, answer]
    declared = [{"type": "function", "function": tool.spec} for tool in tools]
    return row_of({"messages": messages, "tools": declared}) | {"system": system}


def measure(
    engine: Engine, sentences: Iterable[Sentence], tools: Sequence[Listed], system: str
) -> tuple[Figures, list[dict[str, Any]]]:
    """Ask an engine sentences and score its answers.

    Returns:
        ``exact`` (exact calls), ``tool`` (the right tool) and ``quiet`` (no call where none is
        asked for), each as a share and the number of sentences; and the wrong answers.
    """
    scores, ask = Scores(), ask_engine(engine)
    for one in sentences:
        ways = ({**one, "calls": calls} for calls in (one.get("calls", ()), *one.get("also", ())))
        wanted = list(cases(dialogue(way, tools, system) for way in ways))
        got = ask(wanted[0].request())
        right = (case for case in wanted if compare(Scores(), case, got))
        score([next(right, wanted[0])], lambda _, got=got: got, into=scores)  # type: ignore[misc]
    named = {"exact": "call", "tool": "tool", "quiet": "talk"}
    figures = {
        name: [round(scores.share(one), 4), scores.counts[one][1]]
        for name, one in named.items()
        if one in scores.counts
    }
    return figures, scores.failures
