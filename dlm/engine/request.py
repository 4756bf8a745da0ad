"""A request while it is decoded: what its caller hears, and when.

Tokens become text here. It knows nothing of threads, nor of other requests.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from dlm.decoding.decoder import Decoder
from dlm.effort import REASONING, Effort
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.formats import AnswerFormat
from dlm.grammar.reasoning_matcher import parted
from dlm.language.answer_text import held, looping, settled, shown, stopped
from dlm.language.chat_format import Dialect, ThoughtMarks
from dlm.language.messages import Answer, AnswerError, Tool, Turn

logger = logging.getLogger(__name__)


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
        temperature: 0 takes the likeliest token; above, tokens are sampled.
        top_p: Mass of the likeliest tokens that are sampled from; in (0, 1].
        seed: Of the sampling; None takes one by chance.
        stop: Texts that end the answer, and are cut off with what follows.
        priority: Higher first when a round cannot hold all.
        format: What an answer without calls must be made of.
        draft: An earlier answer, or its text, to be revised under this prompt. Verified, the result
            is what it would be without; only cheaper.
        prefix: Text that the answer begins with; no event repeats it.
        reasoning: Whether a thought may go before the answer, where effort and checkpoint have one.
            None goes before unverified drafts, nor before a prefix.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    said: tuple[str, ...] | None = None
    effort: Effort = Effort.INSTANT
    verified: bool = True
    max_tokens: int = 128
    parallel: bool = True
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    priority: int = 0
    format: AnswerFormat | None = None
    draft: str | Answer | None = None
    prefix: str = ""
    reasoning: bool = True

    @property
    def thinks(self) -> bool:
        """Whether a thought is wanted before the answer."""
        wanted = self.reasoning and self.verified and not self.prefix
        return wanted and REASONING[self.effort] is not None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Final text that the answer goes on with."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The thought before the answer is over; it is told once, and is no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The answer as it stands while it is being denoised, undecided positions as ``░``."""

    text: str
    forwards: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request cost, in tokens and model forwards.

    Attributes:
        prompt_tokens: Of the prompt.
        cached_tokens: Of these, tokens whose keys and values were kept from before.
        answer_tokens: Of the answer, end mark and thought included.
        forwards: In all.
        prefills: Of these, forwards that only read the prompt, its last part left out: what reads
            that brings the answer's first token.
        steps: Of these, forwards that denoised.
        kept: Tokens of the earlier draft that stand.
        reasoning_tokens: Of the answer's, those of the thought, its closing mark included.
    """

    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    forwards: int
    steps: int = 0
    kept: int = 0
    reasoning_tokens: int = 0
    prefills: int = 0


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


Event = TextDelta | Reasoned | Snapshot | Finished | Failed


class LiveRequest:
    """A request, its decoding, and what was told of it; a job of `dlm.engine.rounds`.

    Args:
        request: What to answer.
        emit: Called with each event.
        dialect: Reads the answer.
        thought: Marks of the thought that goes before the answer; None for none.

    Attributes:
        rules: What the answer may be.
        cancelled: Set when the caller wants to hear no more.
        head: Ids that the answer is forced to begin with; they belong to the prompt.
    """

    def __init__(
        self,
        request: Request,
        emit: Callable[[Event], None],
        dialect: Dialect,
        thought: ThoughtMarks | None = None,
    ) -> None:
        self.request = request
        self.thought = thought
        self.rules = AnswerRules(
            request.tools,
            request.tool_choice,
            request.said,
            request.parallel,
            request.format,
            heard=tuple(turn.content for turn in request.turns if turn.role == "user"),
        )
        self.cancelled = threading.Event()
        self.head = dialect.text(request.prefix)
        # As they come back, which a tokenizer that normalises makes shorter or longer.
        self._head_characters = len(dialect.decode(self.head).strip())
        self._emit = emit
        self._dialect = dialect
        self._words = 0
        self._sent = ""
        self._ending: _Ending | None = None
        self._reasoned: str | None = None

    @property
    def priority(self) -> int:
        """Higher first."""
        return self.request.priority

    def emit(self, event: Event) -> None:
        """Tell the caller, unless the request was cancelled."""
        if not self.cancelled.is_set():
            self._emit(event)

    def told(self, decoder: Decoder) -> bool:
        """Tell what a forward has brought: new final text, the draft behind it.

        Returns:
            Whether the answer ends here: at a stop string, or because its text is caught in a loop.
        """
        progress = decoder.progress
        tokens = self._answer(progress.tokens)
        if tokens is None:
            return False
        words = self._dialect.words(tokens)
        if len(words) > self._words:
            self._ending = self._ends(words)
            if self._ending is not None:
                return True
            self._words = len(words)
            text = self._text(words)
            sure = text[: len(text) - held(text, self.request.stop)]
            self._send(sure if self.request.format else sure.rstrip())
        if progress.draft:
            draft = shown(self._dialect, [*self.head, *tokens, *progress.draft])
            self.emit(Snapshot(self._without_head(draft), progress.forwards))
        return False

    def finish(self, decoder: Decoder) -> None:
        """Tell the rest of the text, and the answer.

        Raises:
            AnswerError: The answer is malformed, or not within the rules.
        """
        progress = decoder.progress
        tokens, reason = self._answer(progress.tokens), "stop" if progress.complete else "length"
        thought = len(progress.tokens) - len(tokens or ())
        if tokens is None:
            self._reason(progress.tokens)
            tokens = []
        if self._ending is not None:
            tokens, reason = tokens[: self._ending.tokens], self._ending.reason
        usage = Usage(
            len(decoder.prompt),
            progress.cached,
            thought + len(tokens),
            progress.forwards,
            progress.steps,
            progress.kept,
            thought,
            progress.prefills,
        )
        if self._ending is None and progress.complete:
            answer = self._read(tokens)
        else:
            # The cut may be inside a call, and half a call is none.
            text = self._text(self._dialect.words(tokens))
            cut = text[: stopped(text, self.request.stop)]
            # As it was told so far: outer space that the format asks for is part of the answer.
            answer = Answer(cut if self.request.format else cut.rstrip(), ())
        self._send(answer.content)
        self.emit(Finished(replace(answer, reasoning=self._reasoned or ""), reason, usage))

    def fail(self, error: Exception) -> None:
        """Tell what went wrong."""
        try:
            self.emit(Failed(error))
        except Exception as broken:
            # The text of an error may quote the dialogue.
            logger.warning("a request's listener failed: %s", type(broken).__name__)

    def _answer(self, tokens: list[int]) -> list[int] | None:
        """Tokens behind the thought; None while it goes on."""
        if self.thought is None:
            return tokens
        thought, answer = parted(tokens, self.thought)
        if answer is not None:
            self._reason(thought)
        return answer

    def _reason(self, thought: list[int]) -> None:
        if self._reasoned is None:
            self._reasoned = settled(self._dialect.decode(thought))
            self.emit(Reasoned(self._reasoned))

    def _ends(self, words: list[int]) -> _Ending | None:
        if self.request.stop and stopped(self._text(words), self.request.stop) is not None:
            for count in range(self._words + 1, len(words)):
                if stopped(self._text(words[:count]), self.request.stop) is not None:
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
        text = self._dialect.decode([*self.head, *words])
        if self.request.format is None:
            return self._without_head(settled(text))
        # Outer space that the format asks for is part of the answer.
        return self._without_head(text.removesuffix("\ufffd").removeprefix(" "))

    def _without_head(self, text: str) -> str:
        prefix = self.request.prefix
        after = text[self._head_characters :]
        return after.lstrip() if prefix != prefix.rstrip() else after

    def _read(self, tokens: list[int]) -> Answer:
        answer = self._dialect.answer([*self.head, *tokens], self.rules.tools)
        if self.request.format is not None and not answer.calls:
            answer = Answer(self._text(self._dialect.words(tokens)), ())
        else:
            answer = Answer(self._without_head(answer.content), answer.calls)
        may = sorted(tool.name for tool in self.rules.callable())
        for call in answer.calls:
            if call.name not in may:
                raise AnswerError(f"tool: got {call.name!r}, expected one of {may}")
        if self.rules.must_call and not answer.calls:
            raise AnswerError("got no calls, expected at least 1")
        if len(answer.calls) > 1 and not self.rules.parallel:
            raise AnswerError(f"got {len(answer.calls)} calls, expected at most 1")
        return answer


@dataclass(frozen=True, slots=True)
class _Ending:
    """Where an answer ends before its end mark: after so many tokens."""

    tokens: int
    reason: str
