"""Answers that are valid by construction: a grammar over tokens, from the tools that are offered.

Tool names, parameter names and options can only be those of the schema; the punctuation between
them is forced, and so placed without a decision. An as-said string can only be a span of words
that the user said, so that a small model chooses a value and never invents one.

The matcher is llguidance's; it is imported when the first grammar is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dlm.schema import is_words, options, written
from dlm.template import Tool
from dlm.tokenizer import Mark, Tokenizer

_NEVER_SPELLED = "\0"

# Pieces that a span is made of. A number and a contraction are one word each.
_PIECES = re.compile(r"\d+(?:[.,:]\d+)+|\w+(?:['’]\w+)*|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What an answer may be.

    Attributes:
        tools: Those that are offered.
        choice: ``auto``, ``none`` (words only), ``required`` (calls only), or a tool's name.
        said: Texts whose spans string values must be; None leaves strings free.
        parallel: Whether one answer may hold several calls.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    said: tuple[str, ...] | None = None
    parallel: bool = True

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


class GrammarFactory:
    """Builds matchers for one tokenizer and a model of ``vocab_size`` logits, which may be more."""

    def __init__(self, tokenizer: Tokenizer, vocab_size: int) -> None:
        import llguidance

        self._tokenizer = llguidance.LLTokenizer(
            _unspellable(tokenizer), n_vocab=vocab_size, eos_token=int(Mark.END)
        )

    def matcher(self, rules: AnswerRules) -> Matcher:
        """A matcher at the beginning of an answer.

        Raises:
            ValueError: The rules allow no answer, or a schema cannot be expressed.
        """
        import llguidance

        grammar = llguidance.grammar_from("lark", lark(rules))
        return Matcher(llguidance.LLMatcher(self._tokenizer, grammar))


class Matcher:
    """Where an answer stands in its grammar. Tokens go in one by one, left to right."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._check()

    def best(self, logits: Tensor) -> int:
        """The likeliest token that may come next; ties go to the lowest id.

        Args:
            logits: (V,) floating point, on the CPU.

        Raises:
            ValueError: Nothing may come next.
        """
        likeliest = int(logits.argmax())
        # Most often the model is right, and asking for one token is cheaper than for all of them.
        if self._inner.validate_tokens([likeliest]) == 1:
            return likeliest
        bits = np.frombuffer(self._inner.compute_bitmask(), dtype=np.uint8)
        self._check()
        allowed = np.unpackbits(bits, count=len(logits), bitorder="little")
        masked = logits.masked_fill(torch.from_numpy(allowed) == 0, -torch.inf)
        best = int(masked.argmax())
        if masked[best] == -torch.inf:
            raise ValueError("the grammar allows no token")
        return best

    def advance(self, token: int) -> list[int]:
        """Go on with a token other than the end mark.

        Returns:
            The tokens that must follow it, whatever the model thinks: these are consumed as well.
            The last of them is the end mark where nothing else can follow.

        Raises:
            ValueError: The token may not come next.
        """
        if not self._inner.consume_token(token):
            raise ValueError(f"got token {token}, which the grammar does not allow here")
        forced = [] if self._inner.is_stopped() else list(self._inner.compute_ff_tokens())
        for follower in forced:
            self._inner.consume_token(follower)
        self._check()
        return [*forced, int(Mark.END)] if self._inner.is_stopped() else forced

    def _check(self) -> None:
        if self._inner.is_error():
            raise ValueError(f"grammar: {self._inner.get_error()}")


def lark(rules: AnswerRules) -> str:
    """The grammar of an answer in llguidance's Lark dialect.

    Raises:
        ValueError: The rules allow no answer.
    """
    spans = None if rules.said is None else [text for text in rules.said if re.search(r"\w", text)]
    offered = rules.callable()
    tools = offered if spans is None or spans else [t for t in offered if not _needs_words(t)]
    if rules.must_call and not tools:
        names = [tool.name for tool in offered]
        raise ValueError(f"said: got no words, from which {names} could take arguments")
    words = r"TEXT: / \S(.|\n)*/"
    if not tools:
        return f"start: TEXT\n{words}\n"
    calls = "call+" if rules.parallel else "call"
    start = [f"start: {calls}"] if rules.must_call else [f"start: TEXT? {calls} | TEXT", words]
    lines = [
        *start,
        f"call: <[{int(Mark.CALL)}]> ({' | '.join(f't{i}' for i in range(len(tools)))})",
        *(line for i, tool in enumerate(tools) for line in _tool(f"t{i}", tool, spans)),
        r"WORDS: / \S[^\n]*/",
        *_spans(spans or ()),
    ]
    return "\n".join(lines) + "\n"


def _tool(rule: str, tool: Tool, spans: Sequence[str] | None) -> list[str]:
    parts, values = [_literal(tool.name)], []
    for number, (name, schema) in enumerate(tool.properties.items()):
        if spans == [] and _as_said(schema):
            continue
        value = f"{rule}_{number}"
        key = f"<[{int(Mark.KEY)}]> {_literal(name)} <[{int(Mark.VALUE)}]> {value}"
        parts.append(key if name in tool.required else f"({key})?")
        values.append(f"{value}: {_value(schema, spans)}")
    return [f"{rule}: {' '.join(parts)}", *values]


def _value(schema: Mapping[str, Any], spans: Sequence[str] | None) -> str:
    if options(schema):
        return " | ".join(_literal(written(option)) for option in options(schema))
    if not is_words(schema):
        return f'" " %json {json.dumps(dict(schema))}'
    if spans is None:
        return "WORDS"
    return f'" " ({" | ".join(f"SPAN{i}" for i in range(len(spans)))})'


def _spans(said: Sequence[str]) -> list[str]:
    """Terminals SPAN0, SPAN1 …: runs of pieces of a text with a word in or behind the first."""
    lines = [r"WORDY: /\S*\w(.|\n)*/"] if said else []
    for index, text in enumerate(said):
        chunks = json.dumps({"substring_chunks": _PIECES.findall(text)})
        lines += [f"SPAN{index}: RUN{index} & WORDY", f"RUN{index}: %regex {chunks}"]
    return lines


def _as_said(schema: Mapping[str, Any]) -> bool:
    return is_words(schema) and not options(schema)


def _needs_words(tool: Tool) -> bool:
    return any(_as_said(tool.properties[name]) for name in tool.required & tool.properties.keys())


def _literal(text: str) -> str:
    if _NEVER_SPELLED in text:
        raise ValueError(f"got {text!r}, expected no {_NEVER_SPELLED!r} in names and options")
    return json.dumps(f" {text.strip()}")


def _unspellable(tokenizer: Tokenizer) -> str:
    """The tokenizer's JSON, its marks spelled as no text is.

    llguidance looks for marks in the text that it forces; a tool called ``<|end|>`` would end the
    answer.
    """
    raw = json.loads(tokenizer.bpe.to_str())
    vocabulary = raw["model"]["vocab"]
    for mark in raw["added_tokens"]:
        spelled = mark["content"]
        mark["content"] = _NEVER_SPELLED + spelled
        vocabulary[mark["content"]] = vocabulary.pop(spelled)
    return json.dumps(raw)
