"""Are replies true to their tools? ``benchmarks.voice.read_back FILE...``.

The session and the shipped model, with typed messages in place of speech and replies in text. A
line of a JSONL file is one of these:

- ``items`` and ``list``: the list holds the items, and the agent is asked what is on it.
- ``say``, ``text`` and ``when``: the agent is asked for the reminder, and then for all of them.
- ``result``, ``user``, ``tool``, ``call``, ``must_say`` and ``never``: a client's tool has answered
  the user with a result; every value has one of the forms of ``must_say``, and no words of
  ``never`` may be said.

A reply is *exact* where it has every value, *lacking* where one is missing, and *wrong* where it
has words that neither the result nor the user has said, and that are no frame. A reminder is
*misheard* where the model has called the tool with other words than were said, or not at all: then
the reply is judged by what the tool was told. *Fell back* are replies with other words than the
model's.

Results: benchmarks/results/read_back.json.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.report import Program, percentiles
from voice.callers import LOCAL, Owner
from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.events import ReplyEnded, ReplyText, ReplyToolCall, ReplyToolResult, SessionEvent
from voice.llm.base import ModelEvent, Prompt, ReplyModel, TextPiece
from voice.session.resources import Resources
from voice.session.session import Session
from voice.speech.normalization import spoken
from voice.tools.store import Store
from voice.types import Message, Role, ToolCall, ToolSpec

Case = Mapping[str, Any]

REPLY_S = 30.0
TEXT_ONLY = {"speak": False}
_FRAME = """
a about all an and any anything are at can did do does done else for from get has have here i i'll
in is it items it's just like no nothing of okay on or order our please right reminder reminders
set so sorry that that's the there these they this to want was what what's will with would yes you
your first nobody none not work list has one alarm pm am today tomorrow noted count i'm empty
could read could reached
"""
"""Words that state nothing about a thing."""


@dataclass(slots=True)
class Said:
    """What came of one message.

    Attributes:
        text: All that was said.
        model: The words of the model's last answer.
        first_ms: Until the first piece of the reply's text.
    """

    text: str = ""
    model: str = ""
    first_ms: float = 0.0
    calls: list[ToolCall] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


class Overheard:
    """A model whose words are kept; the conversation may say others."""

    def __init__(self, model: ReplyModel) -> None:
        self._model = model
        self.words = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        self.words = ""
        async with aclosing(self._model.answer(prompt)) as events:
            async for event in events:
                if isinstance(event, TextPiece):
                    self.words += event.text
                yield event


class Talk:
    """One conversation in text, with an `Overheard` model."""

    def __init__(self, session: Session, model: Overheard) -> None:
        self.session = session
        self._model = model
        self._ids = count(1)
        self._events: asyncio.Queue[SessionEvent] = asyncio.Queue(maxsize=10_000)
        self.take = self._events.put_nowait

    def add(self, message: Message) -> None:
        """Put a message into the dialogue."""
        self.session.add_item(f"typed_{next(self._ids)}", message, None)

    async def ask(self, text: str = "") -> Said:
        """Say something, or nothing, and have the reply."""
        if text:
            self.add(Message(Role.USER, text))
        said, asked_s = Said(), perf_counter()
        self.session.create_response(TEXT_ONLY)
        async with asyncio.timeout(REPLY_S):
            while True:
                match await self._events.get():
                    case ReplyText(delta=delta):
                        said.first_ms = said.first_ms or (perf_counter() - asked_s) * 1000
                        said.text += delta
                    case ReplyToolCall(call=call):
                        said.calls.append(call)
                    case ReplyToolResult(result=result):
                        said.results.append(result.content)
                    case ReplyEnded():
                        said.model = self._model.words
                        return said


@asynccontextmanager
async def talking(
    resources: Resources, tools: tuple[ToolSpec, ...] = ()
) -> AsyncGenerator[Talk, None]:
    """A conversation; ``tools`` are a client's, in place of the agent's."""
    model = Overheard(resources.model)
    session = Session(replace(resources, model=model), caller=LOCAL)
    talk = Talk(session, model)
    running = asyncio.create_task(session.run(talk.take))
    await asyncio.sleep(0)
    try:
        if tools:
            session.update(client_tools=tools, agent_tools=())
        yield talk
    finally:
        session.close()
        await running


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


def heard(said: str, forms: Sequence[str]) -> bool:
    """Whether one of the forms is in a reply, as it is written or as it is spoken."""
    return any(form(one) in text for one in forms for text in _both(said))


@lru_cache(maxsize=8)
def _both(said: str) -> tuple[str, str]:
    return form(said), form(spoken(said))


def foreign(said: str, sources: Sequence[str]) -> set[str]:
    """Words of a reply that no source has, and that are no frame."""
    known = {word for text in sources for word in (form(text) + form(spoken(text))).split()}
    mine = set(form(said).split())
    return {word for word in mine if word not in known and word not in _FRAME.split()}


async def of_list(resources: Resources, case: Case) -> tuple[str, Said]:
    """The agent is asked what is on a list."""
    store = Store(resources.toolbox.database, Owner(resources.agent.name, LOCAL))
    name = str(case["list"]).replace("-", " ")
    for item in store.items(name):
        store.remove_item(name, item)
    for item in case["items"]:
        store.add_item(name, item)
    async with talking(resources) as talk:
        said = await talk.ask(f"what is on my {name} list")
    if not said.results:
        return "misheard", said
    if foreign(said.text, said.results):
        return "wrong", said
    return ("exact" if all(heard(said.text, [item]) for item in case["items"]) else "lacking"), said


async def of_reminder(resources: Resources, case: Case) -> tuple[str, Said]:
    """The agent is asked for a reminder, and for what it has noted."""
    store = Store(resources.toolbox.database, Owner(resources.agent.name, LOCAL))
    for alert in store.alerts():
        store.remove_alert(alert.id)
    async with talking(resources) as talk:
        said = await talk.ask(case["say"])
        if not said.results:
            return "misheard", said
        told = await talk.ask("what are my reminders")
    for one in (said, told):
        if foreign(one.text, [*one.results, case["say"]]):
            return "wrong", one
    text = next((str(call.arguments.get("text", "")) for call in said.calls), "")
    if form(text) != form(case["text"]) or not store.alerts():
        return "misheard", said
    return ("exact" if all(heard(one.text, [text]) for one in (said, told)) else "lacking"), said


async def of_result(resources: Resources, case: Case) -> tuple[str, Said]:
    """A client's tool has answered."""
    properties = {key: {"type": "string"} for key in case["call"]}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    tool = ToolSpec(case["tool"]["name"], case["tool"]["description"], schema)
    call = ToolCall("call_1", tool.name, {key: str(value) for key, value in case["call"].items()})
    result = case["result"]
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    async with talking(resources, (tool,)) as talk:
        talk.add(Message(Role.USER, case["user"]))
        talk.add(Message(Role.AGENT, tool_calls=(call,)))
        talk.add(Message(Role.TOOL, content, call_id=call.call_id, name=tool.name))
        said = await talk.ask()
    if said.calls:
        return "called again", said
    if any(heard(said.text, [words]) for words in case["never"]):
        return "wrong", said
    missing = [forms for forms in case["must_say"] if not heard(said.text, forms)]
    return ("lacking" if missing else "exact"), said


async def judged(resources: Resources, lines: Sequence[str], show: bool) -> dict[str, Any]:
    """What came of every line of a file."""
    verdicts: Counter[str] = Counter()
    first_ms: list[float] = []
    for line in lines:
        case = json.loads(line)
        judge = of_list if "items" in case else of_reminder if "say" in case else of_result
        verdict, said = await judge(resources, case)
        verdicts[verdict] += 1
        verdicts["fell back"] += form(said.text) != form(said.model)
        first_ms.append(said.first_ms)
        if show and verdict != "exact":
            print(f"{verdict}: {case['id']}: {said.text} | {said.results or case.get('result')}")
            missing = [f for f in case.get("must_say", ()) if not heard(said.text, f)]
            print(
                f"    calls {[c.arguments for c in said.calls]} missing {[f[0] for f in missing]}"
            )
    return {"cases": len(first_ms), **verdicts, "first_ms": percentiles(first_ms, 1)}


async def main(files: Mapping[str, Sequence[str]], show: bool) -> dict[str, Any]:
    """The figures of all files, each given by its lines."""
    resources = Resources.load(load_config(None, list(EMBEDDED)))
    try:
        return {name: await judged(resources, lines, show) for name, lines in files.items()}
    finally:
        await resources.close()


if __name__ == "__main__":
    program = Program("benchmarks.voice.read_back", __doc__)
    program.add_argument("files", nargs="+", type=Path, help="JSONL files")
    program.add_argument("--show", action="store_true", help="print the cases that are not exact")
    given = program.parse_args()
    files = {file.stem: file.read_text(encoding="utf-8").splitlines() for file in given.files}
    figures = asyncio.run(main(files, given.show))
    print(json.dumps(figures, indent=2))
    program.write({"files": figures, "took_s": program.took_s})
