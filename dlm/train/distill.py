"""``python -m dlm.train.distill``: fewer forwards for the same answers.

A checkpoint answers dialogues as it would at run time; its own answers are then what it is trained
to denoise, with a loss on being unsure of what it predicts rightly. Nothing new is to be learned,
so that the only thing left to gain is certainty: more tokens of a block are right at its first
draft, and verification accepts more of them. Ctrl-C stops after the step and saves; the same
command goes on.

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
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from dlm.engine.engine import Engine, Finished, Request
from dlm.language.copy_sources import sources
from dlm.language.messages import Turn
from dlm.language.template import Encoded, Template, tools_of, turn_of
from dlm.language.tokenizer import Tokenizer
from dlm.loading.weights import load_model
from dlm.train import packed
from dlm.train.batches import HELD_OUT_SEED, Recipe, batches, passes
from dlm.train.config import TrainConfig
from dlm.train.loop import Run
from dlm.train.machine import machine, prepare
from dlm.train.progress import Progress
from dlm.train.record import logged, record
from dlm.train.stopping import Stopping

ANSWERS = "answers.npz"
HELD_OUT_ANSWERS = 100

Case = tuple[Request, Turn]
"""What to answer, and the answer of the script."""


def cases(rows: Iterable[Mapping[str, Any]], seed: int) -> Iterator[Case]:
    """One assistant message of each dialogue, drawn, with what stands before it."""
    rng = Random(f"{seed}/cases")
    for row in rows:
        turns = [Turn("system", row["system"])] if row.get("system") else []
        first = len(turns)
        turns += [turn_of(message) for message in row["messages"]]
        # An agent's greeting answers nothing.
        found = [i for i, t in enumerate(turns) if t.role == "assistant" and i > first]
        if found:
            at = rng.choice(found)
            tools = tools_of(row["tools"])
            yield Request(tuple(turns[:at]), tools, said=sources(turns[:at])), turns[at]


def answered(engine: Engine, asked: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
    """The checkpoint's own answers, but for malformed ones."""
    for case in asked:
        with suppress(ValueError):
            yield case, engine.answer(case[0])


def right(case: Case, finished: Finished) -> bool:
    """Whether an answer is whole and has the calls of the script."""
    return finished.reason == "stop" and finished.answer.calls == case[1].calls


def encoded(template: Template, request: Request, finished: Finished) -> Encoded:
    """A dialogue whose only answer with a loss is the checkpoint's own."""
    own = Turn("assistant", finished.answer.content, finished.answer.calls)
    whole = template.dialogue([*request.turns, own], request.tools)
    return Encoded(whole.ids, whole.answers[-1:])


def tokens_per_forward(engine: Engine, asked: Iterable[Case]) -> float:
    """Tokens of all answers, right or wrong, over the forwards that they took, with prompts."""
    tokens = forwards = 0
    for _, finished in answered(engine, asked):
        tokens += finished.usage.answer_tokens
        forwards += finished.usage.forwards
    return tokens / max(1, forwards)


def collect(init: Path, count: int, corpora: Path | None, config: TrainConfig) -> packed.PackedData:
    """Let a checkpoint answer as many dialogues; some held-out ones beside them."""
    from dlm.datagen.dialogues import generate

    tokenizer = Tokenizer.load(init)
    template = Template(tokenizer)
    engine = Engine.load(init, threads=torch.get_num_threads())

    def own(seed: int, split: str, number: int) -> packed.Dialogues:
        rows = generate(seed=seed, corpora=corpora, split=split, share_alike=config.share_alike)
        asked = itertools.islice(cases(rows, seed), number)
        kept = ((case, made) for case, made in answered(engine, asked) if right(case, made))
        made = (encoded(template, request, finished) for (request, _), finished in kept)
        return packed.Dialogues.of(row for row in made if len(row.ids) <= config.max_length)

    try:
        train = own(config.seed, "train", count)
        heldout = own(HELD_OUT_SEED, "heldout", max(1, count // 20))
    finally:
        engine.close()
    told = {"asked": count, "answers": len(train), "corpora": corpora is not None}
    return packed.PackedData(train, heldout, tokenizer.bpe.to_str(pretty=True), told)


def distill(
    config: TrainConfig, init: Path, out: Path, data: packed.PackedData, minutes: float
) -> tuple[Run, int]:
    """Train a checkpoint on its own answers; going on where an earlier invocation stopped.

    Returns:
        The run; and 128 and the number of the signal that stopped it, or 0.

    Raises:
        ValueError: No answer is left to train on.
    """
    model = load_model(init)
    config = replace(config.shaped(model.config), ar_share=0.0)
    recipe = Recipe(out, config.seed, config.tokens_per_step, config.max_length)
    run = Run(config, out, model)
    run.resume()
    rng = np.random.default_rng(HELD_OUT_SEED)
    heldout = list(batches(data.heldout, config.tokens_per_step, config.max_length, rng))
    with Stopping(run) as stopping, Progress(config, minutes) as progress:
        made = passes(data.train, recipe, run.place)
        run.train(made, minutes, logged(out, progress), heldout)
    return run, stopping.exit_code


def main(arguments: list[str] | None = None) -> None:
    """Answer, train, and tell how many tokens a forward brings before and after.

    Raises:
        SystemExit: What was asked for cannot be done, 2; or a signal stopped it, 128 and its
            number.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    options = parser.parse_args(words)
    try:
        config = TrainConfig.load(options.config, options.set)
        prepare(config.threads)
        data = own_answers(options, config)
        told_of = f"{len(data.train)} answers, {len(data.train.ids)} tokens"
        print(f"{options.out / ANSWERS}: {told_of}", flush=True)
        run, stopped = distill(config, options.init, options.out, data, options.minutes)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    except FloatingPointError as error:
        parser.exit(2, f"{parser.prog}: {error}; what was saved before stands\n")
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped before the first step\n")
    print(f"step {run.step}, {run.tokens} tokens, torch {machine()['torch']}", flush=True)
    told: dict[str, Any] = {"config": asdict(run.config), "machine": machine(), "data": data.told}
    told |= {"step": run.step, "minutes": run.elapsed_s / 60, "tokens": run.tokens}
    record(options.out, told)
    if stopped:
        print(f"saved; go on with: python -m dlm.train.distill {shlex.join(words)}", flush=True)
        raise SystemExit(stopped)
    try:
        told["tokens_per_forward"] = gained(options, config)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped while it measured; the run is saved\n")
    record(options.out, told)


def own_answers(options: argparse.Namespace, config: TrainConfig) -> packed.PackedData:
    """The checkpoint's answers, collected unless the run has them, with its tokenizer beside them.

    Raises:
        ValueError: The run's answers are of another tokenizer than the checkpoint's.
    """
    tokenizer = Tokenizer.load(options.init)
    file: Path = options.out / ANSWERS
    if not file.is_file():
        options.out.mkdir(parents=True, exist_ok=True)
        packed.write(file, collect(options.init, options.answers, options.corpora, config))
    data = packed.read(file)
    if data.tokenizer != tokenizer.bpe.to_str(pretty=True):
        raise ValueError(f"{file}: not of the tokenizer of {options.init}; expected another --out")
    tokenizer.save(options.out)
    return data


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dlm.train.distill", description=__doc__)
    parser.add_argument("--init", type=Path, required=True, help="the checkpoint")
    parser.add_argument("--out", type=Path, required=True, help="directory of the run")
    parser.add_argument(
        "--config", type=Path, default=Path("configs/train/distill.toml"), help="TOML; distill.toml"
    )
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--answers", type=int, default=4000, help="dialogues to answer")
    parser.add_argument("--minutes", type=float, default=math.inf, help="bound of this one")
    parser.add_argument("--set", action="append", default=[], help="an option: 'seed = 3'")
    return parser


def gained(options: argparse.Namespace, config: TrainConfig) -> dict[str, float]:
    """Tokens per forward of the checkpoint and of the run's, told and returned."""
    out = {}
    for name, checkpoint in (("before", options.init), ("after", options.out)):
        out[name] = round(measured(checkpoint, options.corpora, config.share_alike), 3)
        print(f"{checkpoint}: {out[name]:.2f} tokens per forward", flush=True)
    return out


def measured(checkpoint: Path, corpora: Path | None, share_alike: bool) -> float:
    """Tokens per forward on held-out dialogues that no answer was collected from."""
    from dlm.datagen.dialogues import generate

    rows = generate(
        seed=HELD_OUT_SEED + 1, corpora=corpora, split="heldout", share_alike=share_alike
    )
    engine = Engine.load(checkpoint)
    try:
        asked = itertools.islice(cases(rows, HELD_OUT_SEED), HELD_OUT_ANSWERS)
        return tokens_per_forward(engine, asked)
    finally:
        engine.close()


if __name__ == "__main__":
    main()
