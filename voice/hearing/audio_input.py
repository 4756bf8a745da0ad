"""The audio input of one session: audio in; endpointing events and transcripts out.

Voice activity and endpointing run on the event loop, frame by frame; the recogniser runs in a
thread, in the order of the audio. It may start decoding at the first silent frame, and the final
decode is requested at the pause, so that both overlap the silence that decides whether the turn is
over. At the pause the sound of a short turn is also judged (`voice.hearing.backchannel`), and the
language model is asked how likely it is that the message ends here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

import numpy as np

from voice.audio import Framer, StreamResampler, level_dbfs
from voice.config import EndpointingConfig
from voice.errors import ModelError, ProtocolError, origins
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.babble import perhaps_babble
from voice.hearing.backchannel import BEFORE_MS, LONGEST_MS, sound_log_odds
from voice.hearing.bandwidth import Bandwidth
from voice.hearing.end_of_turn import Cues, Profile
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad import Vad
from voice.inputs import EndOfMessageFailed, RecognitionFailed, SessionOptions
from voice.types import (
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    AudioFrame,
    EndpointEvent,
    EndReason,
    Pause,
    Samples,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    Transcript,
    TurnEnded,
    ms_of_samples,
    samples_of_ms,
)

if TYPE_CHECKING:
    from voice.hearing.asr import Recognizer, RecognizerStream

TELEPHONE_HZ = 8_000
SHORTEST_COMMIT_MS = 100
LATEST_PARTIAL_MS = 1000
"""Longest that interim transcripts are put off: without words, a barge-in goes unnoticed."""
# A client that marks its own turns may never commit; the oldest audio is dropped first.
BUFFERED_S = 120

_log = logging.getLogger(__name__)

HearingEvent = EndpointEvent | Transcript | RecognitionFailed | EndOfMessageFailed

EndOfMessage = Callable[[str], Awaitable[float | None]]
"""The words of a turn → the probability that the message ends there, or None if unknown."""


@dataclass(frozen=True, slots=True)
class _Sound:
    """The end of a turn's audio at a pause.

    Attributes:
        samples: (T,) int16, up to the current position.
        speech: Length of the turn's speech, in samples.
        silence: Length of the pause at the end, in samples.
    """

    samples: Samples
    speech: int
    silence: int


class _Phase(Enum):
    SPEAKING = auto()
    PAUSED = auto()
    ENDED = auto()


@dataclass(slots=True)
class _Turn:
    """Audio of a turn on its way through the recogniser.

    Attributes:
        queued: Frames not yet given to the recogniser.
        held: Frames from the second silent one on; given to the recogniser only if speech resumes.
        fell_silent: Whether the last queued frame is the first silent one.
        decodes: Number of final decodes requested; only the newest one's result counts.
        decoded: Number of final decodes begun; written only by the recogniser's thread.
        final: Result of the newest final decode.
        sound: The audio at the pause, until it has been judged.
        sound_odds: See `Transcript`.
        emitted: The last text emitted.
        heard_until: The position when the recogniser was last given work.
        failure: Why the recogniser failed, or None.
        lasted: That the speech has lasted, not told yet because it may be babble.
    """

    turn_id: int
    start_sample: int
    queued: deque[AudioFrame] = field(default_factory=deque)
    held: deque[AudioFrame] = field(default_factory=deque)
    fell_silent: bool = False
    phase: _Phase = _Phase.SPEAKING
    decodes: int = 0
    decoded: int = 0
    final: Transcript | None = None
    sound: _Sound | None = None
    sound_odds: float | None = None
    emitted: str = ""
    heard_until: int = 0
    failure: str | None = None
    stream: RecognizerStream | None = None
    lasted: SpeechLasted | None = None


class AudioInput:
    """Turns one user's audio into events and transcripts.

    Args:
        recognizer: Opens a stream for each turn.
        vad: A detector used by this session alone.
        config: Endpointing settings.
        executor: Runs the recogniser.
        emit: Called on the event loop with each event, in order.
        decoded: Called with a turn's id whenever one of its final decodes is complete.
        ended: Called with the end of every turn, before `emit`.
        end_of_message: Asked about the words at every pause; None asks nothing.
        telephone_vad: Makes the detector that replaces `vad` when 8 kHz audio first arrives, or
            audio that has only the band of it; None keeps `vad`.
        decode: Context manager entered around each run of the recogniser.
        allows_partial: Whether there is time for an interim transcript; one is put off for at most
            `LATEST_PARTIAL_MS`.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        vad: Vad,
        config: EndpointingConfig,
        executor: Executor,
        emit: Callable[[HearingEvent], None],
        decoded: Callable[[int], None],
        *,
        ended: Callable[[TurnEnded], None] = lambda event: None,
        end_of_message: EndOfMessage | None = None,
        telephone_vad: Callable[[], Vad] | None = None,
        decode: Callable[[], AbstractContextManager[None]] = nullcontext,
        allows_partial: Callable[[], bool] = lambda: True,
    ) -> None:
        self._recognizer = recognizer
        self._vad = vad
        self._config = config
        self._endpointer = Endpointer(config)
        self._executor = executor
        self._emit = emit
        self._decoded = decoded
        self._ended = ended
        self._end_of_message = end_of_message
        self._telephone_vad = telephone_vad
        self._bandwidth = Bandwidth()
        self._decode = decode
        self._allows_partial = allows_partial
        self._framer = Framer()
        self._resampler = StreamResampler(SAMPLE_RATE_HZ, SAMPLE_RATE_HZ)
        self._before: deque[AudioFrame] = deque(maxlen=self._kept_before)
        self._recent: deque[AudioFrame] = deque(
            maxlen=samples_of_ms(BEFORE_MS + LONGEST_MS + config.pause_ms) // FRAME_SAMPLES + 1
        )
        self._buffer: deque[AudioFrame] = deque(maxlen=BUFFERED_S * SAMPLE_RATE_HZ // FRAME_SAMPLES)
        self._position = 0
        self._detects = True
        self._domain = ANYTHING
        self._turn: _Turn | None = None
        self._cues = Cues()
        self._work: deque[_Turn] = deque()
        self._wake = asyncio.Event()

    def configure(self, options: SessionOptions) -> None:
        """Apply the options that a client may change."""
        pre_roll_ms = options.pre_roll_ms
        self._endpointer.configure(
            options.vad_threshold,
            options.silence_ms,
            Profile(options.profile or self._config.profile),
            self._config.pre_roll_ms if pre_roll_ms is None else pre_roll_ms,
        )
        self._before = deque(self._before, maxlen=self._kept_before)
        if self._detects != options.turn_detection:
            self.clear()
        self._detects = options.turn_detection

    def expect(self, domain: Domain) -> None:
        """Set what the user is likely to say, from the next turn on."""
        self._domain = domain

    @property
    def position(self) -> int:
        """Samples received so far."""
        return self._position

    @property
    def rate_hz(self) -> int:
        """Sample rate of the audio received last."""
        return self._resampler.from_hz

    @property
    def _kept_before(self) -> int:
        """Frames kept for the beginning of a turn."""
        window = samples_of_ms(self._config.start_window_ms)
        return (self._endpointer.pre_roll_samples + window) // FRAME_SAMPLES + 1

    def append(self, samples: Samples, rate_hz: int) -> None:
        """Accept audio of any sample rate and length."""
        if rate_hz <= TELEPHONE_HZ:
            self._use_telephone_vad()
        if rate_hz != self._resampler.from_hz:
            self._resampler = StreamResampler(rate_hz, SAMPLE_RATE_HZ)
        for frame in self._framer.push(self._resampler.push(samples)):
            self._take(frame)

    def commit(self) -> None:
        """End the turn because the client asks for it.

        Raises:
            ProtocolError: There is less than 100 ms of audio to commit.
        """
        if not self._detects:
            # The last word may end in a partial frame and in what the resampler holds back.
            rest = self._framer.push(self._resampler.flush())
            for frame in rest + self._framer.flush():
                self._take(frame)
        self._require_audio()
        if self._endpointer.in_turn:
            events = self._endpointer.force_end(EndReason.MANUAL)
        else:
            start = self._buffer[0].start_sample
            _, ended = self._endpointer.force_end(EndReason.MANUAL, start)
            assert isinstance(ended, TurnEnded)
            # Without detection the endpointer sees no frames, so its positions are wrong.
            now = self._position
            events = [replace(ended, start_sample=start, end_sample=now, decided_sample=now)]
            self._open(ended.turn_id, start, self._buffer)
        for event in events:
            self._follow(event)
        self._buffer.clear()

    def clear(self) -> None:
        """Drop an open turn and its audio."""
        self._endpointer.reset()
        self._buffer.clear()
        self._before.clear()
        self._turn = None
        self._cues = Cues()

    async def run(self) -> None:
        """Feed the recogniser, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recognise_all(group))

    async def _recognise_all(self, group: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while self._work:
                turn = self._work.popleft()
                if self._puts_off(turn):
                    continue
                try:
                    with self._decode():
                        transcript = await loop.run_in_executor(
                            self._executor, self._recognise, turn
                        )
                except Exception as error:
                    # An error in the recogniser must cost this turn only.
                    _log.error("recognition failed: %s", origins(error))
                    self._fail(
                        turn, str(error) if isinstance(error, ModelError) else "recognition failed"
                    )
                    continue
                if transcript is None:
                    continue
                self._accept(turn, transcript)
                if turn.final is transcript and self._end_of_message:
                    group.create_task(self._judge(self._end_of_message, turn, transcript))
            self._wake.clear()
            if not self._work:
                await self._wake.wait()

    def _puts_off(self, turn: _Turn) -> bool:
        """Whether to skip this run because it is only for an interim transcript and time is short.

        The next frame asks again.
        """
        wanted = turn.phase is _Phase.SPEAKING and not turn.fell_silent
        late = samples_of_ms(LATEST_PARTIAL_MS)
        if not wanted or self._allows_partial() or self._position - turn.heard_until >= late:
            turn.heard_until = self._position
            return False
        return True

    def _use_telephone_vad(self) -> None:
        if self._telephone_vad is None:
            return
        self._vad, self._telephone_vad = self._telephone_vad(), None
        # It judges by what came before, and may be asked in the middle of a word.
        for frame in self._recent:
            self._vad.probability(frame)

    def _require_audio(self) -> None:
        got = ms_of_samples(len(self._buffer) * FRAME_SAMPLES)
        if got < SHORTEST_COMMIT_MS:
            raise ProtocolError(
                f"got {got:.0f} ms of audio in the buffer; expected at least {SHORTEST_COMMIT_MS}",
                "input_audio_buffer_commit_empty",
            )

    def _take(self, frame: AudioFrame) -> None:
        self._buffer.append(frame)
        self._position = frame.end_sample
        if not self._detects:
            return
        if self._telephone_vad and self._endpointer.in_turn and self._bandwidth.is_narrow(frame):
            self._use_telephone_vad()
        probability = self._vad.probability(frame)
        self._before.append(frame)
        self._recent.append(frame)
        events = self._endpointer.accept(frame, probability, self._cues)
        turn = self._turn
        if turn is not None and turn.failure is None:
            self._listen(turn, frame)
        for event in events:
            self._follow(event)
        self._tell_lasted()

    def _tell_lasted(self) -> None:
        """Tell that the speech has lasted, once it cannot be babble, which would stop the agent."""
        turn = self._turn
        if turn is None or turn.lasted is None:
            return
        frames = (frame for frame in self._recent if frame.start_sample >= turn.start_sample)
        if not perhaps_babble(level_dbfs(frame.samples) for frame in frames):
            event, turn.lasted = turn.lasted, None
            self._emit(event)

    def _listen(self, turn: _Turn, frame: AudioFrame) -> None:
        """Queue a turn's frame for the recogniser, or hold it back during silence."""
        silence = self._endpointer.silence_samples
        if turn.phase is not _Phase.SPEAKING or silence > FRAME_SAMPLES:
            turn.held.append(frame)
            return
        if not silence:
            turn.queued.extend(turn.held)
            turn.held.clear()
        turn.queued.append(frame)
        turn.fell_silent = silence > 0
        self._request(turn)

    def _follow(self, event: EndpointEvent) -> None:
        match event:
            case SpeechStarted(turn_id, start_sample):
                first = start_sample - self._endpointer.pre_roll_samples
                frames = [frame for frame in self._before if frame.start_sample >= first]
                self._open(turn_id, start_sample, deque(frames))
            case Pause(_, end_sample):
                self._pause(end_sample)
            case SpeechResumed():
                self._resume()
            case SpeechLasted() if self._turn is not None:
                self._turn.lasted = event
                return
            case TurnEnded():
                self._end(event)
                return
        self._emit(event)

    def _open(self, turn_id: int, start_sample: int, frames: deque[AudioFrame]) -> None:
        self._cues = Cues()
        self._turn = _Turn(turn_id, start_sample, queued=deque(frames), heard_until=self._position)
        self._request(self._turn)

    def _pause(self, end_sample: int) -> None:
        turn = self._turn
        # Interim words are a guess; only the final decode has heard the whole turn.
        self._cues = Cues()
        if turn is not None:
            turn.lasted = None
            samples = np.concatenate([frame.samples for frame in self._recent])
            speech = end_sample - turn.start_sample
            turn.sound = _Sound(samples, speech, self._position - end_sample)
            turn.phase = _Phase.PAUSED
            turn.decodes += 1
            self._request(turn)

    def _resume(self) -> None:
        turn = self._turn
        if turn is not None:
            turn.phase = _Phase.SPEAKING
            turn.final = turn.sound_odds = None
            turn.queued.extend(turn.held)
            turn.held.clear()
            self._request(turn)

    def _end(self, event: TurnEnded) -> None:
        turn, self._turn = self._turn, None
        self._cues = Cues()
        self._buffer.clear()
        # A turn that follows at once must not begin with the last word of this one.
        while self._before and self._before[0].start_sample < event.end_sample:
            self._before.popleft()
        self._ended(event)
        self._emit(event)
        if turn is None:
            return
        phase, turn.phase = turn.phase, _Phase.ENDED
        if turn.failure is not None:
            self._emit(RecognitionFailed(turn.turn_id, turn.failure))
        elif turn.final is not None:
            self._emit(turn.final)
        elif phase is _Phase.SPEAKING:
            turn.decodes += 1
            self._request(turn)

    def _request(self, turn: _Turn) -> None:
        if turn.failure is None and turn not in self._work:
            self._work.append(turn)
            self._wake.set()

    def _fail(self, turn: _Turn, message: str) -> None:
        """Report that a turn has no words, but only once it has ended.

        Reported earlier, the agent would talk over the user.
        """
        if self._turn is turn:
            turn.failure = message
            turn.queued.clear()
            turn.held.clear()
            self._cues = Cues()
        else:
            self._emit(RecognitionFailed(turn.turn_id, message))

    def _recognise(self, turn: _Turn) -> Transcript | None:
        """Give the recogniser the queued frames and return its transcript, if it has one.

        Runs in a thread; nothing else uses the stream.
        """
        if turn.stream is None:
            turn.stream = self._recognizer.open(turn.turn_id, self._domain)
        # Before the frames: a decode asked for now must have those that were queued before it.
        decodes = turn.decodes
        while turn.queued:
            turn.stream.accept(turn.queued.popleft())
        if turn.decoded == decodes:
            return turn.stream.interim(turn.fell_silent)
        turn.decoded = decodes
        if turn.sound is not None:
            sound, turn.sound = turn.sound, None
            turn.sound_odds = sound_log_odds(sound.samples, sound.speech, sound.silence)
        return replace(turn.stream.finish(), sound_odds=turn.sound_odds)

    def _accept(self, turn: _Turn, transcript: Transcript) -> None:
        """Emit a transcript on the event loop, unless speech has resumed since."""
        if not transcript.final:
            # Not after a pause: the final decode follows, and carries the sound's log odds.
            speaking = self._turn is turn and turn.phase is _Phase.SPEAKING
            if speaking and transcript.text != turn.emitted:
                turn.emitted = transcript.text
                self._emit(transcript)
            return
        if turn.decoded < turn.decodes or turn.phase is _Phase.SPEAKING:
            return
        self._decoded(turn.turn_id)
        if turn.phase is _Phase.ENDED:
            self._emit(transcript)
        elif self._turn is turn:
            turn.final = transcript
            turn.emitted = transcript.text.strip()
            # Even without words: it is known now that there are none.
            self._emit(replace(transcript, final=False))
            self._cues = Cues(turn.emitted)

    async def _judge(self, end_of_message: EndOfMessage, turn: _Turn, final: Transcript) -> None:
        """Ask how likely it is that the message ends here; ignore the answer if speech resumed."""
        try:
            probability = await end_of_message(final.text) if final.text.strip() else None
        except Exception as error:
            # A failure of the model must not end the conversation; the pause is judged without it.
            _log.error("no probability for a pause: %s", origins(error))
            message = str(error) if isinstance(error, ModelError) else "the model failed"
            self._emit(EndOfMessageFailed(turn.turn_id, message))
            return
        if self._turn is turn and turn.final is final:
            self._cues = replace(self._cues, end_of_message=probability)
