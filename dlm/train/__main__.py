"""``python -m dlm.train``: train a checkpoint, or go on with one, for so many minutes.

Data come from our own generator; from a file that ``python -m dlm.train.pack`` wrote (``--data
x.npz``); or, with ``--init``, from dialogues to learn along with our own (``--data x.jsonl``).
Ctrl-C stops after the current step and saves; the same command goes on.
"""

from __future__ import annotations

import argparse
import itertools
import math
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dlm.command_line import number
from dlm.datagen.examples import read as read_examples
from dlm.datagen.examples import survey
from dlm.language.template import Encoded
from dlm.language.tokenizer import Tokenizer
from dlm.loading.families.registry import recognise
from dlm.loading.placement import usable_device
from dlm.loading.weights import load_model
from dlm.network.model import Transformer
from dlm.train import pack
from dlm.train.batches import NothingToLearn, Place, Placed, Recipe, batches, passes, stream
from dlm.train.config import TrainConfig
from dlm.train.data import HELD_OUT_SEED, Mixture, encode_row, held_out_rows, learn, shares
from dlm.train.loop import Run, supervised
from dlm.train.machine import CONFIGS, prepare


@dataclass(frozen=True, slots=True)
class Setup:
    """A run with its data.

    Attributes:
        run: The run, not yet resumed.
        data: Function that returns batches from a place on.
        heldout: Batches to evaluate on.
        source: Description of the data, for the record.
    """

    run: Run
    data: Callable[[Place], Iterator[Placed]]
    heldout: list[list[Encoded]]
    source: dict[str, Any]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and train.

    Raises:
        SystemExit: 2 if what was asked for cannot be done; 128 plus the signal's number if a signal
            stopped the run.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    options = parser.parse_args(words)
    try:
        config = settings(options.init, options.corpora, options.set, options.config)
        prepare(config.threads)
        setup = begin(config, options)
        run = setup.run
        resumed = run.resume()
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped before the first step\n")
    print(f"{'resumed' if resumed else 'new'} run in {options.out}, step {run.step}", flush=True)
    try:
        data = setup.data(run.place)
        stopped = supervised(run, data, options.minutes, setup.heldout, setup.source)
    except (OSError, FloatingPointError, NothingToLearn) as error:
        parser.exit(2, f"{parser.prog}: {error}; what was saved before stands\n")
    print(_ending(run, words), flush=True)
    if stopped:
        raise SystemExit(stopped)


def _ending(run: Run, words: Sequence[str]) -> str:
    """Where the run is and, unless it is done, the command that resumes it."""
    minutes, steps = run.config.total_minutes, run.config.total_steps
    reached = "total_steps" if steps and run.step >= steps else "total_minutes"
    where = f"step {run.step}, {run.elapsed_s / 60:.1f} of {minutes:g} minutes, in {run.directory}"
    if run.share >= 1.0:
        return f"done: {where}; it goes on with a larger {reached}"
    return f"saved: {where}; go on with: python -m dlm.train {shlex.join(words)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dlm.train", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--config", type=Path, help="TOML; small.toml, or fine-tune.toml")
    parser.add_argument("--out", type=Path, required=True, help="directory of the run")
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--data", type=Path, help="packed dialogues, or JSONL to fine-tune on")
    parser.add_argument("--init", type=Path, help="checkpoint whose weights the run begins with")
    parser.add_argument(
        "--minutes",
        type=number(float, 0),
        default=math.inf,
        help="bound of this invocation; else all",
    )
    parser.add_argument("--set", action="append", default=[], help="an option: 'seed = 3'")
    return parser


def default_config(init: Path | None) -> Path:
    """The configuration file of a run that names none."""
    return CONFIGS / ("small.toml" if init is None else "fine-tune.toml")


def settings(
    init: Path | None, corpora: Path | None, changes: Sequence[str], file: Path | None = None
) -> TrainConfig:
    """A run's settings, after checking what can be checked before anything begins.

    Args:
        init: Directory of the checkpoint that learns.
        corpora: Directory of the text corpora.
        changes: Lines of TOML that override the file's.
        file: None for `default_config`.

    Raises:
        ValueError: A setting, the checkpoint or a directory is wrong.
        OSError: The configuration or the checkpoint's cannot be read.
    """
    config = TrainConfig.load(file or default_config(init), changes)
    usable_device(config.device)
    if corpora is not None and not corpora.is_dir():
        raise ValueError(f"--corpora: got {corpora}, expected a directory")
    if init is not None:
        recognise(init)
    return config


def begin(config: TrainConfig, options: argparse.Namespace) -> Setup:
    """Set up a run with its data.

    Raises:
        ValueError: The data are malformed, or the options contradict one another.
    """
    file: Path | None = options.data
    is_packed = file is not None and file.suffix == ".npz"
    data = pack.read(file) if file is not None and is_packed else None
    examples = None if is_packed else file
    # Read here too, so that mistakes in the file are reported at once, not by the data process.
    rows = None if examples is None else read_examples(examples)
    if not options.init and (examples is not None or config.initial_share):
        raise ValueError("dialogues to learn, and initial_share, go with --init CHECKPOINT")
    if data is not None:
        reasons, readings = (float(data.source.get(key, 0.0)) for key in ("reasons", "readings"))
        # The ids in the data were made with one version, whatever the configuration says.
        version = int(data.source.get("declarations", 1))
        config = replace(config, reasons=reasons, readings=readings, declarations=version)
    model = None
    if options.init is not None:
        if options.out.resolve() == options.init.resolve():
            raise ValueError(f"--out: got {options.out}, the directory of --init; expected another")
        model, config = _initial(options.init, config, teaching=examples is not None)
    options.out.mkdir(parents=True, exist_ok=True)
    write_tokenizer(options, config, data)
    kinds = config.share_alike, config.readings, config.reasons
    recipe = Recipe(
        tokenizer=options.out,
        seed=config.seed,
        tokens_per_batch=config.tokens_per_step,
        max_length=config.max_length,
        mixture=Mixture(options.corpora, *kinds, examples, config.replay),
        declarations=config.model().declarations,
        joined=config.joined,
    )
    if examples is not None and rows is not None:
        _print_survey(examples, rows, recipe)

    def placed(place: Place) -> Iterator[Placed]:
        return stream(recipe, place) if data is None else passes(data.train, recipe, place)

    heldout = held_out(config, recipe, data)
    source = data.source if data else _source(recipe.mixture)
    return Setup(Run(config, options.out, model), placed, heldout, source)


def _initial(
    checkpoint: Path, config: TrainConfig, teaching: bool
) -> tuple[Transformer, TrainConfig]:
    """A checkpoint's model, marked with what the run teaches, and settings of its dimensions."""
    model = load_model(checkpoint)
    if teaching and not model.config.reads:
        # A few minutes of training along with examples do not teach readings.
        config = replace(config, readings=0.0)
    model.config = replace(
        model.config,
        reasons=model.config.reasons or config.reasons > 0,
        reads=model.config.reads or config.readings > 0,
        declarations=config.declarations or model.config.declarations,
    )
    return model, config.shaped(model.config)


def _print_survey(file: Path, rows: Sequence[dict[str, Any]], recipe: Recipe) -> None:
    template = recipe.template()
    first, *warnings = survey(
        file, rows, lambda row: len(encode_row(template, row).ids), recipe.max_length
    )
    print(first, flush=True)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr, flush=True)


def write_tokenizer(
    options: argparse.Namespace, config: TrainConfig, data: pack.PackedData | None
) -> None:
    """Put the run's tokenizer into its directory: the checkpoint's, the data's, or a new one.

    Raises:
        ValueError: The run's tokenizer differs from that of its checkpoint or its data, or has more
            entries than the model will have.
    """
    file = options.out / "tokenizer.json"
    if source := options.init:
        own = Tokenizer.load(source)
        if not file.is_file():
            own.save(options.out)
        elif Tokenizer.load(options.out).bpe.to_str() != own.bpe.to_str():
            raise ValueError(f"{file}: not the tokenizer of {source}; expected another --out")
    if data is not None:
        if file.is_file() and file.read_text(encoding="utf-8") != data.tokenizer:
            raise ValueError(f"{options.data}: packed with another tokenizer than {file}")
        file.write_text(data.tokenizer, encoding="utf-8")
    if not file.is_file():
        learn(options.corpora, config).save(options.out)
    size = Tokenizer.load(options.out).vocab_size
    if size > config.vocab_size:
        raise ValueError(f"{file}: {size} entries, more than the vocab_size of {config.vocab_size}")


def held_out(
    config: TrainConfig, recipe: Recipe, data: pack.PackedData | None
) -> list[list[Encoded]]:
    """Batches to evaluate on, the same in every invocation; none if the run does not evaluate."""
    if not config.evaluate_minutes:
        return []
    if data is not None:
        rows = list(itertools.islice(data.heldout, config.evaluate_dialogues))
    else:
        most = config.evaluate_dialogues
        rows = held_out_rows(recipe.template(), recipe.mixture, config.max_length, most)
    rng = np.random.default_rng(HELD_OUT_SEED)
    return list(batches(rows, config.tokens_per_step, config.max_length, rng))


def _source(mixture: Mixture) -> dict[str, Any]:
    return {
        "corpora": mixture.corpora is not None,
        "shares": shares(),
        "examples": mixture.examples.name if mixture.examples else None,
    }


if __name__ == "__main__":
    main()
