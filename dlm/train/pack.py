"""``python -m dlm.train.pack``: write dialogues into one file that a run can train from.

A machine that has the checkout and this file needs neither the corpora nor the generator's time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from dlm.language.template import Encoded, Template
from dlm.language.tokenizer import Tokenizer
from dlm.train import packed
from dlm.train.batches import encode_row, held_out_rows, short
from dlm.train.config import TrainConfig
from dlm.train.machine import machine
from dlm.train.vocabulary import learn


def pack(
    config: TrainConfig, tokenizer: Tokenizer, tokens: int, corpora: Path | None
) -> packed.PackedData:
    """Dialogues of so many tokens, and held-out ones.

    Args:
        config: Its seed, longest dialogue, corpora's licences and number of held-out dialogues.
        tokenizer: Of the model to train.
        tokens: At least so many are packed.
        corpora: Directory of the text corpora; None for generated dialogues alone.
    """
    from dlm.datagen.dialogues import SHARES, Source
    from dlm.datagen.readings import taught
    from dlm.datagen.reasons import reasoned

    template = Template(tokenizer)

    def enough() -> Iterator[Encoded]:
        source = Source.load(corpora, "train", config.share_alike)
        made = taught(source, config.readings, config.seed)
        thought = reasoned(made, config.reasons, config.seed)
        count = 0
        for row in short((encode_row(template, row) for row in thought), config.max_length):
            yield row
            count += len(row.ids)
            if count >= tokens:
                return

    train = packed.Dialogues.of(enough())
    heldout = held_out_rows(
        template, corpora, config.share_alike, config.max_length, config.evaluate_dialogues
    )
    told = {
        "seed": config.seed,
        "shares": SHARES,
        "corpora": corpora is not None,
        "share_alike": config.share_alike,
        "reasons": config.reasons,
        "readings": config.readings,
        "dialogues": len(train),
        "tokens": len(train.ids),
        "commit": machine()["commit"],
    }
    bpe = str(tokenizer.bpe.to_str(pretty=True))
    return packed.PackedData(train, packed.Dialogues.of(heldout), bpe, told)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the file.

    Raises:
        SystemExit: What was asked for cannot be done, 2.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.pack", description=__doc__)
    parser.add_argument("--tokens", type=float, required=True, help="at least so many")
    parser.add_argument("--out", type=Path, required=True, help="the file, .npz")
    parser.add_argument(
        "--config", type=Path, default=Path("configs/train/gpu.toml"), help="TOML; gpu.toml"
    )
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--tokenizer", type=Path, help="directory of one; else it is learned")
    parser.add_argument("--set", action="append", default=[], help="an option: 'seed = 3'")
    options = parser.parse_args(arguments)
    if options.out.suffix != ".npz":
        parser.error(f"--out: got {options.out}, expected a name that ends in .npz")
    try:
        # What cannot be written is known before an hour has gone into it.
        options.out.parent.mkdir(parents=True, exist_ok=True)
        data = _packed(options)
        packed.write(options.out, data)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    size = options.out.stat().st_size / 2**20
    print(
        f"{options.out}: {data.told['dialogues']} dialogues, {data.told['tokens']} tokens, ", end=""
    )
    print(f"{len(data.heldout)} held out, {size:.1f} MiB")


def _packed(options: argparse.Namespace) -> packed.PackedData:
    config = TrainConfig.load(options.config, options.set)
    tokenizer = (
        Tokenizer.load(options.tokenizer)
        if options.tokenizer
        else learn(
            options.corpora, config.share_alike, config.vocab_size, config.tokenizer_dialogues
        )
    )
    if tokenizer.vocab_size > config.vocab_size:
        told = f"more than the {config.vocab_size} of {options.config}"
        raise ValueError(f"{options.tokenizer}: {told}")
    return pack(config, tokenizer, int(options.tokens), options.corpora)


if __name__ == "__main__":
    main()
