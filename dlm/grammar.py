"""Answers that are valid by construction: a grammar over tokens, from the tools that are offered.

Tool names, parameter names and options can only be those of the schema; the punctuation between
them is forced, and so placed without a decision. An as-said string can only be a span of words
that the user said, so that a small model chooses a value and never invents one, and no two values
of a call can be of the same words (`dlm.disjoint`).
An answer's text follows its format where one is given (`dlm.format_rules`).

The matcher is llguidance's; it is imported when the first grammar is built.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.dialect import NEVER_SPELLED, Dialect, JsonCalls, MarkedCalls
from dlm.disjoint import PIECES, Disjoint, spans_of
from dlm.format_rules import closed, format_rules, reason, strict_json
from dlm.formats import AnswerFormat, FormatError
from dlm.json_rules import call_rules, runs
from dlm.naming import worded
from dlm.schema import AS_SAID, is_words, options, written
from dlm.template import Template, Tool
from dlm.tokenizer import Tokenizer

KEPT_GRAMMARS = 32
"""With twenty tools one takes a megabyte, and what was said in it makes it serve a single turn."""
KEPT_SPELLINGS = 4096


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


class GrammarFactory:
    """Builds matchers for one language and a model of ``vocab_size`` logits, which may be more."""

    def __init__(self, language: Tokenizer | Dialect, vocab_size: int) -> None:
        import llguidance

        self._dialect = Template(language) if isinstance(language, Tokenizer) else language
        self._tokenizer = llguidance.LLTokenizer(
            json.dumps(self._dialect.unspellable()),
            n_vocab=vocab_size,
            eos_token=self._dialect.end,
        )
        # Building one takes as long as a forward, and offered tools seldom change.
        self._built = functools.lru_cache(KEPT_GRAMMARS)(
            functools.partial(llguidance.LLMatcher, self._tokenizer)
        )
        self._spelled = functools.lru_cache(KEPT_SPELLINGS)(
            lambda token: bytes(self._tokenizer.decode_bytes([token]))
        )

    def matcher(self, rules: AnswerRules) -> Matcher:
        """A matcher at the beginning of an answer.

        Raises:
            FormatError: A schema or format cannot be expressed.
            ValueError: The rules allow no answer.
        """
        text = lark(rules, self._dialect.calls)
        _, grammars = format_rules(rules.format)
        grammar = json.dumps({"grammars": [{"lark_grammar": text}, *grammars]})
        inner = self._built(grammar)
        if inner.is_error():
            raise _fault(inner.get_error(), text, rules)
        return Matcher(inner.deep_copy(), self._dialect.end, self._disjoint(rules))

    def _disjoint(self, rules: AnswerRules) -> Disjoint | None:
        calls, bound = self._dialect.calls, _bound_keys(rules)
        if not (isinstance(calls, MarkedCalls) and bound):
            return None
        spans = functools.partial(spans_of, rules.heard if rules.said is None else rules.said)
        return Disjoint(calls, self._dialect.end, self._spelled, bound, spans)


class Matcher:
    """Where an answer stands in its grammar. Tokens go in one by one, left to right.

    Attributes:
        end: The token that ends an answer.
    """

    def __init__(self, inner: Any, end: int, words: Disjoint | None = None) -> None:
        self._inner = inner
        self._words = words
        self.end = end

    def best(self, logits: Tensor) -> int:
        """The likeliest token that may come next; ties go to the lowest id.

        Args:
            logits: (V,) floating point, on the CPU.

        Raises:
            ValueError: Nothing may come next.
        """
        likeliest = int(logits.argmax())
        # Most often the model is right, and asking for one token is cheaper than for all of them.
        if self.takes(likeliest):
            return likeliest
        bits = self._bits().view(np.uint8)
        self._check()
        allowed = np.unpackbits(bits, count=len(logits), bitorder="little")
        masked = logits.masked_fill(torch.from_numpy(allowed) == 0, -torch.inf)
        best = int(masked.argmax())
        if masked[best] == -torch.inf:
            raise ValueError("the grammar allows no token")
        return best

    def allowed(self, draft: Sequence[int]) -> NDArray[np.int32]:
        """Bits of what may come next, and behind each token of a draft; this one does not move.

        Args:
            draft: n tokens.

        Returns:
            (n + 1, W) of at least V bits in a row, bit j of word i for id 32·i + j. Behind a
            token that the grammar refuses, or the end mark, nothing is asked for: all is allowed.
        """
        here = self.copy()
        rows: list[NDArray[np.int32]] = []
        for token in (*draft, self.end):
            rows.append(here._bits())
            # Asked first, because a refused token would be quoted on standard error.
            if token == self.end or not here.takes(token):
                break
            here._consume(token)
        out = np.full((len(draft) + 1, len(rows[0])), -1, dtype=np.int32)
        out[: len(rows)] = rows
        return out

    def forced(self) -> list[int]:
        """What must come next, whatever the model thinks; this one does not move."""
        return [] if self._inner.is_stopped() else list(self._inner.compute_ff_tokens())

    def takes(self, token: int) -> bool:
        """Whether a token may come next."""
        fits = self._words is None or self._words.fits(token)
        return fits and bool(self._inner.validate_tokens([token]) == 1)

    def copy(self) -> Matcher:
        """One that stands at the same place and goes on by itself."""
        words = None if self._words is None else self._words.copy()
        return Matcher(self._inner.deep_copy(), self.end, words)

    def follow(self, ids: Sequence[int]) -> None:
        """Go on with tokens that are decided already, the end mark not among them.

        Raises:
            ValueError: One of them may not come next.
        """
        for token in ids:
            if not self._consume(token):
                raise ValueError(f"prefix: got token {token}, which the grammar does not allow")

    def advance(self, token: int) -> list[int]:
        """Go on with a token other than the end mark.

        Returns:
            The tokens that must follow it, whatever the model thinks: these are consumed as well.
            The last of them is the end mark where nothing else can follow.

        Raises:
            ValueError: The token may not come next.
        """
        if not self._consume(token):
            raise ValueError(f"got token {token}, which the grammar does not allow here")
        forced = [] if self._inner.is_stopped() else list(self._inner.compute_ff_tokens())
        for follower in forced:
            self._consume(follower)
        self._check()
        return [*forced, self.end] if self._inner.is_stopped() else forced

    def _consume(self, token: int) -> bool:
        if self._words is not None and not self._words.fits(token):
            return False
        taken = bool(self._inner.consume_token(token))
        if taken and self._words is not None:
            self._words.follow(token)
        return taken

    def _bits(self) -> NDArray[np.int32]:
        """(W,) what may come next."""
        bits = np.frombuffer(self._inner.compute_bitmask(), dtype=np.uint8)
        if self._words is None or not self._words.binds:
            return bits.view(np.int32)
        flags = np.unpackbits(bits, bitorder="little")
        for token in np.flatnonzero(flags).tolist():
            flags[token] = self._words.fits(token)
        return np.packbits(flags, bitorder="little").view(np.int32)

    def _check(self) -> None:
        if self._inner.is_error():
            raise ValueError(f"grammar: {self._inner.get_error()}")


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
        *_spans(said or marked or ()),
    ]
    return "\n".join(lines) + "\n"


def _bound_keys(rules: AnswerRules) -> dict[bytes, frozenset[bytes]]:
    """Of tools with several, the parameters that are bound to what was said, as spelled."""
    said, heard = None if rules.said is None else list(rules.said), list(rules.heard)
    names = worded(tool.name for tool in rules.tools)
    found = {}
    for tool in rules.callable():
        properties = tool.properties
        keys = worded(properties)
        bound = [keys[key] for key in properties if _sources(properties[key], said, heard)]
        if len(bound) > 1:
            spelled = frozenset(_spelled(key).encode() for key in bound)
            found[_spelled(names[tool.name]).encode()] = spelled
    return found


def _bound(tool: Tool, said: list[str] | None, marked: list[str] | None) -> dict[str, list[str]]:
    """The spans that parameters bound to what was said may be."""
    found = {}
    for name, schema in tool.properties.items():
        sources = _sources(schema, said, marked)
        if sources is not None:
            every = (span for text in sources for span in runs(PIECES.findall(text)))
            found[name] = list(dict.fromkeys(every))
    return found


def _with_words(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if re.search(r"\w", text)]


def _sources(
    schema: Mapping[str, Any], spans: list[str] | None, marked: list[str] | None
) -> list[str] | None:
    """The texts whose spans a parameter's value must be; None where nothing binds it."""
    if not is_words(schema) or options(schema):
        return None
    return spans if spans is not None or not schema.get(AS_SAID) else marked


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
        sources = _sources(schema, said, marked)
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
    return any(_sources(schema, spans, marked) == [] for schema in needed)


def _fault(error: str, text: str, rules: AnswerRules) -> FormatError:
    """What llguidance found, with the tool and parameter whose line of the grammar it names."""
    line = re.search(r"^at (\d+)\(", error, re.MULTILINE)
    lines = text.splitlines()
    rule = lines[int(line[1]) - 1] if line and int(line[1]) <= len(lines) else ""
    found = re.match(r"t(\d+)(?:_(\d+))?:", rule)
    if not found:
        return FormatError(f"format: {reason(error)}")
    tool = rules.callable()[int(found[1])]
    if found[2] is None:
        return FormatError(f"{tool.name}: {reason(error)}", tool.name)
    parameter = list(tool.properties)[int(found[2])]
    return FormatError(f"{tool.name}.{parameter}: {reason(error)}", tool.name, parameter)


def _literal(text: str) -> str:
    if NEVER_SPELLED in text:
        raise ValueError(f"got {text!r}, expected no {NEVER_SPELLED!r} in names and options")
    return json.dumps(_spelled(text))


def _spelled(text: str) -> str:
    return f" {text.strip()}"
