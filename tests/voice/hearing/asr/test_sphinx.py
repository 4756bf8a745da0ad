"""The embedded recogniser on recordings, its decoder, and its confidence."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voice.audio import Framer
from voice.config import EndpointingConfig, SphinxConfig, load_agent
from voice.demo.recordings import CONVERSATIONS, Line, load
from voice.errors import ModelError
from voice.hearing.asr.sphinx import (
    TYPICAL_MEANS,
    DecodedWord,
    SphinxDecoder,
    SphinxRecognizer,
    SphinxStream,
    confidence,
)
from voice.hearing.asr.sphinx_model import SphinxFiles, sphinx_files
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad.silero import SileroVad
from voice.types import Samples, SpeechStarted, Transcript, TurnEnded


def spoken_part(audio: Samples) -> Samples:
    """The one turn of a recording, as detector and endpointing cut it out."""
    audio = np.concatenate([np.zeros(4800, np.int16), audio, np.zeros(16000, np.int16)])
    config = EndpointingConfig()
    endpointer, vad = Endpointer(config, silence_ms=800), SileroVad()
    events = [
        event
        for frame in Framer().push(audio)
        for event in endpointer.accept(frame, vad.probability(frame), Cues())
    ]
    started = next(event for event in events if isinstance(event, SpeechStarted))
    ended = [event for event in events if isinstance(event, TurnEnded)][-1]
    begin = max(0, started.start_sample - endpointer.pre_roll_samples)
    return audio[begin : ended.end_sample + config.pause_ms * 16]


SILENCE = np.random.default_rng(0).normal(0, 3, 8000).astype(np.int16)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sphinx")


@pytest.fixture(scope="module")
def assistant(cache: Path) -> SphinxRecognizer:
    return SphinxRecognizer(SphinxConfig(cache_dir=str(cache)), load_agent("assistant"))


@pytest.fixture(scope="module")
def coffee(cache: Path) -> SphinxRecognizer:
    return SphinxRecognizer(SphinxConfig(cache_dir=str(cache)), load_agent("coffee"))


def feed(stream: SphinxStream, audio: Samples, start: int = 0) -> list[Transcript]:
    interims = []
    for frame in Framer(start).push(audio):
        stream.accept(frame)
        interims.append(stream.interim())
    return [interim for interim in interims if interim is not None]


def recognised(recognizer: SphinxRecognizer, audio: Samples) -> Transcript:
    stream = recognizer.open(1)
    feed(stream, audio)
    return stream.finish()


@pytest.mark.parametrize("line", CONVERSATIONS["assistant"], ids=lambda line: line.name)
def test_the_recorded_conversation_is_understood(assistant: SphinxRecognizer, line: Line) -> None:
    final = recognised(assistant, spoken_part(load(line.name)))
    assert final.text == line.text
    assert final.final
    assert final.confidence >= 0.4


def test_interims_grow_and_come_while_speech_goes_on(assistant: SphinxRecognizer) -> None:
    stream = assistant.open(7)
    interims = feed(stream, load("assistant-3-units"), start=3200)
    texts = [interim.text for interim in interims]
    assert len(texts) >= 4
    assert len(set(texts)) == len(texts)
    assert texts[-1].startswith("convert five")
    assert all(interim.turn_id == 7 and not interim.final for interim in interims)
    ends = [interim.end_sample for interim in interims]
    assert ends == sorted(ends)
    assert ends[0] > 3200


def test_the_same_audio_gives_the_same_transcripts(assistant: SphinxRecognizer) -> None:
    audio = load("assistant-4-add")
    first, second = assistant.open(1), assistant.open(1)
    assert feed(first, audio) == feed(second, audio)
    assert first.finish() == second.finish()


def test_speech_may_go_on_after_finish(assistant: SphinxRecognizer) -> None:
    whole = load("assistant-1-timer")
    half = len(whole) // 2
    stream = assistant.open(1)
    feed(stream, whole[:half])
    assert stream.finish().text != "set a timer for ten minutes"
    feed(stream, whole[half:], start=half)
    final = stream.finish()
    assert final.text == "set a timer for ten minutes"
    assert final.end_sample == half + (len(whole) - half) // 320 * 320


def test_silence_after_finish_changes_nothing(assistant: SphinxRecognizer) -> None:
    stream = assistant.open(1)
    audio = load("assistant-6-time")
    feed(stream, audio)
    final = stream.finish()
    assert feed(stream, SILENCE, start=len(audio)) == []
    assert stream.finish() is final


def test_long_silence_around_the_words_does_no_harm(assistant: SphinxRecognizer) -> None:
    still = np.zeros(32000, np.int16)
    audio = np.concatenate([still, load("assistant-3-units"), still])
    assert recognised(assistant, audio).text == "convert five miles to kilometers"


def test_nothing_heard_is_nothing_said(assistant: SphinxRecognizer) -> None:
    assert assistant.open(3).finish() == Transcript(3, "", True, 0.0, 0)
    assert recognised(assistant, SILENCE).text == ""


def test_streams_in_threads_do_not_disturb_each_other(assistant: SphinxRecognizer) -> None:
    lines = CONVERSATIONS["assistant"][:4] * 2
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda line: recognised(assistant, load(line.name)).text, lines))
    assert found == [line.text for line in lines]


def test_a_guessed_transcript_can_be_had_without_the_guard(cache: Path) -> None:
    config = SphinxConfig(cache_dir=str(cache), min_confidence=0)
    open_minded = SphinxRecognizer(config, load_agent("assistant"))
    strict = SphinxRecognizer(
        config.model_copy(update={"min_confidence": 1.0}), load_agent("assistant")
    )
    audio = load("assistant-6-time")
    assert recognised(open_minded, audio).text == "what time is it"
    end = len(audio) // 320 * 320
    assert recognised(strict, audio) == Transcript(1, "", True, 0.0, end, guess="what time is it")


def rows(shared_audio: Path, kind: str) -> list[tuple[str, Samples]]:
    lines = (shared_audio / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    found = [row for row in map(json.loads, lines) if row["kind"] == kind]
    return [
        (row["text"], spoken_part(soundfile.read(shared_audio / row["audio"], dtype="int16")[0]))
        for row in found
    ]


def test_read_sentences_are_not_forced_into_commands(
    assistant: SphinxRecognizer, shared_audio: Path
) -> None:
    sentences = rows(shared_audio, "read")[-8:]
    accepted = [text for text, audio in sentences if recognised(assistant, audio).text]
    assert len(accepted) <= 1, accepted


def test_real_commands_are_understood(assistant: SphinxRecognizer, shared_audio: Path) -> None:
    expected = {"what time is it", "turn on the living room lamp", "today", "half an hour"}
    for text, audio in rows(shared_audio, "command"):
        if text in expected:
            assert recognised(assistant, audio).text == text


def test_real_orders_are_understood(coffee: SphinxRecognizer, shared_audio: Path) -> None:
    lines = (shared_audio / "orders.jsonl").read_text(encoding="utf-8").splitlines()
    found = wanted = 0
    for row in map(json.loads, lines[:8]):
        audio, _ = soundfile.read(shared_audio / row["audio"], dtype="int16")
        text = recognised(coffee, audio).text
        slots = [value.strip() for value in row["slots"].values()]
        wanted += len(slots)
        found += sum(slot in text for slot in slots)
    assert found >= 0.85 * wanted


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


WORD = DecodedWord(frames=30, sound_score=-60, language_score=-2, order=3, posterior=0.9)


def test_sure_and_unsure() -> None:
    forced = DecodedWord(frames=30, sound_score=-150, language_score=-9, order=1, posterior=0.01)
    assert confidence([WORD, WORD]) > 0.9
    assert confidence([forced, forced]) < 0.1


@pytest.mark.parametrize(
    "worse",
    [
        {"sound_score": -90.0},
        {"language_score": -8.0},
        {"order": 1},
        {"posterior": 0.2},
    ],
)
def test_worse_evidence_lowers_it(worse: dict[str, float]) -> None:
    assert confidence([WORD, replace(WORD, **worse)]) < confidence([WORD, WORD])  # type: ignore[arg-type]
