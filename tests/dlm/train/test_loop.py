from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dlm.language.template import Encoded
from dlm.loading.weights import load_model
from dlm.train.batches import Place, Placed
from dlm.train.config import TrainConfig
from dlm.train.loop import LOG_STEPS, Run, initialised, optimizers
from tests.dlm.tiny import DIALOGUES, TOOLS, model, template
from tests.dlm.train.disk import full_disk


def config(**changes: Any) -> TrainConfig:
    sizes: dict[str, Any] = {
        "vocab_size": 352,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "head_dim": 8,
        "block_size": 8,
        "warmup_steps": 5,
        "total_minutes": 10_000.0,
    }
    return TrainConfig(**(sizes | changes))


def dialogues() -> list[Encoded]:
    return [template().dialogue(turns, TOOLS) for turns in DIALOGUES]


def data(count: int, first: int = 0) -> Iterator[Placed]:
    """Batches that differ from one another."""
    pairs = itertools.cycle(itertools.combinations(dialogues(), 2))
    numbered = enumerate((list(pair) for pair in itertools.islice(pairs, count)), start=1)
    return ((Place(0, number), pair) for number, pair in numbered if number > first)


def quiet(row: dict[str, float | str]) -> None:
    pass


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    run = Run(config(ar_share=0.0, learning_rate=5e-3), tmp_path)
    run.train(data(3 * LOG_STEPS), minutes=5, report=seen.append)
    assert [row["step"] for row in seen] == [LOG_STEPS, 2 * LOG_STEPS, 3 * LOG_STEPS]
    assert {row["phase"] for row in seen} == {"joint"}
    assert seen[-1]["causal"] < 0.7 * seen[0]["causal"]
    assert seen[-1]["denoising"] < 0.9 * seen[0]["denoising"]
    assert all(row["tokens_per_s"] > 0 and row["norm"] > 0 for row in seen)


def test_the_autoregressive_phase_comes_first() -> None:
    run = Run(config(total_minutes=10, ar_share=0.6), Path("unused"))
    phases = []
    for minutes in (0.0, 5.9, 6.0, 11.0):
        run.elapsed_s = minutes * 60
        phases.append((run.phase, run.share))
    assert phases == [("ar", 0.0), ("ar", 0.59), ("joint", 0.6), ("joint", 1.0)]


@pytest.mark.parametrize("kept", [{}, {"initial_share": 0.4}])
@pytest.mark.parametrize("ar_share", [0.0, 1.0])
def test_a_resumed_run_is_one_that_never_stopped(
    tmp_path: Path, ar_share: float, kept: dict[str, float]
) -> None:
    settings = config(ar_share=ar_share, **kept)
    whole = Run(settings, tmp_path / "whole")
    whole.train(data(8), 5, quiet)
    first = Run(settings, tmp_path / "parts")
    assert not first.resume()
    first.train(data(3), 5, quiet)
    changed = Run(replace(settings, weight_decay=0.5, embedding_rate=0.25), tmp_path / "parts")
    assert changed.resume()
    groups = [group for one in changed.optimizers for group in one.param_groups]
    assert {group["share"] for group in groups} == {1.0, 0.25}
    assert {group["weight_decay"] for group in groups} == {0.0, 0.5}
    second = Run(settings, tmp_path / "parts")
    assert second.resume()
    assert (second.step, second.elapsed_s, second.tokens) == (3, first.elapsed_s, first.tokens)
    second.train(data(8, first=second.place.batch), 5, quiet)
    assert second.step == whole.step == 8
    assert second.tokens == whole.tokens
    assert second.place == whole.place == Place(0, 8)
    assert second.elapsed_s > first.elapsed_s
    written = [load_model(tmp_path / name).state_dict() for name in ("whole", "parts")]
    for name, weight in whole.model.state_dict().items():
        torch.testing.assert_close(
            second.model.state_dict()[name], weight, atol=1e-5, rtol=1e-4, msg=name
        )
        torch.testing.assert_close(written[0][name], written[1][name], atol=1e-2, rtol=1e-2)


def test_what_is_written_keeps_a_share_of_the_first_weights(tmp_path: Path) -> None:
    run = Run(config(initial_share=0.25, learning_rate=0.05), tmp_path)
    first = run.model.embed_tokens.weight.detach().clone()
    run.train(data(6), 5, quiet)
    written = load_model(tmp_path).embed_tokens.weight
    expected = torch.lerp(run.model.embed_tokens.weight, first, 0.25)
    torch.testing.assert_close(written, expected, atol=1e-2, rtol=1e-2)
    assert not torch.allclose(written, run.model.embed_tokens.weight, atol=1e-2)
    assert not torch.allclose(written, first, atol=1e-2)


def test_a_run_that_is_asked_to_stop_ends_after_its_step(tmp_path: Path) -> None:
    run = Run(config(), tmp_path)
    batches = data(8)

    def asked() -> Iterator[Placed]:
        yield next(batches)
        run.stop()
        yield next(batches)

    run.train(asked(), 5, quiet)
    assert (run.step, run.place) == (1, Place(0, 1))
    again = Run(config(), tmp_path)
    assert again.resume()
    assert (again.step, again.stopped) == (1, False)


def test_a_run_may_begin_with_a_model(tmp_path: Path) -> None:
    made = model(num_hidden_layers=1)
    before = made.embed_tokens.weight.detach().clone()
    run = Run(config(), tmp_path, made)
    assert torch.equal(run.model.embed_tokens.weight, before)
    run.train(data(1), 5, quiet)
    assert not torch.equal(run.model.embed_tokens.weight, before)


def test_held_out_losses_are_the_same_for_the_same_weights(tmp_path: Path) -> None:
    run = Run(config(evaluate_minutes=1e-6), tmp_path)
    heldout = [dialogues()[:2], dialogues()[2:]]
    first = run.evaluate(heldout)
    assert set(first) == {"heldout_causal", "heldout_denoising"}
    assert run.evaluate(heldout) == first
    seen: list[dict[str, Any]] = []
    run.train(data(2 * LOG_STEPS), 5, seen.append, heldout)
    assert seen[-1]["heldout_causal"] < first["heldout_causal"]
    assert seen[-1]["heldout_causal"] == run.evaluate(heldout)["heldout_causal"]


@pytest.mark.parametrize("minutes", [0.0, 60.0])
def test_held_out_losses_are_told_only_so_often(tmp_path: Path, minutes: float) -> None:
    seen: list[dict[str, Any]] = []
    run = Run(config(evaluate_minutes=minutes), tmp_path)
    run.train(data(LOG_STEPS), 5, seen.append, [dialogues()])
    assert "heldout_causal" not in seen[0]


def test_utilisation_is_told_where_the_peak_is_known(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    run = Run(config(peak_tflops=1e-3, ar_share=1.0), tmp_path)
    run.train(data(LOG_STEPS), 5, seen.append)
    parameters = sum(p.numel() for p in run.model.parameters())
    # Padding is computed, too.
    least = 6 * parameters * seen[0]["tokens_per_s"] / 1e9
    assert least <= seen[0]["utilisation"] * 1.01 < 3 * least


@pytest.mark.parametrize("checkpoint_minutes", [0.0, 60.0])
def test_a_loss_that_is_no_number_is_found_before_anything_is_saved(
    tmp_path: Path, checkpoint_minutes: float
) -> None:
    run = Run(config(checkpoint_minutes=checkpoint_minutes), tmp_path)
    run.train(data(3), 5, quiet)
    good = (tmp_path / "state.pt").read_bytes()
    with torch.no_grad():
        run.model.norm.weight.fill_(torch.nan)
    # Fewer steps than there are between two reports.
    with pytest.raises(FloatingPointError, match="causal: got nan"):
        run.train(data(3), 5, quiet)
    assert (tmp_path / "state.pt").read_bytes() == good


def test_a_run_of_other_data_is_not_resumed(tmp_path: Path) -> None:
    Run(config(), tmp_path).save()
    with pytest.raises(ValueError, match="of a run with tokens_per_step = 8192, got 512"):
        Run(config(tokens_per_step=512), tmp_path).resume()


def test_a_run_of_another_shape_is_not_resumed(tmp_path: Path) -> None:
    Run(config(), tmp_path).save()
    with pytest.raises(ValueError, match=r"state\.pt: of a run of another shape"):
        Run(config(hidden_size=16), tmp_path).resume()


@pytest.mark.parametrize("kept", [0, 1000])
def test_a_damaged_state_is_told(tmp_path: Path, kept: int) -> None:
    Run(config(), tmp_path).save()
    file = tmp_path / "state.pt"
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"state\.pt: damaged; without it the run begins anew"):
        Run(config(), tmp_path).resume()


def test_on_a_full_disk_what_was_saved_before_stands(tmp_path: Path) -> None:
    run = Run(config(), tmp_path)
    run.save()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    run.step = 5
    with full_disk(10_000), pytest.raises(OSError, match=r"state\.pt: cannot be written: "):
        run.save()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_minutes_bound_an_invocation(tmp_path: Path) -> None:
    run = Run(config(), tmp_path)
    began = time.monotonic()
    run.train(data(100_000), minutes=0.01, report=quiet)
    assert 0.55 <= run.elapsed_s <= time.monotonic() - began
    assert 0 < run.step < 100_000


def test_minutes_are_those_of_the_clock_that_is_given(tmp_path: Path) -> None:
    ticks = itertools.count(step=6.0)
    run = Run(config(total_minutes=1.0), tmp_path)
    run.train(data(100_000), minutes=5, report=quiet, clock=lambda: next(ticks))
    assert run.share == 1.0
    assert run.elapsed_s == pytest.approx(60.0, abs=12.0)
    assert run.step <= 10


def test_steps_bound_a_run_and_its_schedule_on_any_machine(tmp_path: Path) -> None:
    run = Run(config(total_steps=2 * LOG_STEPS, cooldown_share=1.0), tmp_path)
    rates = []
    data_of_a_run = data(100_000)

    def watched() -> Iterator[Placed]:
        for batch in data_of_a_run:
            rates.append(run.config.rate_at(run.step, run.share))
            yield batch

    run.train(watched(), minutes=5, report=quiet)
    assert (run.step, run.share) == (2 * LOG_STEPS, 1.0)
    assert rates[LOG_STEPS] == pytest.approx(0.5 * run.config.learning_rate)
    run.train(data(100), minutes=5, report=quiet)
    assert run.step == 2 * LOG_STEPS


def test_a_run_is_saved_while_it_goes_on_and_as_a_checkpoint(tmp_path: Path) -> None:
    run = Run(config(checkpoint_minutes=0.0), tmp_path / "new")
    batches = data(3)

    def watched() -> Iterator[Placed]:
        yield next(batches)
        yield next(batches)
        assert (tmp_path / "new" / "state.pt").is_file()

    run.train(watched(), 5, quiet)
    assert {file.name for file in (tmp_path / "new").iterdir()} == {
        "state.pt",
        "config.json",
        "model.safetensors",
    }
    loaded = load_model(tmp_path / "new")
    for name, weight in run.model.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], weight, atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_autocast_trains_in_bfloat16(tmp_path: Path, share: float) -> None:
    seen: list[dict[str, Any]] = []
    run = Run(config(autocast="bfloat16", ar_share=share), tmp_path)
    run.train(data(LOG_STEPS), 5, seen.append)
    assert 0 < seen[0]["causal"] < 7
    assert {p.dtype for p in run.model.parameters()} == {torch.float32}


def test_the_rate_follows_the_schedule(tmp_path: Path) -> None:
    run = Run(config(warmup_steps=4, learning_rate=1e-3), tmp_path)
    run.train(data(2), 5, quiet)
    for optimizer in run.optimizers:
        assert optimizer.param_groups[0]["lr"] == pytest.approx(5e-4)


def test_the_same_seed_begins_alike(tmp_path: Path) -> None:
    one, two = Run(config(seed=3), tmp_path), Run(config(seed=3), tmp_path)
    other = Run(config(seed=4), tmp_path)
    weights = [run.model.embed_tokens.weight for run in (one, two, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_what_writes_into_the_residual_begins_smaller() -> None:
    torch.manual_seed(0)
    made = initialised(model(hidden_size=64, intermediate_size=128, num_hidden_layers=8))
    layer = made.layers[0]
    assert layer.self_attn.qkv_proj.weight.std().item() == pytest.approx(0.02, rel=0.1)
    for matrix in (layer.self_attn.o_proj, layer.mlp.down_proj):
        assert matrix.weight.std().item() == pytest.approx(0.005, rel=0.1)


def test_every_parameter_has_one_optimizer() -> None:
    made = model()
    muon, adamw = optimizers(made, config())
    inside = {p for g in muon.param_groups for p in g["params"]}
    outside = {p for g in adamw.param_groups for p in g["params"]}
    assert inside | outside == set(made.parameters())
    assert not inside & outside
    assert made.embed_tokens.weight in outside
    assert made.layers[0].mlp.down_proj.weight in inside
