from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from benchmarks.voice.fit_backchannels import (
    CLASSES,
    class_of,
    examples,
    fit,
    heard_before_pauses,
    span,
    told_apart,
)
from voice.hearing.backchannel import LAYERS, STRIDES, network
from voice.types import AudioFrame, Samples


def tone(hz: float, seconds: float = 0.5) -> Samples:
    """A tone amid silence."""
    sound = 6000 * np.sin(2 * np.pi * hz * np.arange(round(seconds * 16_000)) / 16_000)
    return np.concatenate([np.zeros(4000), sound, np.zeros(4000)]).astype(np.int16)


def words(rng: np.random.Generator) -> list[tuple[str, Samples]]:
    """Low tones that mean go on, and high ones that mean stop."""
    low = [("right", span(tone(hz))) for hz in rng.uniform(200, 600, 20)]
    high = [("stop", span(tone(hz))) for hz in rng.uniform(2000, 5000, 20)]
    other = [("left", span(tone(hz))) for hz in rng.uniform(2000, 5000, 5)]
    return [*low, *high, *other]


class LevelVad:
    """Speech is what is loud."""

    def probability(self, frame: AudioFrame) -> float:
        return float(np.abs(frame.samples).max() > 1000)

    def reset(self) -> None:
        pass


def test_a_phrase_has_a_class() -> None:
    assert CLASSES[class_of("stop")] == "stop"
    assert CLASSES[class_of("uh huh")] == CLASSES[class_of("mm")] == "hum"
    assert CLASSES[class_of("oh okay")] == "agreeing"
    assert CLASSES[class_of("hold on")] == "stopping"
    assert CLASSES[class_of("")] == CLASSES[class_of("milk")] == "other"


@pytest.mark.usefixtures("one_thread")
def test_what_was_fitted_tells_words_apart_as_it_did_in_torch() -> None:
    rng = np.random.default_rng(0)
    rows = [*examples(words(rng), 4, rng)]
    inputs, wanted = np.stack([heard for heard, _ in rows]), np.array([c for _, c in rows])
    weights = fit(inputs, wanted, 12)
    found = told_apart(words(rng), weights)
    assert found["words"] == {"go on": 20, "hums": 0, "stop": 20, "others": 5}
    assert found["stop_taken_for_go_on"] < 0.1
    hums = [("mm", span(tone(300))), ("uh huh", span(tone(4000)))]
    told = told_apart([*words(rng), *hums], weights)
    assert told["words"] == {**found["words"], "hums": 2}
    assert told["hums_not_taken_for_it"] == 0.5

    heard = torch.from_numpy(inputs[:1]).transpose(1, 2)
    for name, stride in zip(LAYERS, STRIDES, strict=True):
        kernel, bias = (torch.from_numpy(weights[f"{name}.{kind}"]) for kind in ("weight", "bias"))
        heard = functional.relu(functional.conv1d(heard, kernel, bias, stride))
    pooled = torch.cat([heard.mean(dim=2), heard.amax(dim=2)], dim=1)[0].numpy()
    scores = weights["out.weight"] @ pooled + weights["out.bias"]
    np.testing.assert_allclose(network(inputs[0], weights), scores, rtol=1e-3, atol=1e-4)


def test_a_word_is_heard_up_to_each_of_its_pauses() -> None:
    twice = np.concatenate([tone(300, 0.2)[:-3000], tone(300, 0.2)[3000:]])
    first, second = heard_before_pauses(twice, LevelVad())
    assert len(first) == pytest.approx(1600 + 3200 + 960, abs=400)
    assert len(second) == pytest.approx(1600 + 3200 + 2000 + 3200 + 960, abs=400)
    assert heard_before_pauses(tone(300, 1.2), LevelVad()) == []
