"""Requests in, events out: the engine that voice and the API server share.

One thread owns the model. Each round it takes every live request one forward further, so that a new
request waits for single forwards only, and one that is cancelled stops before its next.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from dlm.cache import KVCache
from dlm.decode import Decoder, Plan, decode
from dlm.effort import REFINEMENT, Effort
from dlm.grammar import AnswerRules, GrammarFactory
from dlm.model import Transformer
from dlm.prefix import PrefixPool
from dlm.template import Answer, AnswerError, Template, Tool, Turn
from dlm.tokenizer import Mark, Tokenizer
from dlm.weights import load_model

SHIPPED = Path(__file__).parent / "checkpoints" / "quicksilver-small"
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
        verified: Whether drafts are verified causally; unverified ones have no grammar.
        max_tokens: Longest answer.
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
    """The answer. ``reason`` is stop or length."""

    answer: Answer
    reason: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The request failed: AnswerError for a malformed answer, else what went wrong."""

    error: Exception


Event = TextDelta | Snapshot | Finished | Failed


class _Live:
    """A request being decoded."""

    def __init__(self, request: Request, emit: Callable[[Event], None]) -> None:
        self.request = request
        self.emit = emit
        self.cancelled = threading.Event()
        self.decoder: Decoder | None = None
        self.steps: Generator[None, None, None] = iter_nothing()
        self.sent = 0


@dataclass(slots=True)
class Engine:
    """A loaded checkpoint and the thread that runs it.

    Use `load`, then `stream` from asyncio or `submit` from threads; `close` at the end.
    """

    model: Transformer
    tokenizer: Tokenizer
    max_live: int = 64
    _queue: queue.Queue[_Live | None] = field(init=False)
    _thread: threading.Thread = field(init=False)
    _template: Template = field(init=False)
    _grammars: GrammarFactory = field(init=False)
    _prefixes: PrefixPool = field(init=False)

    def __post_init__(self) -> None:
        """Start the thread."""
        if self.tokenizer.vocab_size > self.model.config.vocab_size:
            raise ValueError(
                f"tokenizer: got {self.tokenizer.vocab_size} entries, the model has "
                f"{self.model.config.vocab_size}"
            )
        self._queue = queue.Queue(maxsize=self.max_live)
        self._template = Template(self.tokenizer)
        self._grammars = GrammarFactory(self.tokenizer, self.model.config.vocab_size)
        weight = self.model.embed_tokens.weight
        self._prefixes = PrefixPool(
            lambda capacity: KVCache(self.model.config, capacity, weight.dtype, weight.device)
        )
        self._thread = threading.Thread(target=self._run, name="dlm-engine", daemon=True)
        self._thread.start()

    @classmethod
    def load(
        cls,
        directory: Path = SHIPPED,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> Engine:
        """Load a checkpoint directory.

        Raises:
            FileNotFoundError: A file is missing.
            ValueError: The checkpoint is malformed; the text says how.
        """
        return cls(load_model(directory, dtype, device), Tokenizer.load(directory))

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """Begin a request.

        Args:
            request: What to answer.
            emit: Called with each event from the engine's thread; the last is Finished or Failed,
            and
                after a cancellation there is none.

        Returns:
            A function that cancels the request; it may be called at any time, more than once.

        Raises:
            queue.Full: `max_live` requests are waiting already.
        """
        live = _Live(request, emit)
        self._queue.put_nowait(live)
        return live.cancelled.set

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        """Events of a request; leaving the iteration cancels it.

        Raises:
            AnswerError: The answer was malformed.
            ValueError: The request cannot be answered: too long, or contradictory.
            queue.Full: Too many requests are waiting.
        """
        loop = asyncio.get_running_loop()
        # Bounded by the answer's length: two events at most for each forward.
        events: asyncio.Queue[Event] = asyncio.Queue()

        def emit(event: Event) -> None:
            # The loop may be closed while the last step of a cancelled request runs.
            if not loop.is_closed():
                loop.call_soon_threadsafe(events.put_nowait, event)

        cancel = self.submit(request, emit)
        try:
            while True:
                event = await events.get()
                if isinstance(event, Failed):
                    raise event.error
                yield event
                if isinstance(event, Finished):
                    return
        finally:
            cancel()

    def close(self) -> None:
        """Stop the thread; live requests end without an event."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        live: list[_Live] = []
        while True:
            try:
                while True:
                    joined = self._queue.get(block=not live)
                    if joined is None:
                        return
                    live.append(joined)
            except queue.Empty:
                live = [request for request in live if self._round(request)]

    def _round(self, live: _Live) -> bool:
        """Take a request one forward further; returns whether it goes on."""
        if live.cancelled.is_set():
            self._keep_prefix(live)
            return False
        try:
            with torch.inference_mode():
                if live.decoder is None:
                    self._begin(live)
                next(live.steps)
            self._tell(live)
        except StopIteration:
            self._finish(live)
            return False
        except Exception as error:
            # Whatever a request does wrong must reach its caller, and no other request.
            live.emit(Failed(error))
            return False
        return True

    def _begin(self, live: _Live) -> None:
        request = live.request
        prompt = self._template.prompt(request.turns, request.tools)
        limit = self.model.config.max_position_embeddings
        # A draft may reach a block beyond the answer's end, and a forced run longer than a block.
        capacity = len(prompt) + request.max_tokens + 4 * self.model.config.block_size
        if capacity > limit:
            raise ValueError(
                f"prompt and answer: got {capacity} positions, expected at most {limit}"
            )
        matcher = None
        if request.verified:
            rules = AnswerRules(request.tools, request.tool_choice, request.said, request.parallel)
            matcher = self._grammars.matcher(rules)
        live.decoder = Decoder(self.model, self._prefixes.take(prompt, capacity), prompt)
        plan = Plan(REFINEMENT[request.effort], request.verified, request.max_tokens)
        live.steps = decode(live.decoder, plan, matcher)

    def _tell(self, live: _Live) -> None:
        assert live.decoder is not None
        progress = live.decoder.progress
        words = words_of(progress.tokens)
        if len(words) == len(progress.tokens) or live.sent < len(words):
            text = self.tokenizer.decode(words)
            # The bytes of one character may be spread over tokens; wait for the last of them.
            stable = text.removesuffix("\ufffd")
            sent = self.tokenizer.decode(words[: live.sent])
            if len(stable) > len(sent) and stable == text:
                live.emit(TextDelta(text[len(sent) :] if sent else text.lstrip()))
                live.sent = len(words)
        shown = [*progress.tokens, *progress.draft]
        if progress.draft:
            live.emit(Snapshot(self._shown(shown), progress.forwards))

    def _shown(self, tokens: list[int]) -> str:
        parts = [MASKED if t == Mark.MASK else self.tokenizer.decode([t]) for t in words_of(tokens)]
        return "".join(parts).strip()

    def _finish(self, live: _Live) -> None:
        assert live.decoder is not None
        progress = live.decoder.progress
        self._tell(live)
        self._keep_prefix(live)
        usage = Usage(
            len(live.decoder.prompt), progress.cached, len(progress.tokens), progress.forwards
        )
        try:
            answer = self._template.answer(progress.tokens, live.request.tools)
        except AnswerError as error:
            live.emit(Failed(error))
            return
        live.emit(Finished(answer, "stop" if progress.complete else "length", usage))

    def _keep_prefix(self, live: _Live) -> None:
        if live.decoder is None:
            return
        decoder = live.decoder
        ids = [*decoder.prompt, *decoder.progress.tokens][: decoder.cache.length]
        self._prefixes.give(ids, decoder.cache)


def words_of(tokens: list[int]) -> list[int]:
    """Tokens of an answer's text: those before its first call or its end."""
    for index, token in enumerate(tokens):
        if token in (Mark.CALL, Mark.END):
            return tokens[:index]
    return tokens


def iter_nothing() -> Generator[None, None, None]:
    """A generator that is over at once."""
    yield from ()
