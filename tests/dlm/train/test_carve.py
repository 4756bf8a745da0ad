from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import torch

from dlm.language.template import Template
from dlm.language.tokenizer import MARKS, Mark, Tokenizer
from dlm.loading.checkpoint import load_checkpoint
from dlm.network.model import Transformer
from dlm.train.carve import carved, influences, main, trimmed
from tests.dlm import tiny
from tests.dlm.loading.test_gguf import written

TEXT = " Set a timer for ten minutes please, and what is the weather in Paris?"


def test_text_whose_tokens_are_kept_is_cut_as_before() -> None:
    raw = json.loads(tiny.tokenizer().bpe.to_str())
    whole = tiny.tokenizer().bpe.encode(TEXT, add_special_tokens=False)
    counts = Counter(whole.tokens)
    made, origin = trimmed(raw, counts, 330)
    assert made.decode(made.encode(TEXT)) == TEXT
    assert [origin[token] for token in made.encode(TEXT)] == whole.ids
    # With room for none but bytes, every byte is a token.
    small, _ = trimmed(raw, counts, 272)
    assert len(small.encode(TEXT + "東")) == len(TEXT) + 3
    assert small.decode(small.encode(TEXT + "東")) == TEXT + "東"
    # With a little room, the more frequent tokens are kept, with those that they are merged of.
    more, _ = trimmed(raw, counts, 280)
    assert 272 < more.vocab_size <= 280
    assert len(whole.ids) < len(more.encode(TEXT)) < len(TEXT)
    with pytest.raises(ValueError, match="got 100, expected at least 272"):
        trimmed(raw, counts, 100)


def test_a_layer_that_does_nothing_has_no_influence() -> None:
    model = tiny.model(num_hidden_layers=3)
    with torch.no_grad():
        for name in ("self_attn.o_proj", "mlp.down_proj"):
            model.layers[1].get_submodule(name).weight.zero_()
    changes = influences(model, [list(range(20, 40)), list(range(60, 75))])
    assert changes[1] == pytest.approx(0.0, abs=1e-6)
    assert min(changes[0], changes[2]) > 0.01


def test_dropping_a_layer_that_does_nothing_changes_no_logit() -> None:
    model = tiny.model(num_hidden_layers=3)
    with torch.no_grad():
        for name in ("self_attn.o_proj", "mlp.down_proj"):
            model.layers[1].get_submodule(name).weight.zero_()
    origin = [-1] * len(Mark) + list(range(40, 80))
    small = carved(model, [0, 2], origin, end=33)
    assert torch.equal(small.embed_tokens.weight[Mark.END], model.embed_tokens.weight[33])
    ids, at = torch.arange(16, 56)[None], torch.arange(40)[None]
    sees = torch.ones(40, 40, dtype=torch.bool).tril()[None, None]
    old = torch.tensor(origin)[ids]
    with torch.no_grad():
        expected = model.logits(model(old, at, sees))[..., 40:80]
        torch.testing.assert_close(small.logits(small(ids, at, sees))[..., 16:56], expected)


def test_a_carved_checkpoint_is_of_our_own_family(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dlm.loading.gguf import convert

    written(tmp_path / "x.gguf")
    convert(tmp_path / "x.gguf", tmp_path / "base")
    words = [str(tmp_path / "base"), "--out", str(tmp_path / "out"), "--dialogues", "20"]
    main([*words, "--layers", "1", "--vocabulary", "280"])
    made = load_checkpoint(tmp_path / "out", torch.float32, "cpu")
    assert isinstance(made.dialect, Template) and isinstance(made.model, Transformer)
    assert (made.model.config.num_hidden_layers, made.model.config.qk_norm) == (1, False)
    assert Tokenizer.load(tmp_path / "out").bpe.id_to_token(0) == MARKS[0]
    assert "layers [" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*words, "--layers", "3"])
    assert "at least 3 layers" in capsys.readouterr().err
