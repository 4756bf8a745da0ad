"""Lessons from written conversations: ``python -m voice.finetune.lessons FILES --out FILE``.

A written conversation says for every message which calls are right. Each is held as a real session
whose model answers as written, so that the prompts, the tools' results and what the program says by
itself are those of real use. This yields two things: lines for ``dlm.train --data`` with what the
model was asked, and the messages for which the program made other calls than were written although
the model's were right (``--spoiled``).

A file has a conversation on each line, ``{"id", "agent", "turns": [{"say", "calls", "reply"}]}``.
``calls`` are ``{"name", "args"}``; if there are none, ``reply`` is what the agent says. The value
of an argument is a span of the user's words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlm.command_line import told
from dlm.datagen.corpora.files import rows
from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.errors import VoiceError
from voice.llm.base import AnswerDone, ModelEvent, Prompt, TextPiece, new_call_id
from voice.session.resources import Loaders, Resources
from voice.session.typed import TypedTurn, typing
from voice.types import Message, Role, ToolCall, ToolSpec
from voice.understanding.english import written_out

Written = Mapping[str, Any]
"""A conversation, or one of its turns."""

NOTHING = "Okay."
"""What the model says if nothing is written; it is not learned."""

_WORD = re.compile(r"[^\s.,;:!?\"()]+")
_NOUNS = {"milk": "milk", "roast": "roast", "shots": "shots?"}
"""Nouns that may follow an argument's value in speech: "dark roast" means the same as "dark"."""


def words(text: str) -> str:
    """The words of a text in the form in which messages and values are compared, in spaces."""
    return f" {' '.join(_WORD.findall(written_out(text.replace('’', chr(39))).lower()))} "


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the model was asked, and the right answer."""

    prompt: Prompt
    answer: Message


@dataclass(slots=True)
class WrittenModel:
    """A `ReplyModel` that gives the written answers.

    If the program splits a message, each part gets the calls whose values are among its words.

    Attributes:
        lessons: The prompts of this conversation that it had an answer for, with the answers.
        written: The written calls for the current message.
        given: Id of a call that it made → the written call.
        asked: What it has been asked about the current message.
        said: The current message.
        reply: The written reply to it.
    """

    name: str = "written"
    lessons: list[Lesson] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    given: dict[str, Written] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    said: str = ""
    reply: str = ""

    def begin(self, turn: Written) -> None:
        """Take the next message."""
        self.said = turn["say"]
        self.written = [_in_full(call, self.said) for call in turn.get("calls", ())]
        self.reply, self.asked = turn.get("reply", ""), []

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        asked = prompt.messages[-1]
        calls: tuple[ToolCall, ...] = ()
        if asked.role is Role.USER:
            part = words(asked.content)
            if self.written and not self.asked and part != words(self.said):
                self._learn_whole(prompt)
            self.asked.append(asked.content)
            calls = tuple(self._for(part, prompt.messages))
        # A reply with a placeholder such as "{price}" cannot be said as it stands.
        text = "" if calls or "{" in self.reply else self.reply
        if calls or text:
            self.lessons.append(Lesson(prompt, Message(Role.AGENT, text, calls)))
        if not calls:
            yield TextPiece(text or NOTHING)
        yield AnswerDone(calls, False, 0, 0, confidence=1.0)

    def _learn_whole(self, prompt: Prompt) -> None:
        """Add a lesson on the whole message, which the program splits for the model."""
        said = replace(prompt.messages[-1], content=self.said)
        calls = (ToolCall(new_call_id(), c["name"], c.get("args", {})) for c in self.written)
        whole = replace(prompt, messages=(*prompt.messages[:-1], said))
        self.lessons.append(Lesson(whole, Message(Role.AGENT, "", tuple(calls))))

    def _for(self, part: str, before: Sequence[Message]) -> Iterator[ToolCall]:
        """The calls for a part of the message, without those made before."""
        whole = words(self.said)
        made = [self.given.get(call.call_id) for one in before for call in one.tool_calls]
        left = [call for call in self.written if not any(call is one for one in made)]
        fits = [(call, _in_words(call, part, whole)) for call in left]
        found = [(call, values) for call, values in fits if values is not None]
        if not any(_own_values(call, whole) for call, _ in found):
            # If no call has a value from the message, this part gets the first of them.
            found = found if part == whole else found[:1]
        for at, (call, values) in enumerate(found):
            others = (one for place, one in enumerate(found) if place != at)
            # Of two calls of one tool, the part gets the one that accounts for more of its words.
            if part == whole or not any(_says_more(one, call, values) for one in others):
                identity = new_call_id()
                self.given[identity] = call
                yield ToolCall(identity, call["name"], values)

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel.end_of_message`."""
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """See `ReplyModel.check_tools`."""

    def warm_up(self, prompt: Prompt) -> None:
        """See `ReplyModel.warm_up`."""

    async def close(self) -> None:
        """See `ReplyModel.close`."""


def _in_full(call: Written, said: str) -> Written:
    """A call whose values include the nouns said after them, as the generator's values do."""
    values = dict(call.get("args", {}))
    for name in values.keys() & _NOUNS.keys():
        behind = rf"\b{re.escape(values[name])} {_NOUNS[name]}\b"
        if (full := re.search(behind, said, re.IGNORECASE)) is not None:
            values[name] = full[0]
    return {**call, "args": values}


def _own_values(call: Written, whole: str) -> dict[str, str]:
    """The values of a call that occur in its message."""
    given = call.get("args", {}).items()
    return {name: value for name, value in given if words(value) in whole}


def _in_words(call: Written, part: str, whole: str) -> dict[str, str] | None:
    """A call's arguments in the words of a part of its message; None if the part lacks a value.

    A part may have the singular of a value that the message has in the plural.
    """
    values = dict(call.get("args", {}))
    for name, value in _own_values(call, whole).items():
        if words(value) not in part:
            one = re.search(rf" {re.escape(words(value).strip().removesuffix('s'))}s? ", part)
            if one is None:
                return None
            values[name] = one[0].strip()
    return values


def _says_more(
    other: tuple[Written, Mapping[str, str]], call: Written, values: Mapping[str, str]
) -> bool:
    one, more = other
    return bool(one["name"] == call["name"] and values.items() < more.items())


def lines(lessons: Sequence[Lesson]) -> Iterator[dict[str, Any]]:
    """Lessons of one conversation in the format of fine-tuning, with each answer learned once.

    If a later prompt continues an earlier one and its answer, as most do, one line has both.
    """
    known = [(*lesson.prompt.messages, lesson.answer) for lesson in lessons]
    left = set(range(len(known)))
    for at, dialogue in enumerate(known):
        if any(_begins(later, dialogue) for later in known[at + 1 :]):
            continue
        within = {one for one in left if one <= at and _begins(dialogue, known[one])}
        left -= within
        yield _line(lessons[at].prompt.tools, dialogue, {len(known[one]) - 1 for one in within})


def _begins(dialogue: Sequence[Message], beginning: Sequence[Message]) -> bool:
    return [*map(_shown, dialogue[: len(beginning)])] == [*map(_shown, beginning)]


def _shown(message: Message) -> tuple[object, ...]:
    """A message as the model sees it, without ids."""
    calls = [(call.name, dict(call.arguments)) for call in message.tool_calls]
    return message.role, message.content.strip(), calls


def _line(
    tools: Iterable[ToolSpec], dialogue: Sequence[Message], learned: set[int]
) -> dict[str, Any]:
    functions = (
        {"name": one.name, "description": one.description, "parameters": one.parameters}
        for one in tools
    )
    return {
        "messages": [_message(one, at in learned) for at, one in enumerate(dialogue)],
        "tools": [{"type": "function", "function": one} for one in functions],
    }


def _message(message: Message, learned: bool) -> dict[str, Any]:
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if message.role is not Role.AGENT:
        return {"role": message.role.value, "content": message.content}
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
        }
        for call in message.tool_calls
    ]
    shown = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": message.content, **shown, "weight": int(learned)}


@dataclass(frozen=True, slots=True)
class Held:
    """The outcome of a conversation.

    Attributes:
        spoiled: Messages for which the program made other calls than the written ones.
        messages: Number of messages that were said.
    """

    lessons: tuple[Lesson, ...]
    spoiled: tuple[dict[str, Any], ...]
    messages: int


async def hold(resources: Resources, model: WrittenModel, conversation: Written) -> Held:
    """Hold a conversation; it continues after a spoiled message."""
    model.lessons, spoiled, messages = [], [], 0
    async with typing(resources) as talk:
        for number, turn in enumerate(conversation["turns"]):
            if talk.ended:
                break
            model.begin(turn)
            done = await talk.say(turn["say"])
            messages += 1
            if not as_written(turn, done.calls):
                spoiled.append(_spoiled(conversation, number, done, model.asked))
    return Held(tuple(model.lessons), tuple(spoiled), messages)


def as_written(turn: Written, calls: Iterable[ToolCall]) -> bool:
    """Whether the calls that were made do what the written ones do."""
    return of_written(turn) == of_made(calls)


def of_written(turn: Written) -> Counter[object]:
    """A written message's calls, comparable with `of_made`."""
    return Counter(_plainly(call["name"], call.get("args", {})) for call in turn.get("calls", ()))


def of_made(calls: Iterable[ToolCall]) -> Counter[object]:
    """Calls that were made, comparable with `of_written`."""
    return Counter(_plainly(call.name, call.arguments) for call in calls)


def _plainly(name: str, arguments: Mapping[str, Any]) -> tuple[object, ...]:
    """What a call does, ignoring articles, plurals and nouns after a value."""
    bare = {}
    for key, value in arguments.items():
        said = re.sub("s ", " ", re.sub("^ (?:an?|the|some) (?=.)", " ", words(str(value))))
        bare[key] = re.sub(f"(?<=.) {_NOUNS.get(key, '$')} $", " ", said)
    if bare.get("quantity") == " one ":
        del bare["quantity"]
    return name, tuple(sorted(bare.items()))


def _spoiled(
    conversation: Written, number: int, done: TypedTurn, asked: Sequence[str]
) -> dict[str, Any]:
    turns = conversation["turns"]
    return {
        "id": conversation["id"],
        "before": [turn["say"] for turn in turns[:number]],
        "say": turns[number]["say"],
        "written": turns[number].get("calls", []),
        "made": [{"name": call.name, "args": dict(call.arguments)} for call in done.calls],
        "results": done.results,
        "reply": done.reply,
        "asked": asked,
    }


def conversations(files: Iterable[Path]) -> Iterator[Written]:
    """The conversations of files, as `rows` reads them."""
    for file in files:
        yield from rows(file)


async def hold_all(talks: Iterable[Written]) -> list[Held]:
    """Hold conversations one after the other."""
    model = WrittenModel()
    loaders = Loaders(model=lambda config: (model, "language model: as written"))
    resources = Resources.load(load_config(None, EMBEDDED), loaders)
    agents: dict[str, Resources] = {resources.agent.name: resources}
    try:
        held = []
        for talk in talks:
            if talk["agent"] not in agents:
                agents[talk["agent"]] = resources.for_agent(talk["agent"])
            held.append(await hold(agents[talk["agent"]], model, talk))
        return held
    finally:
        await resources.close()


def write(file: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Write JSON lines, and return their number."""
    written = [json.dumps(row, ensure_ascii=False) + "\n" for row in lines]
    file.write_text("".join(written), encoding="utf-8")
    return len(written)


def main(arguments: list[str] | None = None) -> None:
    """Hold the conversations; write the lessons and the messages that the program spoiled.

    Raises:
        SystemExit: 2 if a file cannot be read or written, or names an unknown agent.
    """
    parser = argparse.ArgumentParser("python -m voice.finetune.lessons", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="lines for dlm.train --data")
    parser.add_argument("--spoiled", type=Path, help="messages of which something else was made")
    options = parser.parse_args(arguments)
    with told(parser, VoiceError):
        held = asyncio.run(hold_all(conversations(options.files)))
        made = [line for one in held for line in lines(one.lessons)]
        if options.out:
            write(options.out, made)
        spoiled = [row for one in held for row in one.spoiled]
        if options.spoiled:
            write(options.spoiled, spoiled)
    messages, asked = sum(one.messages for one in held), sum(len(one.lessons) for one in held)
    right = messages - len(spoiled)
    print(f"{len(held)} conversations, {messages} messages, {right} with the calls as written")
    print(f"{asked} answers of the model in {len(made)} lines")
    tools = Counter(c["name"] for row in spoiled for c in row["written"] or [{"name": "none"}])
    print("spoiled, by the tool that was right:", dict(tools.most_common()))


if __name__ == "__main__":
    main()
