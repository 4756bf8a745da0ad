"""A request while it is decoded: what its caller hears, and when.

Tokens become text here. It knows nothing of threads, nor of other requests.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass

from dlm.decode import Decoder
from dlm.effort import Effort
from dlm.grammar import AnswerRules
from dlm.template import Answer, AnswerError, Template, Tool, Turn
from dlm.tokenizer import Mark, Tokenizer

MASKED = "░"


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer, and how.

    Attributes:
        turns: The dialogue.
        tools: What may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        said: Texts whose spans string arguments must be; None leaves them free.
        effort: Refinement per block.
        verified: Whether drafts are verified causally; unverified ones have no grammar, and
            ``said`` does not bind them.
        max_tokens: Longest answer, end mark included.
        parallel: Whether one answer may hold several calls.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    said: tuple[str, ...] | None = None
    effort: Effort = Effort.INSTANT
    verified: bool = True
    max_tokens: int = 128
    parallel: bool = True


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Final text that the answer goes on with."""

    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The answer as it stands while it is being denoised, undecided positions as ``░``."""

    text: str
    forwards: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost, in tokens and model forwards."""

    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    forwards: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer. ``reason`` is stop or length; one that was cut for its length has no calls."""

    answer: Answer
    reason: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The request failed: AnswerError for a malformed answer, else what went wrong."""

    error: Exception


Event = TextDelta | Snapshot | Finished | Failed


class Live:
    """A request, its decoding, and what was told of it.

    Args:
        request: What to answer.
        emit: Called with each event.

    Attributes:
        rules: What the answer may be.
        cancelled: Set when the caller wants to hear no more.
        decoder: None until decoding begins.
        steps: Of `decode`; one forward each. None until decoding begins.
    """

    def __init__(self, request: Request, emit: Callable[[Event], None]) -> None:
        self.request = request
        self.rules = AnswerRules(request.tools, request.tool_choice, request.said, request.parallel)
        self.cancelled = threading.Event()
        self.decoder: Decoder | None = None
        self.steps: Generator[None, None, None] | None = None
        self._emit = emit
        self._words = 0
        self._sent = ""

    def emit(self, event: Event) -> None:
        """Tell the caller, unless the request was cancelled."""
        if not self.cancelled.is_set():
            self._emit(event)

    def tell(self, tokenizer: Tokenizer) -> None:
        """Tell what a forward has brought: new final text, the draft behind it."""
        assert self.decoder is not None
        progress = self.decoder.progress
        words = words_of(progress.tokens)
        if len(words) > self._words:
            self._words = len(words)
            self._send(settled(tokenizer.decode(words)))
        if progress.draft:
            draft = shown(tokenizer, [*progress.tokens, *progress.draft])
            self.emit(Snapshot(draft, progress.forwards))

    def finish(self, template: Template) -> None:
        """Tell the rest of the text, and the answer.

        Raises:
            AnswerError: The answer is malformed, or not within the rules.
        """
        assert self.decoder is not None
        progress = self.decoder.progress
        usage = Usage(
            len(self.decoder.prompt), progress.cached, len(progress.tokens), progress.forwards
        )
        if progress.complete:
            answer = self._read(template, progress.tokens)
        else:
            # The cut may be inside a call, and half a call is none.
            words = template.tokenizer.decode(words_of(progress.tokens))
            answer = Answer(settled(words), ())
        self._send(answer.content)
        self.emit(Finished(answer, "stop" if progress.complete else "length", usage))

    def _send(self, text: str) -> None:
        if len(text) > len(self._sent):
            self.emit(TextDelta(text[len(self._sent) :]))
            self._sent = text

    def _read(self, template: Template, tokens: list[int]) -> Answer:
        answer = template.answer(tokens, self.rules.callable())
        if self.rules.must_call and not answer.calls:
            raise AnswerError("got no calls, expected at least 1")
        if len(answer.calls) > 1 and not self.rules.parallel:
            raise AnswerError(f"got {len(answer.calls)} calls, expected at most 1")
        return answer


def words_of(tokens: list[int]) -> list[int]:
    """Tokens of an answer's text, drafted or decided: those before its first mark."""
    for index, token in enumerate(tokens):
        if token < len(Mark) and token != Mark.MASK:
            return tokens[:index]
    return tokens


def settled(text: str) -> str:
    """What of a growing text is sure to stay: not the outer space, not half a character."""
    return text.removesuffix("\ufffd").strip()


def shown(tokenizer: Tokenizer, tokens: list[int]) -> str:
    """The text of tokens, a ``░`` for each that is undecided."""
    runs = itertools.groupby(words_of(tokens), lambda token: token == Mark.MASK)
    return "".join(
        MASKED * len(list(run)) if masked else tokenizer.decode(list(run)) for masked, run in runs
    ).strip()
