"""Answers that are valid by construction: a matcher of tokens against `dlm.grammar.answer_rules`.

What the grammar forces is placed without a decision; no two values of a call can be of the same
words (`dlm.grammar.distinct_spans`), and where a tool's name is written `dlm.grammar.tool_choice`
may have a say.

The matcher is llguidance's; it is imported when the first grammar is built.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.grammar.answer_rules import AnswerRules, lark, sources_of, spelled
from dlm.grammar.distinct_spans import DistinctSpans, spans_of
from dlm.grammar.format_rules import format_rules, reason
from dlm.grammar.formats import FormatError
from dlm.grammar.tool_choice import ToolChoice
from dlm.language.chat_format import Dialect, JsonCalls, MarkedCalls
from dlm.language.identifiers import worded
from dlm.language.messages import Tool
from dlm.language.references import DEFINITIONS, references
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer

KEPT_GRAMMARS = 32
"""With twenty tools one takes a megabyte, and what was said in it makes it serve a single turn."""
KEPT_SPELLINGS = 4096
_STATE = "\n<state>"
_REFUSAL = "Parser Error: token"


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

    def matcher(self, rules: AnswerRules, names: ToolChoice | None = None) -> Matcher:
        """A matcher at the beginning of an answer.

        Args:
            rules: What the answer may be.
            names: At the same place; None where nothing but the model chooses between tools.

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
        alone = rules.format is not None and not rules.callable()
        return Matcher(inner.deep_copy(), self._dialect.end, self._disjoint(rules), names, alone)

    def _disjoint(self, rules: AnswerRules) -> DistinctSpans | None:
        calls, bound = self._dialect.calls, _bound_keys(rules)
        if not (isinstance(calls, MarkedCalls) and bound):
            return None
        spans = functools.partial(spans_of, rules.heard if rules.said is None else rules.said)
        return DistinctSpans(calls, self._dialect.end, self._spelled, bound, spans)


def check_tools(tools: Sequence[Tool], calls: MarkedCalls | JsonCalls | None) -> None:
    """Refuse tools that no answer could call, before anything is asked.

    Args:
        tools: Of well-formed parameters and different names.
        calls: How answers spell calls.

    Raises:
        FormatError: A parameter's schema cannot be expressed.
        ValueError: A name or option cannot be spelled, or answers have no calls.
    """
    import llguidance

    if not tools:
        return
    if calls is None:
        raise ValueError("tools: got some, and this checkpoint has no calls")
    for tool in tools:
        for name, schema in tool.properties.items():
            if any(not ref.startswith(DEFINITIONS) for ref in references(schema)):
                told = f"{tool.name}.{name}: a $ref is supported to {DEFINITIONS} alone"
                raise FormatError(told, tool.name, name)
    # As-said values need words to be spans of.
    rules = AnswerRules(tuple(tools), heard=("a",))
    text = lark(rules, calls)
    grammar = json.dumps({"grammars": [{"lark_grammar": text}]})
    if error := llguidance.LLMatcher.validate_grammar(grammar):
        raise _fault(error, text, rules)


class Matcher:
    """Where an answer stands in its grammar. Tokens go in one by one, left to right.

    What is too complex to be followed is a FormatError where the grammar is the format's alone, and
    another ValueError elsewhere.

    Attributes:
        end: The token that ends an answer.
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
    def choosing(self) -> bool:
        """Whether logits are wanted, as a tool is to be chosen by more than the model alone."""
        return self._names is not None and not self._names.over

    @property
    def leans(self) -> bool:
        """Whether what comes next is not the model's choice alone."""
        return self._names is not None and self._names.leans

    @property
    def several(self) -> bool:
        """Whether the answer has more calls than the one whose tool was chosen by more."""
        return self._names is not None and self._names.calls > 1

    def undecided(self, logits: Tensor) -> bool:
        """Whether tools part here, the model is in doubt, and nothing else was asked (`weigh`)."""
        return self._names is not None and self._names.undecided(logits)

    def weigh(self, gains: Mapping[str, float]) -> None:
        """Let `dlm.grammar.tool_choice` have a say in the choice of a tool."""
        if self._names is not None:
            self._names.weigh(gains)

    def best(self, logits: Tensor) -> int:
        """The likeliest token that may come next; ties go to the lowest id.

        Args:
            logits: (V,) floating point, on the CPU.

        Raises:
            ValueError: Nothing may come next.
        """
        if self._names is not None:
            logits = self._names.lean(logits)
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
        names = None if self._names is None else self._names.copy()
        return Matcher(self._inner.deep_copy(), self.end, words, names, self._formatted)

    def follow(self, ids: Sequence[int]) -> None:
        """Go on with tokens that are decided already, the end mark not among them.

        Raises:
            ValueError: One of them may not come next.
        """
        for token in ids:
            if not self._consume(token):
                self._check_but_refusal()
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
        """(W,) what may come next."""
        bits = np.frombuffer(self._inner.compute_bitmask(), dtype=np.uint8)
        if self._words is None or not self._words.binds:
            return bits.view(np.int32)
        flags = np.unpackbits(bits, bitorder="little")
        for token in np.flatnonzero(flags).tolist():
            flags[token] = self._words.fits(token)
        return np.packbits(flags, bitorder="little").view(np.int32)

    def _check_but_refusal(self) -> None:
        # A token that does not fit is an error to the parser too; its limits are another matter.
        if not self._inner.get_error().startswith(_REFUSAL):
            self._check()

    def _check(self) -> None:
        if self._inner.is_error():
            # Behind its first lines stands the parser's whole state.
            told = f"grammar: {self._inner.get_error().partition(_STATE)[0]}"
            raise FormatError(told) if self._formatted else ValueError(told)


def _bound_keys(rules: AnswerRules) -> dict[bytes, frozenset[bytes]]:
    """Of tools with several, the parameters that are bound to what was said, as spelled."""
    said, heard = None if rules.said is None else list(rules.said), list(rules.heard)
    names = worded(tool.name for tool in rules.tools)
    found = {}
    for tool in rules.callable():
        properties = tool.properties
        keys = worded(properties)
        bound = [keys[key] for key in properties if sources_of(properties[key], said, heard)]
        if len(bound) > 1:
            found[spelled(names[tool.name]).encode()] = frozenset(
                spelled(key).encode() for key in bound
            )
    return found


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
