"""``python -m dlm.train.distill``: fewer forwards for the same answers.

A checkpoint answers dialogues as it would at run time. Then it is trained to denoise its own
answers, with a loss on uncertainty about correct predictions. It learns nothing new but becomes
more certain: more tokens of a block are right in the first draft, and verification accepts more of
them. Ctrl-C stops after the current step and saves; the same command goes on.

Source: dParallel (arXiv 2509.26488).
"""

from __future__ import annotations

import argparse
import itertools
import math
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from dlm.command_line import number
from dlm.engine.engine import Engine, Finished, Request
from dlm.language.copy_sources import sources
from dlm.language.messages import Turn
from dlm.language.template import Encoded, Template, tools_of, turns_of
from dlm.language.tokenizer import Tokenizer
from dlm.loading.weights import load_model
from dlm.train.batches import Recipe, batches, passes
from dlm.train.config import TrainConfig
from dlm.train.data import HELD_OUT_SEED, scripted
from dlm.train.loop import Run, facts, supervised
from dlm.train.machine import CONFIGS, machine, prepare
from dlm.train.pack import Dialogues, PackedData, read, write
from dlm.train.reporting import record

ANSWERS = "answers.npz"
HELD_OUT_ANSWERS = 100

Case = tuple[Request, Turn]
"""A request, and the scripted answer."""


def cases(rows: Iterable[Mapping[str, Any]], seed: int) -> Iterator[Case]:
    """One assistant message of each dialogue, drawn at random, and the request that it answers."""
    rng = Random(f"{seed}/cases")
    for row in rows:
        turns = turns_of(row)
        first = len(turns) - len(row["messages"])
        # A greeting is not an answer.
        found = [i for i, t in enumerate(turns) if t.role == "assistant" and i > first]
        if found:
            at = rng.choice(found)
            tools = tools_of(row["tools"])
            yield Request(tuple(turns[:at]), tools, copy_sources=sources(turns[:at])), turns[at]


def answered(engine: Engine, asked: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
    """The checkpoint's own answers to cases; malformed ones are left out."""
    for case in asked:
        with suppress(ValueError):
            yield case, engine.answer(case[0])


def right(case: Case, finished: Finished) -> bool:
    """Whether an answer is complete and makes the script's calls."""
    return finished.reason == "stop" and finished.answer.calls == case[1].calls


def encoded(template: Template, request: Request, finished: Finished) -> Encoded:
    """A dialogue in which only the checkpoint's own answer has a loss."""
    own = Turn("assistant", finished.answer.content, finished.answer.calls)
    whole = template.dialogue([*request.turns, own], request.tools)
    return Encoded(whole.ids, whole.answers[-1:])


def tokens_per_forward(engine: Engine, asked: Iterable[Case]) -> float:
    """Tokens of all answers, right or wrong, per forward, counting the prompts' forwards."""
    tokens = forwards = 0
    for _, finished in answered(engine, asked):
        tokens += finished.usage.answer_tokens
        forwards += finished.usage.forwards
    return tokens / max(1, forwards)


def collect(init: Path, count: int, corpora: Path | None, config: TrainConfig) -> PackedData:
    """Ask a checkpoint in ``count`` dialogues and some held-out ones; keep its correct answers."""
    tokenizer = Tokenizer.load(init)
    engine = Engine.load(init, threads=torch.get_num_threads())
    version = engine.model.config.declarations
    template = Template(tokenizer, version)

    def own(seed: int, split: str, number: int) -> Dialogues:
        rows = scripted(seed, corpora, split, config.share_alike)
        asked = itertools.islice(cases(rows, seed), number)
        kept = ((case, made) for case, made in answered(engine, asked) if right(case, made))
        made = (encoded(template, request, finished) for (request, _), finished in kept)
        return Dialogues.of(row for row in made if len(row.ids) <= config.max_length)

    try:
        train = own(config.seed, "train", count)
        heldout = own(HELD_OUT_SEED, "heldout", max(1, count // 20))
    finally:
        engine.close()
    source = {"asked": count, "answers": len(train), "corpora": corpora is not None}
    source |= {"declarations": version}
    return PackedData(train, heldout, tokenizer.bpe.to_str(pretty=True), source)


def distill(
    config: TrainConfig, init: Path, out: Path, data: PackedData, minutes: float
) -> tuple[Run, int]:
    """Train a checkpoint on its own answers, or resume an earlier invocation.

    Returns:
        The run, and the exit status as from `supervised`.

    Raises:
        ValueError: There is no answer to train on.
    """
    model = load_model(init)
    config = replace(config.shaped(model.config), ar_share=0.0)
    recipe = Recipe(out, config.seed, config.tokens_per_step, config.max_length)
    run = Run(config, out, model)
    run.resume()
    rng = np.random.default_rng(HELD_OUT_SEED)
    heldout = list(batches(data.heldout, config.tokens_per_step, config.max_length, rng))
    made = passes(data.train, recipe, run.place)
    return run, supervised(run, made, minutes, heldout, data.source)


def main(arguments: list[str] | None = None) -> None:
    """Collect answers, train, and print tokens per forward before and after.

    Raises:
        SystemExit: 2 if what was asked for cannot be done; 128 plus the signal's number if a signal
            stopped the run.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    options = parser.parse_args(words)
    try:
        config = TrainConfig.load(options.config, options.set)
        prepare(config.threads)
        data = own_answers(options, config)
        size = f"{len(data.train)} answers, {len(data.train.ids)} tokens"
        print(f"{options.out / ANSWERS}: {size}", flush=True)
        run, stopped = distill(config, options.init, options.out, data, options.minutes)
    except (ValueError, OSError, FloatingPointError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped before the first step\n")
    print(f"step {run.step}, {run.tokens} tokens, torch {machine()['torch']}", flush=True)
    if stopped:
        print(f"saved; go on with: python -m dlm.train.distill {shlex.join(words)}", flush=True)
        raise SystemExit(stopped)
    try:
        gain = gained(options, config)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped while measuring; the run is saved\n")
    record(options.out, {**facts(run, data.source), "tokens_per_forward": gain})


def own_answers(options: argparse.Namespace, config: TrainConfig) -> PackedData:
    """The checkpoint's answers, collected unless the run has them.

    The checkpoint's tokenizer is copied to the run.

    Raises:
        ValueError: The run's answers were made with another tokenizer than the checkpoint's.
    """
    tokenizer = Tokenizer.load(options.init)
    file: Path = options.out / ANSWERS
    if not file.is_file():
        options.out.mkdir(parents=True, exist_ok=True)
        write(file, collect(options.init, options.answers, options.corpora, config))
    data = read(file)
    if data.tokenizer != tokenizer.bpe.to_str(pretty=True):
        raise ValueError(f"{file}: not of the tokenizer of {options.init}; expected another --out")
    tokenizer.save(options.out)
    return data


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dlm.train.distill", description=__doc__)
    parser.add_argument("--init", type=Path, required=True, help="the checkpoint")
    parser.add_argument("--out", type=Path, required=True, help="directory of the run")
    parser.add_argument(
        "--config", type=Path, default=CONFIGS / "distill.toml", help="TOML; distill.toml"
    )
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--answers", type=number(int), default=4000, help="dialogues to answer")
    parser.add_argument(
        "--minutes", type=number(float, 0), default=math.inf, help="bound of this one"
    )
    parser.add_argument("--set", action="append", default=[], help="an option: 'seed = 3'")
    return parser


def gained(options: argparse.Namespace, config: TrainConfig) -> dict[str, float]:
    """Measure, print and return tokens per forward of the initial checkpoint and the run's."""
    out = {}
    for name, checkpoint in (("before", options.init), ("after", options.out)):
        out[name] = round(measured(checkpoint, options.corpora, config.share_alike), 3)
        print(f"{checkpoint}: {out[name]:.2f} tokens per forward", flush=True)
    return out


def measured(checkpoint: Path, corpora: Path | None, share_alike: bool) -> float:
    """Tokens per forward on held-out dialogues that no answer was collected from."""
    rows = scripted(HELD_OUT_SEED + 1, corpora, "heldout", share_alike)
    engine = Engine.load(checkpoint)
    try:
        asked = itertools.islice(cases(rows, HELD_OUT_SEED), HELD_OUT_ANSWERS)
        return tokens_per_forward(engine, asked)
    finally:
        engine.close()


if __name__ == "__main__":
    main()
