"""What an answer may be, and its grammar in llguidance's Lark dialect.

Tool names, parameter names and options can only be those of the schema. A string argument that is
copied can only be a span of words of given texts, so a small model chooses a value and never
invents one. If the answer's text has a format, it follows that (`dlm.grammar.formats`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlm.grammar.distinct_spans import APOSTROPHES, PIECES
from dlm.grammar.formats import AnswerFormat, FormatError, format_rules, strict_json
from dlm.grammar.said import runs
from dlm.language.chat_format import NEVER_SPELLED, JsonCalls, MarkedCalls
from dlm.language.identifiers import are_distinct, worded
from dlm.language.messages import Tool
from dlm.language.references import reachable
from dlm.language.schema import AS_SAID, is_number, is_words, options, written
from dlm.language.template import Template

MOST_CHARACTERS = 2**22
"""Most characters of all tools' parameters. Each counts with the definitions it refers to, because
they are repeated in the grammar for each parameter."""


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may be.

    Attributes:
        choice: ``auto``, ``none`` (words only), ``required`` (calls only), or a tool's name.
        copy_sources: Texts that string values must be spans of; None leaves strings free.
        parallel: Whether one answer may hold several calls.
        format: Format of an answer that is not a call; None for plain text.
        user_texts: Texts that values of parameters marked ``x-as-said`` must be spans of if
            ``copy_sources`` is None.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    copy_sources: tuple[str, ...] | None = None
    parallel: bool = True
    format: AnswerFormat | None = None
    user_texts: tuple[str, ...] = ()

    @property
    def must_call(self) -> bool:
        """Whether an answer of words alone is ruled out."""
        return self.choice not in ("auto", "none")

    @property
    def has_endless(self) -> bool:
        """Whether a value of a call may be of any length: JSON, or words tied to no text."""
        bound = Sources.of(self).of_parameter
        values = (value for tool in self.callable() for value in tool.properties.values())
        return any(not options(v) and not is_number(v) and bound(v) is None for v in values)

    def callable(self) -> tuple[Tool, ...]:
        """The tools that an answer may call.

        Raises:
            ValueError: A call is required but no tool is offered, or the named tool is not offered.
        """
        if self.choice == "none":
            return ()
        if self.choice in ("auto", "required"):
            tools = self.tools
        else:
            tools = tuple(tool for tool in self.tools if tool.name == self.choice)
        if self.must_call and not tools:
            names = [tool.name for tool in self.tools]
            raise ValueError(f"tool_choice: got {self.choice!r}, which none of {names} can meet")
        return tools


@dataclass(frozen=True, slots=True)
class Sources:
    """The texts of `AnswerRules` that have words, and which parameters must be spans of them.

    Attributes:
        texts: Texts that values are copied from.
        all_strings: Whether all strings are spans, or only parameters marked ``x-as-said``.
    """

    texts: list[str]
    all_strings: bool

    @classmethod
    def of(cls, rules: AnswerRules) -> Sources:
        """The texts of some rules."""
        texts = rules.user_texts if rules.copy_sources is None else rules.copy_sources
        return cls(
            [text for text in texts if re.search(r"\w", text)], rules.copy_sources is not None
        )

    def of_parameter(self, schema: Mapping[str, Any]) -> list[str] | None:
        """The texts that a parameter's value must be a span of; None if the value is free."""
        free = not is_words(schema) or bool(options(schema))
        return self.texts if not free and (self.all_strings or schema.get(AS_SAID)) else None

    def bind(self, tool: Tool) -> bool:
        """Whether some value of a tool's call must be a span of a text."""
        return any(self.of_parameter(schema) for schema in tool.properties.values())

    def lack(self, tool: Tool) -> bool:
        """Whether a required value must be a span although no text has words."""
        properties = tool.properties
        return any(self.of_parameter(properties[name]) == [] for name in tool.required)


def lead(calls: MarkedCalls | JsonCalls | None) -> str:
    """What stands before an answer's text: a space in dialects with marked calls, else nothing."""
    return " " if isinstance(calls, MarkedCalls) else ""


def lark(rules: AnswerRules, calls: MarkedCalls | JsonCalls | None = Template.calls) -> str:
    """The grammar of an answer in llguidance's Lark dialect.

    Raises:
        ValueError: The rules allow no answer.
    """
    sources = Sources.of(rules)
    offered = rules.callable()
    tools = [tool for tool in offered if not sources.lack(tool)]
    if rules.must_call and not tools:
        names = [tool.name for tool in offered]
        raise ValueError(f"copy_sources: got no words, from which {names} could take arguments")
    words, _ = format_rules(rules.format, lead(calls))
    if not tools or calls is None:
        return "\n".join(["start: text", *words]) + "\n"
    several = r'call ("\n" call)*' if isinstance(calls, JsonCalls) else "call+"
    body = several if rules.parallel else "call"
    # A formatted text must end where its format does, so no call may follow it.
    both = "text?" if rules.format is None else ""
    start = [f"start: {body}"] if rules.must_call else [f"start: {both} {body} | text", *words]
    if isinstance(calls, JsonCalls):
        bound = [_bound(tool, sources) for tool in tools]
        return "\n".join([*start, *_json_calls(calls, tools, bound)]) + "\n"
    _check_size(tools)
    called = worded(tool.name for tool in rules.tools)
    lines = [
        *start,
        f"call: <[{calls.call}]> ({' | '.join(f't{i}' for i in range(len(tools)))})",
        *(
            line
            for i, tool in enumerate(tools)
            for line in _tool(f"t{i}", tool, called[tool.name], sources, calls)
        ),
        r"WORDS: / \S[^\n]*/",
        # Without spans, the grammar of the same tools is the same for all texts, and is kept.
        *(_spans(sources.texts) if any(map(sources.bind, tools)) else ()),
    ]
    return "\n".join(lines) + "\n"


def _check_size(tools: Sequence[Tool]) -> None:
    size = 0
    for tool in tools:
        size += sum(len(json.dumps(schema)) for schema in tool.properties.values())
        if size > MOST_CHARACTERS:
            told = f"got {size} characters, expected at most {MOST_CHARACTERS}"
            raise FormatError(f"{tool.name}: parameters and definitions: {told}", tool.name)


def _json_calls(
    calls: JsonCalls, tools: Sequence[Tool], spans: Sequence[Mapping[str, Sequence[str]]]
) -> list[str]:
    """The rule ``call`` and the rules that it refers to, for calls written in JSON.

    For each tool, ``spans`` lists the spans that its bound parameters may have, because a JSON
    schema cannot say in another way that a value is a span.
    """
    names = " | ".join(f"t{number}" for number in range(len(tools)))
    lines = [f'call: <[{calls.opening}]> "\\n" ({names}) "\\n" <[{calls.closing}]>']
    for number, (tool, values) in enumerate(zip(tools, spans, strict=True)):
        try:
            lines.append(f"t{number}: %json {strict_json(_call_schema(tool, values))}")
        except FormatError as error:
            fault = str(error).removeprefix("format: ")
            raise FormatError(f"{tool.name}: {fault}", tool.name) from None
    return lines


def _call_schema(tool: Tool, values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {"enum": list(values[name])} if name in values else _without_definitions(schema)
        for name, schema in tool.properties.items()
        # A bound parameter without any span is left out.
        if name not in values or values[name]
    }
    arguments = {
        "type": "object",
        "properties": properties,
        "required": sorted(tool.required),
        "additionalProperties": False,
    }
    # References start at the root, which here is not the schema of the parameter.
    definitions = reachable(properties, tool.parameters.get("$defs", {}))
    return {
        **({"$defs": definitions} if definitions else {}),
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _without_definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}


def _bound(tool: Tool, sources: Sources) -> dict[str, list[str]]:
    """For each parameter that is bound to texts, the spans that it may have."""
    found = {}
    for name, schema in tool.properties.items():
        texts = sources.of_parameter(schema)
        if texts is not None:
            every = (span for text in texts for span in runs(PIECES.findall(text)))
            found[name] = list(dict.fromkeys(every))
    return found


def _tool(rule: str, tool: Tool, called: str, sources: Sources, calls: MarkedCalls) -> list[str]:
    parts, values = [_literal(called)], []
    properties, required = tool.properties, tool.required
    if not are_distinct(properties):
        message = f"{tool.name}: got parameters whose names differ only in space around them"
        raise FormatError(message, tool.name)
    keys = worded(properties)
    for number, (name, schema) in enumerate(properties.items()):
        texts = sources.of_parameter(schema)
        if texts == []:
            continue
        value = f"{rule}_{number}"
        try:
            key = f"<[{calls.key}]> {_literal(keys[name])} <[{calls.value}]> {value}"
            parts.append(key if name in required else f"({key})?")
            values.append(f"{value}: {_value(schema, texts)}")
        except ValueError as error:
            fault = str(error).removeprefix("format: ")
            raise FormatError(f"{tool.name}.{name}: {fault}", tool.name, name) from None
    return [f"{rule}: {' '.join(parts)}", *values]


def _value(schema: Mapping[str, Any], texts: Sequence[str] | None) -> str:
    if options(schema):
        return " | ".join(_literal(written(option)) for option in options(schema))
    if not is_words(schema):
        return f'" " %json {strict_json(schema)}'
    if texts is None:
        return "WORDS"
    return f'" " ({" | ".join(f"SPAN{i}" for i in range(len(texts)))})'


def _spans(texts: Sequence[str]) -> list[str]:
    """Terminals SPAN0, SPAN1 …, one for each text: runs of its pieces that hold a word character.

    That character stands before the first space, and no span begins with an apostrophe.
    """
    lines = [rf"WORDY: /([^\s{APOSTROPHES}]\S*)?\w(.|\n)*/"] if texts else []
    for index, text in enumerate(texts):
        chunks = json.dumps({"substring_chunks": PIECES.findall(text)})
        lines += [f"SPAN{index}: RUN{index} & WORDY", f"RUN{index}: %regex {chunks}"]
    return lines


def _literal(text: str) -> str:
    if NEVER_SPELLED in text:
        raise ValueError(f"got {text!r}, expected no {NEVER_SPELLED!r} in names and options")
    return json.dumps(spelled(text))


def spelled(text: str) -> str:
    """A name or option as answers spell it, with a leading space."""
    return f" {text.strip()}"
