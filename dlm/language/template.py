"""How a dialogue with tools becomes token ids, and how a generated answer is read back.

    <|system|> instructions <|end|>
    <|tool|> name <|type|> description <|key|> param [<|optional|>] [<|option|> a <|option|> b] …
    <|end|> <|user|> text <|end|> <|agent|> text <|call|> name <|key|> param <|value|> value …
    <|end|> <|result|> text <|end|>

Since version 2 of the declarations, a parameter's name may be followed by <|type|> and its type,
description and default, if there is something to say (`dlm.language.declaration`).

Reasoning may come before an answer: <|agent|> <|think|> text <|answer|> text …

Every text begins with a space, so that a word has the same id in a prompt, in a value and in a
reply. Names of tools and parameters are written as words (`dlm.language.identifiers`), plain
strings as they are, other values as JSON. Reading is strict: an answer that does not have this
form, or does not fit the schema, is an error that says why.
"""

from __future__ import annotations

import functools
import itertools
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlm.language import declaration
from dlm.language.chat_format import MarkedCalls, ReasoningMarks, unspellable
from dlm.language.identifiers import worded
from dlm.language.messages import Answer, AnswerError, Call, Tool, Turn
from dlm.language.schema import options, read_value, written
from dlm.language.tokenizer import Mark, Tokenizer

SYSTEM_JOINT = " "
"""Joins several leading system messages into one."""
KEPT_TEXTS = 128
LONGEST_KEPT = 16_384
"""Most characters of a text whose ids are cached."""
KEPT_DECLARATIONS = 512
LONGEST_DECLARATION = 4096
"""Most characters of a tool's declaration whose ids are cached."""
VERSIONS = (1, 2)
"""Versions of declarations; a checkpoint reads the one that it was trained with."""


@dataclass(slots=True)
class Encoded:
    """A dialogue as ids.

    Attributes:
        ids: (T,) token ids.
        answers: The range [start, end) of each assistant message's tokens: from the one after its
            <|agent|> mark, or its <|think|> mark if it has one, to its <|end|>, both included.
    """

    ids: list[int] = field(default_factory=list)
    answers: list[tuple[int, int]] = field(default_factory=list)


_SPOKEN = (int(Mark.END), int(Mark.CALL), int(Mark.KEY), int(Mark.VALUE))


class Template:
    """Encodes dialogues for one tokenizer, and decodes answers; a `Dialect`.

    Args:
        declarations: The version of the declarations, one of `VERSIONS`.

    Raises:
        ValueError: There is no such version.
    """

    mask = int(Mark.MASK)
    end = int(Mark.END)
    ends = frozenset({end})
    never = tuple(int(mark) for mark in Mark if mark not in _SPOKEN)
    calls = MarkedCalls(int(Mark.CALL), int(Mark.KEY), int(Mark.VALUE))

    def __init__(self, tokenizer: Tokenizer, declarations: int = 1) -> None:
        if declarations not in VERSIONS:
            raise ValueError(f"declarations: got {declarations!r}, expected one of {VERSIONS}")
        self.tokenizer = tokenizer
        self.declarations = declarations
        self.size = tokenizer.vocab_size
        stops = frozenset(tokenizer.encode(f" a{stop}")[-1] for stop in ".?!")
        self.reasoning = ReasoningMarks(int(Mark.THINK), int(Mark.ANSWER), _SPOKEN, stops)
        self._declared = functools.lru_cache(KEPT_DECLARATIONS)(self._encode_declared)
        # Cached, because each turn of a dialogue encodes all earlier turns again.
        self._texts = functools.lru_cache(KEPT_TEXTS)(tokenizer.encode)

    def text(self, text: str) -> list[int]:
        """Ids of a text with its leading space; none for an empty one."""
        stripped = text.strip()
        if not stripped:
            return []
        spell = self._texts if len(stripped) <= LONGEST_KEPT else self.tokenizer.encode
        return list(spell(f" {stripped}"))

    def prompt(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.prompt`."""
        return [*self.dialogue(turns, tools).ids, Mark.AGENT]

    def ended(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.ended`."""
        return self.dialogue(turns, tools).ids

    def spell(self, answer: Answer, tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.spell`."""
        return [*self.text(answer.content), *self._calls(answer.calls, tools), int(Mark.END)]

    def words(self, tokens: Sequence[int]) -> list[int]:
        """See `Dialect.words`."""
        for index, token in enumerate(tokens):
            if token < len(Mark) and token != Mark.MASK:
                return list(tokens[:index])
        return list(tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        """See `Dialect.decode`."""
        return self.tokenizer.decode(tokens)

    def unspellable(self) -> Mapping[str, Any]:
        """See `Dialect.unspellable`."""
        return unspellable(json.loads(self.tokenizer.bpe.to_str()))

    def dialogue(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> Encoded:
        """Ids of a whole dialogue. Tools come first, or after leading system messages.

        Several leading system messages are joined into one.

        Raises:
            ValueError: A role is unknown.
        """
        out = Encoded()
        leading = list(itertools.takewhile(lambda turn: turn.role == "system", turns))
        if leading:
            joined = SYSTEM_JOINT.join(turn.content for turn in leading)
            self._turn(out, Turn("system", joined), tools)
        names = worded(tool.name for tool in tools)
        for tool in tools:
            out.ids += self.tool(tool, names[tool.name])
        for turn in turns[len(leading) :]:
            self._turn(out, turn, tools)
        return out

    def _turn(self, out: Encoded, turn: Turn, tools: Sequence[Tool]) -> None:
        marks = {
            "system": Mark.SYSTEM,
            "user": Mark.USER,
            "assistant": Mark.AGENT,
            "tool": Mark.RESULT,
        }
        if turn.role not in marks:
            raise ValueError(f"role: got {turn.role!r}, expected one of {sorted(marks)}")
        out.ids.append(marks[turn.role])
        if turn.reasoning:
            # The caller decides on reasoning, so its opening mark is not part of the answer.
            out.ids.append(Mark.THINK)
        start = len(out.ids)
        if turn.reasoning:
            out.ids += [*self.text(turn.reasoning), Mark.ANSWER]
        out.ids += self.text(turn.content)
        out.ids += self._calls(turn.calls, tools)
        out.ids.append(Mark.END)
        if turn.role == "assistant":
            out.answers.append((start, len(out.ids)))

    def tool(self, tool: Tool, name: str) -> Sequence[int]:
        """Ids of a tool's declaration; cached, because the same tools come with every turn."""
        declared = json.dumps([name, tool.description, tool.parameters])
        if len(declared) > LONGEST_DECLARATION:
            return self._encode_tool(tool, name)
        return self._declared(declared)

    def _encode_declared(self, declared: str) -> array[int]:
        name, description, parameters = json.loads(declared)
        # An array takes an eighth of a list's memory.
        return array("i", self._encode_tool(Tool(name, description, parameters), name))

    def _encode_tool(self, tool: Tool, name: str) -> list[int]:
        ids = [Mark.TOOL, *self.text(name), Mark.TYPE, *self.text(tool.description)]
        properties, required = tool.properties, tool.required
        keys = worded(properties)
        notes = declaration.notes(tool) if self.declarations > 1 else {}
        for key, schema in properties.items():
            ids += [Mark.KEY, *self.text(keys[key])]
            if key not in required:
                ids.append(Mark.OPTIONAL)
            if notes.get(key):
                ids += [Mark.TYPE, *self.text(notes[key])]
            for option in options(schema):
                ids += [Mark.OPTION, *self.text(written(option))]
        return [*ids, Mark.END]

    def _calls(self, calls: Sequence[Call], tools: Sequence[Tool]) -> list[int]:
        if not calls:
            return []
        names = worded(tool.name for tool in tools)
        offered = {tool.name: tool for tool in tools}
        ids: list[int] = []
        for call in calls:
            tool = offered.get(call.name)
            properties = tool.properties if tool else {}
            keys = worded(properties if tool else call.arguments)
            # As in a generated answer, which leaves out nulls.
            left_out = tool.nullable if tool else frozenset()
            ids += [Mark.CALL, *self.text(names.get(call.name) or worded([call.name])[call.name])]
            for key, value in call.arguments.items():
                if value is None and key in left_out:
                    continue
                ids += [Mark.KEY, *self.text(keys.get(key, key))]
                ids += [Mark.VALUE, *self.text(written(value, properties.get(key)))]
        return ids

    def answer(self, ids: Sequence[int], tools: Sequence[Tool]) -> Answer:
        """See `Dialect.answer`; reasoning before the answer is read as well."""
        ids = list(ids)
        if Mark.END in ids:
            ids = ids[: ids.index(Mark.END)]
        reasoning_ids: list[int] = []
        if Mark.ANSWER in ids:
            cut = ids.index(Mark.ANSWER)
            reasoning_ids, ids = ids[:cut], ids[cut + 1 :]
        reasoning = self._plain(reasoning_ids)
        content, *calls = split(ids, Mark.CALL)
        self._plain(content)
        names = worded(tool.name for tool in tools)
        # Answers lose the space around a name, which one without words may have.
        by_name = {names[tool.name].strip(): tool for tool in tools}
        return Answer(
            self.tokenizer.decode(content).strip(),
            tuple(self._read_call(call, by_name) for call in calls),
            reasoning,
        )

    def _read_call(self, ids: list[int], tools: Mapping[str, Tool]) -> Call:
        name_ids, *pairs = split(ids, Mark.KEY)
        name = self._plain(name_ids)
        if name not in tools:
            raise AnswerError(f"tool: got {name!r}, expected one of {sorted(tools)}")
        tool = tools[name]
        properties = tool.properties
        keys = {text.strip(): key for key, text in worded(properties).items()}
        arguments: dict[str, Any] = {}
        for pair in pairs:
            key_ids, *values = split(pair, Mark.VALUE)
            words = self._plain(key_ids)
            if len(values) != 1:
                raise AnswerError(f"{name}.{words}: got {len(values)} values, expected 1")
            key = keys.get(words)
            if key is None or key in arguments:
                raise AnswerError(f"{name}: got unknown or repeated parameter {words!r}")
            try:
                arguments[key] = read_value(self._plain(values[0]), properties[key])
            except ValueError as error:
                raise AnswerError(f"{name}.{key}: {error}") from error
        missing = sorted(tool.required - arguments.keys())
        if missing:
            raise AnswerError(f"{name}: missing {missing}")
        nulls = {key: None for key in tool.nulled if key not in arguments}
        return Call(tool.name, {**arguments, **nulls})

    def _plain(self, ids: Sequence[int]) -> str:
        stray = [Mark(i).name for i in ids if i < len(Mark)]
        if stray:
            raise AnswerError(f"got marks {stray} inside a text")
        return self.tokenizer.decode(ids).strip()


def split(ids: Sequence[int], mark: int) -> list[list[int]]:
    """Split ids at each occurrence of a mark; the marks are left out."""
    out: list[list[int]] = [[]]
    for token in ids:
        if token == mark:
            out.append([])
        else:
            out[-1].append(token)
    return out


def tools_of(specs: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tools from the training data's form: objects with name, description and parameters."""
    return tuple(Tool(spec["name"], spec["description"], spec["parameters"]) for spec in specs)


def turns_of(row: Mapping[str, Any]) -> list[Turn]:
    """All turns of a dialogue from the training data, including its system message."""
    system = [Turn("system", row["system"])] if row.get("system") else []
    return system + [turn_of(message) for message in row["messages"]]


def turn_of(message: Mapping[str, Any]) -> Turn:
    """A turn from a message of the training data or of OpenAI's chat format, parts included.

    Raises:
        ValueError: The arguments of a call are neither a JSON object nor the text of one.
    """
    calls = []
    for raw in message.get("tool_calls") or ():
        call = raw.get("function", raw)
        arguments = given = call.get("arguments") or {}
        if isinstance(given, str):
            try:
                arguments = json.loads(given)
            except ValueError:
                arguments = None
        if not isinstance(arguments, Mapping):
            raise ValueError(f"arguments of {call['name']}: got {given!r}, expected a JSON object")
        calls.append(Call(call["name"], arguments))
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = " ".join(part["text"] for part in content if part.get("type") == "text")
    return Turn(message["role"], content, tuple(calls))
