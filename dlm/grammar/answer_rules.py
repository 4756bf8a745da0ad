"""What an answer may be, and the grammar of it in llguidance's Lark dialect.

Tool names, parameter names and options can only be those of the schema. An as-said string can only
be a span of words that the user said, so that a small model chooses a value and never invents one.
An answer's text follows its format where one is given (`dlm.grammar.format_rules`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlm.grammar.distinct_spans import PIECES
from dlm.grammar.format_rules import closed, format_rules, strict_json
from dlm.grammar.formats import AnswerFormat
from dlm.grammar.json_rules import call_rules, runs
from dlm.language.chat_format import NEVER_SPELLED, JsonCalls, MarkedCalls
from dlm.language.identifiers import worded
from dlm.language.messages import Tool
from dlm.language.schema import AS_SAID, is_words, options, written
from dlm.language.template import Template


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may be.

    Attributes:
        tools: Those that are offered.
        choice: ``auto``, ``none`` (words only), ``required`` (calls only), or a tool's name.
        said: Texts whose spans string values must be; None leaves strings free.
        parallel: Whether one answer may hold several calls.
        format: What the answer's text must look like, where it is not a call.
        heard: Texts whose spans the values of parameters marked ``x-as-said`` must be, where
            ``said`` is None.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    said: tuple[str, ...] | None = None
    parallel: bool = True
    format: AnswerFormat | None = None
    heard: tuple[str, ...] = ()

    @property
    def must_call(self) -> bool:
        """Whether an answer of words alone is ruled out."""
        return self.choice not in ("auto", "none")

    def callable(self) -> tuple[Tool, ...]:
        """Those of the tools that an answer may call.

        Raises:
            ValueError: A call is required and no tool is offered, or the named one is not.
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


def lark(rules: AnswerRules, calls: MarkedCalls | JsonCalls | None = Template.calls) -> str:
    """The grammar of an answer in llguidance's Lark dialect.

    Args:
        rules: What the answer may be.
        calls: How it spells calls.

    Raises:
        ValueError: The rules allow no answer.
    """
    said = None if rules.said is None else _with_words(rules.said)
    marked = _with_words(rules.heard) if rules.said is None else said
    offered = rules.callable()
    tools = [tool for tool in offered if not _lacks_words(tool, said, marked)]
    if rules.must_call and not tools:
        names = [tool.name for tool in offered]
        raise ValueError(f"said: got no words, from which {names} could take arguments")
    marks = calls if isinstance(calls, MarkedCalls) else None
    words, _ = format_rules(rules.format, " " if marks else "")
    if not tools or calls is None:
        return "\n".join(["start: text", *words]) + "\n"
    several = "call+" if marks else r'call ("\n" call)*'
    body = several if rules.parallel else "call"
    # A formatted text with a call behind it would be a text that does not end where it must.
    both = "text?" if rules.format is None else ""
    start = [f"start: {body}"] if rules.must_call else [f"start: {both} {body} | text", *words]
    if isinstance(calls, JsonCalls):
        bound = [_bound(tool, said, marked) for tool in tools]
        return "\n".join([*start, *call_rules(calls, tools, bound)]) + "\n"
    called = worded(tool.name for tool in rules.tools)
    lines = [
        *start,
        f"call: <[{calls.call}]> ({' | '.join(f't{i}' for i in range(len(tools)))})",
        *(
            line
            for i, tool in enumerate(tools)
            for line in _tool(f"t{i}", tool, called[tool.name], said, marked, calls)
        ),
        r"WORDS: / \S[^\n]*/",
        # Where no value is a span, the same tools have the same grammar whatever was said.
        *(
            _spans(said or marked or ())
            if any(_takes_spans(t, said, marked) for t in tools)
            else ()
        ),
    ]
    return "\n".join(lines) + "\n"


def _bound(tool: Tool, said: list[str] | None, marked: list[str] | None) -> dict[str, list[str]]:
    """The spans that parameters bound to what was said may be."""
    found = {}
    for name, schema in tool.properties.items():
        sources = sources_of(schema, said, marked)
        if sources is not None:
            every = (span for text in sources for span in runs(PIECES.findall(text)))
            found[name] = list(dict.fromkeys(every))
    return found


def _with_words(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if re.search(r"\w", text)]


def sources_of(
    schema: Mapping[str, Any], spans: list[str] | None, marked: list[str] | None
) -> list[str] | None:
    """The texts whose spans a parameter's value must be; None where nothing binds it."""
    if not is_words(schema) or options(schema):
        return None
    return spans if spans is not None or not schema.get(AS_SAID) else marked


def _takes_spans(tool: Tool, said: list[str] | None, marked: list[str] | None) -> bool:
    return any(sources_of(schema, said, marked) for schema in tool.properties.values())


def _tool(
    rule: str,
    tool: Tool,
    called: str,
    said: list[str] | None,
    marked: list[str] | None,
    calls: MarkedCalls,
) -> list[str]:
    parts, values = [_literal(called)], []
    keys = worded(tool.properties)
    for number, (name, schema) in enumerate(tool.properties.items()):
        sources = sources_of(schema, said, marked)
        if sources == []:
            continue
        value = f"{rule}_{number}"
        key = f"<[{calls.key}]> {_literal(keys[name])} <[{calls.value}]> {value}"
        parts.append(key if name in tool.required else f"({key})?")
        values.append(f"{value}: {_value(schema, sources)}")
    return [f"{rule}: {' '.join(parts)}", *values]


def _value(schema: Mapping[str, Any], sources: Sequence[str] | None) -> str:
    if options(schema):
        return " | ".join(_literal(written(option)) for option in options(schema))
    if not is_words(schema):
        return f'" " %json {strict_json(closed(schema))}'
    if sources is None:
        return "WORDS"
    return f'" " ({" | ".join(f"SPAN{i}" for i in range(len(sources)))})'


def _spans(said: Sequence[str]) -> list[str]:
    """Terminals SPAN0, SPAN1 …: runs of pieces of a text with a word in or behind the first."""
    lines = [r"WORDY: /\S*\w(.|\n)*/"] if said else []
    for index, text in enumerate(said):
        chunks = json.dumps({"substring_chunks": PIECES.findall(text)})
        lines += [f"SPAN{index}: RUN{index} & WORDY", f"RUN{index}: %regex {chunks}"]
    return lines


def _lacks_words(tool: Tool, spans: list[str] | None, marked: list[str] | None) -> bool:
    """Whether a required value would have to be a span where no word was said."""
    needed = (tool.properties[name] for name in tool.required)
    return any(sources_of(schema, spans, marked) == [] for schema in needed)


def _literal(text: str) -> str:
    if NEVER_SPELLED in text:
        raise ValueError(f"got {text!r}, expected no {NEVER_SPELLED!r} in names and options")
    return json.dumps(spelled(text))


def spelled(text: str) -> str:
    """A name or option as answers spell it, with its leading space."""
    return f" {text.strip()}"
