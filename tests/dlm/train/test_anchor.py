from __future__ import annotations

import pytest
import torch
from torch import nn

from dlm.train.averaging import Anchor


def moved(model: nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)


def shown(anchor: Anchor[nn.Linear], model: nn.Linear) -> float:
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


def test_the_model_as_it_was_stays_and_does_not_learn() -> None:
    model = nn.Linear(2, 2)
    moved(model, 1.0)
    anchor = Anchor(model, 0.0)
    moved(model, 5.0)
    assert shown(anchor, model) == 5.0
    assert anchor.first(torch.ones(1, 2)).tolist() == [[3.0, 3.0]]
    assert not any(parameter.requires_grad for parameter in anchor.first.parameters())


def test_the_model_gets_its_own_weights_back_after_an_error() -> None:
    model = nn.Linear(2, 2)
    anchor = Anchor(model, 0.5)
    moved(model, 5.0)
    with pytest.raises(RuntimeError), anchor.applied():
        raise RuntimeError
    assert model.weight[0, 0].item() == 5.0


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
