from importlib import resources

import numpy as np
import pytest

from voice.demo.recordings import CONVERSATIONS, load
from voice.demo.virtual_audio import speech_span
from voice.types import SAMPLE_RATE_HZ

LINES = [line for lines in CONVERSATIONS.values() for line in lines]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_each_line_is_a_recording_of_speech(line):
    samples = load(line.name)
    assert samples.dtype == np.int16
    assert samples.ndim == 1
    begin, end = speech_span(samples, SAMPLE_RATE_HZ)
    words = len(line.text.split())
    assert 0.15 * words < (end - begin) / SAMPLE_RATE_HZ < 0.6 * words
    assert begin < 0.1 * SAMPLE_RATE_HZ
    assert len(samples) - end < 0.3 * SAMPLE_RATE_HZ


def test_the_recordings_are_small_and_all_are_used():
    files = [
        f for f in resources.files("voice.demo.recordings").iterdir() if f.name.endswith(".flac")
    ]
    assert {f.name for f in files} == {f"{line.name}.flac" for line in LINES}
    assert sum(len(f.read_bytes()) for f in files) < 600_000


def test_an_unknown_recording_is_named():
    with pytest.raises(ValueError, match="got the recording 'tea'; expected one of"):
        load("tea")
