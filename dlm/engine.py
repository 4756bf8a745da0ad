"""Requests in, events out: the engine that voice and the API server share.

One thread owns the model. Each round it takes every live request one forward further, so that a new
request waits for single forwards only, and one that is cancelled stops before its next.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import torch

from dlm.cache import KVCache
from dlm.decode import Decoder, Plan, decode
from dlm.effort import REFINEMENT
from dlm.grammar import GrammarFactory
from dlm.live import Event, Failed, Finished, Live, Request, Snapshot, TextDelta, Usage
from dlm.model import Transformer
from dlm.prefix import PrefixPool
from dlm.template import Template
from dlm.tokenizer import Mark, Tokenizer
from dlm.weights import load_model

__all__ = ["Engine", "Event", "Failed", "Finished", "Request", "Snapshot", "TextDelta", "Usage"]

SHIPPED = Path(__file__).parent / "checkpoints" / "quicksilver-small"

logger = logging.getLogger(__name__)


class Engine:
    """A loaded checkpoint and the thread that runs it.

    Use `load`, then `stream` from asyncio or `submit` from threads; `close` at the end.

    Args:
        model: On its device, in its dtype.
        tokenizer: The one it was trained with.
        max_live: Requests at a time.

    Raises:
        ValueError: Model and tokenizer do not fit.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, max_live: int = 64) -> None:
        config = model.config
        if tokenizer.vocab_size > config.vocab_size:
            raise ValueError(
                f"tokenizer: got {tokenizer.vocab_size} entries, the model has {config.vocab_size}"
            )
        marks = (config.mask_token_id, config.eos_token_id)
        if marks != (Mark.MASK, Mark.END):
            raise ValueError(
                f"mask_token_id, eos_token_id: got {marks}, expected {(+Mark.MASK, +Mark.END)}"
            )
        self.model = model
        self.tokenizer = tokenizer
        self.max_live = max_live
        self._template = Template(tokenizer)
        self._grammars = GrammarFactory(tokenizer, config.vocab_size)
        weight = model.embed_tokens.weight
        self._prefixes = PrefixPool(
            lambda capacity: KVCache(config, capacity, weight.dtype, weight.device)
        )
        # Bounded by max_live; None ends the thread.
        self._queue: queue.SimpleQueue[Live | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unfinished = 0
        self._closed = False
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
                and after a cancellation there is none.

        Returns:
            A function that cancels the request; it may be called at any time, more than once.

        Raises:
            queue.Full: `max_live` requests are unfinished.
            RuntimeError: The engine is closed.
        """
        live = Live(request, emit)
        with self._lock:
            if self._closed:
                raise RuntimeError("the engine is closed")
            if self._unfinished >= self.max_live:
                raise queue.Full(f"{self.max_live} requests are unfinished")
            self._unfinished += 1
            self._queue.put(live)
        return live.cancelled.set

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Events of a request; leaving the iteration cancels it.

        Raises:
            AnswerError: The answer was malformed.
            ValueError: The request cannot be answered: too long, or contradictory.
            queue.Full: Too many requests are unfinished.
            RuntimeError: The engine is closed, or was closed meanwhile.
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
        """Stop the thread; unfinished requests fail with a RuntimeError. May be called again."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        live: list[Live] = []
        while True:
            while not live or not self._queue.empty():
                joined = self._queue.get()
                if joined is None:
                    for request in live:
                        self._fail(request, RuntimeError("the engine was closed"))
                    return
                live.append(joined)
            live = [request for request in live if self._round(request)]

    def _round(self, live: Live) -> bool:
        """Take a request one forward further; returns whether it goes on."""
        try:
            with torch.inference_mode():
                goes_on = self._advance(live)
        except Exception as error:
            # Whatever a request does wrong must reach its caller, and no other request.
            self._fail(live, error)
            goes_on = False
        if not goes_on:
            with self._lock:
                self._unfinished -= 1
        return goes_on

    def _advance(self, live: Live) -> bool:
        if live.cancelled.is_set():
            self._keep_prefix(live)
            return False
        if live.steps is None:
            live.decoder, live.steps = self._begin(live)
        over = next(live.steps, True) is True
        live.tell(self.tokenizer)
        if over:
            self._keep_prefix(live)
            live.finish(self._template)
        return not over

    def _fail(self, live: Live, error: Exception) -> None:
        try:
            live.emit(Failed(error))
        except Exception as broken:
            # The text of an error may quote the dialogue.
            logger.warning("a request's listener failed: %s", type(broken).__name__)

    def _begin(self, live: Live) -> tuple[Decoder, Generator[None, None, None]]:
        request = live.request
        prompt = self._template.prompt(request.turns, request.tools)
        limit = self.model.config.max_position_embeddings
        # A draft may reach a block beyond the answer's end.
        capacity = len(prompt) + request.max_tokens + self.model.config.block_size
        if capacity > limit:
            raise ValueError(
                f"prompt and answer: got {capacity} positions, expected at most {limit}"
            )
        live.rules.callable()
        matcher = self._grammars.matcher(live.rules) if request.verified else None
        decoder = Decoder(self.model, self._prefixes.take(prompt, capacity), prompt)
        plan = Plan(REFINEMENT[request.effort], request.verified, request.max_tokens)
        return decoder, decode(decoder, plan, matcher)

    def _keep_prefix(self, live: Live) -> None:
        if live.decoder is None:
            return
        decoder = live.decoder
        ids = [*decoder.prompt, *decoder.progress.tokens][: decoder.cache.length]
        self._prefixes.give(ids, decoder.cache)
