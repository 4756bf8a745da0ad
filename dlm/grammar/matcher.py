"""Answers that are valid by construction: matches tokens against `dlm.grammar.answer_rules`.

Tokens that the grammar forces are placed without asking the model. No two values of a call can be
copied from the same words (`dlm.grammar.distinct_spans`), and the choice of a tool's name may be
adjusted (`dlm.grammar.tool_choice`).

The parser is llguidance, which is imported when the first grammar is built.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.grammar.answer_rules import AnswerRules, Sources, lark, spelled
from dlm.grammar.compiled import CompiledGrammars, GrammarError, limits
from dlm.grammar.distinct_spans import (
    Candidates,
    DistinctSpans,
    Parameters,
    Place,
    Spans,
    labelled,
    numbers_of,
    quoted,
    spans_of,
)
from dlm.grammar.formats import FormatError, format_rules, reason
from dlm.grammar.readable_spans import readable, refers_back
from dlm.grammar.said_options import said_options
from dlm.grammar.schemas import with_held_patterns
from dlm.grammar.tool_choice import ToolChoice
from dlm.language.chat_format import Dialect, JsonCalls, MarkedCalls
from dlm.language.identifiers import worded, words
from dlm.language.messages import Tool
from dlm.language.references import DEFINITIONS, references
from dlm.language.schema import is_number
from dlm.language.spoken_numbers import COMPUTED, is_unread
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer

KEPT_SPELLINGS = 4096
MOST_NUMBERS = 64
"""If more numbers than this were said, a number may be any number."""
_REFUSAL = "Parser Error: token"


class GrammarFactory:
    """Builds matchers for one language and a model of ``vocab_size`` logits.

    There may be more logits than the language has tokens.
    """

    def __init__(self, language: Tokenizer | Dialect, vocab_size: int) -> None:
        import llguidance

        self._dialect = Template(language) if isinstance(language, Tokenizer) else language
        self._tokenizer = llguidance.LLTokenizer(
            json.dumps(self._dialect.unspellable()), n_vocab=vocab_size, eos_token=self._dialect.end
        )
        # Kept, because building a grammar takes as long as a forward and tools seldom change.
        self._compiled = CompiledGrammars(self._tokenizer)
        self._spelled = functools.lru_cache(KEPT_SPELLINGS)(
            lambda token: bytes(self._tokenizer.decode_bytes([token]))
        )

    def matcher(
        self, rules: AnswerRules, names: ToolChoice | None = None, tokens: int = 128
    ) -> Matcher:
        """A matcher at the beginning of an answer of at most ``tokens`` tokens.

        ``names`` adjusts the choice between tools.

        Raises:
            FormatError: A schema or format cannot be expressed as a grammar.
            ValueError: The rules allow no answer.
        """
        text = lark(rules, self._dialect.calls)
        _, grammars = format_rules(rules.format)
        grammar = json.dumps({"grammars": [{"lark_grammar": text}, *grammars]})
        try:
            inner = self._compiled.get(grammar, tokens)
        except GrammarError as error:
            raise _fault(str(error), text, rules) from None
        alone = rules.format is not None and not rules.callable()
        return Matcher(inner, self._dialect.end, self._distinct_spans(rules), names, alone)

    def accepts(self, schema: Mapping[str, Any]) -> Callable[[Any], bool]:
        """A function that tells whether a value is valid under a schema.

        If the schema cannot be expressed as a grammar, no value is.
        """
        grammar = {"grammars": [{"json_schema": with_held_patterns(schema)}]}
        try:
            inner = self._compiled.get(json.dumps(grammar), 0)
        except GrammarError:
            return lambda value: False

        def fits(value: Any) -> bool:
            ids = self._tokenizer.tokenize_str(json.dumps(value, ensure_ascii=False))
            here = inner.deep_copy()
            # Validated first: the parser would quote a refused token on standard error.
            whole = here.validate_tokens(ids) == len(ids) and here.consume_tokens(ids)
            return bool(whole and here.is_accepting())

        return fits

    def spell(self, token: int) -> bytes:
        """Bytes of a token."""
        return self._spelled(token)

    def _distinct_spans(self, rules: AnswerRules) -> DistinctSpans | None:
        calls, bound = self._dialect.calls, self._bound_keys(rules)
        if not (isinstance(calls, MarkedCalls) and bound):
            return None
        texts = rules.user_texts if rules.copy_sources is None else rules.copy_sources
        spans = functools.partial(spans_of, texts)
        return DistinctSpans(calls, self._dialect.end, self._spelled, bound, spans)

    def _bound_keys(self, rules: AnswerRules) -> dict[bytes, Parameters]:
        """The parameters of each tool with bound ones, in the form that `DistinctSpans` takes."""
        sources = Sources.of(rules)
        names = worded(tool.name for tool in rules.tools)
        found = {}
        for tool in rules.callable():
            properties = tool.properties
            bound: dict[str, Candidates | None] = {
                name: _read(tool, name, sources.texts, rules)
                for name in properties
                if sources.of_parameter(properties[name])
            }
            bound |= self._numbers(tool, rules)
            if rules.choice == tool.name and rules.user_texts:
                # Only for a named tool: with several calls, one may have the option that was said
                # and another one that was only meant.
                bound |= said_options(tool, rules.user_texts[-1])
            if len(bound) > 1 or any(one and one.certain for one in bound.values()):
                keys = {name: spelled(key).encode() for name, key in worded(properties).items()}
                found[spelled(names[tool.name]).encode()] = Parameters(
                    tuple(keys.values()),
                    frozenset(keys[name] for name in tool.required),
                    {keys[name]: one for name, one in bound.items()},
                )
        return found

    def _numbers(self, tool: Tool, rules: AnswerRules) -> dict[str, Candidates]:
        """For each parameter that is a number, the numbers that were said and fit its schema."""
        texts = rules.user_texts if rules.copy_sources is None else rules.copy_sources
        newest = rules.user_texts[-1] if rules.user_texts else ""
        numbers = numbers_of(texts)
        if len(numbers) > MOST_NUMBERS:
            return {}
        certain = not any(map(is_unread, texts))
        found: dict[str, Candidates] = {}
        for name, schema in tool.properties.items():
            if not (numbers and is_number(schema)):
                continue
            fits = self.accepts(schema)
            fitting = {one: at for one, at in numbers.items() if fits(json.loads(one))}
            names = map(words, tool.properties)
            own = labelled(newest, words(name) or name, names) & fitting.keys()
            computed = not COMPUTED.isdisjoint(words(name).split())
            if fitting:
                places = {k.encode(): at for k, at in fitting.items() if not own or k in own}
                find = functools.partial(_known, places)
                sure = bool(own) or (certain and not computed)
                found[name] = Candidates(find, sure, numbers=True)
        return found


def _known(places: Mapping[bytes, Sequence[Place]], _: Spans) -> Mapping[bytes, Sequence[Place]]:
    return places


def _standing(values: Iterable[str], spans: Spans) -> Mapping[bytes, Sequence[Place]]:
    return {value.encode(): tuple(spans.occurrences(value.encode())) for value in values}


def _read(tool: Tool, name: str, texts: Sequence[str], rules: AnswerRules) -> Candidates | None:
    """What a text parameter may be: the spans its reader can read, or strings labelled in quotes.

    Strings labelled in quotes count only for a parameter without a reader; None if there are none.

    With a reader, spans of the newest message come first, and earlier texts count only if that
    message has no such span, refers back to something, or names values that another reader reads as
    well. If a required value is not named in the newest message and that refers to nothing, any
    span is allowed, because what was meant earlier does not answer what is asked now.
    """
    reader = tool.readers.get(name)
    newest = rules.user_texts[-1] if rules.user_texts else ""
    if reader is None:
        own = quoted(newest, words(name) or name, map(words, tool.properties))
        return Candidates(functools.partial(_standing, own), certain=True) if own else None
    required = name in tool.required

    @functools.cache
    def find(spans: Spans) -> Mapping[bytes, Sequence[Place]]:
        here = readable([newest], reader)
        refers = reader.anywhere and refers_back(newest)
        if required and not here and not refers:
            return {}
        # "And in pounds?" names one unit where the tool has two; it may be either of them.
        others = [one.read for key, one in tool.readers.items() if key != name]
        unsure = refers or not here or any(read(one) is not None for read in others for one in here)
        earlier = readable(texts, reader) if unsure else ()
        values = (one.encode() for one in (*here, *earlier))
        return {value: tuple(spans.occurrences(value)) for value in values}

    return Candidates(find, certain=True, needed=not required)


def check_tools(tools: Sequence[Tool], calls: MarkedCalls | JsonCalls | None) -> None:
    """Refuse tools that no answer could call; parameters are well-formed and names are unique.

    Raises:
        FormatError: A parameter's schema cannot be expressed as a grammar.
        ValueError: A name or option cannot be spelled, or the dialect has no calls.
    """
    import llguidance

    if not tools:
        return
    if calls is None:
        raise ValueError("tools: got some, and this checkpoint has no calls")
    for tool in tools:
        for name, schema in tool.properties.items():
            if any(not ref.startswith(DEFINITIONS) for ref in references(schema)):
                message = f"{tool.name}.{name}: a $ref is supported to {DEFINITIONS} alone"
                raise FormatError(message, tool.name, name)
    # A text is given because tools with required ``x-as-said`` parameters need one.
    rules = AnswerRules(tuple(tools), user_texts=("a",))
    text = lark(rules, calls)
    grammar = json.dumps({"grammars": [{"lark_grammar": text}]})
    if error := llguidance.LLMatcher.validate_grammar(grammar, limits=limits()):
        raise _fault(error, text, rules)


class Matcher:
    """The state of an answer in its grammar; tokens are consumed one by one, left to right.

    A grammar that proves too complex raises a FormatError if the answer's format is all there is
    to it (``formatted``), and a plain ValueError otherwise.
    """

    def __init__(
        self,
        inner: Any,
        end: int,
        words: DistinctSpans | None = None,
        names: ToolChoice | None = None,
        formatted: bool = False,
    ) -> None:
        self._inner = inner
        self._words = words
        self._names = names
        self._formatted = formatted
        self.end = end

    @property
    def needs_logits(self) -> bool:
        """Whether tokens must be chosen from logits, because gains may yet adjust a tool's name."""
        return self._names is not None and not self._names.complete

    @property
    def adjusts(self) -> bool:
        """Whether gains adjust the logits of the next token."""
        return self._names is not None and self._names.adjusts

    @property
    def several_calls(self) -> bool:
        """Whether the answer has begun a second call; gains adjust only the first one's name."""
        return self._names is not None and self._names.calls > 1

    def in_doubt(self, logits: Tensor) -> bool:
        """See `ToolChoice.in_doubt`; false if the model alone chooses."""
        return self._names is not None and self._names.in_doubt(logits)

    def set_gains(self, gains: Mapping[str, float]) -> None:
        """See `ToolChoice.set_gains`."""
        if self._names is not None:
            self._names.set_gains(gains)

    def best(self, logits: Tensor) -> int:
        """The likeliest token that may come next, by (V,) logits; ties go to the lowest id.

        Raises:
            ValueError: No token may come next, or the grammar is too complex.
        """
        if self._names is not None:
            logits = self._names.adjusted(logits)
        likeliest = int(logits.argmax())
        # The model is mostly right, and checking one token is cheaper than checking all.
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
        """Bit masks of the tokens that may come next, here and after each token of a draft.

        Args:
            draft: n tokens.

        Returns:
            (n + 1, W), each row of at least V bits; bit j of word i stands for id 32·i + j. After a
            token that the grammar refuses, and after the end mark, everything is allowed.
        """
        here = self.copy()
        rows: list[NDArray[np.int32]] = []
        for token in (*draft, self.end):
            rows.append(here._bits())
            # Asked first: the parser would quote a refused token on standard error.
            if token == self.end or not here.takes(token):
                break
            here._consume(token)
        out = np.full((len(draft) + 1, len(rows[0])), -1, dtype=np.int32)
        out[: len(rows)] = rows
        return out

    def forced(self) -> list[int]:
        """The tokens that the grammar forces next; the state does not change."""
        return [] if self._inner.is_stopped() else list(self._inner.compute_ff_tokens())

    def takes(self, token: int) -> bool:
        """Whether a token may come next."""
        fits = self._words is None or self._words.fits(token)
        return fits and bool(self._inner.validate_tokens([token]) == 1)

    def copy(self) -> Matcher:
        """An independent copy in the same state."""
        return Matcher(*self._parts())

    def spend(self, tokens: int) -> None:
        """Note that ``tokens`` tokens of the answer's room were spent outside this grammar."""

    def _parts(self) -> tuple[Any, int, DistinctSpans | None, ToolChoice | None, bool]:
        """Independent copies of the arguments that a matcher in this state is made from."""
        words = None if self._words is None else self._words.copy()
        names = None if self._names is None else self._names.copy()
        return self._inner.deep_copy(), self.end, words, names, self._formatted

    def follow(self, ids: Sequence[int]) -> None:
        """Consume decided tokens, none of them the end mark.

        Raises:
            ValueError: One of them may not come next.
        """
        for token in ids:
            if not self._consume(token):
                self._check_but_refusal()
                raise ValueError(f"prefix: got token {token}, which the grammar does not allow")

    def advance(self, token: int) -> list[int]:
        """Consume a token other than the end mark.

        Returns:
            The tokens that the grammar forces after it, which are consumed as well. The last of
            them is the end mark if nothing else can follow.

        Raises:
            ValueError: The token may not come next.
        """
        if not self._consume(token):
            self._check_but_refusal()
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
        if taken and self._names is not None:
            self._names.follow(token)
        return taken

    def _bits(self) -> NDArray[np.int32]:
        """Bit mask, (W,), of the tokens that may come next."""
        bits = np.frombuffer(self._inner.compute_bitmask(), dtype=np.uint8)
        if self._words is None or not self._words.binds:
            return bits.view(np.int32)
        flags = np.unpackbits(bits, bitorder="little")
        for token in np.flatnonzero(flags).tolist():
            flags[token] = self._words.fits(token)
        return np.packbits(flags, bitorder="little").view(np.int32)

    def _check_but_refusal(self) -> None:
        # The parser also reports a refused token as an error; other errors are exceeded limits.
        if not self._inner.get_error().startswith(_REFUSAL):
            self._check()

    def _check(self) -> None:
        if self._inner.is_error():
            # The parser appends its whole state to the message, or a backtrace.
            message = f"grammar: {self._inner.get_error().splitlines()[0]}"
            raise FormatError(message) if self._formatted else ValueError(message)


def _fault(error: str, text: str, rules: AnswerRules) -> FormatError:
    """The FormatError for an llguidance error, with the tool and parameter that it points to."""
    line = re.search(r"^at (\d+)\(", error, re.MULTILINE)
    lines = text.splitlines()
    rule = lines[int(line[1]) - 1] if line and int(line[1]) <= len(lines) else ""
    found = re.match(r"t(\d+)(?:_(\d+))?:", rule)
    # The line may be one of the format's own grammar; the error quotes the line that it means.
    if not found or rule not in error:
        return FormatError(f"format: {reason(error)}")
    lacks = Sources.of(rules).lack
    tool = [one for one in rules.callable() if not lacks(one)][int(found[1])]
    if found[2] is None:
        return FormatError(f"{tool.name}: {reason(error)}", tool.name)
    parameter = list(tool.properties)[int(found[2])]
    return FormatError(f"{tool.name}.{parameter}: {reason(error)}", tool.name, parameter)
