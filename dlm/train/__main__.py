"""``python -m dlm.train``: train a checkpoint, or go on with one, for so many minutes."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

import torch

from dlm.tokenizer import Tokenizer
from dlm.train.batches import stream
from dlm.train.config import TrainConfig
from dlm.train.loop import Run, append_json


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(prog="dlm.train", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("configs/train/small.toml"))
    parser.add_argument("--out", type=Path, required=True, help="directory of the run")
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--minutes", type=float, default=9.0, help="bound of this invocation")
    arguments = parser.parse_args()
    config = TrainConfig.load(arguments.config)
    if config.threads:
        torch.set_num_threads(config.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    if not (arguments.out / "tokenizer.json").is_file():
        train_tokenizer(arguments.out, arguments.corpora, config)
    run = Run(config, arguments.out)
    resumed = run.resume()
    print(f"{'resumed' if resumed else 'new'} run in {arguments.out}, step {run.step}", flush=True)
    # A resumed run draws other dialogues than those it has seen.
    data = stream(
        arguments.out,
        arguments.corpora,
        config.seed + run.step,
        config.tokens_per_step,
        config.max_length,
        config.share_alike,
    )

    def report(row: dict[str, float | str]) -> None:
        append_json(arguments.out / "log.jsonl", row)
        print(row, flush=True)

    run.train(data, arguments.minutes, report)


def train_tokenizer(out: Path, corpora: Path | None, config: TrainConfig) -> None:
    """Learn the vocabulary from generated dialogues and write it into the run's directory."""
    from dlm.train.dialogues import generate

    rows = generate(seed=0, corpora=corpora, split="train", share_alike=config.share_alike)

    def texts() -> Iterator[str]:
        for row in itertools.islice(rows, config.tokenizer_dialogues):
            for message in row["messages"]:
                yield f" {message['content'] or ''}"
                for call in message.get("tool_calls") or ():
                    yield f" {call['name']}"
                    yield from (f" {key} {value}" for key, value in call["arguments"].items())
            for tool in row["tools"]:
                yield f" {tool['name']}"
                yield f" {tool['description']}"
                yield from (f" {name}" for name in tool["parameters"].get("properties", {}))

    Tokenizer.train(texts(), config.vocab_size).save(out)


if __name__ == "__main__":
    main()
