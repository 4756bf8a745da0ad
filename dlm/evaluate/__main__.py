"""``python -m dlm.evaluate``: one table for a checkpoint."""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import time
from pathlib import Path

import torch

from dlm.engine import SHIPPED, Engine, Event, Failed, Finished, Request
from dlm.evaluate.scores import score


def main() -> None:
    """Read the command line, evaluate, print."""
    parser = argparse.ArgumentParser(prog="dlm.evaluate", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=SHIPPED)
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--split", default="heldout", choices=("heldout", "train"))
    parser.add_argument("--count", type=int, default=200, help="dialogues")
    parser.add_argument("--free", action="store_true", help="string arguments need not be spans")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    from dlm.train.dialogues import generate

    engine = Engine.load(arguments.checkpoint)
    rows = generate(seed=99, corpora=arguments.corpora, split=arguments.split)
    began = time.monotonic()
    scores = score(
        itertools.islice(rows, arguments.count),
        lambda request: ask(engine, request),
        spans=not arguments.free,
    )
    engine.close()
    figures = {
        "checkpoint": arguments.checkpoint.name,
        "split": arguments.split,
        "dialogues": arguments.count,
        "spans": not arguments.free,
        "seconds": round(time.monotonic() - began, 1),
        **scores.figures(),
    }
    for name, value in figures.items():
        print(f"{name:32} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def ask(engine: Engine, request: Request) -> Finished | None:
    """Answer a request and wait for it; None when the answer is malformed."""
    events: queue.Queue[Event] = queue.Queue()
    engine.submit(request, events.put)
    while True:
        event = events.get()
        if isinstance(event, Finished):
            return event
        if isinstance(event, Failed):
            return None


if __name__ == "__main__":
    main()
