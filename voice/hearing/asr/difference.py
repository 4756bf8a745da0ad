"""A fine-tuned model.bin stored as its difference from the weights that it was made from.

The difference is a model.bin too. Each of its numbers is the tuned one less the original one, which
is first quantised to 8-bit integers where the tuned model is. Floats are subtracted as the integers
of their bit patterns. Results wrap around, so addition restores every bit. Weights that were not
tuned become zeros, which zlib compresses to almost nothing.

``python -m voice.hearing.asr.difference MODEL_BIN ORIGINAL_BIN OUT`` writes it and prints the
digests that `voice.hearing.asr.packaged` needs.
"""

from __future__ import annotations

import argparse
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.command_line import told
from voice.hearing.asr.model_file import eight_bit, read

_ROWS = 256
"""Rows quantised at a time: few enough to stay in the processor's cache."""

_Integers = NDArray[Any]


def restored(difference: bytes, original: bytes) -> bytes:
    """The model.bin that `difference` was given with the same original."""
    data = bytearray(zlib.decompress(difference))
    for numbers, others in _pairs(data, original):
        numbers += others
    return bytes(data)


def difference(model: bytes, original: bytes) -> bytes:
    """A model.bin's difference from one of the same network in float16 or float32, compressed."""
    data = bytearray(model)
    for numbers, others in _pairs(data, original):
        numbers -= others
    # Z_RLE: only runs of zeros repeat, so run lengths and Huffman codes are all that helps.
    packer = zlib.compressobj(9, memLevel=9, strategy=zlib.Z_RLE)
    return packer.compress(data) + packer.flush()


def _pairs(data: bytearray, original: bytes) -> Iterator[tuple[_Integers, _Integers]]:
    """Writable pieces of a model's numbers, with the original's; both as integers."""
    arrays, known = read(data).arrays, read(original).arrays
    for name, array in arrays.items():
        scales = arrays.get(name + "_scale")
        if scales is not None:
            for start in range(0, len(array), _ROWS):
                piece = slice(start, start + _ROWS)
                whole, scale = eight_bit(known[name][piece].astype(np.float32))
                yield array[piece], whole
                yield scales[piece].view(np.uint32), scale.view(np.uint32)
        elif array.dtype == np.float32 and name in known:
            yield array.view(np.uint32), known[name].astype(np.float32).view(np.uint32)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the file.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser(
        "python -m voice.hearing.asr.difference", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("model", type=Path, help="a model.bin as voice.finetune exports it")
    parser.add_argument("original", type=Path, help="the model.bin that it was made from")
    parser.add_argument("out", type=Path, help="gets the difference")
    options = parser.parse_args(arguments)
    with told(parser):
        model = options.model.read_bytes()
        smaller = difference(model, options.original.read_bytes())
        options.out.write_bytes(smaller)
    for path, data in ((options.model, model), (options.out, smaller)):
        print(f"{path}: {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
