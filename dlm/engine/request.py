"""A request, and the events that its caller gets while it is decoded.

Tokens become text here. This module knows nothing of threads or of other requests.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from dlm.decoding.decoder import Decoder
from dlm.effort import REASONING, Effort
from dlm.engine.json_call import JsonCall
from dlm.grammar.answer_rules import AnswerRules, lead
from dlm.grammar.formats import AnswerFormat
from dlm.grammar.reasoning_matcher import split_reasoning
from dlm.language.answer_text import (
    find_stop,
    looping,
    possible_stop,
    settled,
    with_masks,
)
from dlm.language.chat_format import Dialect, ReasoningMarks
from dlm.language.messages import Answer, AnswerError, Tool, Turn

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer, and how.

    Attributes:
        turns: The dialogue.
        tools: Tools that may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        copy_sources: Texts that string arguments are copied from: each argument is a span of one
            of them (`dlm.language.copy_sources`). None leaves them free.
        effort: How much each block is refined.
        verified: Whether drafts are verified causally; unverified drafts follow neither a grammar
            nor ``copy_sources``.
        max_tokens: Longest answer, end mark included.
        parallel: Whether one answer may hold several calls.
        temperature: 0 takes the likeliest token; above 0, tokens are sampled.
        top_p: Mass of the likeliest tokens that are sampled from; in (0, 1].
        seed: Seed of the sampling; None draws one at random.
        stop: Texts that end the answer; they and what follows are cut off.
        priority: Requests of higher priority are served first when a round cannot hold all. A
            function is called in each round, for requests that may become urgent meanwhile.
        format: Format of an answer without calls; None for plain text.
        draft: An earlier answer, or its text, to be revised under this prompt. If ``verified``, it
            saves forwards and does not change the result.
        prefix: Text that the answer begins with; events do not repeat it.
        reasoning: Whether the model may reason before the answer, if effort and checkpoint allow
            it. It never reasons before unverified drafts or before a prefix.
        barred: Names of tools that are declared but must not be called.
        asks_back: Whether calls with a required value that nobody said are dropped
            (`dlm.engine.second_look`); if nothing is left, the model answers in words instead.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    copy_sources: tuple[str, ...] | None = None
    effort: Effort = Effort.INSTANT
    verified: bool = True
    max_tokens: int = 128
    parallel: bool = True
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    priority: int | Callable[[], int] = 0
    format: AnswerFormat | None = None
    draft: str | Answer | None = None
    prefix: str = ""
    reasoning: bool = True
    barred: frozenset[str] = frozenset()
    asks_back: bool = True

    @property
    def wants_reasoning(self) -> bool:
        """Whether reasoning is wanted before the answer."""
        wanted = self.reasoning and self.verified and not self.prefix
        return wanted and REASONING[self.effort] is not None

    @property
    def obliged_tool(self) -> Tool | None:
        """The one tool that must be called; None if there is a choice or ``copy_sources`` binds."""
        if self.tool_choice in ("auto", "none") or self.copy_sources is not None:
            return None
        named = self.tool_choice != "required"
        tools = [tool for tool in self.tools if not named or tool.name == self.tool_choice]
        return tools[0] if len(tools) == 1 else None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Final text, to be appended to the answer so far."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The reasoning before the answer, sent once when it is over; not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The answer as it stands during denoising, with ``░`` for undecided positions."""

    text: str
    forwards: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost, in tokens and model forwards.

    Attributes:
        prompt_tokens: Tokens of the prompt.
        cached_tokens: Prompt tokens whose keys and values were cached.
        answer_tokens: Tokens of the answer, end mark and reasoning included.
        forwards: All model forwards.
        prefills: Forwards that only read the prompt. The one that reads its last part does not
            count, because it also yields the answer's first token.
        steps: Forwards that denoised.
        kept: Tokens of the earlier draft that the answer keeps.
        reasoning_tokens: Tokens of the reasoning and its closing mark.
    """

    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    forwards: int
    steps: int = 0
    kept: int = 0
    reasoning_tokens: int = 0
    prefills: int = 0

    def after(self, before: Usage) -> Usage:
        """This with what an earlier attempt at the same request has cost."""
        return replace(
            self,
            cached_tokens=before.cached_tokens,
            forwards=before.forwards + self.forwards,
            steps=before.steps + self.steps,
            prefills=before.prefills + self.prefills,
        )


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer.

    Attributes:
        reason: ``stop`` or ``length``; an answer that was cut for its length has no calls.
        confidence: The model's confidence in the calls, in [0, 1]
            (`dlm.decoding.call_confidence`); None if unknown.
    """

    answer: Answer
    reason: str
    usage: Usage
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The request failed: AnswerError for a malformed answer, else what went wrong."""

    error: Exception


Event = TextDelta | Reasoned | Snapshot | Finished | Failed


class RequestJob:
    """Turns the progress of a request's decoding into events; a job of `dlm.engine.scheduler`.

    Attributes:
        reasoning: Marks around the reasoning before the answer; None if there is no reasoning.
        rules: What the answer may be.
        cancelled: Set when the caller wants no more events.
        json_call: The tool whose calls stand for JSON; None if there is none.
        prefix_ids: Token ids of the request's prefix; they count as part of the prompt.
    """

    def __init__(
        self,
        request: Request,
        emit: Callable[[Event], None],
        dialect: Dialect,
        reasoning: ReasoningMarks | None = None,
        json_call: JsonCall | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.request = request
        self.reasoning = reasoning
        self.json_call = json_call
        said = tuple(turn.content for turn in request.turns if turn.role == "user")
        self.rules = AnswerRules(
            tuple(tool for tool in request.tools if tool.name not in request.barred),
            request.tool_choice,
            request.copy_sources,
            request.parallel,
            request.format,
            user_texts=said if json_call is None else json_call.texts,
        )
        self.cancelled = cancelled or threading.Event()
        self.prefix_ids = dialect.text(request.prefix)
        # Measured on the decoded prefix: a tokenizer that normalises may change its length.
        self._prefix_characters = len(dialect.decode(self.prefix_ids).strip())
        self._emit = emit
        self._dialect = dialect
        # The number of answer tokens seen so far, and the text that was sent for them.
        self._text_tokens = 0
        self._sent = ""
        self._ending: _Ending | None = None
        self._reasoning_text: str | None = None

    @property
    def priority(self) -> int:
        """Higher first."""
        given = self.request.priority
        return given() if callable(given) else given

    def rewritten(self, request: Request, json_call: JsonCall | None) -> RequestJob:
        """The same caller's job for a request that `RequestSetup.with_json_call` has changed."""
        dialect, marks = self._dialect, self.reasoning
        return RequestJob(request, self._emit, dialect, marks, json_call, self.cancelled)

    def emit(self, event: Event) -> None:
        """Send an event to the caller, unless the request was cancelled."""
        if not self.cancelled.is_set():
            self._emit(event)

    def update(self, decoder: Decoder) -> bool:
        """Emit what a forward has brought: new final text, and the draft after it.

        Returns:
            Whether the answer ends here, at a stop string or because its text repeats itself.
        """
        progress = decoder.progress
        tokens = self._without_reasoning(progress.tokens)
        if tokens is None:
            return False
        words = self._dialect.words(tokens)
        if len(words) > self._text_tokens:
            self._ending = self._early_ending(words)
            if self._ending is not None:
                return True
            self._text_tokens = len(words)
            text = self._text(words)
            # No stop string begins in what was sent.
            unsent = text[len(self._sent) :]
            sure = text[: len(text) - possible_stop(unsent, self.request.stop)]
            self._send(sure if self.request.format else sure.rstrip())
        if progress.draft:
            draft = with_masks(self._dialect, [*self.prefix_ids, *tokens, *progress.draft])
            self.emit(Snapshot(self._without_prefix(draft), progress.forwards))
        return False

    def finish(self, decoder: Decoder) -> None:
        """Emit the rest of the text, and the answer.

        Raises:
            AnswerError: The answer is malformed or breaks the rules.
        """
        progress = decoder.progress
        reason = "stop" if progress.complete else "length"
        tokens = self._without_reasoning(progress.tokens)
        reasoning_tokens = len(progress.tokens) - len(tokens or ())
        if tokens is None:
            self._emit_reasoning(progress.tokens)
            tokens = []
        if self._ending is not None:
            tokens, reason = tokens[: self._ending.tokens], self._ending.reason
        usage = Usage(
            len(decoder.prompt),
            progress.cached,
            reasoning_tokens + len(tokens),
            progress.forwards,
            progress.steps,
            min(progress.kept, len(tokens)),
            reasoning_tokens,
            progress.prefills,
        )
        if self._ending is None and progress.complete:
            answer = self._read(tokens)
        else:
            # The answer may have been cut inside a call; half a call is not reported.
            text = self._text(self._dialect.words(tokens))
            cut = text[: find_stop(text, self.request.stop)]
            # As in `update`: leading and trailing space is part of a formatted answer.
            answer = Answer(cut if self.request.format else cut.rstrip(), ())
        self._send(answer.content)
        answer = replace(answer, reasoning=self._reasoning_text or "")
        self.emit(Finished(answer, reason, usage, progress.confidence))

    def fail(self, error: Exception) -> None:
        """Emit what went wrong."""
        try:
            self.emit(Failed(error))
        except Exception as broken:
            # Not the error's text: it may quote the dialogue.
            logger.warning("a request's listener failed: %s", type(broken).__name__)

    def _without_reasoning(self, tokens: list[int]) -> list[int] | None:
        """The tokens after the reasoning; None while the reasoning goes on."""
        if self.reasoning is None:
            return tokens
        reasoning, answer = split_reasoning(tokens, self.reasoning)
        if answer is not None:
            self._emit_reasoning(reasoning)
        return answer

    def _emit_reasoning(self, tokens: list[int]) -> None:
        if self._reasoning_text is None:
            self._reasoning_text = settled(self._dialect.decode(tokens))
            self.emit(Reasoned(self._reasoning_text))

    def _early_ending(self, words: list[int]) -> _Ending | None:
        """Where the text ends early, at a stop string or because it repeats itself; None if not."""
        stops = self.request.stop
        if stops and find_stop(self._text(words), stops) is not None:
            for count in range(self._text_tokens + 1, len(words)):
                if find_stop(self._text(words[:count]), stops) is not None:
                    return _Ending(count, "stop")
            return _Ending(len(words), "stop")
        if self.request.format is None and looping(words):
            return _Ending(len(words), "length")
        return None

    def _send(self, text: str) -> None:
        if len(text) > len(self._sent):
            self.emit(TextDelta(text[len(self._sent) :]))
            self._sent = text

    def _text(self, words: list[int]) -> str:
        text = self._dialect.decode([*self.prefix_ids, *words])
        if self.request.format is None:
            return self._without_prefix(settled(text))
        # Leading and trailing space is part of a formatted answer.
        text = text.removesuffix("\ufffd").removeprefix(lead(self._dialect.calls))
        return self._without_prefix(text)

    def _without_prefix(self, text: str) -> str:
        prefix = self.request.prefix
        after = text[self._prefix_characters :]
        return after.lstrip() if prefix != prefix.rstrip() else after

    def _read(self, tokens: list[int]) -> Answer:
        answer = self._dialect.answer([*self.prefix_ids, *tokens], self.rules.tools)
        if self.request.format is not None and not answer.calls:
            answer = Answer(self._text(self._dialect.words(tokens)), ())
        else:
            answer = Answer(self._without_prefix(answer.content), answer.calls)
        may = sorted(tool.name for tool in self.rules.callable())
        for call in answer.calls:
            if call.name not in may:
                raise AnswerError(f"tool: got {call.name!r}, expected one of {may}")
        if self.rules.must_call and not answer.calls:
            raise AnswerError("got no calls, expected at least 1")
        if len(answer.calls) > 1 and not self.rules.parallel:
            raise AnswerError(f"got {len(answer.calls)} calls, expected at most 1")
        made = self.json_call
        if made is not None and answer.calls and answer.calls[0].name == made.tool.name:
            return made.read(answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of an answer that stops before its end mark: after how many tokens, and why."""

    tokens: int
    reason: str
