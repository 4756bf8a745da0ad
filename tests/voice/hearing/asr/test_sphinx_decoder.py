"""Cepstral means are measured as pocketsphinx would, and an utterance can be begun again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from voice.config import load_agent
from voice.demo.recordings import load
from voice.errors import ModelError
from voice.hearing.asr.sphinx_decoder import TYPICAL_MEANS, SphinxDecoder
from voice.hearing.asr.sphinx_files import SphinxFiles, sphinx_files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> SphinxFiles:
    return sphinx_files(load_agent("assistant"), str(tmp_path_factory.mktemp("sphinx")))


def test_a_sentence_twice_on_one_decoder(files: SphinxFiles) -> None:
    decoder = SphinxDecoder(files)
    audio = load("assistant-6-time")
    for _ in range(2):
        decoder.start(decoder.measure_means(audio))
        decoder.process(audio)
        decoder.end()
        assert decoder.text() == "what time is it"
        words = decoder.words()
        assert len(words) == 4
        assert all(0 < word.posterior <= 1 and word.frames > 0 for word in words)
        assert all(word.order == 3 for word in words[2:])


def test_a_begun_utterance_can_be_dropped(files: SphinxFiles) -> None:
    decoder = SphinxDecoder(files)
    decoder.start(TYPICAL_MEANS)
    decoder.process(load("assistant-1-timer"))
    decoder.start(TYPICAL_MEANS)
    decoder.process(load("assistant-6-time"))
    assert decoder.text() == "what time is it"
    assert {word.posterior for word in decoder.words(posterior=0.5)} == {0.5}


def test_louder_audio_has_a_higher_first_mean(files: SphinxFiles) -> None:
    decoder = SphinxDecoder(files)
    audio = load("assistant-6-time")
    loud = decoder.measure_means(audio)
    soft = decoder.measure_means((audio // 10).astype(np.int16))
    assert loud.shape == (13,)
    assert loud[0] > soft[0] + 2
    np.testing.assert_array_equal(decoder.measure_means(audio), loud)


def test_files_that_are_none_are_told(tmp_path: Path) -> None:
    words = tmp_path / "words.dict"
    words.write_text("stop S T AA P\n")
    (tmp_path / "words.arpa").write_text("not a model")
    with pytest.raises(ModelError, match=r"words\.arpa"):
        SphinxDecoder(SphinxFiles(tmp_path / "words.arpa", words))
