from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Answer, Turn
from dlm.language.template import Template
from dlm.loading.checkpoint import load_checkpoint
from dlm.loading.weights import save_model
from tests.dlm.loading.families import tokenizers
from tests.dlm.loading.families.checkpoints import reconfigure, shape
from tests.dlm.tiny import model, tokenizer


@pytest.fixture
def own(tmp_path: Path) -> Path:
    save_model(model(seed=1), tmp_path / "own", torch.float32)
    tokenizer().save(tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    directory = tmp_path / "foreign"
    Qwen3ForCausalLM(Qwen3Config(**shape(vocab_size=272))).save_pretrained(directory)
    tokenizers.write(directory)
    ids = {"mask_token_id": 259, "eos_token_id": 256}
    auto = {"AutoConfig": "configuration_sdar.SDARConfig"}
    reconfigure(
        directory, model_type="sdar", architectures=["SDARForCausalLM"], auto_map=auto, **ids
    )
    (directory / "configuration_sdar.py").write_text("raise SystemExit(9)", encoding="utf-8")
    return directory


def test_our_own_speaks_in_marks(own: Path) -> None:
    made = load_checkpoint(own)
    assert made.name == "own"
    assert isinstance(made.dialect, Template)
    assert made.model.embed_tokens.weight.dtype is torch.float32


def test_our_own_reads_the_declarations_that_it_was_trained_with(own: Path) -> None:
    def version() -> int:
        dialect = load_checkpoint(own).dialect
        assert isinstance(dialect, Template)
        return dialect.declarations

    assert version() == 1
    reconfigure(own, declarations=2)
    assert version() == 2
    # So are all that were written before there was a second version.
    raw = json.loads((own / "config.json").read_text(encoding="utf-8"))
    del raw["declarations"]
    (own / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    assert version() == 1
    reconfigure(own, declarations=3)
    with pytest.raises(ValueError, match="declarations: got 3"):
        version()


def test_a_foreign_one_speaks_as_its_template_says_and_its_code_is_not_run(foreign: Path) -> None:
    made = load_checkpoint(str(foreign), torch.bfloat16, "cpu")
    assert (made.name, made.model.config.commit) == ("foreign", "block")
    dialect = made.dialect
    assert isinstance(dialect, ChatTemplate)
    assert made.model.embed_tokens.weight.dtype is torch.bfloat16
    assert (dialect.mask, dialect.end, dialect.ends) == (259, 258, {256, 258})
    ids = dialect.prompt([Turn("user", "hi")])
    rows = torch.tensor(ids)[None]
    hidden = made.model(rows, torch.arange(len(ids))[None])
    assert made.model.logits(hidden).shape == (1, len(ids), 272)
    assert dialect.answer(dialect.spell(Answer("ok", ())), ()) == Answer("ok", ())


def test_more_ends_come_from_the_generation_config(foreign: Path) -> None:
    file = foreign / "generation_config.json"
    file.write_text(json.dumps({"eos_token_id": [258, 257]}), encoding="utf-8")
    assert load_checkpoint(foreign).dialect.ends == {256, 257, 258}


def test_a_template_in_a_file_of_its_own_is_read(foreign: Path) -> None:
    file = foreign / "chat_template.jinja"
    assert file.is_file()
    settings = json.loads((foreign / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["chat_template"] = file.read_text(encoding="utf-8")
    (foreign / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    within = load_checkpoint(foreign).dialect.prompt([Turn("user", "hi")])
    file.unlink()
    assert load_checkpoint(foreign).dialect.prompt([Turn("user", "hi")]) == within


def test_what_does_not_fit_is_told(own: Path, foreign: Path, tmp_path: Path) -> None:
    reconfigure(own, mask_token_id=3)
    with pytest.raises(ValueError, match=r"mask_token_id, eos_token_id: got \(3, 2\)"):
        load_checkpoint(own)
    reconfigure(foreign, vocab_size=260)
    with pytest.raises(ValueError, match="tokenizer: got 265 entries, the model has 260"):
        load_checkpoint(foreign)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (foreign / name).unlink()
    with pytest.raises(ValueError, match="foreign: tokenizer: "):
        load_checkpoint(foreign)
    with pytest.raises(FileNotFoundError, match="nowhere: no such checkpoint directory"):
        load_checkpoint(tmp_path / "nowhere")
