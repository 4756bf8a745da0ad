"""When a turn begins, pauses and ends: a pure state machine over speech probabilities.

Time is counted in the samples of the frames. No clock is read and no audio looked at, so the same
probabilities and cues always give the same events. The silence that ends a turn depends on the cues
at the pause (`voice.hearing.end_of_turn`). The caller acts on the events, and keeps the audio from
before the start (`pre_roll_samples`).
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

from voice.config import EndpointingConfig
from voice.hearing.end_of_turn import Cues, Profile, needed_silence_ms
from voice.types import (
    FRAME_MS,
    AudioFrame,
    EndpointEvent,
    EndReason,
    Pause,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    TurnEnded,
    ms_of_samples,
    samples_of_ms,
)

BEGINS_FROM = 0.6
"""Share of the threshold that is enough for a turn's first frames: detectors are slow to rise."""
RESUME_MS = 60
"""Unbroken speech that ends a pause; the silence keeps running through a click or a plosive."""


class _State(Enum):
    IDLE = auto()
    SPEAKING = auto()
    PAUSED = auto()


class Endpointer:
    """Turns frames, their speech probabilities and the cues at a pause into endpoint events.

    Args:
        config: Endpointing settings.
        threshold: Probability at and above which a frame counts as speech.
        silence_ms: A fixed silence that ends the turn whatever was said; None adapts it to the
            cues.
    """

    def __init__(
        self,
        config: EndpointingConfig,
        threshold: float = 0.5,
        silence_ms: int | None = None,
    ) -> None:
        self._config = config
        self._turn_id = 0
        self._now = 0
        self.configure(threshold, silence_ms, Profile(config.profile), config.pre_roll_ms)
        self.reset()

    def configure(
        self, threshold: float, silence_ms: int | None, profile: Profile, pre_roll_ms: int
    ) -> None:
        """Apply settings that a client may change at any time.

        Args:
            threshold: See the class.
            silence_ms: See the class.
            profile: Sets the adaptive silence.
            pre_roll_ms: Audio before the detected start that the recogniser gets too.
        """
        self._threshold = threshold
        self._silence_ms = silence_ms
        self._profile = profile
        self._pre_roll_ms = pre_roll_ms

    @property
    def pre_roll_samples(self) -> int:
        """Samples before `SpeechStarted.start_sample` that the recogniser gets too."""
        return samples_of_ms(self._pre_roll_ms)

    @property
    def in_turn(self) -> bool:
        """Whether a turn is open."""
        return self._state is not _State.IDLE

    @property
    def silence_samples(self) -> int:
        """Samples since the last speech of the open turn."""
        return self._now - self._end_sample

    def reset(self) -> None:
        """Drop an open turn without an event; turn ids keep counting up."""
        self._state = _State.IDLE
        self._window: deque[tuple[int, bool]] = deque(
            maxlen=max(1, self._config.start_window_ms // FRAME_MS)
        )
        self._start_sample = 0
        self._end_sample = 0
        self._run_start: int | None = None
        self._speech_ms = 0

    def accept(self, frame: AudioFrame, probability: float, cues: Cues) -> list[EndpointEvent]:
        """Take the next frame.

        Args:
            frame: Follows the previous frame without a gap.
            probability: Probability in [0, 1] that the frame holds speech.
            cues: What is known so far about the pause in the open turn.

        Returns:
            The events that this frame causes, in order.
        """
        self._now = frame.end_sample
        if self._state is _State.IDLE:
            return self._wait_for_start(frame, probability >= BEGINS_FROM * self._threshold)
        speech = probability >= self._threshold
        if self._now - self._start_sample >= round(self._config.longest_turn_s * 16_000):
            if self._state is _State.SPEAKING and speech:
                self._end_sample = self._now
            return self._end(EndReason.LONGEST_TURN)
        if self._state is _State.SPEAKING:
            return self._follow_speech(speech)
        return self._follow_pause(frame, speech, cues)

    def force_end(self, reason: EndReason, start_sample: int | None = None) -> list[EndpointEvent]:
        """End the open turn now.

        Args:
            reason: Reported in the event.
            start_sample: If no turn is open, begin one here and end it at once, for a client that
                marks its own turns. None does nothing if no turn is open.
        """
        if self._state is not _State.IDLE:
            if self._state is _State.SPEAKING:
                self._end_sample = self._now
            return self._end(reason)
        if start_sample is None:
            return []
        started = self._begin(start_sample)
        return [started, *self._end(reason)]

    def _wait_for_start(self, frame: AudioFrame, speech: bool) -> list[EndpointEvent]:
        self._window.append((frame.start_sample, speech))
        starts = [start for start, is_speech in self._window if is_speech]
        if len(starts) * FRAME_MS < self._config.start_ms:
            return []
        return [self._begin(starts[0])]

    def _follow_speech(self, speech: bool) -> list[EndpointEvent]:
        if speech:
            self._end_sample = self._now
            before, self._speech_ms = self._speech_ms, self._speech_ms + FRAME_MS
            lasted = before < self._config.barge_in_ms <= self._speech_ms
            return [SpeechLasted(self._turn_id)] if lasted else []
        if self._now - self._end_sample < samples_of_ms(self._config.pause_ms):
            return []
        self._state = _State.PAUSED
        self._run_start = None
        return [Pause(self._turn_id, self._end_sample)]

    def _follow_pause(self, frame: AudioFrame, speech: bool, cues: Cues) -> list[EndpointEvent]:
        if speech:
            if self._run_start is None:
                self._run_start = frame.start_sample
            if self._now - self._run_start < samples_of_ms(RESUME_MS):
                return []
            self._state = _State.SPEAKING
            self._end_sample = self._now
            return [SpeechResumed(self._turn_id, self._run_start)]
        self._run_start = None
        if self._now - self._end_sample < samples_of_ms(self._needed_silence_ms(cues)):
            return []
        return self._end(EndReason.SILENCE)

    def _needed_silence_ms(self, cues: Cues) -> float:
        if self._silence_ms is not None:
            return self._silence_ms
        return max(self._config.pause_ms, needed_silence_ms(cues, self._profile))

    def _begin(self, start_sample: int) -> SpeechStarted:
        self._turn_id += 1
        self._state = _State.SPEAKING
        self._start_sample = start_sample
        self._end_sample = self._now
        # However long the speech already is, `SpeechLasted` is left to a later frame.
        begun_ms = round(ms_of_samples(self._now - start_sample))
        self._speech_ms = min(begun_ms, self._config.barge_in_ms - 1)
        return SpeechStarted(self._turn_id, start_sample)

    def _end(self, reason: EndReason) -> list[EndpointEvent]:
        ended = TurnEnded(self._turn_id, self._end_sample, self._now, reason)
        self.reset()
        return [ended]
