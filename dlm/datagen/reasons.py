"""Reasoning to learn from: what an agent would think before a message that is known to be right.

A trace is a few plain sentences from the general to the particular: what the user says, which tool
fits or that none does, and what its parameters are. Its words are those of the user and of the
tools' declarations, so that writing it is a step towards choosing and copying. Half of the traces
are cut after some sentence, because the model must answer even if its reasoning is cut short. The
words are in ``data/reasons.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from dlm.datagen.language.tables import read
from dlm.language.identifiers import words as words_of
from dlm.language.schema import written

Row = Mapping[str, Any]

WHOLE = 0.5
"""Share of traces that are always whole; with fewer, the model would rather end than go on."""

LONG_VALUE = 8
"""A value of more words than this is named by its beginning alone."""

BARE = 0.2
"""Share of dialogues with declines and talk in which no tools are declared."""

GIST_WORDS = 8
"""Most words of the gist of a message or a tool's description."""

TOLD_WORDS = 12
"""Most words quoted from a result."""

_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}

_WEIGHTS = {"call": 3.0, "ask": 6.0, "decline": 4.0, "talk": 3.0, "told": 1.0}
"""Weight of each kind of message in the choice of the one to reason about.

The result is close to how often each kind occurs: a model whose reasoning declines too often in
training keeps doing so.
"""


@dataclass(frozen=True, slots=True)
class _Thought:
    reply: str
    thought: str


@dataclass(frozen=True, slots=True)
class _Table:
    leads: tuple[str, ...]
    heard: tuple[str, ...]
    fits: tuple[str, ...]
    several: tuple[str, ...]
    order: tuple[str, ...]
    unsaid: tuple[str, ...]
    nothing_more: tuple[str, ...]
    lacks: tuple[str, ...]
    missing: tuple[str, ...]
    ask: tuple[str, ...]
    no_tool: tuple[str, ...]
    decline: tuple[str, ...]
    needless: tuple[str, ...]
    result: tuple[str, ...]
    results: tuple[str, ...]
    failed: tuple[str, ...]
    silent: tuple[str, ...]
    tell: tuple[str, ...]
    ask_it: str
    again: str
    answer: str
    talk: tuple[_Thought, ...]


_TABLE = read("reasons", _Table)


def reasoned(rows: Iterable[Row], share: float, seed: int) -> Iterator[Row]:
    """Dialogues, some of which end in a message with a trace before it.

    They end there because an agent does not see its reasoning about earlier messages.

    Args:
        rows: Dialogues of the training data; those that are not chosen, and readings
            (`dlm.datagen.training_rows`), are left as they are.
        share: Share of dialogues that get a trace.
    """
    rng = Random(f"{seed}/reasons")
    for row in rows:
        chosen = rng.random() < share and not row.get("reading")
        yield with_trace(row, rng) if chosen else row


def with_trace(row: Row, rng: Random) -> Row:
    """A dialogue up to one of the agent's messages, which has a trace under ``reasoning``."""
    messages = row["messages"]
    own = (i for i, m in enumerate(messages) if i and m["role"] == "assistant")
    found = [i for i in own if not messages[i].get("cut")]
    if not found:
        return row
    at = rng.choices(found, [_WEIGHTS[kind_of(messages, i)] for i in found])[0]
    sentences = trace(row, at, rng)
    count = len(sentences) if rng.random() < WHOLE else rng.randint(1, len(sentences))
    text = " ".join(sentences[:count])
    told = [*messages[:at], {**messages[at], "reasoning": text}]
    made = {**row, "messages": told}
    # If no tool helps and the trace mentions none, the tools can be left out.
    free = kind_of(messages, at) in ("decline", "talk") and "tools can" not in sentences[-1]
    if free and not any(m.get("tool_calls") for m in told) and rng.random() < BARE:
        made["tools"] = []
    return made


def kind_of(messages: Sequence[Row], at: int) -> str:
    """The kind of an agent's message: call, told (a result), ask, decline or talk."""
    message = messages[at]
    if message.get("tool_calls"):
        return "call"
    if messages[at - 1]["role"] == "tool":
        return "told"
    return str(message.get("kind", "talk"))


def trace(row: Row, at: int, rng: Random) -> list[str]:
    """All sentences of the trace before a message."""
    messages = row["messages"]
    tools = {tool["name"]: tool for tool in row["tools"]}
    kind = kind_of(messages, at)
    results = _results(messages, at, rng)
    heard = results or [_heard(messages[at - 1]["content"], rng)]
    if kind == "told":
        return [*heard, rng.choice(_TABLE.tell)]
    if kind == "call":
        return [*heard, *_calls(messages, at, tools, rng)]
    if kind == "ask":
        return [*heard, *_missing(messages, at, tools, rng)]
    if kind == "decline":
        return [*heard, rng.choice(_TABLE.no_tool), rng.choice(_TABLE.decline)]
    return [*heard, rng.choice(_TABLE.needless), _talk(messages, at)]


def gist(text: str) -> str:
    """The first words of a message after its opening phrases, in lower case."""
    bare = [w for w in (raw.lower().strip(".,?!;:\"'()") for raw in text.split()) if w]
    kept = list(bare)
    while len(kept) > 2:
        lead = next((n for n in (3, 2, 1) if " ".join(kept[:n]) in _TABLE.leads), 0)
        if not lead or len(kept) - lead < 2:
            break
        kept = kept[lead:]
    return " ".join(kept[:GIST_WORDS])


def _heard(text: str, rng: Random) -> str:
    return rng.choice(_TABLE.heard).format(said=gist(text))


def _calls(
    messages: Sequence[Row], at: int, tools: Mapping[str, Row], rng: Random
) -> Iterator[str]:
    calls = messages[at]["tool_calls"]
    said = _last_said(messages, at)
    if len(calls) > 1:
        yield rng.choice(_TABLE.several).format(count=_COUNTS.get(len(calls), "many"))
    for number, call in enumerate(calls):
        lead = "" if len(calls) == 1 else _TABLE.order[min(number, len(_TABLE.order) - 1)]
        yield f"{lead}{_fits(tools[call['name']], rng)}."
        yield from _arguments(call["arguments"], said, tools[call["name"]], rng)


def _fits(tool: Row, rng: Random) -> str:
    described = tool["description"].strip().rstrip(".").split()[:GIST_WORDS]
    if not described:
        return f"a tool fits, {words_of(tool['name'])}"
    text = " ".join(described)
    return rng.choice(_TABLE.fits).format(
        does=text[:1].lower() + text[1:], name=words_of(tool["name"])
    )


def _arguments(given: Mapping[str, Any], said: str, tool: Row, rng: Random) -> Iterator[str]:
    parts = [_argument(key, written(value), said) for key, value in given.items()]
    for start in range(0, len(parts), 2):
        yield f"{', '.join(parts[start : start + 2])}."
    left = [words_of(key) for key in tool["parameters"].get("properties", {}) if key not in given]
    if left and rng.random() < 0.5:
        yield rng.choice(_TABLE.unsaid).format(keys=" or ".join(left[:2]))
    elif not given:
        yield rng.choice(_TABLE.nothing_more)


def _argument(name: str, value: str, said: str) -> str:
    key, parts = words_of(name), value.split()
    if len(parts) > LONG_VALUE:
        return f"{key} begins with {' '.join(parts[:4])}"
    return f"{key} is {value}" if _within(value, said) else f"{key} is still {value}"


def _missing(
    messages: Sequence[Row], at: int, tools: Mapping[str, Row], rng: Random
) -> Iterator[str]:
    later = next((m for m in messages[at + 1 :] if m.get("tool_calls")), None)
    call = later["tool_calls"][0] if later else None
    told = next((m["content"] for m in messages[at + 1 :] if m["role"] == "user"), "")
    known = _last_said(messages, at)
    given = call["arguments"] if call else {}
    keys = [
        words_of(key)
        for key, value in given.items()
        if _within(written(value), told) and not _within(written(value), known)
    ]
    if call is None or not keys:
        yield from (rng.choice(_TABLE.missing).format(key="something"), _TABLE.ask_it)
        return
    yield f"{_fits(tools[call['name']], rng)}, but {rng.choice(_TABLE.lacks).format(key=keys[0])}"
    yield rng.choice(_TABLE.ask).format(key=keys[0])


def _results(messages: Sequence[Row], at: int, rng: Random) -> list[str]:
    first = at
    while first and messages[first - 1]["role"] == "tool":
        first -= 1
    reply = messages[at].get("content") or ""
    texts = [message["content"] for message in messages[first:at]]
    forms = _TABLE.result if len(texts) == 1 else _TABLE.results
    out = []
    for text in texts:
        failed = text.startswith("Error")
        error = text.removeprefix("Error:").split()[:TOLD_WORDS]
        told = " ".join(error).rstrip(".") if failed else shared(text, reply)
        form = rng.choice(_TABLE.failed if failed else forms if told else _TABLE.silent)
        out.append(form.format(told=told))
    return out


def shared(result: str, reply: str) -> str:
    """The words of a result that occur in its reply, with commas between the runs."""
    told = {_bare(w) for w in reply.split()}
    runs: list[list[str]] = [[]]
    for raw in re.sub(r'[{}\[\]"]', " ", result).split():
        if _bare(raw) in told:
            runs[-1].append(raw.rstrip(".;?!"))
        elif runs[-1]:
            runs.append([])
    kept = [" ".join(run).strip(",:") for run in runs if any(map(_tells, run))]
    return " ".join(", ".join(kept).split()[:TOLD_WORDS]).strip(",:")


def _bare(word: str) -> str:
    return word.lower().strip(".,;:?!\"'(){}[]")


def _tells(word: str) -> bool:
    return len(word) > 3 or any(c.isdigit() for c in word)


def _talk(messages: Sequence[Row], at: int) -> str:
    reply = messages[at]["content"]
    if any(m["role"] == "assistant" and m.get("content") == reply for m in messages[:at]):
        return _TABLE.again
    return next((t.thought for t in _TABLE.talk if re.search(t.reply, reply)), _TABLE.answer)


def _last_said(messages: Sequence[Row], at: int) -> str:
    return next((m["content"] for m in reversed(messages[:at]) if m["role"] == "user"), "")


def _within(value: str, text: str) -> bool:
    return " ".join(map(_bare, value.split())) in " ".join(map(_bare, text.split()))
