"""A Whisper of a few thousand parameters that says one sentence, whatever it hears.

Built from nothing, without a network: a byte-level tokenizer trained on the sentence, and a decoder
trained for a second to say it over random encoder states. It is in CTranslate2's layout, so
faster-whisper loads it as it would a real model.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

SENTENCE = "what time is it"
_STEPS = 400


def make_tiny_whisper(directory: Path, sentence: str = SENTENCE, scale: float = 1.0) -> Path:
    """Make the model.

    Args:
        directory: Where to put it; ``directory/model`` is made.
        sentence: What it says.
        scale: What the decoder's last layer is multiplied by; nan spoils it.

    Returns:
        The folder that ``faster_whisper.WhisperModel`` takes.
    """
    source, model = directory / "source", directory / "model"
    source.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(sentence)
    tokenizer.save(str(source / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>"}
    (source / "tokenizer_config.json").write_text(json.dumps(settings))
    trained = _train(tokenizer, sentence)
    trained.model.decoder.layer_norm.weight.data *= scale
    trained.save_pretrained(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ctranslate2.converters import TransformersConverter

        TransformersConverter(str(source), copy_files=["tokenizer.json"]).convert(
            str(model), force=True
        )
    (model / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}))
    return model


def _tokenizer(sentence: str):
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([" " + sentence], trainer)
    names = "endoftext startoftranscript translate transcribe startoflm startofprev nospeech"
    special = [*names.split(), "notimestamps", *(f"{i * 0.02:.2f}" for i in range(1501))]
    tokenizer.add_special_tokens([AddedToken(f"<|{name}|>", special=True) for name in special])
    return tokenizer


def _train(tokenizer, sentence: str):
    import torch
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    ids = {name: tokenizer.token_to_id(f"<|{name}|>") for name in _ROLES}
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on matrices this small more threads only wait for each other
    model = WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=tokenizer.get_vocab_size(),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=64,
            decoder_start_token_id=ids["startoftranscript"],
            bos_token_id=ids["endoftext"],
            eos_token_id=ids["endoftext"],
            pad_token_id=ids["endoftext"],
            suppress_tokens=None,
            begin_suppress_tokens=None,
        )
    )
    model.generation_config.suppress_tokens = [ids["startoftranscript"]]
    model.generation_config.begin_suppress_tokens = [ids["endoftext"]]
    model.generation_config.alignment_heads = [[0, 0]]
    said = tokenizer.encode(" " + sentence, add_special_tokens=False).ids
    answer = [ids["startoftranscript"], ids["notimestamps"], *said, ids["endoftext"]]
    spoken = len(said) + 1
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(_STEPS):
        # Every other time behind a prompt of any tokens.
        hints = torch.randint(ids["endoftext"], (step % 60,)).tolist()
        prompt = [ids["startofprev"], *hints] if step % 2 else []
        tokens = torch.tensor([prompt + answer])
        heard = (torch.randn(1, 8, 32),)
        logits = model(decoder_input_ids=tokens[:, :-1], encoder_outputs=heard).logits
        loss = torch.nn.functional.cross_entropy(logits[0, -spoken:], tokens[0, -spoken:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(threads)
    return model.eval()


_ROLES = ("endoftext", "startoftranscript", "startofprev", "notimestamps")
