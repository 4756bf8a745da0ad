"""Dialogues to fine-tune on, in the chat JSONL format of OpenAI's fine-tuning.

A line is ``{"messages": [...], "tools": [{"type": "function", "function": {...}}]}``. A call is
``{"id", "type": "function", "function": {"name", "arguments": JSON text}}``; a message of role tool
names the call that it answers. Mistakes are reported with their lines before any training, and so
is what users should know about their dialogues before minutes go into learning them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dlm.language.copy_sources import sources
from dlm.language.messages import Tool, Turn
from dlm.language.schema import is_words, options, read_value, written
from dlm.language.template import SYSTEM_JOINT, tools_of, turn_of, turns_of
from dlm.server.errors import ApiError
from dlm.server.tool_schemas import check_form

Row = dict[str, Any]

ROLES = ("system", "developer", "user", "assistant", "tool")
MOST_FAULTS = 10
"""Most faulty lines that an error reports."""

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_KNOWN = {
    "assistant": {"role", "content", "tool_calls", "name", "weight"},
    "tool": {"role", "content", "tool_call_id", "name"},
}
_HALF = re.compile("[\ud800-\udfff]")


class ExampleError(ValueError):
    """A file's dialogues cannot be learned; the message says which lines are wrong and why."""


def read(file: Path) -> list[Row]:
    """Read and check a file.

    Returns:
        Dialogues in the training data's form, each with its ``line`` in the file, from 1.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ExampleError: Lines are wrong, of which the first are reported, or there are no dialogues.
    """
    rows, faults = [], []
    # JSON may contain characters that splitlines takes for line ends.
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        if line.strip():
            try:
                rows.append(row_of(_parsed(line)) | {"line": number})
            except ValueError as error:
                faults.append(f"{file}:{number}: {error}")
    if len(faults) > MOST_FAULTS:
        faults[MOST_FAULTS:] = [f"and {len(faults) - MOST_FAULTS} more"]
    if faults:
        raise ExampleError("\n".join(faults))
    if not rows:
        raise ExampleError(f"{file}: no dialogues")
    return rows


def _parsed(line: bytes) -> Any:
    try:
        # Windows editors put a byte order mark at the start of a file.
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start + 1}") from error
    try:
        return _loaded(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
        raise ValueError(f"not JSON: {where}; a line is a whole dialogue") from error


def _loaded(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, or contains half of a surrogate pair.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("not JSON: objects and lists too deep in one another") from error
    # A text that was cut inside an emoji has half of a surrogate pair, which cannot be encoded.
    if "\\ud" in text.lower() and (half := _HALF.search(json.dumps(value, ensure_ascii=False))):
        code = f"\\u{ord(half[0]):04x}"
        raise ValueError(f"got {code} alone, expected both halves of a character or neither")
    return value


def row_of(line: Any) -> Row:
    """A line as a dialogue in the training data's form.

    Raises:
        ValueError: It is malformed; the message says where and what was expected.
    """
    if not isinstance(line, dict):
        raise ValueError(f"got {_kind(line)}, expected an object with messages")
    for key in sorted(line.keys() - {"messages", "tools", "parallel_tool_calls"}):
        raise ValueError(f"got key {key!r}, expected messages, tools, parallel_tool_calls")
    parallel = line.get("parallel_tool_calls")
    if not isinstance(parallel, bool | None):
        raise ValueError("parallel_tool_calls: expected true or false")
    tools = _tools([] if line.get("tools") is None else line["tools"])
    messages = line.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError(f"messages: got {_kind(messages)}, expected a list that is not empty")
    reader = _Messages({t["name"]: t for t in tools}, parallel is not False)
    read_messages = [reader.message(f"messages[{i}]", m) for i, m in enumerate(messages)]
    reader.finish()
    read_messages = _in_order(read_messages)
    system = SYSTEM_JOINT.join(m["content"] for m in read_messages if m["role"] == "system")
    return {
        "system": system,
        "tools": tools,
        "messages": [m for m in read_messages if m["role"] != "system"],
    }


def line_of(row: Mapping[str, Any]) -> Row:
    """A dialogue in the training data's form as a line; `row_of` reads it back."""
    tools = [tool.declared for tool in tools_of(row["tools"])]
    return {"messages": messages_of(turns_of(row)), "tools": tools}


def messages_of(turns: Sequence[Turn]) -> list[Row]:
    """Turns in OpenAI's form, where results name the call that they answer."""
    messages: list[Row] = []
    waiting: list[str] = []
    for turn in turns:
        message: Row = {"role": turn.role, "content": turn.content}
        if turn.calls:
            start = sum(len(m.get("tool_calls", ())) for m in messages)
            waiting = [f"call_{start + i}" for i in range(len(turn.calls))]
            named = zip(waiting, turn.calls, strict=True)
            message["tool_calls"] = [call_of(name, c.name, c.arguments) for name, c in named]
        elif turn.role == "tool" and waiting:
            message["tool_call_id"] = waiting.pop(0)
        messages.append(message)
    return messages


def call_of(identity: str, name: str, arguments: Mapping[str, Any]) -> Row:
    """A call in OpenAI's form."""
    function = {"name": name, "arguments": json.dumps(dict(arguments))}
    return {"id": identity, "type": "function", "function": function}


def _in_order(messages: Sequence[Row]) -> list[Row]:
    """Results in the order of the calls that they answer, as the model is shown them."""
    out: list[Row] = []
    for results, group in itertools.groupby(messages, key=lambda m: m["role"] == "tool"):
        some = list(group)
        if results:
            some.sort(key=lambda m: m.pop("call"))
        out += some
    return out


def _tools(raw: Any) -> list[Row]:
    if not isinstance(raw, list):
        raise ValueError(f"tools: got {_kind(raw)}, expected a list")
    tools: list[Row] = []
    for index, tool in enumerate(raw):
        where = f"tools[{index}]"
        if not isinstance(tool, dict) or tool.get("type") != "function":
            raise ValueError(f'{where}: expected {{"type": "function", "function": {{...}}}}')
        function = _object(f"{where}.function", tool.get("function"))
        name = _text(f"{where}.function.name", function.get("name"))
        if any(t["name"] == name for t in tools):
            raise ValueError(f"{where}.function.name: {name!r} is there twice")
        parameters = _parameters(f"{where}.function.parameters", function.get("parameters"))
        description = function.get("description") or ""
        if not isinstance(description, str):
            raise ValueError(f"{where}.function.description: expected a text")
        tools.append({"name": name, "description": description, "parameters": parameters})
    return tools


def _parameters(where: str, raw: Any) -> Row:
    """Check that the model's server would accept a schema; a tool may have no parameters."""
    if raw in (None, {}):
        return {"type": "object", "properties": {}}
    parameters = _object(where, raw)
    if parameters.get("type") != "object":
        raise ValueError(f"{where}: expected a schema of type object")
    properties = _object(f"{where}.properties", parameters.get("properties", {}))
    for key, schema in properties.items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, str) and kind not in _TYPES:
            told = f"{where}.properties.{key}.type: got {kind!r}"
            raise ValueError(f"{told}, expected one of {', '.join(_TYPES)}")
    try:
        check_form(parameters, where)
    except ApiError as error:
        raise ValueError(str(error)) from error
    return parameters


class _Messages:
    """Reads the messages of one dialogue in order, with the calls that wait for a result."""

    def __init__(self, tools: Mapping[str, Row], parallel: bool) -> None:
        self.tools = tools
        self.parallel = parallel
        self.waiting: list[str] = []
        self.calls: list[str] = []
        self.before: str | None = None
        self.answers = 0

    def message(self, where: str, raw: Any) -> Row:
        message = _object(where, raw)
        role = message.get("role")
        if role not in ROLES:
            raise ValueError(f"{where}.role: got {role!r}, expected one of {', '.join(ROLES)}")
        _keys(where, message, _KNOWN.get(role, {"role", "content", "name"}))
        if role != "tool" and self.waiting:
            raise ValueError(f"{where}: expected the results of calls {', '.join(self.waiting)}")
        if role == "assistant":
            read_message = self._assistant(where, message)
        elif role == "tool":
            read_message = self._result(where, message)
        else:
            content = _content(f"{where}.content", message.get("content"))
            if role in ("system", "developer"):
                if self.before not in (None, "system"):
                    raise ValueError(f"{where}: a {role} message must come first")
                role = "system"
            read_message = {"role": role, "content": content}
        self.before = read_message["role"]
        return read_message

    def _assistant(self, where: str, message: Row) -> Row:
        if (weight := message.get("weight")) not in (None, 0, 1):
            raise ValueError(f"{where}.weight: got {weight!r}, expected 0 or 1")
        if self.before == "assistant" and weight != 0:
            raise ValueError(f"{where}: two assistant messages in a row")
        raw = message.get("tool_calls") or []
        if not isinstance(raw, list):
            raise ValueError(f"{where}.tool_calls: got {_kind(raw)}, expected a list")
        given = message.get("content")
        # Many programs write an empty text next to calls to mean that there is none.
        nothing = given in (None, []) or (isinstance(given, str) and not given.strip())
        content = "" if nothing and raw else _content(f"{where}.content", given)
        if len(raw) > 1 and not self.parallel:
            raise ValueError(f"{where}: got {len(raw)} calls though parallel_tool_calls is false")
        calls = [self._call(f"{where}.tool_calls[{i}]", call) for i, call in enumerate(raw)]
        self.calls = list(self.waiting)
        read_message = {"role": "assistant", "content": content, "tool_calls": calls}
        if weight == 0:
            return read_message | {"cut": True}
        self.answers += 1
        return read_message

    def _call(self, where: str, raw: Any) -> Row:
        call = _object(where, raw)
        if call.get("type") != "function":
            raise ValueError(f"{where}.type: got {call.get('type')!r}, expected 'function'")
        identity = _text(f"{where}.id", call.get("id"))
        if identity in self.waiting:
            raise ValueError(f"{where}.id: {identity!r} is there twice")
        function = _object(f"{where}.function", call.get("function"))
        name = _text(f"{where}.function.name", function.get("name"))
        if name not in self.tools:
            expected = f"one of {sorted(self.tools)}" if self.tools else "tools to be declared"
            raise ValueError(f"{where}.function.name: got {name!r}, expected {expected}")
        arguments = _arguments(f"{where}.function.arguments", function.get("arguments"))
        _check(f"{where}.function.arguments", arguments, self.tools[name])
        self.waiting.append(identity)
        return {"name": name, "arguments": arguments}

    def _result(self, where: str, message: Row) -> Row:
        identity = _text(f"{where}.tool_call_id", message.get("tool_call_id"))
        if identity not in self.waiting:
            raise ValueError(f"{where}.tool_call_id: {identity!r} answers no call before it")
        self.waiting.remove(identity)
        content = _content(f"{where}.content", message.get("content"))
        return {"role": "tool", "content": content, "call": self.calls.index(identity)}

    def finish(self) -> None:
        if not self.answers:
            raise ValueError("messages: expected at least one of role assistant to learn")


def _check(where: str, arguments: Row, tool: Row) -> None:
    known = Tool(tool["name"], tool["description"], tool["parameters"])
    for key in arguments.keys() - known.properties.keys():
        raise ValueError(f"{where}: got {key!r}, expected of {list(known.properties)}")
    for key in sorted(known.required - arguments.keys()):
        raise ValueError(f"{where}: {key!r} is missing")
    for key, value in arguments.items():
        if value is None and key in known.nullable:
            continue
        # A value must survive being written for the model and read back.
        try:
            again = read_value(written(value, known.properties[key]), known.properties[key])
        except ValueError as error:
            raise ValueError(f"{where}.{key}: {error}") from error
        if again != value:
            raise ValueError(f"{where}.{key}: got {value!r}, which does not fit its schema")


def _arguments(where: str, raw: Any) -> Row:
    if not isinstance(raw, str):
        raise ValueError(f"{where}: got {_kind(raw)}, expected the JSON text of an object")
    try:
        value = _loaded(raw)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: not JSON: {error}") from error
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return _object(where, value)


def _keys(where: str, message: Row, known: set[str]) -> None:
    """Refuse keys that would be ignored silently, unless they are empty, as APIs write them."""
    for key in sorted(message.keys() - known):
        if message[key] not in (None, [], ""):
            raise ValueError(f"{where}: got key {key!r}, expected {', '.join(sorted(known))}")


def _content(where: str, raw: Any) -> str:
    if isinstance(raw, list):
        # Joined as the server does.
        raw = "\n".join(
            _text(f"{where}[{i}].text", _object(f"{where}[{i}]", part).get("text"))
            for i, part in enumerate(raw)
        )
    return _text(where, raw)


def _text(where: str, raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError(f"{where}: got {_kind(raw)}, expected a text that is not empty")
    return raw


def _object(where: str, raw: Any) -> Row:
    if not isinstance(raw, dict):
        raise ValueError(f"{where}: got {_kind(raw)}, expected an object")
    return raw


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "nothing"}
    return names.get(type(value), json.dumps(value)) if value != "" else "an empty text"


FEW_REQUESTS = 40
"""With fewer different requests the model learns their words before what they have in common."""
MOST_TOOLS = 20
"""Most tools whose calls are counted separately."""
_SHOWN = 3


def survey(
    file: Path, rows: Sequence[Row], length: Callable[[Row], int], max_length: int
) -> list[str]:
    """Report what a file contains, and what in it will not be learned or will not help.

    Args:
        length: Returns the length of a dialogue in tokens.
        max_length: Dialogues of more tokens than this are left out of training.

    Returns:
        Sentences, the first about what there is; each of the others is a warning.

    Raises:
        ExampleError: All dialogues are too long.
    """
    long = [row for row in rows if length(row) > max_length]
    if len(long) == len(rows):
        raise ExampleError(f"{file}: every dialogue is longer than max_length, {max_length} tokens")
    told = [f"{file.name}: {_many(len(rows), 'dialogue')}; calls of {_called(rows)}"]
    if long:
        left_out = f"{len(long)} of {_many(len(rows), 'dialogue')} left out, longer than max_length"
        told.append(f"{left_out}, {max_length} tokens: {_lines(long)}")
    told += _too_alike(rows)
    told += _unsaid(rows)
    return told


def _called(rows: Sequence[Row]) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(call["name"] for _, calls in _calls(row) for call in calls)
        counts.update(dict.fromkeys((tool["name"] for tool in row["tools"]), 0))
    most = counts.most_common(MOST_TOOLS)
    told = [f"{name} {count}" for name, count in most]
    if len(counts) > MOST_TOOLS:
        rest = counts.total() - sum(count for _, count in most)
        told.append(f"and {len(counts) - MOST_TOOLS} more tools {rest}")
    return ", ".join(told) or "no tool"


def _calls(row: Row) -> Iterator[tuple[int, list[Row]]]:
    for index, message in enumerate(row["messages"]):
        if message.get("tool_calls"):
            yield index, message["tool_calls"]


def _too_alike(rows: Sequence[Row]) -> Iterator[str]:
    asked = {m["content"] for row in rows for m in row["messages"] if m["role"] == "user"}
    if len(asked) < FEW_REQUESTS:
        yield (
            f"{_many(len(asked), 'different request')} in all: of fewer than {FEW_REQUESTS} the "
            "model learns the words and little else; write more phrasings, with more values"
        )
    if all(any(_calls(row)) for row in rows):
        yield (
            "every dialogue calls a tool: add some that mention what your tools are about where "
            "none is to be called, or every mention will call one"
        )


def _unsaid(rows: Sequence[Row]) -> Iterator[str]:
    """Warn of values that were not said, which the engine, limited to what was, cannot write."""
    found = []
    for row in rows:
        tools = {tool.name: tool for tool in tools_of(row["tools"])}
        turns = [turn_of(message) for message in row["messages"]]
        for index, turn in enumerate(turns):
            said = [text.casefold() for text in sources(turns[:index])]
            for key, value in _bound(turn, tools):
                if not any(value.casefold() in text for text in said):
                    found.append((row, f"{key} {value!r}"))
    if found:
        some = "; ".join(f"line {row['line']}: {what}" for row, what in found[:_SHOWN])
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield (
            "values that the user did not say, which a call cannot hold, as values are words that "
            f"were said: {some}{more}"
        )


def _bound(turn: Turn, tools: dict[str, Tool]) -> Iterator[tuple[str, str]]:
    for call in turn.calls:
        properties = tools[call.name].properties
        for key, value in call.arguments.items():
            schema = properties[key]
            if isinstance(value, str) and is_words(schema) and not options(schema):
                yield key, value


def _lines(rows: Sequence[Row]) -> str:
    shown = ", ".join(str(row["line"]) for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"line{'s' if len(rows) > 1 else ''} {shown}{more}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
