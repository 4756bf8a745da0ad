"""The engine that the voice agent and the API server share: requests in, events out.

One thread owns the model. Each round is one forward that serves as many requests as its budget
holds (`dlm.engine.scheduler`). So a new request, once its grammar is built, waits for at most one
forward, and a cancelled request stops before its next forward.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from dlm import SHIPPED
from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Eager, Runner, Steps
from dlm.decoding.score import Scoring
from dlm.engine.request import (
    Event,
    Failed,
    Finished,
    Reasoned,
    Request,
    RequestJob,
    Snapshot,
    TextDelta,
    Usage,
)
from dlm.engine.request_setup import RequestSetup
from dlm.engine.scheduler import Job, Scheduler, Start
from dlm.engine.second_look import second_look
from dlm.fused.runner import runner_for
from dlm.grammar.matcher import Matcher
from dlm.kv_cache.prefix import DEFAULT_BYTES, PrefixPool
from dlm.language.chat_format import Dialect, MarkedCalls
from dlm.language.messages import Answer, Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer
from dlm.loading.checkpoint import load_checkpoint
from dlm.loading.placement import Kernels, best_threads
from dlm.network.model import Transformer

__all__ = [
    "SHIPPED", "Engine", "Event", "Failed", "Finished", "Request", "Snapshot", "TextDelta", "Usage",
]  # fmt: skip

ROUND_TOKENS = 256
MAX_REQUESTS = 64


class Engine:
    """A loaded checkpoint and the thread that runs it.

    Use `load`, then `stream` from asyncio or `events` from threads; `close` at the end.

    Args:
        language: The checkpoint's dialect, or a tokenizer of the shipped family.
        max_requests: Most unfinished requests at a time, waiting ones included.
        prefix_bytes: Memory for the keys and values of finished requests.
        runner: Runs the model; None runs it eagerly.

    Raises:
        ValueError: Model and language do not fit.
    """

    def __init__(
        self,
        model: Transformer,
        language: Tokenizer | Dialect,
        max_requests: int = MAX_REQUESTS,
        prefix_bytes: int = DEFAULT_BYTES,
        runner: Runner | None = None,
    ) -> None:
        if isinstance(language, Tokenizer):
            language = Template(language, model.config.declarations)
        self.model = model
        self.dialect: Dialect = language
        self.max_requests = max_requests
        self._runner = runner or Eager(model)
        self._setup = RequestSetup(model.config, language, self._runner, prefix_bytes)
        # On a CPU every row of a forward costs time; elsewhere most of the time goes into reading
        # the weights, so extra rows are almost free.
        fill = model.embed_tokens.weight.device.type != "cpu"
        self._scheduler = Scheduler(self._runner, ROUND_TOKENS, self._leave, fill)
        # Bounded by max_requests; None ends the thread.
        self._queue: queue.SimpleQueue[tuple[Job, Start] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        # The queues of these two are bounded by max_requests as well. Building the grammar of a
        # schema may take a second.
        self._builder = ThreadPoolExecutor(1, "dlm-grammars")
        self._patient_builder = ThreadPoolExecutor(1, "dlm-schemas")
        self._unfinished = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="dlm-engine", daemon=True)
        self._thread.start()
        # The interpreter aborts at exit if a thread that has run torch is still alive.
        atexit.register(self.close)

    @classmethod
    def load(
        cls,
        checkpoint: str | Path = SHIPPED,
        dtype: torch.dtype | None = None,
        device: str | None = None,
        threads: int = 0,
        kernels: str = "auto",
        prefix_bytes: int = DEFAULT_BYTES,
    ) -> Engine:
        """Load a checkpoint; arguments and errors are those of `load_checkpoint`.

        Args:
            checkpoint: Directory or hub name.
            dtype: None chooses the fastest one.
            device: None chooses CUDA if there is a CUDA device.
            threads: Torch threads, for the whole process; 0 chooses the fastest number.
            kernels: ``auto`` runs the project's kernels on CUDA where they support the model,
                ``fused`` requires them, ``eager`` never uses them.
            prefix_bytes: Memory for the keys and values of finished requests.
        """
        wanted = Kernels(kernels)
        loaded = load_checkpoint(checkpoint, dtype, device, threads)
        torch.set_num_threads(threads or best_threads(loaded.model.config))
        runner = runner_for(loaded.model, wanted, MAX_REQUESTS)
        return cls(loaded.model, loaded.dialect, prefix_bytes=prefix_bytes, runner=runner)

    @property
    def placement(self) -> str:
        """Device, number format and whether fused kernels are used, as text: ``cpu, int8``."""
        weight = self.model.embed_tokens.weight
        rounded = self.model.rounded is not None
        kind = "int8" if rounded else str(weight.dtype).removeprefix("torch.")
        return f"{weight.device}, {kind}{', fused kernels' if self._runner.applies_grammar else ''}"

    @property
    def prefixes(self) -> PrefixPool:
        """Keys and values of finished requests."""
        return self._setup.prefixes

    @property
    def unfinished(self) -> int:
        """Unfinished requests, waiting ones included."""
        return self._unfinished

    def room(self, request: Request) -> int:
        """The longest answer, in tokens, that the context has room for; below 1 if none fits.

        May be called from any thread.

        Raises:
            ValueError: A turn has an unknown role.
        """
        return self._setup.room(request)

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """Start a request, and return a function that cancels it.

        The function may be called at any time and more than once. The engine's thread calls
        ``emit`` with each event; the last one is Finished or Failed, and after a cancellation no
        event follows.

        Raises:
            queue.Full: `max_requests` requests are unfinished.
            RuntimeError: The engine is closed.
        """
        cancelled = threading.Event()
        self._start(request, emit, cancelled)
        return cancelled.set

    def _start(
        self, request: Request, emit: Callable[[Event], None], cancelled: threading.Event
    ) -> None:
        def tell(event: Event) -> None:
            if isinstance(event, Finished) and isinstance(self.dialect.calls, MarkedCalls):
                looked = second_look(request, event)
                if isinstance(looked, Finished):
                    event = looked
                else:
                    # The engine may be full again, or closed; then the first answer stands.
                    with suppress(queue.Full, RuntimeError):
                        self._start(looked, partial(tell_again, event.usage), cancelled)
                        return
            emit(event)

        def tell_again(before: Usage, event: Event) -> None:
            if isinstance(event, Finished):
                event = replace(event, usage=event.usage.after(before))
            if not isinstance(event, Reasoned):
                emit(event)

        marks = self._setup.reasoning_marks(request)
        job = RequestJob(request, tell, self.dialect, marks, cancelled=cancelled)
        # Urgent requests and those without a schema do not wait for other requests' schemas.
        urgent = job.priority > 0 or not (request.tools or request.format)
        builder = self._builder if urgent else self._patient_builder
        self._enter(lambda: builder.submit(self._build, job))

    def _build(self, job: RequestJob) -> None:
        """Build a request's grammar, which may take long, and queue the job for the engine."""
        built: Future[Matcher | None] = Future()
        try:
            # A cancelled job never starts.
            if not job.cancelled.is_set():
                job = job.rewritten(*self._setup.with_json_call(job.request))
                built.set_result(self._setup.matcher(job))
        except Exception as error:
            built.set_exception(error)

        def start() -> tuple[Decoder, Steps[None]]:
            return self._setup.start(job, built.result(), self._scheduler.decoders)

        self._queue.put((job, start))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Yield the events of a request; leaving the iteration cancels it.

        Raises:
            AnswerError: The answer was malformed.
            ValueError: The request cannot be answered: too long, or contradictory.
            queue.Full: Too many requests are unfinished.
            RuntimeError: The engine is closed, or was closed meanwhile.
        """
        loop = asyncio.get_running_loop()
        # Bounded by the answer's length: at most two events for each forward.
        events: asyncio.Queue[Event] = asyncio.Queue()

        def emit(event: Event) -> None:
            # The loop may have been closed while the last step of a cancelled request runs.
            if not loop.is_closed():
                loop.call_soon_threadsafe(events.put_nowait, event)

        cancel = self.submit(request, emit)
        try:
            event: Event | None = None
            while not isinstance(event, Finished):
                yield (event := _unless_failed(await events.get()))
        finally:
            cancel()

    def events(self, request: Request) -> Generator[Event, None, None]:
        """Like `stream`, for threads other than the engine's; closing the generator cancels."""
        # Bounded by the answer's length: at most two events for each forward.
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        cancel = self.submit(request, events.put)
        try:
            event: Event | None = None
            while not isinstance(event, Finished):
                yield (event := _unless_failed(events.get()))
        finally:
            cancel()

    def answer(self, request: Request) -> Finished:
        """Answer a request and wait for it; errors are those of `stream`."""
        *_, last = self.events(request)
        assert isinstance(last, Finished)
        return last

    def score(
        self,
        turns: Sequence[Turn],
        tools: Sequence[Tool],
        texts: Sequence[str],
        priority: int = 0,
    ) -> list[float]:
        """The log-probability, in nats, of each text as the whole answer, its end mark included.

        Blocks until the model has run; errors are those of `stream`.

        Raises:
            ValueError: A text has no words, the dialogue is too long, or the checkpoint is not
                causal.
        """
        for text in texts:
            if not text.strip():
                raise ValueError(f"texts: got {text!r}, expected at least one word in each")
        prompt = self.dialect.prompt(turns, tools)
        answers = [self.dialect.spell(Answer(text, ())) for text in texts]
        return self._scored(prompt, answers, priority).result()

    def end_of_message(
        self, turns: Sequence[Turn], tools: Sequence[Tool] = (), priority: int = 1
    ) -> float:
        """The probability that the last message ends where it does.

        Blocks until the model has run. Repeated calls for a growing message are cheap, because
        only its new words are forwarded. Errors are those of `stream`.

        Raises:
            ValueError: The dialogue is empty or too long, or the checkpoint is not causal.
        """
        return math.exp(self.log_end_of_message(turns, tools, priority).result()[0])

    def log_end_of_message(
        self, turns: Sequence[Turn], tools: Sequence[Tool] = (), priority: int = 1
    ) -> Future[list[float]]:
        """A future of `end_of_message`'s logarithm, in a list of one; it cannot be cancelled."""
        if not turns:
            raise ValueError("turns: got none, expected at least 1")
        *prompt, end = self.dialect.ended(turns, tools)
        return self._scored(prompt, [[end]], priority)

    def _scored(
        self, prompt: list[int], continuations: Sequence[Sequence[int]], priority: int
    ) -> Future[list[float]]:
        if self.model.config.commit != "causal":
            raise ValueError("scoring: got a checkpoint whose positions see what follows them")
        longest = max(map(len, continuations), default=0)
        job = Scoring(continuations, priority)

        def start() -> tuple[Decoder, Steps[None]]:
            decoder = self._setup.decoder(prompt, longest, self._scheduler.decoders)
            return decoder, job.steps(decoder)

        self._enter(lambda: self._queue.put((job, start)))
        return job.result

    def close(self) -> None:
        """Stop the thread; unfinished requests fail with a RuntimeError. May be called again.

        Waits until the thread has ended, unless it is called from that thread, for instance in
        ``emit``. Engines that are still open at the end of the program are closed then.
        """
        with self._lock:
            closes, self._closed = not self._closed, True
        self._builder.shutdown()
        self._patient_builder.shutdown()
        if closes:
            self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        atexit.unregister(self.close)

    def _run(self) -> None:
        scheduler = self._scheduler
        while True:
            while not len(scheduler) or not self._queue.empty():
                joined = self._queue.get()
                if joined is None:
                    scheduler.fail_all(RuntimeError("the engine was closed"))
                    return
                scheduler.join(*joined)
            with torch.inference_mode():
                scheduler.round()
            if not len(scheduler):
                # After a burst, what its requests held would stay until the next one came.
                self._runner.trim()

    def _enter(self, send: Callable[[], object]) -> None:
        """Count one more unfinished request and call ``send``, which hands it on.

        Raises:
            queue.Full: `max_requests` requests are unfinished.
            RuntimeError: The engine is closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the engine is closed")
            if self._unfinished >= self.max_requests:
                raise queue.Full(f"{self.max_requests} requests are unfinished")
            send()
            self._unfinished += 1

    def _leave(self, decoder: Decoder | None) -> None:
        try:
            if decoder is not None:
                self._setup.keep(decoder)
        finally:
            with self._lock:
                self._unfinished -= 1


def _unless_failed(event: Event) -> Event:
    if isinstance(event, Failed):
        raise event.error
    return event
