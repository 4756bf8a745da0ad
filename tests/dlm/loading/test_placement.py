from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from dlm.loading import placement
from dlm.loading.placement import Kernels
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer
from dlm.network.moe import Experts
from tests.dlm.tiny import config

LARGE = ModelConfig(152_000, 1024, 3072, 28, 16, 8, 128)
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "changes", [{}, {"experts": Experts(4, 4, 24, shared=1), "tie_word_embeddings": False}]
)
def test_matrix_entries_are_those_of_the_model(changes: dict[str, object]) -> None:
    shape = config(**changes)
    made = Transformer(shape)
    head = 0 if shape.tie_word_embeddings else made.lm_head.weight.numel()
    counted = sum(p.numel() for name, p in made.named_parameters() if p.dim() > 1) - head
    routers = sum(p.numel() for name, p in made.named_parameters() if "router.weight" in name)
    assert placement.matrix_entries(shape) == counted - routers


def test_a_device_that_is_not_there_is_told() -> None:
    assert placement.usable_device("cpu") == CPU
    with pytest.raises(ValueError, match=r"device: got 'gpu', which cannot be used here: Expected"):
        placement.usable_device("gpu")
    for name in ("cuda:99", "meta"):
        with pytest.raises(ValueError, match=f"device: got '{name}', which cannot be used here: "):
            placement.usable_device(name)


@pytest.mark.parametrize(("fast", "dtype"), [(True, torch.int8), (False, torch.float32)])
def test_a_small_model_takes_8_bits_where_they_are_faster(
    monkeypatch: pytest.MonkeyPatch, fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: fast)
    assert placement.best_dtype(config(), CPU) is dtype


def test_a_mixture_is_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: True)
    shape = config(experts=Experts(4, 4, 24, shared=1))
    assert placement.best_dtype(shape, CPU) is torch.float32


@pytest.mark.parametrize(("fast", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_a_large_one_takes_what_the_cpu_multiplies_faster(
    monkeypatch: pytest.MonkeyPatch, fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(placement, "int8_is_fast", lambda: False)
    monkeypatch.setattr(placement, "bfloat16_is_fast", lambda: fast)
    assert placement.best_dtype(LARGE, CPU) is dtype


@pytest.mark.parametrize(("slow", "fast"), [(torch.float32, True), (torch.bfloat16, False)])
def test_the_faster_of_two_number_formats_is_found(
    monkeypatch: pytest.MonkeyPatch, slow: torch.dtype, fast: bool
) -> None:
    def product(dtype: torch.dtype) -> Callable[[], object]:
        return lambda: time.sleep(0.01 if dtype is slow else 0)

    monkeypatch.setattr(placement, "_product", product)
    # Without what has been found on this machine, which stays.
    assert placement.bfloat16_is_fast.__wrapped__() is fast


WHOLE = config(head_dim=16)
CUDA = torch.device("cuda")


@pytest.mark.parametrize(
    ("wanted", "device", "used"),
    [
        (Kernels.AUTO, CUDA, True),
        (Kernels.AUTO, CPU, False),
        (Kernels.EAGER, CUDA, False),
        (Kernels.FUSED, CUDA, True),
        (Kernels.FUSED, CPU, True),
    ],
)
def test_kernels_run_where_they_can_and_are_wanted(
    monkeypatch: pytest.MonkeyPatch, wanted: Kernels, device: torch.device, used: bool
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert placement.uses_kernels(WHOLE, device, wanted) is used


@pytest.mark.parametrize(
    ("shape", "device", "triton", "told"),
    [
        (WHOLE, CUDA, False, "Triton is not installed"),
        (WHOLE, CPU, True, "the device is cpu, not cuda"),
        (config(), CUDA, True, "heads are of 8 numbers"),
        (config(head_dim=16, partial_rotary_factor=0.5), CUDA, True, "turned in part"),
    ],
)
def test_kernels_that_cannot_run_are_an_error_only_where_asked_for(
    monkeypatch: pytest.MonkeyPatch,
    shape: ModelConfig,
    device: torch.device,
    triton: bool,
    told: str,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if triton else None)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert not placement.uses_kernels(shape, device, Kernels.AUTO)
    with pytest.raises(ValueError, match=f"kernels: got fused, .*{told}"):
        placement.uses_kernels(shape, device, Kernels.FUSED)


def test_cuda_takes_bfloat16() -> None:
    assert placement.best_dtype(config(), torch.device("cuda")) is torch.bfloat16


def test_the_device_is_one_that_there_is() -> None:
    assert placement.best_device().type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_a_short_step_takes_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8), raising=False)
    assert placement.best_threads(config()) == 1
    assert placement.best_threads(LARGE) == 4
    # The machine has eight cores still.
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(2))
    assert placement.best_threads(LARGE) == 2
