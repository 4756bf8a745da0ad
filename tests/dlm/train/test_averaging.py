from __future__ import annotations

import pytest
import torch
from torch import nn

from dlm.train.averaging import Anchor
from dlm.train.low_rank import adapted, plain_state
from tests.dlm.tiny import model as load


def moved(model: nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)


def shown(anchor: Anchor, model: nn.Linear) -> float:
    with anchor.applied():
        assert torch.equal(model.bias, model.weight[0])
        return model.weight[0, 0].item()


def test_what_is_shown_lies_between_the_first_weights_and_the_present_ones() -> None:
    model = nn.Linear(2, 2)
    moved(model, 1.0)
    anchor = Anchor(model, 0.25)
    for value, expected in ((1.0, 1.0), (5.0, 4.0), (9.0, 7.0)):
        moved(model, value)
        assert shown(anchor, model) == pytest.approx(expected)
        assert model.weight[0, 0].item() == value


def test_first_weights_are_taken_over() -> None:
    model = nn.Linear(2, 2)
    moved(model, 1.0)
    state = Anchor(model, 0.5).state()
    moved(model, 3.0)
    other = Anchor(model, 0.5)
    other.load(None)
    assert shown(other, model) == pytest.approx(3.0)
    other.load(state)
    assert shown(other, model) == pytest.approx(2.0)


def test_first_weights_of_another_model_are_refused() -> None:
    anchor = Anchor(nn.Linear(2, 2), 0.5)
    for other in (nn.Linear(2, 3), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))):
        with pytest.raises(ValueError, match="first weights: expected 2 of this model"):
            anchor.load(Anchor(other, 0.5).state())


def test_of_products_the_sum_is_mixed() -> None:
    model = adapted(load(), 4, torch.float32)
    first = plain_state(model)
    anchor = Anchor(model, 0.25)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += torch.randn_like(parameter) * 0.1
    after = plain_state(model)
    with anchor.applied():
        mixed = plain_state(model)
    for name, tensor in mixed.items():
        torch.testing.assert_close(tensor, torch.lerp(after[name], first[name], 0.25), msg=name)
