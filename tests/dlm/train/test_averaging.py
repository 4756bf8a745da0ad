from __future__ import annotations

import pytest
import torch
from torch import nn

from dlm.train.averaging import Anchor, Average


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


def averaged(average: Average, model: nn.Linear) -> float:
    with average.applied():
        return model.weight[0, 0].item()


def test_weights_are_averaged_and_early_ones_soon_forgotten() -> None:
    model = nn.Linear(2, 2)
    moved(model, 8.0)
    average = Average(model, 0.5)
    expected = 8.0
    for step, value in enumerate((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0), start=1):
        moved(model, value)
        average.update()
        decay = min(0.5, step / (9 + step))
        expected = decay * expected + (1 - decay) * value
        assert averaged(average, model) == pytest.approx(expected)
        assert model.weight[0, 0].item() == value


def test_an_average_goes_on_from_its_state() -> None:
    model = nn.Linear(2, 2)
    first = Average(model, 0.9)
    moved(model, 3.0)
    first.update()
    second = Average(nn.Linear(2, 2), 0.9)
    second.load(first.state())
    assert second.updates == 1
    assert averaged(first, model) != 3.0
    for mine, theirs in zip(second.state()["averages"], first.state()["averages"], strict=True):
        assert torch.equal(mine, theirs)


def test_without_a_state_it_begins_with_the_weights_as_they_are() -> None:
    model = nn.Linear(2, 2)
    average = Average(model, 0.9)
    average.update()
    moved(model, 3.0)
    average.load(None)
    assert (averaged(average, model), average.updates) == (3.0, 0)


def test_the_state_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="averages: expected 2 tensors"):
        Average(nn.Linear(2, 2), 0.9).load({"updates": 1, "averages": []})


@pytest.mark.parametrize("kind", [Average, Anchor])
def test_the_model_gets_its_own_weights_back_after_an_error(
    kind: type[Average] | type[Anchor[nn.Linear]],
) -> None:
    model = nn.Linear(2, 2)
    averaging = kind(model, 0.5)
    moved(model, 5.0)
    with pytest.raises(RuntimeError), averaging.applied():
        raise RuntimeError
    assert model.weight[0, 0].item() == 5.0
