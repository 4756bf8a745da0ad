"""Fine-tuning Whisper: its weights in and out of torch, clips, a run that resumes, word errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from voice.finetune import data, evaluate, lessons, train, weights
from voice.finetune.augment import Audio, by_telephone, degraded, in_room, without_speech
from voice.finetune.evaluate import judge, repeats, table
from voice.finetune.likelihood import log_probabilities
from voice.hearing.asr import difference
from voice.hearing.asr.model_file import read, write
from voice.prove.words import errors
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import SAMPLE_RATE_HZ, Segment

SENTENCES = ("turn on the kitchen lights", "set a timer for ten minutes", "what time is it")


def spoken(text: str) -> Audio:
    """The text in espeak's voice, at 16 kHz and with silence around it."""
    import soxr

    voice = EspeakSynthesizer("en-us")
    chunks = voice.synthesize(Segment(0, 0, text, text))
    audio = np.concatenate([chunk.samples for chunk in chunks]).astype(np.float32) / 32768
    return np.pad(soxr.resample(audio, voice.sample_rate_hz, SAMPLE_RATE_HZ), 1600)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of prepared clips, one of which has nothing to learn."""
    folder = tmp_path_factory.mktemp("clips")
    teacher = data.Teacher()
    for index, text in enumerate(SENTENCES):
        arrays = teacher.answer(spoken(text), text)
        assert arrays is not None
        np.savez(folder / f"{index}.npz", allow_pickle=False, **arrays)
    (folder / "3.npz").touch()
    return folder


def test_a_model_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    source = weights.packaged_folder() / "model.bin"
    write(read(source.read_bytes()), tmp_path / "model.bin")
    assert (tmp_path / "model.bin").read_bytes() == source.read_bytes()


def test_a_model_file_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="got 7"):
        read(b"\x07\0\0\0")
    with pytest.raises(ValueError, match="got fewer bytes"):
        read(b"\x06\0\0\0")


def log_likelihoods(
    model: weights.Weights, mel: torch.Tensor, tokens: torch.Tensor
) -> torch.Tensor:
    """Of each of the tokens (L,) behind the first two, by the network in torch."""
    logits = weights.decode(model, tokens[None, :-1], weights.encode(model, mel))[0]
    return logits.log_softmax(-1)[1:].gather(1, tokens[2:, None])


@torch.no_grad()
def test_export_and_import_are_inverse_and_the_export_hears_as_before(tmp_path: Path) -> None:
    import ctranslate2
    from faster_whisper.feature_extractor import FeatureExtractor

    source = weights.packaged_folder()
    exact = weights.tensors(read((source / "model.bin").read_bytes()))
    weights.export(source, exact, tmp_path / "once")
    once = read((tmp_path / "once" / "model.bin").read_bytes())
    again = weights.tensors(once)
    for name, values in exact.items():
        step = values.abs().amax(-1, keepdim=True) / 127 if values.ndim == 2 else 0
        assert ((again[name] - values).abs() <= step / 2 + 1e-6).all(), name
    weights.export(tmp_path / "once", again, tmp_path / "twice")
    twice = read((tmp_path / "twice" / "model.bin").read_bytes())
    for name, array in once.arrays.items():
        assert np.allclose(twice.arrays[name], array, atol=1e-6), name
    # In 32 bits: what is heard by 8-bit products depends on the processor.
    exported = ctranslate2.models.Whisper(
        str(tmp_path / "once"), compute_type="float32", intra_threads=1
    )
    for text in SENTENCES:
        audio = spoken(text)
        mel = FeatureExtractor()(np.pad(audio, (0, 8 * SAMPLE_RATE_HZ - len(audio))))[None, :, :800]
        (found,) = exported.generate(
            ctranslate2.StorageView.from_array(np.ascontiguousarray(mel)),
            [[data.START, data.NO_TIMESTAMPS]],
            beam_size=1,
            return_scores=True,
            suppress_blank=False,
            suppress_tokens=[],
        )
        words = found.sequences_ids[0]
        tokens = torch.tensor([data.START, data.NO_TIMESTAMPS, *words, data.END])
        before, after = (
            log_likelihoods(model, torch.from_numpy(mel), tokens) for model in (exact, again)
        )
        assert float(after.sum()) == pytest.approx(found.scores[0] * len(words), abs=1e-3)
        assert float((after - before).abs().mean()) < 0.1


def test_weights_have_a_mean() -> None:
    some, others = {"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([3.0, 6.0])}
    assert torch.equal(weights.mean([some, others])["w"], torch.tensor([2.0, 4.0]))


def test_the_network_in_torch_writes_what_ctranslate2_writes() -> None:
    # Without the words that were said the tokens are CTranslate2's own, the likely ones torch's.
    for text in SENTENCES[:2]:
        clip = data.Teacher().answer(spoken(text), None)
        assert clip is not None
        assert (clip["likely"][1:, 0] == clip["tokens"][2:]).all()


def test_the_words_to_learn_are_whispers_where_it_is_right() -> None:
    heard, said = "I'd like a 12-ounce Latte, please.", "i'd like a twelve ounce latte please"
    assert data.target_text(heard, said) == ("I'd like a twelve ounce Latte, please.", False)
    assert data.target_text("Mr. Brown, I'm here.", "MISTER BROWN I'M HERE") == (
        "Mr. Brown, I'm here.", True,
    )  # fmt: skip
    assert data.target_text("Four, five.", "four nine") == ("Four, nine.", False)
    assert data.target_text("Cut off", None) == ("Cut off", True)


def test_training_lowers_the_loss(clips: Path) -> None:
    config = train.TrainConfig(batch=2, learning_rate=1e-5, warmup=1, quiet=0.0, clean=1.0)
    run = train.Run(config)
    batch = train.Clips(clips).batch(config, 0)
    parts = [sum(run.learn(batch).values()) for _ in range(6)]
    assert parts[-1] < 0.9 * parts[0]


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(clips: Path, tmp_path: Path) -> None:
    config, found = train.TrainConfig(batch=2), train.Clips(clips)
    whole, first, second = (train.Run(config) for _ in range(3))
    for run in (whole, first):
        run.learn(found.batch(config, run.step))
    first.save(tmp_path / "run.pt")
    second.load(tmp_path / "run.pt")
    for run in (whole, second):
        run.learn(found.batch(config, run.step))
    assert second.step == whole.step == 2
    for name, value in whole.averaged().items():
        assert torch.equal(second.averaged()[name], value), name
    with pytest.raises(ValueError, match="expected a run with"):
        train.Run(train.TrainConfig(batch=3)).load(tmp_path / "run.pt")


def test_chosen_tokens_are_as_likely_as_by_torch_and_lead_to_the_same_gradient() -> None:
    made = torch.Generator().manual_seed(0)
    states, embeddings = (torch.randn(size, 8, generator=made) for size in (5, 30))
    chosen, weight = torch.randint(30, (5, 4), generator=made), torch.rand(5, 4, generator=made)
    ours, theirs = (states.clone().requires_grad_() for _ in range(2))
    found = log_probabilities(ours, embeddings, chosen)
    wanted = (theirs @ embeddings.T).log_softmax(-1).gather(1, chosen)
    assert torch.allclose(found, wanted, atol=1e-6)
    for values in (found, wanted):
        (values * weight).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-6)


def test_joined_clips_have_the_words_of_both_and_the_states_of_the_first(clips: Path) -> None:
    drawn = train.Clips(clips)
    plain, joined = (
        drawn.batch(train.TrainConfig(batch=2, quiet=0.0, clean=1.0, joined=share), 0)
        for share in (0.0, 1.0)
    )
    words = [[int(t) for t in row if t != -100] for row in plain.wanted]
    both = [[int(t) for t in row if t != -100] for row in joined.wanted]
    assert both == [words[0][:-1] + words[1][1:], words[1][:-1] + words[0][1:]]
    assert joined.mel.shape[2] > plain.mel.shape[2]
    assert joined.heard.sum() == plain.heard.sum()


def test_the_decoder_reads_likely_tokens_in_place_of_some_but_never_before_the_words(
    clips: Path,
) -> None:
    read = {
        share: train.Clips(clips).batch(train.TrainConfig(batch=8, quiet=0.0, misheard=share), 0)
        for share in (0.0, 1.0)
    }
    assert (read[0.0].wanted[:, :2] == read[1.0].wanted[:, :2]).all()
    assert (read[1.0].tokens[:, 0] == data.START).all()
    assert (read[1.0].tokens[:, 1] == data.NO_TIMESTAMPS).all()
    changed = read[0.0].tokens != read[1.0].tokens
    assert changed[:, 2:].any()
    assert not changed[:, :2].any()


def test_where_nobody_speaks_no_words_are_wanted(clips: Path) -> None:
    batch = train.Clips(clips).batch(train.TrainConfig(batch=2, quiet=1.0), 0)
    assert not batch.heard.any()
    assert batch.wanted.tolist() == [[data.NO_SPEECH, data.END]] * 2
    assert batch.mel.shape[2] % 50 == 0


def test_degraded_speech_stays_in_time_and_is_the_same_for_the_same_seed() -> None:
    audio = spoken(SENTENCES[0])
    heard = [degraded(audio, [audio], np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert all(len(one) == len(audio) and np.abs(one).max() <= 1 for one in heard)
    assert np.array_equal(heard[0], heard[1])
    assert not np.array_equal(heard[0], heard[2])
    click = np.zeros(SAMPLE_RATE_HZ, np.float32)
    click[4000] = 1
    assert np.abs(in_room(click, np.random.default_rng(0))).argmax() == 4000


def test_the_telephone_leaves_its_band() -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, SAMPLE_RATE_HZ).astype(np.float32)
    power = np.abs(np.fft.rfft(by_telephone(noise))) ** 2
    assert power[3700:].sum() + power[:200].sum() < 0.01 * power.sum()


def test_noise_alone_is_not_silent() -> None:
    audio = spoken(SENTENCES[0])
    drawn = [without_speech(8000, [audio], np.random.default_rng(seed)) for seed in range(12)]
    assert sum(bool(one.any()) for one in drawn) > 6
    assert all(len(one) == 8000 and np.isfinite(one).all() for one in drawn)


def test_models_are_judged_by_words_repeats_and_inventions() -> None:
    assert errors(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]) == 2
    once = ["what", "is", "it"]
    assert repeats(once, once + once)
    assert not repeats(once, once)
    assert not repeats(once + once, once + once)
    rows = [
        ("clean", spoken(SENTENCES[0]), SENTENCES[0]),
        ("quiet", np.zeros(16000, np.float32), ""),
    ]
    scores = judge([weights.packaged_folder()], rows)
    whole = scores["clean", "model", "30 s"]
    assert (whole.words, whole.repeats) == (5, 0)
    assert whole.errors <= 2
    assert scores["clean", "model", "own length"].ratios[0] < 1
    assert scores["quiet", "model", "30 s"].quiet == 1
    assert "| clean | model | 30 s |" in table(scores)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (lessons, ["nowhere"]),
        (data, ["--speech", "nowhere", "--out", "{out}"]),
        (train, ["--clips", "nowhere", "--run", "{out}"]),
        (evaluate, ["nowhere", "--manifest", "nowhere"]),
        (weights, ["nowhere", "--out", "{out}"]),
        (difference, ["nowhere", "nowhere", "{out}"]),
    ],
)
def test_a_file_that_is_not_there_is_told(
    program: Any, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        program.main([word.format(out=tmp_path / "out") for word in arguments])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "nowhere" in error and error.count("\n") == 1
