"""The optimiser for machines that are slow in bfloat16, beside torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from dlm.train.muon import Float32Muon, orthogonal

COEFFICIENTS = (3.4445, -4.775, 2.0315)


def steps(kind: type[torch.optim.Muon], shape: tuple[int, int]) -> list[Tensor]:
    """What steps add to weights, for gradients that are always the same."""
    random = torch.Generator().manual_seed(0)
    weight = nn.Parameter(torch.randn(shape, generator=random))
    muon = kind([weight], lr=0.05, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    found = []
    for _ in range(4):
        before = weight.detach().clone()
        weight.grad = torch.randn(shape, generator=random)
        muon.step()  # type: ignore[no-untyped-call]
        found.append(weight.detach() - before)
    return found


@pytest.mark.parametrize("shape", [(32, 96), (96, 32), (48, 48)])
def test_steps_are_those_of_torch_but_for_its_rounding(shape: tuple[int, int]) -> None:
    pairs = zip(steps(Float32Muon, shape), steps(torch.optim.Muon, shape), strict=True)
    for ours, theirs in pairs:
        assert (ours - theirs).norm() < 0.02 * theirs.norm()


@pytest.mark.parametrize("shape", [(20, 60), (60, 20)])
def test_all_directions_are_stepped_alike(shape: tuple[int, int]) -> None:
    stretched = torch.randn(shape) * torch.logspace(0, 2, shape[1])
    singular = torch.linalg.svdvals(orthogonal(stretched, COEFFICIENTS, 5))
    assert singular.min() > 0.5 and singular.max() < 1.3


def test_a_run_goes_on_with_what_torch_has_saved() -> None:
    weight = nn.Parameter(torch.randn(8, 16))
    theirs, ours = torch.optim.Muon([weight]), Float32Muon([weight])
    weight.grad = torch.randn(8, 16)
    theirs.step()  # type: ignore[no-untyped-call]
    ours.load_state_dict(theirs.state_dict())
    assert torch.equal(
        ours.state[weight]["momentum_buffer"], theirs.state[weight]["momentum_buffer"]
    )
    ours.step()
    assert weight.isfinite().all()
