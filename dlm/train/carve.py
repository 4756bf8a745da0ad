"""``python -m dlm.train.carve BASE --layers 8 --out DIR``: a few layers of a pretrained model.

It keeps the layers that change the residual stream most and, of the vocabulary, all bytes and what
our dialogues use. Text whose tokens are all kept is tokenised as before. The marks of our chat
format begin with the vectors of words. The result is broken until ``dlm.train --init`` heals it.

Source: block influence of ShortGPT (arXiv 2403.03853).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as BpeTokenizer
from tokenizers import pre_tokenizers
from torch import Tensor
from torch.nn import functional

from dlm.command_line import number, told
from dlm.language.tokenizer import MARKS, Mark, Tokenizer
from dlm.loading.weights import load_model, save_model
from dlm.network.model import Transformer
from dlm.train.attention import causal
from dlm.train.data import texts
from dlm.train.machine import prepare

FEWEST = 8
"""Tokens that occur at least this often in the data are kept first; others follow by id."""
SAMPLE_TEXTS, SAMPLE_TOKENS = 60, 256
_WORDS = (
    *(" nothing", "?", ".", " system", " tool", " User", " assistant", " result", " call"),
    *(":", " =", " or", " maybe", " think", " answer", " is"),
)
"""For each mark, in order, the word whose vector it begins with; not used for `Mark.END`."""


def trimmed(
    base: Mapping[str, Any], counts: Mapping[str, int], size: int
) -> tuple[Tokenizer, list[int]]:
    """Make a tokenizer of the marks, all bytes and the most useful tokens of another.

    Tokens that occur at least `FEWEST` times in the data come first, by frequency; others by id.

    Args:
        base: tokenizer.json of byte-level BPE.
        counts: How often its tokens occur in the data.
        size: Most entries of the new vocabulary.

    Returns:
        The tokenizer, and for each of its entries the id in ``base``, -1 if it has none.

    Raises:
        ValueError: There is no room for all bytes.
    """
    vocabulary: dict[str, int] = base["model"]["vocab"]
    special = {added["content"] for added in base["added_tokens"]}
    merges = [tuple(m.split(" ") if isinstance(m, str) else m) for m in base["model"]["merges"]]
    made_of = {left + right: (left, right) for left, right in merges}
    kept = dict.fromkeys([*MARKS, *sorted(pre_tokenizers.ByteLevel.alphabet())])
    if len(kept) > size:
        raise ValueError(f"vocabulary: got {size}, expected at least {len(kept)}")

    def parts(token: str) -> list[str]:
        """The token, after all tokens that it is merged from."""
        pair = made_of.get(token, ())
        return [*(inner for part in pair for inner in parts(part)), token]

    often = {token: count for token, count in counts.items() if count >= FEWEST}
    # The ids of byte-level BPE are in the order of the tokens' frequencies in general text.
    for token in sorted(vocabulary, key=lambda name: (-often.get(name, 0), vocabulary[name])):
        needed = [part for part in dict.fromkeys(parts(token)) if part not in kept]
        if token not in special and len(kept) + len(needed) <= size:
            kept |= dict.fromkeys(needed)
    ids = {token: number for number, token in enumerate(kept)}
    model = {
        **base["model"],
        "vocab": ids,
        "merges": [pair for pair in merges if {*pair, "".join(pair)} <= ids.keys()],
    }
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    marks = [{"id": i, "content": m, **plain, "special": True} for i, m in enumerate(MARKS)]
    raw = {**base, "model": model, "added_tokens": marks}
    origin = [-1 if token in MARKS else vocabulary.get(token, -1) for token in kept]
    return Tokenizer(BpeTokenizer.from_str(json.dumps(raw))), origin


@torch.no_grad()
def influences(model: Transformer, rows: Iterable[Sequence[int]]) -> Tensor:
    """How much each layer changes the residual stream: 1 - cosine of its input and output.

    Args:
        model: A model of N layers.
        rows: Ids of texts.

    Returns:
        (N,) means over all positions except each text's first, which is an outlier.
    """
    seen: list[list[Tensor]] = [[] for _ in model.layers]

    def note(number: int) -> Any:
        def hook(_: object, given: tuple[Tensor, ...], out: Tensor) -> None:
            seen[number].append(1 - functional.cosine_similarity(given[0], out, dim=-1)[0, 1:])

        return hook

    hooks = [layer.register_forward_hook(note(i)) for i, layer in enumerate(model.layers)]
    for row in rows:
        model(torch.tensor([row]), torch.arange(len(row))[None], causal)
    for hook in hooks:
        hook.remove()
    return torch.stack([torch.cat(changes).mean() for changes in seen])


def carved(
    model: Transformer, layers: Sequence[int], origin: Sequence[int], end: int
) -> Transformer:
    """Some layers of a model with another vocabulary, as a checkpoint of our own family.

    Its configuration says that it reads: pretraining included users' texts, and a healing run with
    examples teaches readings only to a checkpoint that says so.

    Args:
        model: A model with a tied head.
        layers: Layers to keep, in order.
        origin: See `trimmed`; the marks come first.
        end: The old id for the end of a message, whose vector goes to `Mark.END`.
    """
    config = replace(
        model.config,
        vocab_size=len(origin),
        num_hidden_layers=len(layers),
        mask_token_id=int(Mark.MASK),
        eos_token_id=int(Mark.END),
        block_size=16,
        reads=True,
    )
    small = Transformer(config)
    weights = model.state_dict()
    old = weights["embed_tokens.weight"]
    rows = old[torch.tensor(origin)].clone()
    rows[torch.tensor(origin) < 0] = old.mean(dim=0)
    rows[int(Mark.END)] = old[end]
    made = {"embed_tokens.weight": rows, "norm.weight": weights["norm.weight"]}
    for place, layer in enumerate(layers):
        inner = model.layers[layer].state_dict()
        made |= {f"layers.{place}.{name}": tensor for name, tensor in inner.items()}
    small.load_state_dict(made)
    return small


def write(
    base: Path, out: Path, layers: int | Sequence[int], size: int, said: Sequence[str]
) -> list[int]:
    """Carve a checkpoint out of a model.

    Args:
        base: Directory of a causal model with a tied head and byte-level BPE.
        out: Directory of the new checkpoint.
        layers: How many layers to keep, or which.
        size: Most entries of the vocabulary.
        said: Texts to count tokens in and to compare layers on.

    Returns:
        The layers that were kept.

    Raises:
        ValueError: The head is not tied, the model has no such layers, or the vocabulary has no
            room for all bytes.
    """
    model = load_model(base)
    count = layers if isinstance(layers, int) else max(layers) + 1
    if not model.config.tie_word_embeddings or not 0 < count <= model.config.num_hidden_layers:
        raise ValueError(f"{base}: expected a tied head and at least {count} layers")
    raw = json.loads((base / "tokenizer.json").read_text(encoding="utf-8"))
    bpe = BpeTokenizer.from_str(json.dumps(raw))
    encoded = bpe.encode_batch(list(said), add_special_tokens=False)
    counts = Counter(itertools.chain.from_iterable(part.tokens for part in encoded))
    tokenizer, origin = trimmed(raw, counts, size)
    stream = list(itertools.chain.from_iterable(part.ids for part in encoded))
    step = max(SAMPLE_TOKENS, len(stream) // SAMPLE_TEXTS)
    rows = [stream[at : at + SAMPLE_TOKENS] for at in range(0, len(stream) - 1, step)]
    changes = influences(model, rows)
    print(" ".join(f"{number}:{change:.3f}" for number, change in enumerate(changes.tolist())))
    most = changes.topk(layers).indices.tolist() if isinstance(layers, int) else layers
    kept = sorted(most)
    small = carved(model, kept, origin, model.config.eos_token_id)
    with torch.no_grad():
        for mark, word in zip(Mark, _WORDS, strict=True):
            if mark != Mark.END:
                old = bpe.encode(word, add_special_tokens=False).ids
                small.embed_tokens.weight[mark] = model.embed_tokens.weight[old].mean(dim=0)
    save_model(small, out)
    tokenizer.save(out)
    return kept


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, write the checkpoint and print which layers were kept.

    Raises:
        SystemExit: 2 if what was asked for cannot be done.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.carve", description=__doc__)
    parser.add_argument("base", type=Path, help="directory of the pretrained model")
    parser.add_argument("--layers", required=True, help="how many to keep, or which, with commas")
    parser.add_argument("--out", type=Path, required=True, help="directory of the new one")
    parser.add_argument(
        "--vocabulary", type=number(int), default=16_000, help="its entries, at most"
    )
    parser.add_argument("--dialogues", type=number(int), default=8_000, help="to count tokens in")
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--beside", type=Path, help="a text file whose lines count as well")
    options = parser.parse_args(arguments)
    prepare(1)
    with told(parser):
        said = list(texts(options.corpora, False, options.dialogues))
        if options.beside:
            said += options.beside.read_text(encoding="utf-8").splitlines()
        named = [int(word) for word in options.layers.split(",")]
        layers = named if len(named) > 1 else named[0]
        kept = write(options.base, options.out, layers, options.vocabulary, said)
    print(f"{options.out}: layers {kept}")


if __name__ == "__main__":
    main()
