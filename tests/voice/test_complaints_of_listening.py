"""What users of other agents complain of, where the ears are to blame: pauses, noises, echoes.

The numbers are those of the list of complaints that the project keeps; `tests/test_complaints_*`
together have them all. Complaint 6, the agent that interrupts itself, is also tested with the
program's own loudspeaker and microphone in tests/e2e/test_local_pulse.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.tiny_whisper import SENTENCE
from tests.support.virtual_parts import (
    Call,
    Model,
    Recognizer,
    Tape,
    Voice,
    calling,
    last_user,
    parts,
)
from tests.support.virtual_time import now, virtual
from tests.voice.local.test_echo_canceller import agent, cleaned, echo_of
from voice.audio import Framer
from voice.config import EndpointingConfig, SphinxConfig, VadConfig, WhisperConfig, load_agent
from voice.events import (
    Denoising,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyHeld,
    ReplyReleased,
    ReplyStatus,
    ReplyText,
    UserSpeechStarted,
    UserSpeechStopped,
)
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer, EndpointEvent
from voice.hearing.vad import make_vad
from voice.inputs import Announce
from voice.llm.base import Prompt
from voice.local.echo_canceller import can_cancel
from voice.speech.normalization import spoken
from voice.types import FRAME_SAMPLES, SAMPLE_RATE_HZ, AudioFrame, Samples, SpeechStarted, TurnEnded

STORY = "Once there was a king who had three sons, and each of them wanted to see the world."


class NoisyTape(Tape):
    """A tape on which "cough" is a noise without words."""

    def record(self, text: str, word_ms: int = 240, **misheard: str) -> Samples:
        samples = super().record(text, word_ms, **misheard)
        self.words[:] = [("", "") if word == ("cough", "cough") else word for word in self.words]
        return samples


def tell_a_story(prompt: Prompt) -> str:
    said = last_user(prompt)
    return (
        STORY if "story" in said else "Ten minutes, starting now." if "timer" in said else "Fine."
    )


def noisy(*overrides: str) -> object:
    return parts(Model(tell_a_story), None, Recognizer(NoisyTape()), *overrides)


async def in_the_middle_of_a_story(line: Call, holds: bool = True) -> None:
    line.session.update(holds=holds)
    await line.say("tell me a story")
    await line.next(ReplyHeard, lambda heard: heard.chars > 20)


def happened(heard: Samples) -> list[EndpointEvent]:
    """What the detector that ships finds in a sound of which no word is known."""
    detector, endpointer = make_vad(VadConfig()), Endpointer(EndpointingConfig())
    told = []
    for frame in Framer().push(heard):
        told += endpointer.accept(frame, detector.probability(frame), Cues())
    return told


def heard_out(line: Call) -> bool:
    """Whether the newest reply has sounded to its end."""
    ended, heard = line.of(ReplyEnded)[-1], line.of(ReplyHeard)[-1]
    return (heard.reply_id, heard.chars) == (ended.reply_id, len(ended.text))


def test_complaint_3_detector_and_recogniser_disagree_and_the_turn_ends_all_the_same() -> None:
    silent = AudioFrame(np.zeros(FRAME_SAMPLES, np.int16), 0)
    for text, probability, longest_s in (("", 0.0, 1.3), ("add milk and", 0.0, 1.3), ("", 1.0, 30)):
        endpointer, ended_s = Endpointer(EndpointingConfig()), None
        for frame in range(2000):
            at = AudioFrame(silent.samples, frame * FRAME_SAMPLES)
            speech = 1.0 if frame < 50 else probability
            events = endpointer.accept(at, speech, Cues(text, end_of_message=0.0 if text else None))
            if any(isinstance(event, TurnEnded) for event in events):
                ended_s = frame * FRAME_SAMPLES / SAMPLE_RATE_HZ - 1.0
                break
        assert ended_s is not None
        assert ended_s <= longest_s


@virtual
async def test_complaint_4_a_short_word_is_answered_at_once() -> None:
    async with calling(noisy()) as line:
        for answer in ("yeah", "stop", "no thanks"):
            await line.say(answer, 300)
            await line.next(FinalTranscript)
            await line.next(ReplyAudio)
            assert line.heard_after() < 0.4
            await asyncio.sleep(3)


@pytest.mark.parametrize(
    ("begun", "rest"),
    [
        ("my number is five five five", "one two three four"),
        ("it is anna at example dot", "com"),
        ("it is spelled j o", "h n"),
        ("add milk and", "some eggs"),
    ],
)
@virtual
async def test_complaint_5_digits_spelling_and_addresses_are_not_cut_off(
    begun: str, rest: str
) -> None:
    async with calling(noisy()) as line:
        await line.say(begun)
        await asyncio.sleep(0.9)
        await line.say(rest)
        assert (await line.next(FinalTranscript)).text == f"{begun} {rest}"


@pytest.mark.skipif(not can_cancel(), reason="the extra 'local' is not installed")
def test_complaint_6_the_agents_own_voice_in_the_microphone_begins_no_turn() -> None:
    played = agent()
    heard = echo_of(played)
    assert isinstance(happened(heard)[0], SpeechStarted)
    assert happened(cleaned(played, heard)) == []


@virtual
async def test_complaint_6_a_scrap_of_its_own_voice_does_not_stop_the_agent() -> None:
    async with calling(noisy()) as line:
        await in_the_middle_of_a_story(line)
        await line.say("cough", 200)
        await line.next(ReplyHeard, lambda heard: heard.chars == len(STORY))
        assert [ended.status for ended in line.of(ReplyEnded)] == [ReplyStatus.COMPLETED]


@pytest.mark.parametrize("holds", [True, False])
@virtual
async def test_complaint_7_mm_hmm_does_not_stop_the_agent(holds: bool) -> None:
    async with calling(noisy()) as line:
        await in_the_middle_of_a_story(line, holds)
        await line.say("mm-hmm", 400)
        await asyncio.sleep(9)
        told = "".join(text for role, text in line.history() if role == "agent")
        assert told.replace(" ", "") == STORY.replace(" ", "")
        assert heard_out(line)
        assert [text for role, text in line.history() if role == "user"] == ["tell me a story"]
        assert len(line.of(UserSpeechStopped)) == (1 if holds else 2)


@pytest.mark.parametrize("holds", [True, False])
@virtual
async def test_complaint_8_a_cough_is_followed_by_the_rest_and_by_the_next_turn(
    holds: bool,
) -> None:
    async with calling(noisy()) as line:
        await in_the_middle_of_a_story(line, holds)
        await line.say("cough", 300)
        await asyncio.sleep(9)
        told = "".join(text for role, text in line.history() if role == "agent")
        assert told.replace(" ", "") == STORY.replace(" ", "")
        assert heard_out(line)
        await line.say("how are you")
        assert (await line.next(ReplyText, lambda text: "Fine" in text.delta)).delta == "Fine."


@virtual
async def test_complaint_12_sound_is_held_at_the_first_sign_and_stopped_when_it_is_meant() -> None:
    async with calling(noisy()) as line:
        await in_the_middle_of_a_story(line)
        began = now()
        await line.say("no tell me the time", 300)
        held = line.times(ReplyHeld)[-1]
        assert held - began < 0.2
        stopped = line.times(UserSpeechStarted)[-1]
        assert stopped - began < 1.1
        assert line.times(ReplyReleased) == []
        await line.next(ReplyText, lambda text: text.delta == "Fine.")
        assert STORY.startswith(line.history()[1][1])


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.2, 0.4, 0.6])
@virtual
async def test_who_goes_on_just_after_the_turn_was_over_is_understood_as_one(
    holds: bool, after_s: float
) -> None:
    async with calling(noisy("endpointing.profile=eager")) as line:
        line.session.update(holds=holds)
        await line.say("set a timer for ten minutes")
        await line.next(UserSpeechStopped)
        await asyncio.sleep(after_s)
        await line.say("and tell me a story")
        # Each of the message's requests is answered.
        both = f"Ten minutes, starting now. {STORY}"
        await line.next(ReplyHeard, lambda heard: heard.chars == len(both))
        whole = "set a timer for ten minutes and tell me a story"
        assert line.history() == [("user", whole), ("agent", both)]


def bump(seed: int) -> Samples:
    """Two seconds with a dull thud in the middle."""
    at = np.arange(2 * SAMPLE_RATE_HZ) - SAMPLE_RATE_HZ
    noise = np.random.default_rng(seed).normal(0, 3000, len(at))
    return np.asarray(noise * np.exp(-((at / 1200) ** 2))).astype(np.int16)


@pytest.mark.parametrize("seed", range(6))
def test_complaint_14_a_thud_begins_no_turn(seed: int) -> None:
    assert happened(bump(seed)) == []


def test_complaint_14_silence_and_noise_have_no_words() -> None:
    from voice.hearing.asr.sphinx import SphinxRecognizer

    recognizer = SphinxRecognizer(SphinxConfig(), load_agent("assistant"))
    faint = np.random.default_rng(0).normal(0, 30, 2 * SAMPLE_RATE_HZ).astype(np.int16)
    found = []
    for noise in (faint, bump(3)):
        stream = recognizer.open(1)
        for frame in Framer().push(noise):
            stream.accept(frame)
        heard = stream.finish()
        found.append((heard.text, bool(heard.guess)))
    # In the thud the decoder finds a word, and doubts it.
    assert found == [("", False), ("", True)]


@dataclass
class Doubtful:
    """CTranslate2's Whisper, less sure than it is of whatever it makes of a window.

    Attributes:
        real: The model.
        score: Mean log probability that it tells.
        no_speech: Probability that nobody spoke, likewise.
    """

    real: Any
    score: float
    no_speech: float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def generate(self, *given: Any, **options: Any) -> Sequence[Any]:
        [made] = self.real.generate(*given, **options)
        told = SimpleNamespace(scores=[self.score], no_speech_prob=self.no_speech)
        told.sequences_ids = made.sequences_ids
        return [told]


@pytest.mark.parametrize(
    ("score", "no_speech", "text"),
    [(-0.2, 0.1, SENTENCE), (-0.8, 0.95, ""), (-1.5, 0.1, "")],
)
def test_complaint_14_what_whisper_makes_of_silence_is_not_what_was_said(
    tiny_whisper: Path, score: float, no_speech: float, text: str
) -> None:
    from voice.hearing.asr.whisper import WhisperRecognizer

    config = WhisperConfig.model_validate({"model": str(tiny_whisper), "device": "cpu"})
    recognizer = WhisperRecognizer(config)
    # It says its sentence of silence too, as the large ones do; only the numbers tell.
    recognizer._model.model = Doubtful(recognizer._model.model, score, no_speech)
    stream = recognizer.open(1)
    for frame in Framer().push(np.zeros(SAMPLE_RATE_HZ, np.int16)):
        stream.accept(frame)
    assert stream.finish().text == text


@virtual
async def test_complaint_15_amounts_are_read_as_people_say_them() -> None:
    assert spoken("It is $49.95.") == "It is forty nine dollars and ninety five cents."

    voice = Voice()
    async with calling(parts(Model(lambda _: "It is $49.95."), voice)) as line:
        await line.say("what does it cost")
        assert (await line.next(ReplyEnded)).text == "It is $49.95."
        assert set(voice.spoken) == {"It is forty nine dollars and ninety five cents."}


@virtual
async def test_complaint_15_a_long_sentence_sounds_before_its_end_is_known() -> None:
    slow = Model(lambda _: STORY, forward_s=0.5)
    async with calling(parts(slow, None, None, "drafting.enabled=false")) as line:
        await line.say("tell me a story")
        await line.next(ReplyEnded)
        # The model has its last words two forwards later.
        assert line.times(ReplyAudio)[0] < line.times(Denoising)[-1] - 0.9


@virtual
async def test_complaint_8_who_switches_turn_detection_off_in_a_turn_hears_the_rest() -> None:
    async with calling(noisy()) as line:
        await in_the_middle_of_a_story(line)
        speaking = asyncio.create_task(line.say("wait a moment please", 400))
        await line.next(ReplyHeld)
        line.session.update(turn_detection=False)
        await speaking
        await line.next(ReplyHeard, lambda heard: heard.chars == len(STORY))
        # Nor does a turn without an end keep what is announced from being said.
        line.session._feed(Announce("It rings."))
        await line.next(ReplyText, lambda text: text.delta == "It rings.")
