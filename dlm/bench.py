"""How fast a checkpoint or an OpenAI endpoint answers: ``python -m dlm.bench [CHECKPOINT]``.

With ``--url`` it asks a server instead. It prints a row for each effort and number of simultaneous
answers. The documentation's figures come from ``benchmarks/``; this is only a quick look.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dlm import SHIPPED
from dlm.command_line import number
from dlm.effort import Effort
from dlm.language.messages import Turn

if TYPE_CHECKING:
    from dlm.engine.engine import Engine

TIMEOUT_S = 120
PROMPTS = (
    "Hello, who are you?",
    "What can you do for me?",
    "Tell me something about the sea.",
    "Set a timer for 10 minutes, please.",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One answer: seconds to its first text, its tokens, its forwards (0 if not reported)."""

    first_s: float
    tokens: int
    forwards: int


@dataclass(frozen=True, slots=True)
class Row:
    """The speed of answers of one effort, ``at_once`` at a time.

    Attributes:
        first_ms: Median time to the first text.
        tokens_s: Tokens of all answers per second.
        per_forward: Tokens per forward; 0 if the server does not report forwards.
    """

    effort: str
    at_once: int
    first_ms: float
    tokens_s: float
    per_forward: float


Ask = Callable[[str, Effort], Measured]


def engine_ask(engine: Engine, max_tokens: int) -> Ask:
    """A function that asks an engine in this process."""
    from dlm.engine.request import Finished, Request, TextDelta

    def ask(prompt: str, effort: Effort) -> Measured:
        request = Request((Turn("user", prompt),), effort=effort, max_tokens=max_tokens)
        started, first_s = time.perf_counter(), 0.0
        for event in engine.events(request):
            if not first_s and isinstance(event, TextDelta | Finished):
                first_s = time.perf_counter() - started
        assert isinstance(event, Finished)
        return Measured(first_s, event.usage.answer_tokens, event.usage.forwards)

    return ask


@contextmanager
def endpoint_ask(url: str, model: str, key: str, max_tokens: int) -> Iterator[Ask]:
    """A function that asks the server at a URL like ``http://127.0.0.1:8000/v1``.

    It can be used while the context lasts.

    Raises:
        RuntimeError: Raised by the function: the server cannot be reached, refuses, or fails.
    """
    import httpx
    import openai

    def ask(prompt: str, effort: Effort) -> Measured:
        started, first_s, usage = time.perf_counter(), 0.0, None
        try:
            stream = client.chat.completions.create(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                max_tokens=max_tokens,
                stream=True,
                stream_options={"include_usage": True},
                extra_body={"reasoning_effort": effort},
            )
            for chunk in stream:
                if not first_s and any(choice.delta.content for choice in chunk.choices):
                    first_s = time.perf_counter() - started
                usage = chunk.usage or usage
        except (openai.OpenAIError, httpx.HTTPError) as error:
            raise RuntimeError(f"{url}: {str(error)[:200]}") from error
        tokens = usage.completion_tokens if usage else 0
        whole_s = time.perf_counter() - started
        return Measured(first_s or whole_s, tokens, getattr(usage, "forwards", 0))

    client = openai.OpenAI(base_url=url, api_key=key or "none", timeout=TIMEOUT_S, max_retries=0)
    with client:
        yield ask


def measure(ask: Ask, effort: Effort, at_once: int, rounds: int) -> Row:
    """Answer each prompt ``rounds`` times, ``at_once`` at a time in as many threads."""
    prompts = PROMPTS * rounds
    ask(prompts[0], effort)
    started = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(lambda prompt: ask(prompt, effort), prompts))
    seconds = time.perf_counter() - started
    tokens, forwards = sum(a.tokens for a in answers), sum(a.forwards for a in answers)
    return Row(
        effort=str(effort),
        at_once=at_once,
        first_ms=round(1000 * statistics.median(a.first_s for a in answers), 1),
        tokens_s=round(tokens / seconds, 1),
        per_forward=round(tokens / forwards, 2) if forwards else 0.0,
    )


def draw(rows: Sequence[Row], title: str) -> None:
    """Print rows as a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for name in ("effort", "at once", "first text, ms", "tokens/s", "tokens/forward"):
        table.add_column(name, justify="left" if name == "effort" else "right")
    for row in rows:
        table.add_row(*map(str, asdict(row).values()))
    Console().print(table)


@contextmanager
def _asking(given: argparse.Namespace) -> Iterator[Ask]:
    if given.url:
        key = os.environ.get(given.key_env, "")
        with endpoint_ask(given.url, given.model, key, given.max_tokens) as ask:
            yield ask
        return
    # After the options, as torch takes seconds to import.
    from dlm.engine.engine import Engine

    with closing(Engine.load(given.checkpoint, device=given.device)) as engine:
        yield engine_ask(engine, given.max_tokens)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dlm.bench", description="A quick speed table.")
    parser.add_argument("checkpoint", nargs="?", default=str(SHIPPED), help="directory or hub name")
    parser.add_argument("--url", help="ask this API instead, as in http://127.0.0.1:8000/v1")
    parser.add_argument("--model", default=SHIPPED.name, help="what the model is called there")
    parser.add_argument("--key-env", default="QUICKSILVER_API_KEY", help="variable with its key")
    parser.add_argument("--effort", type=Effort, choices=list(Effort), action="append")
    parser.add_argument(
        "--at-once", type=number(int), action="append", help="may be repeated; 1 and 4"
    )
    parser.add_argument(
        "--rounds", type=number(int), default=3, help="times that each prompt is answered"
    )
    parser.add_argument("--max-tokens", type=number(int), default=64, help="longest answer")
    parser.add_argument("--device", help="such as cpu or cuda:0")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args(arguments)
    try:
        with _asking(given) as ask:
            rows = [
                measure(ask, effort, at_once, given.rounds)
                for effort in given.effort or Effort
                for at_once in given.at_once or (1, 4)
            ]
    except (OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        draw(rows, given.url or given.checkpoint)
    return 0


if __name__ == "__main__":
    sys.exit(main())
