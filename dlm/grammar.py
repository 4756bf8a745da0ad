"""Answers that are valid by construction: a grammar over tokens, from the tools that are offered.

Tool names, parameter names and options can only be those of the schema; the punctuation between
them is forced, and so placed without a decision. An as-said string can only be a span of words
that the user said, so that a small model chooses a value and never invents one.

The matcher is llguidance's; it is imported when the first grammar is built.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dlm.template import Tool, written
from dlm.tokenizer import Mark, Tokenizer


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may be.

    Attributes:
        tools: Those that may be called.
        choice: ``auto``, ``none`` (words only), ``required`` (calls only), or a tool's name.
        said: Texts whose spans string values must be; None leaves strings free.
        parallel: Whether one answer may hold several calls.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    said: tuple[str, ...] | None = None
    parallel: bool = True


class GrammarFactory:
    """Builds matchers for one tokenizer and a model of ``vocab_size`` logits, which may be more."""

    def __init__(self, tokenizer: Tokenizer, vocab_size: int) -> None:
        import llguidance

        self._tokenizer = llguidance.LLTokenizer(
            tokenizer.bpe.to_str(), n_vocab=vocab_size, eos_token=int(Mark.END)
        )
        self._vocab_size = vocab_size

    def matcher(self, rules: AnswerRules) -> Matcher:
        """A matcher at the beginning of an answer.

        Raises:
            ValueError: The rules allow no answer, or a schema cannot be expressed.
        """
        import llguidance

        grammar = llguidance.grammar_from("lark", lark(rules))
        inner = llguidance.LLMatcher(self._tokenizer, grammar)
        if inner.is_error():
            raise ValueError(f"grammar: {inner.get_error()}")
        return Matcher(inner, self._vocab_size)


class Matcher:
    """Where an answer stands in its grammar. Tokens go in one by one, left to right."""

    def __init__(self, inner: Any, vocab_size: int) -> None:
        self._inner = inner
        self._vocab_size = vocab_size

    @property
    def stopped(self) -> bool:
        """Whether the answer is complete, its end mark consumed."""
        return bool(self._inner.is_stopped())

    def best(self, logits: Tensor) -> int:
        """The likeliest token that may come next; ties go to the lowest id.

        Args:
            logits: (V,) floating point, on the CPU.

        Raises:
            ValueError: Nothing may come next.
        """
        bits = np.frombuffer(self._inner.compute_bitmask(), dtype=np.uint8)
        allowed = torch.from_numpy(np.unpackbits(bits, bitorder="little")).bool()
        masked = logits.masked_fill(~allowed[: self._vocab_size], -torch.inf)
        best = int(masked.argmax())
        if masked[best] == -torch.inf:
            raise ValueError("the grammar allows no token")
        return best

    def consume(self, token: int) -> None:
        """Go on with a token.

        Raises:
            ValueError: It may not come next.
        """
        if not self._inner.consume_token(int(token)):
            raise ValueError(f"got token {token}, which the grammar does not allow here")

    def forced(self) -> list[int]:
        """Tokens that must come next, whatever the model thinks; not consumed yet."""
        return [] if self.stopped else list(self._inner.compute_ff_tokens())


def lark(rules: AnswerRules) -> str:
    """The grammar of an answer in llguidance's Lark dialect.

    Raises:
        ValueError: A call is required and no tool is offered, or the named one is not.
    """
    named = [tool for tool in rules.tools if tool.name == rules.choice]
    if rules.choice not in ("auto", "none", "required") and not named:
        names = [tool.name for tool in rules.tools]
        raise ValueError(f"tool_choice: got {rules.choice!r}, expected one of {names}")
    tools = named or (() if rules.choice == "none" else rules.tools)
    if rules.choice == "required" and not tools:
        raise ValueError("tool_choice: got 'required', expected tools to choose from")
    if not tools:
        return 'start: TEXT\nTEXT: " " /(.|\\n)+/\n'
    calls = "call+" if rules.parallel else "call"
    must = rules.choice != "auto"
    lines = [
        f"start: {calls}" if must else f"start: TEXT | {calls} | TEXT {calls}",
        'TEXT: " " /(.|\\n)+/',
        f"call: <[{int(Mark.CALL)}]> ({' | '.join(f't{i}' for i in range(len(tools)))})",
        *(f"t{i}: {_tool(i, tool)}" for i, tool in enumerate(tools)),
        *_values(tools, rules.said),
    ]
    return "\n".join(lines if not must else [line for line in lines if line[:4] != "TEXT"]) + "\n"


def _tool(index: int, tool: Tool) -> str:
    parts = [_literal(f" {tool.name}")]
    for number, name in enumerate(tool.properties):
        key = f"<[{int(Mark.KEY)}]> {_literal(f' {name}')} <[{int(Mark.VALUE)}]> v{index}_{number}"
        parts.append(key if name in tool.required else f"({key})?")
    return " ".join(parts)


def _values(tools: Sequence[Tool], said: tuple[str, ...] | None) -> list[str]:
    spans = [text for text in said or () if text.strip()]
    lines = []
    for index, tool in enumerate(tools):
        for number, schema in enumerate(tool.properties.values()):
            lines.append(f"v{index}_{number}: {_value(schema, len(spans))}")
    lines.append('WORDS: " " /[^ \\n][^\\n]*/')
    lines += [
        f"SPAN{i}: %regex {json.dumps({'substring_words': text})}" for i, text in enumerate(spans)
    ]
    return lines


def _value(schema: Mapping[str, Any], spans: int) -> str:
    if "enum" in schema:
        return " | ".join(_literal(f" {written(option)}") for option in schema["enum"])
    if schema.get("type", "string") != "string":
        return f'" " %json {json.dumps(dict(schema))}'
    if not spans:
        return "WORDS"
    return '" " (' + " | ".join(f"SPAN{i}" for i in range(spans)) + ")"


def _literal(text: str) -> str:
    return json.dumps(text)
