"""Requests in, events out: the engine that voice and the API server share.

One thread owns the model. Each round is one forward that serves as many requests as its budget
holds (`dlm.engine.scheduler`), so that a new request waits for one forward at most, once its
grammar is built, and a cancelled one stops before its next forward.
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
from pathlib import Path

import torch

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Eager, Runner, Steps
from dlm.decoding.score import Scoring
from dlm.engine.request import (
    Event,
    Failed,
    Finished,
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

__all__ = ["Engine", "Event", "Failed", "Finished", "Request", "Snapshot", "TextDelta", "Usage"]

SHIPPED = Path(__file__).parents[1] / "checkpoints" / "quicksilver-small"

ROUND_TOKENS = 256
MAX_REQUESTS = 64


class Engine:
    """A loaded checkpoint and the thread that runs it.

    Use `load`, then `stream` from asyncio or `events` from threads; `close` at the end.

    Args:
        language: The checkpoint's dialect, or a tokenizer of the shipped family.
        max_requests: Unfinished requests at a time, waiting ones included.
        prefix_bytes: Memory for keys and values of finished requests.
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
        # On a CPU each row of a forward costs time; elsewhere reading the weights costs most of it.
        fill = model.embed_tokens.weight.device.type != "cpu"
        self._scheduler = Scheduler(self._runner, ROUND_TOKENS, self._leave, fill)
        # Bounded by max_requests; None ends the thread.
        self._queue: queue.SimpleQueue[tuple[Job, Start] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        # Their queues are bounded by max_requests as well. A schema may take a second to build.
        self._builder = ThreadPoolExecutor(1, "dlm-grammars")
        self._patient_builder = ThreadPoolExecutor(1, "dlm-schemas")
        self._unfinished = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="dlm-engine", daemon=True)
        self._thread.start()
        # A thread that torch has run in must be over before the interpreter is, or that aborts.
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
            dtype: None takes the fastest one.
            device: None takes CUDA where there is such a device.
            threads: Of torch, for everything in this process; 0 takes the fastest number.
            kernels: ``auto`` runs the project's kernels on CUDA where they support the model,
                ``fused`` requires them, ``eager`` never uses them.
            prefix_bytes: Memory for keys and values of finished requests.
        """
        wanted = Kernels(kernels)
        loaded = load_checkpoint(checkpoint, dtype, device, threads)
        torch.set_num_threads(threads or best_threads(loaded.model.config))
        runner = runner_for(loaded.model, wanted, MAX_REQUESTS)
        return cls(loaded.model, loaded.dialect, prefix_bytes=prefix_bytes, runner=runner)

    @property
    def placement(self) -> str:
        """Device, number format, and whether kernels run it, as text: ``cpu, int8``."""
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
        """Longest answer, in tokens, that the context has room for.

        Below 1 for none. Any thread may call it. An unknown role is a ValueError.
        """
        return self._setup.room(request)

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """Start a request.

        Returns a function that cancels it, at any time and more than once. ``emit`` is called with
        each event from the engine's thread; the last is Finished or Failed, and after a
        cancellation there is none.

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
                    # Another may have taken the place, or the engine be closed.
                    with suppress(queue.Full, RuntimeError):
                        self._start(looked, emit, cancelled)
                        return
            emit(event)

        marks = self._setup.reasoning_marks(request)
        job = RequestJob(request, tell, self.dialect, marks, cancelled=cancelled)
        # Nobody who speaks, and nobody without a schema, waits for the schemas of others.
        urgent = job.priority > 0 or not (request.tools or request.format)
        builder = self._builder if urgent else self._patient_builder
        self._enter(lambda: builder.submit(self._build, job))

    def _build(self, job: RequestJob) -> None:
        """Build a request's grammar, which may take long, and hand it to the engine's thread."""
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
            event: Event | None = None
            while not isinstance(event, Finished):
                yield (event := _unless_failed(await events.get()))
        finally:
            cancel()

    def events(self, request: Request) -> Generator[Event, None, None]:
        """As `stream`, for threads other than the engine's; closing the generator cancels."""
        # Bounded by the answer's length: two events at most for each forward.
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
        """Log-probability, in nats, of each text, with the end behind it, as the whole answer.

        Waits for the model; errors are those of `stream`.

        Raises:
            ValueError: A text has no word, or the dialogue is too long.
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

        Waits for the model. Cheap as a message grows, since only its new words are forwarded.
        Errors are those of `stream`.

        Raises:
            ValueError: The dialogue is empty, or too long.
        """
        return math.exp(self.log_end_of_message(turns, tools, priority).result()[0])

    def log_end_of_message(
        self, turns: Sequence[Turn], tools: Sequence[Tool] = (), priority: int = 1
    ) -> Future[list[float]]:
        """The logarithm of `end_of_message`, once the model has told it; must not be cancelled."""
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

        Called from that thread, as on an event, it does not wait for the thread's end. It is
        called at the end of the program for engines that are still open.
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

    def _enter(self, send: Callable[[], object]) -> None:
        """Take one of the places of unfinished requests, and send the one that takes it."""
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
