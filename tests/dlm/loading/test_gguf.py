from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter, dequantize, quantize
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Turn
from dlm.loading.checkpoint import load_checkpoint
from dlm.loading.gguf import convert, fetch, main
from dlm.loading.weights import load_model
from tests.dlm.loading.families.checkpoints import shaken
from tests.dlm.loading.families.parity import full
from tests.dlm.loading.families.tokenizers import PLAIN, bytes_only

REAL = Path(os.environ.get("SMOLLM2_GGUF", "runs/base/SmolLM2-135M-Instruct.Q4_1.gguf"))
HEADS, KV_HEADS, WIDTH = 4, 2, 64
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers": "blk",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
Change = Callable[[GGUFWriter], None]


def paired(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows as llama.cpp stores them: number i of each half of a head's rows, side by side."""
    size = len(weight) // heads
    rows = [
        head * size + half * (size // 2) + number
        for head in range(heads)
        for number in range(size // 2)
        for half in (0, 1)
    ]
    return weight[rows]


def llama(tied: bool) -> LlamaForCausalLM:
    shape = LlamaConfig(
        vocab_size=260,
        hidden_size=WIDTH,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=512,
        rms_norm_eps=1e-3,
        rope_theta=50_000.0,
        tie_word_embeddings=tied,
    )
    return shaken(LlamaForCausalLM(shape))


def written(file: Path, tied: bool = True, pre: str = "smollm", arch: str = "llama") -> Tensor:
    """A small GGUF file in 4 bits; returns the logits that transformers gives for `tokens()`."""
    theirs = llama(tied)
    out = GGUFWriter(file, arch)
    for name, value in (
        ("embedding_length", WIDTH),
        ("feed_forward_length", 96),
        ("block_count", 2),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS),
        ("context_length", 512),
    ):
        out.add_uint32(f"llama.{name}", value)
    out.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-3)
    out.add_float32("llama.rope.freq_base", 50_000.0)
    vocabulary = sorted(bytes_only().get_vocab(), key=bytes_only().get_vocab().__getitem__)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(pre)
    out.add_token_list(["<|im_end|>", "<|spare|>", "<|mask|>", *vocabulary, "Ġa"])
    out.add_token_types([3, 3, 3, *[1] * 257])
    out.add_token_merges(["Ġ a"])
    out.add_eos_token_id(0)
    out.add_chat_template(PLAIN.replace("<|eot_id|>", "<|im_end|>"))
    state = theirs.state_dict()
    for name, weight in state.items():
        if tied and name == "lm_head.weight":
            continue
        values = weight.numpy()
        if values.ndim == 2:
            packed = quantize(values, GGMLQuantizationType.Q4_1)
            values = dequantize(packed, GGMLQuantizationType.Q4_1)
            weight.copy_(torch.from_numpy(values))
            heads = {"q": HEADS, "k": KV_HEADS}.get(name.rpartition("_proj")[0][-1:])
            if heads and "self_attn" in name:
                values = paired(values, heads)
            packed = quantize(values, GGMLQuantizationType.Q4_1)
        for theirs_name, short in NAMES.items():
            name = name.replace(theirs_name, short)
        if values.ndim == 2:
            out.add_tensor(name, packed, raw_dtype=GGMLQuantizationType.Q4_1)
        else:
            out.add_tensor(name, values)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    with torch.no_grad():
        return theirs(tokens()).logits[0]


def tokens() -> Tensor:
    return torch.randint(3, 250, (1, 70), generator=torch.Generator().manual_seed(2))


def logits(directory: Path, ids: Tensor) -> Tensor:
    sees = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    return full(load_model(directory), ids, sees)


@pytest.mark.parametrize("tied", [True, False])
def test_logits_of_a_gguf_file_are_those_of_stock_llama(tmp_path: Path, tied: bool) -> None:
    expected = written(tmp_path / "x.gguf", tied)
    convert(tmp_path / "x.gguf", tmp_path / "out")
    torch.testing.assert_close(logits(tmp_path / "out", tokens()), expected, atol=1e-4, rtol=1e-4)


def test_the_dialect_comes_from_the_files_metadata(tmp_path: Path) -> None:
    written(tmp_path / "x.gguf")
    main(["--file", str(tmp_path / "x.gguf"), "--out", str(tmp_path / "out")])
    dialect = load_checkpoint(tmp_path / "out", torch.float32, "cpu").dialect
    assert isinstance(dialect, ChatTemplate)
    assert (dialect.mask, dialect.end, dialect.calls) == (2, 0, None)
    # Digits stand alone, letters are bytes, and the one merge is made.
    assert len(dialect.text(" a12")) == 3
    assert dialect.decode(dialect.text("naïve <|mask|>")) == "naïve <|mask|>"
    assert dialect.prompt([Turn("user", "a")])[-1] != dialect.end


def test_what_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "a.gguf", arch="qwen2")
    with pytest.raises(ValueError, match=r"general\.architecture: got 'qwen2', expected 'llama'"):
        convert(tmp_path / "a.gguf", tmp_path / "out")
    written(tmp_path / "b.gguf", pre="qwen2")
    with pytest.raises(ValueError, match=r"tokenizer\.ggml\.pre: got 'qwen2', expected 'smollm'"):
        convert(tmp_path / "b.gguf", tmp_path / "out")
    with pytest.raises(SystemExit):
        main(["--file", str(tmp_path / "none.gguf"), "--out", str(tmp_path / "out")])
    assert "none.gguf" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_the_base_models_is_refused(tmp_path: Path) -> None:
    (tmp_path / REAL.name).write_bytes(b"GGUF")
    with pytest.raises(OSError, match="got SHA-256"):
        fetch(tmp_path)


REFERENCE = {
    "Hello, world! It's 1234.56 o'clock — don't you'll we've": (
        "19556 28 905 17 657 506 216 33 34 35 36 30 37 38 263 23 17466 1841 1326 982 346 3060 "
        "392 3543"
    ),
    "  two  spaces\n\n\ttabs \r\n end ": "216 827 216 5600 1116 197 100 7366 216 2738 1112 216",
    "Zürich naïve 東京 😀👩‍🚀 ½ ² ١٢": (
        "74 7170 5130 15486 46494 17097 247 126 16736 122 40303 218 10813 235 119 321 231 10813 "
        "244 218 216 16738 216 19133 216 164 111 164 112"
    ),
    "<|im_end|> It'S DON'T": "44 108 306 79 486 108 46 657 23 67 422 2154 23 68",
    "\u00a0a\u3000b e\u0301": "15442 81 12109 218 82 297 151 219",
}
"""Ids that llama.cpp gives, without special tokens."""


@pytest.mark.skipif(not REAL.is_file(), reason="SMOLLM2_GGUF names no file of SmolLM2")
def test_the_base_model_equals_its_references(tmp_path: Path) -> None:
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    convert(REAL, tmp_path)
    raw = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    theirs = LlamaForCausalLM(LlamaConfig(**{k: v for k, v in raw.items() if k != "architectures"}))
    read = load_gguf_checkpoint(str(REAL), return_tensors=True, model_to_load=theirs)
    missing = theirs.load_state_dict(read["tensors"], strict=False)
    assert (missing.missing_keys, missing.unexpected_keys) == (["lm_head.weight"], [])
    theirs.tie_weights()
    dialect = load_checkpoint(tmp_path, torch.float32, "cpu").dialect
    for text, ids in REFERENCE.items():
        assert dialect.text(text) == [int(number) for number in ids.split()], text
    ids = torch.tensor([dialect.text(" ".join(REFERENCE))])
    with torch.no_grad():
        expected = theirs.eval()(ids).logits[0]
    torch.testing.assert_close(logits(tmp_path, ids), expected, atol=1e-4, rtol=1e-4)
    with REAL.open("rb") as file:
        # Behind the magic number and the version.
        (count,) = struct.unpack("<8xQ", file.read(16))
    assert count == len(read["tensors"])
